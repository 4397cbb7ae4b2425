import type { z } from 'zod';
import type { Job } from '../api/job.ts';
import type { Tx } from '../store/postgres/database.ts';
import { insertJob, type Json } from '../store/postgres/job-store.ts';
import type { Sql } from '../store/postgres/pool.ts';
import type { WorkerNotifier } from './worker-notifier.ts';

/** Requests jobs in the transaction that makes them necessary: a job is done if, and only if, the transaction commits. */
export class JobRequests {
  readonly #notifier: WorkerNotifier;

  constructor(deps: { notifier: WorkerNotifier }) {
    this.#notifier = deps.notifier;
  }

  /** Takes one statement. The job is due at once. */
  async request<Payload extends z.ZodType>(tx: Tx, job: Job<Payload>, payload: z.input<Payload> & Json): Promise<void> {
    await insertJob(tx, { kind: job.kind, queue: job.queue, payload });
    this.#notifier.notifyAfterCommit(tx, 'jobs');
  }

  /** Wakes the workers for jobs that a separate statement has written. Nothing waits for the notification. */
  notify(): void {
    this.#notifier.notify('jobs');
  }

  /**
   * Takes one statement. The job is due at `dueAt`. `unlessPresent` inserts none if the tenant has one with this payload.
   * `unlessSooner` inserts none if it has one that is due later than now and no later than `dueAt`.
   */
  async schedule<Payload extends z.ZodType>(
    sql: Sql,
    job: Job<Payload>,
    payload: z.input<Payload> & Json,
    dueAt: Date,
    unless: { unlessPresent?: boolean; unlessSooner?: boolean } = {},
  ): Promise<void> {
    await insertJob(sql, { kind: job.kind, queue: job.queue, payload, dueAt, ...unless });
  }
}
