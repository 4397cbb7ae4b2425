import type { Schedule } from '../api/processor.ts';
import type { SqlPool } from '../store/postgres/pool.ts';

/** Schemas of tenants that the worker may act for, and that have an audit log. */
const TENANTS = `
  SELECT n.nspname AS role FROM pg_namespace n JOIN pg_roles r ON r.rolname = n.nspname
  WHERE starts_with(n.nspname, 'tenant_') AND pg_has_role(r.oid, 'MEMBER')
    AND EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'expire_audit')
  ORDER BY 1`;

/** Deletes entries of the audit log past their retention, a tenant after the other. */
export const deleteExpiredAudit: Schedule = {
  name: 'delete expired audit entries',
  everyMs: 24 * 3_600_000,
  run: async ({ shards, log }) => {
    for (const [shard, { pool }] of shards) {
      for (const { role } of await pool.query<{ role: string }>(TENANTS)) {
        await deleteExpired(pool, role).catch((error: unknown) =>
          log.warn({ err: error, shard, role }, 'could not delete expired audit entries; retrying tomorrow'),
        );
      }
    }
  },
};

async function deleteExpired(pool: SqlPool, role: string): Promise<void> {
  for (let deleted = 1; deleted > 0;) {
    const [row] = await pool.transaction((tx) => tx.query<{ deleted: number }>('SELECT expire_audit() AS deleted'), { role });
    deleted = row?.deleted ?? 0;
  }
}
