import type { Schedule } from '../../events/processor.ts';
import { tenantRoles } from '../../store/postgres/tenant-roles.ts';
import { endOverdueChanges } from './line-item-changes.sql.ts';

/**
 * Postgres was unavailable for long, or the server died, after the LMS had been asked: the audit log says who asked for what, and
 * that the outcome is unknown.
 */
export const recordOverdueChanges: Schedule = {
  name: 'record changes of line items with unknown outcome',
  everyMs: 3_600_000,
  run: async ({ shards }, onFailure) => {
    for (const [shard, { db }] of shards)
      for (const role of await tenantRoles(db, { having: 'lti_line_item_changes' }))
        await endOverdueChanges(db.as(role)).catch((error: unknown) => onFailure(error, { shard, role }));
  },
};
