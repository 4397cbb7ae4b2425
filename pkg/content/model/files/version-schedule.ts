import { DailyJobs, endOfDay } from '../../../events/daily-jobs.ts';
import type { JobRequests } from '../../../events/job-requests.ts';
import type { TenantSettings } from '../../../feature/services.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { EXPIRE_VERSIONS } from './versions.jobs.ts';
import { DAY_MS } from '../../../runtime/time.ts';

/**
 * Schedules the deletion of old versions (`spec.versions`). Versions beyond the number to keep go at the end of the day on which
 * there were too many; versions that are too old go `days` after the end of the day on which they were replaced.
 */
export class VersionSchedule {
  readonly #jobs: DailyJobs;

  constructor(deps: { db: Database; jobs: JobRequests; clock: Clock; settings: Pick<TenantSettings, 'versions'> }) {
    const { keep, days = null } = deps.settings.versions;
    const schedule = (limits: { keep: number | null; days: number | null }, dueAt: Date): Promise<void> =>
      deps.jobs.schedule(deps.db.tables, EXPIRE_VERSIONS, limits, dueAt);
    this.#jobs = new DailyJobs(deps.clock, async (now) => {
      const end = endOfDay(now);
      await schedule({ keep, days }, end);
      // The job does not name the number of versions, which may have changed by then.
      if (days !== null) await schedule({ keep: null, days }, new Date(end.getTime() + days * DAY_MS));
    });
  }

  /** Call it before the transaction that adds a version to a file. Takes a statement once a day. */
  ensure(): Promise<void> {
    return this.#jobs.ensure();
  }
}
