import { quoteIdentifier } from '../pool.ts';
import type { ShardAccess } from './base.ts';
import { endConnections, READ_ONLY_SETTING, tenantRole } from './tenant.ts';

/** From now on what the tenant's server writes fails (SQLSTATE 25006); it reads as before. ensureTenantDatabase ends it. */
export async function makeReadOnly({ pool }: ShardAccess, slug: string): Promise<void> {
  const role = tenantRole(slug);
  await pool.query(`ALTER ROLE ${quoteIdentifier(role)} SET ${READ_ONLY_SETTING} = on`);
  await endConnections(pool, role);
}
