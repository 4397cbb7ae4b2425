import type { Schedule } from '../events/processor.ts';
import { tenantRoles } from '../store/postgres/tenant-roles.ts';
import { TICK_SCHEDULE } from './schedules.jobs.ts';
import { armWithoutJob } from './schedules.sql.ts';

const EVERY_MS = 10 * 60_000;

/**
 * Schedules that are active and have no job that is due by their next run get one: theirs was deleted (`carrel jobs cancel`), or
 * is a dead letter that workers of another release did not understand. The tick then decides what became of the time that has
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
          log.warn({ tenant: role, armed }, 'schedules had no job for their next run; they have one now');
          jobs.notify();
        } catch (error) {
          onFailure(error, { shard, role });
        }
      }
    }
  },
};
