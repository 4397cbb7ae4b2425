import { DailyJobs } from '../../events/daily-jobs.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { TenantSettings } from '../../feature/services.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { emptiedAt, EMPTY_TRASH } from './trash.jobs.ts';

/** Schedules the job that permanently deletes a day's trash when its time is over. */
export class TrashSchedule {
  readonly #jobs: DailyJobs;
  readonly #retentionMs: number;

  constructor(deps: { db: Database; jobs: JobRequests; clock: Clock; settings: Pick<TenantSettings, 'trashRetentionMs'> }) {
    this.#retentionMs = deps.settings.trashRetentionMs;
    this.#jobs = new DailyJobs(deps.clock, (now) =>
      deps.jobs.schedule(deps.db.tables, EMPTY_TRASH, {}, emptiedAt(now, this.#retentionMs)),
    );
  }

  /** Call it before the transaction that moves something to the trash. Takes a statement once a day. */
  ensure(): Promise<void> {
    return this.#jobs.ensure();
  }

  /** Returns when an item that is deleted at this time will be deleted permanently. */
  expiryOf(deletedAt: Date): Date {
    return new Date(deletedAt.getTime() + this.#retentionMs);
  }
}
