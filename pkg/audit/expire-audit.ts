import type { Schedule } from '../events/processor.ts';
import type { Database } from '../store/postgres/database.ts';
import { tenantRoles } from '../store/postgres/tenant-roles.ts';
import { DAY_MS } from '../runtime/time.ts';

/** Deletes audit entries past their retention, one tenant after another. */
export const deleteExpiredAudit: Schedule = {
  name: 'delete expired audit entries',
  everyMs: DAY_MS,
  run: async ({ shards }, onFailure) => {
    for (const [shard, { db }] of shards) {
      for (const role of await tenantRoles(db, { having: 'audit_entries' })) {
        await deleteExpired(db.as(role)).catch((error: unknown) => onFailure(error, { shard, role }));
      }
    }
  },
};

async function deleteExpired(db: Database): Promise<void> {
  for (let deleted = 1; deleted > 0;) {
    const [row] = await db.query<{ deleted: number }>('SELECT carrel.expire_audit() AS deleted');
    deleted = row?.deleted ?? 0;
  }
}
