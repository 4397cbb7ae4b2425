import type { z } from 'zod';
import { Problem } from '../api/problem.ts';
import type { JobRequests } from '../events/job-requests.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Tx } from '../store/postgres/database.ts';
import type { Json } from '../store/postgres/job-store.ts';
import { EXPIRE_TASK, type TaskKind } from './task-kind.ts';
import type { TaskView } from './tasks.schema.ts';
import { insertRetry, insertTask, joinTask, lockRequestsOf, type TaskRow, unfinishedOf } from './tasks.sql.ts';
import { presentTask } from './tasks.view.ts';
import { DAY_MS } from '../runtime/time.ts';

/** Unfinished tasks of one person at most. */
export const UNFINISHED_TASKS_MAX = 10;
/** Items that one person's tasks may have at once: a copy of a folder finds its items before it can be refused. */
const TASK_ITEMS_MAX = 1_000_000;
/** A task is deleted this long after its request, or a day after it ends if it has not ended by then. */
export const TASK_RETENTION_MS = 30 * DAY_MS;

/**
 * Requests tasks in the transaction that makes them necessary. A person has at most UNFINISHED_TASKS_MAX at once, however many
 * requests race.
 */
export class TaskRequests {
  readonly #jobs: JobRequests;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { jobs: JobRequests; clock: Clock; random: Random }) {
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /**
   * Requests a task. Runs five statements, or three if it joins an unfinished one. Throws `conflict` if the person has too many
   * tasks or items.
   */
  async request<Arguments extends z.ZodType>(
    tx: Tx,
    kind: TaskKind<Arguments>,
    userId: number,
    { arguments: taskArguments, result = null }: { arguments: z.input<Arguments> & Json; result?: TaskView['result'] },
  ): Promise<TaskView> {
    const items = await lockRequestsOf(tx, userId);
    const unfinished = await unfinishedOf(tx, userId);
    const present = kind.isSingle ? unfinished.find((task) => task.isSingle && task.kind === kind.name) : undefined;
    const joined = present && (await joinTask(tx, present.id, taskArguments));
    if (joined) return presentTask(joined);
    requireFewer(unfinished, kind.isSingle ? 0 : items);
    const [uuid, createdAt] = [this.#random.uuid(), this.#clock.now()];
    const { name, isSingle } = kind;
    const row = await insertTask(tx, { uuid, kind: name, userId, arguments: taskArguments, isSingle, result, createdAt });
    return this.#requested(tx, kind, row);
  }

  /**
   * Requests a run of a schedule, which does not count towards the limits of the person whom it acts as. Runs three statements.
   */
  async requestRun<Arguments extends z.ZodType>(
    tx: Tx,
    kind: TaskKind<Arguments>,
    { scheduleId, userId }: { scheduleId: number; userId: number | null },
    { arguments: taskArguments, result = null }: { arguments: z.input<Arguments> & Json; result?: TaskView['result'] },
  ): Promise<TaskView> {
    const [uuid, createdAt] = [this.#random.uuid(), this.#clock.now()];
    const task = { uuid, kind: kind.name, userId, scheduleId, arguments: taskArguments, isSingle: false, result, createdAt };
    return this.#requested(tx, kind, await insertTask(tx, task));
  }

  /** Requests a task on Carrel's own behalf. Runs three statements. */
  async requestOwn<Arguments extends z.ZodType>(
    tx: Tx,
    kind: TaskKind<Arguments>,
    { arguments: taskArguments }: { arguments: z.input<Arguments> & Json },
  ): Promise<void> {
    const [uuid, createdAt] = [this.#random.uuid(), this.#clock.now()];
    const task = { uuid, kind: kind.name, userId: null, arguments: taskArguments, isSingle: false, result: null, createdAt };
    await this.#requested(tx, kind, await insertTask(tx, task));
  }

  /**
   * Requests a task of the same person for the failed items of a task that has ended, or for those with the given codes. Throws
   * `conflict`.
   */
  async retry(tx: Tx, kind: TaskKind, from: TaskRow, codes?: readonly string[]): Promise<TaskView> {
    const { id, userId, result } = from;
    if (userId === null) throw new Problem('not_found');
    const items = await lockRequestsOf(tx, userId);
    const unfinished = await unfinishedOf(tx, userId);
    if (unfinished.some(({ retryOf }) => retryOf === id))
      throw new Problem('conflict', 'Another job is already retrying the failed items of this job.');
    requireFewer(unfinished, kind.isSingle ? 0 : items);
    const retried = { uuid: this.#random.uuid(), result: kind.resultOfRetry(result), codes, createdAt: this.#clock.now() };
    const row = await insertRetry(tx, id, retried);
    if (row === null) throw new Problem('conflict', 'No item of this job failed with these codes.');
    await kind.prepareRetry(tx, { from, to: row }, { jobs: this.#jobs, clock: this.#clock });
    return this.#requested(tx, kind, row);
  }

  async #requested(tx: Tx, kind: TaskKind, row: TaskRow | null): Promise<TaskView> {
    if (row === null) throw new Problem('not_found');
    await this.#jobs.request(tx, kind.job, { task: row.uuid });
    await this.#jobs.schedule(tx, EXPIRE_TASK, { task: row.uuid }, new Date(row.createdAt.getTime() + TASK_RETENTION_MS));
    return presentTask(row);
  }
}

function requireFewer(unfinished: readonly unknown[], items: number): void {
  if (items >= TASK_ITEMS_MAX)
    throw new Problem(
      'conflict',
      `Your jobs of the last 30 days have ${TASK_ITEMS_MAX} items; wait until older jobs are deleted.`,
    );
  if (unfinished.length >= UNFINISHED_TASKS_MAX)
    throw new Problem('conflict', `You have ${UNFINISHED_TASKS_MAX} unfinished jobs; wait until one ends, or cancel one.`);
}
