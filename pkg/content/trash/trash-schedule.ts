import { DailyJobs } from '../../events/daily-jobs.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { TenantSettings } from '../../feature/services.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { emptiedAt, EMPTY_TRASH } from './trash.jobs.ts';

/** Sees to it that what goes to the trash is deleted when its time is over: by the job for what went there on its day. */
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

  /** Returns when something deleted at this time goes for ever. */
  expiryOf(deletedAt: Date): Date {
    return new Date(deletedAt.getTime() + this.#retentionMs);
  }
}
