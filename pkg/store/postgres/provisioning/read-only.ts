import { retryDdl } from '../retry-ddl.ts';
import { quoteIdentifier } from '../pool.ts';
import type { ShardAccess } from './shard-access.ts';
import { releaseJobs } from './held-jobs.ts';
import { endConnections } from './drop-tenant.ts';
import { READ_ONLY_SETTING, tenantRole } from './tenant-role.ts';

/**
 * From now on what the tenant's server writes fails (SQLSTATE 25006); it reads as before. Until makeWritable, or
 * ensureTenantDatabase.
 */
export async function makeReadOnly({ pool }: ShardAccess, slug: string): Promise<void> {
  const role = tenantRole(slug);
  await pool.query(`ALTER ROLE ${quoteIdentifier(role)} SET ${READ_ONLY_SETTING} = on`);
  await endConnections(pool, role);
}

/**
 * The tenant's server may write again, and its jobs run. One statement where it may. For a tenant that is active: its login is
 * turned on too.
 */
export async function makeWritable(shard: ShardAccess, slug: string): Promise<void> {
  const role = tenantRole(slug);
  const frozen = await shard.pool.query(
    `SELECT FROM pg_roles WHERE rolname = $1 AND (NOT rolcanlogin OR '${READ_ONLY_SETTING}=on' = ANY (rolconfig))`,
    [role],
  );
  if (frozen.length === 0) return;
  await retryDdl(shard, () =>
    shard.pool.transaction(async (tx) => {
      const name = quoteIdentifier(role);
      await tx.query(`SET LOCAL lock_timeout = '5s'; ALTER ROLE ${name} LOGIN; ALTER ROLE ${name} RESET ${READ_ONLY_SETTING}`);
      await releaseJobs(tx, role);
    }),
  );
  // Open connections can only read.
  await endConnections(shard.pool, role);
}
