import type { Schedule } from '../../events/processor.ts';
import { tenantRoles } from '../../store/postgres/tenant-roles.ts';
import { endOverdueChanges } from './line-item-changes.sql.ts';

/**
 * Handles changes after which Postgres was unavailable for long or the server died, although the LMS had been asked. The audit
 * log then says who asked for what, and that the outcome is unknown.
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
