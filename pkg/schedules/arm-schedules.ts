import type { Schedule } from '../events/processor.ts';
import { tenantRoles } from '../store/postgres/tenant-roles.ts';
import { TICK_SCHEDULE } from './schedules.jobs.ts';
import { armWithoutJob } from './schedules.sql.ts';
import { MINUTE_MS } from '../runtime/time.ts';

const EVERY_MS = 10 * MINUTE_MS;

/**
 * Inserts a job for each active schedule that has no job due by its next run. Somebody may have deleted the job (`carrel jobs
 * cancel`), or workers of another release may have dead-lettered it. The tick then decides what to do about the time that has
 * passed.
 */
export const armSchedules: Schedule = {
  name: 'arm schedules without a job',
  everyMs: EVERY_MS,
  run: async ({ shards, jobs, log }, onFailure) => {
    for (const [shard, { db }] of shards) {
      for (const role of await tenantRoles(db, { having: 'schedule_ticks' })) {
        try {
          const armed = await armWithoutJob(db.as(role), TICK_SCHEDULE);
          if (armed === 0) continue;
          log.warn({ tenant: role, armed }, 'inserted missing jobs for the next runs of schedules');
          jobs.notify();
        } catch (error) {
          onFailure(error, { shard, role });
        }
      }
    }
  },
};
