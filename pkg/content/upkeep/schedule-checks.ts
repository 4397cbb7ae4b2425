import type { Schedule } from '../../events/processor.ts';
import { tenantRoles } from '../../store/postgres/tenant-roles.ts';
import { CHECK_INTEGRITY } from './integrity.jobs.ts';
import { DAY_MS } from '../../runtime/time.ts';

const EVERY_DAYS = 7;

/**
 * Schedules a weekly integrity check of each tenant: if no check is waiting, one becomes due at a random time within seven days.
 * Two workers may insert one at the same moment; the tenant is then checked twice in that week, which is harmless.
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
