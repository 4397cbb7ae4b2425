import { DailyJobs, endOfDay } from '../../../events/daily-jobs.ts';
import type { JobRequests } from '../../../events/job-requests.ts';
import type { TenantSettings } from '../../../feature/services.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { EXPIRE_VERSIONS } from './versions.jobs.ts';
import { DAY_MS } from '../../../runtime/time.ts';

/**
 * Sees to it that old versions are deleted (`spec.versions`): those beyond the number to keep at the end of the day on which they
 * came to be so many, those that are too old at the end of the day on which they were replaced, and as many days later.
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
      // Without the number, which may be another by then.
      if (days !== null) await schedule({ keep: null, days }, new Date(end.getTime() + days * DAY_MS));
    });
  }

  /** Call it before the transaction that adds a version to a file. Takes a statement once a day. */
  ensure(): Promise<void> {
    return this.#jobs.ensure();
  }
}
