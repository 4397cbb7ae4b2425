import type { Schedule } from '../../events/processor.ts';
import { tenantRoles } from '../../store/postgres/tenant-roles.ts';
import { CHECK_INTEGRITY } from './integrity.jobs.ts';
import { DAY_MS } from '../../runtime/time.ts';

const EVERY_DAYS = 7;

/**
 * Sees to it that each tenant's integrity is checked once a week: where no check waits, one is due within seven days, at a time
 * of its own. Two workers at once may both insert one: then a tenant is checked twice in that week, which does no harm.
 */
export const scheduleIntegrityChecks: Schedule = {
  name: 'schedule integrity checks',
  everyMs: DAY_MS,
  run: async ({ shards, jobs, clock, random }, onFailure) => {
    for (const [shard, { db }] of shards) {
      for (const role of await tenantRoles(db)) {
        const dueAt = new Date(clock.now().getTime() + random.fraction() * EVERY_DAYS * DAY_MS);
        await jobs
          .schedule(db.as(role), CHECK_INTEGRITY, {}, dueAt, { unlessPresent: true })
          .catch((error: unknown) => onFailure(error, { shard, role }));
      }
    }
  },
};
