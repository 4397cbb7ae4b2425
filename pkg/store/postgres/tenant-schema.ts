import type { Sealer } from '../../runtime/sealing.ts';
import type { SqlPool } from './pool.ts';

/** `managed_by` of rows that a Kubernetes resource made; the REST API refuses to change them. */
export const MANAGED_BY = 'kubernetes';

/** A tenant's schema as the platform's own programs reach it: by a role that may write every tenant's rows. */
export interface TenantSchema {
  readonly slug: string;
  readonly pool: SqlPool;
}

/** The same, and what seals the secrets of its rows. */
export interface TenantRows extends TenantSchema {
  readonly tenantId: string;
  readonly sealer: Sealer;
}
