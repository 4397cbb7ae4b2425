import type { JobRequests } from '../../events/job-requests.ts';
import type { TenantSettings } from '../../feature/services.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { dayOf } from '../../store/s3/upload-day.ts';
import { emptiedAt, EMPTY_TRASH } from './trash.jobs.ts';

/**
 * Sees to it that what goes to the trash is deleted when its time is over: before the first deletion of a day (per process) the job is scheduled that
 * deletes what went there on that day. So a crash leaves nothing in the trash for ever, and a deletion needs no statement of its own for that.
 */
export class TrashSchedule {
  readonly #db: Database;
  readonly #jobs: JobRequests;
  readonly #clock: Clock;
  readonly #retentionMs: number;
  #scheduled: { readonly day: string; readonly asked: Promise<void> } | undefined;

  constructor(deps: { db: Database; jobs: JobRequests; clock: Clock; settings: Pick<TenantSettings, 'trashRetentionMs'> }) {
    this.#db = deps.db;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#retentionMs = deps.settings.trashRetentionMs;
  }

  /** Call it before the transaction that moves something to the trash. No statement but once a day. */
  async ensure(): Promise<void> {
    const now = this.#clock.now();
    const day = dayOf(now);
    if (this.#scheduled?.day !== day) {
      const asked = this.#jobs.schedule(this.#db.tables, EMPTY_TRASH, {}, emptiedAt(now, this.#retentionMs));
      this.#scheduled = { day, asked };
      asked.catch(() => (this.#scheduled = undefined));
    }
    await this.#scheduled.asked;
  }

  /** When what is deleted now goes for ever. */
  expiryOf(deletedAt: Date): Date {
    return new Date(deletedAt.getTime() + this.#retentionMs);
  }
}
