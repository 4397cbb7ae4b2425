import type { Sealer } from '../../runtime/sealing.ts';
import type { SqlPool } from './pool.ts';

/** `managed_by` of rows that a Kubernetes resource created; the REST API refuses to change them. */
export const MANAGED_BY = 'kubernetes';

/** A tenant's schema as the platform's own programs access it: by a role that may write every tenant's rows. */
export interface TenantSchema {
  readonly slug: string;
  readonly pool: SqlPool;
}

/** A tenant's schema, and the sealer of its rows' secrets. */
export interface TenantRows extends TenantSchema {
  readonly tenantId: string;
  readonly sealer: Sealer;
}
