import type { Schedule } from '../api/processor.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import { tenantRoles } from '../store/postgres/tenant-roles.ts';

/** Deletes entries of the audit log past their retention, a tenant after the other. */
export const deleteExpiredAudit: Schedule = {
  name: 'delete expired audit entries',
  everyMs: 24 * 3_600_000,
  run: async ({ shards, log }) => {
    for (const [shard, { pool }] of shards) {
      for (const role of await tenantRoles(pool, { having: 'audit_entries' })) {
        await deleteExpired(pool, role).catch((error: unknown) =>
          log.warn({ err: error, shard, role }, 'could not delete expired audit entries; retrying tomorrow'),
        );
      }
    }
  },
};

async function deleteExpired(pool: SqlPool, role: string): Promise<void> {
  for (let deleted = 1; deleted > 0;) {
    const [row] = await pool.transaction((tx) => tx.query<{ deleted: number }>('SELECT carrel.expire_audit() AS deleted'), { role });
    deleted = row?.deleted ?? 0;
  }
}
