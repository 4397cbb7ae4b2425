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

/** Tasks of one person that have not ended. */
export const UNFINISHED_TASKS_MAX = 10;
/** Items of one person's tasks that are still there: a copy of a folder finds them before it can be refused. */
export const TASK_ITEMS_MAX = 1_000_000;
/** After its request a task is deleted; one that has not ended by then a day later. */
export const TASK_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Requests tasks in the transaction that makes them necessary, at most UNFINISHED_TASKS_MAX of a person at once however many
 * race.
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
   * Five statements, three where it joins one that has not ended. Throws `conflict` where the person has too many, or too many
   * items.
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

  /** A run of a schedule, which counts for no limit of the person that it acts as. Three statements. */
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

  /** What Carrel asks for by itself. Three statements. */
  async requestOwn<Arguments extends z.ZodType>(
    tx: Tx,
    kind: TaskKind<Arguments>,
    { arguments: taskArguments }: { arguments: z.input<Arguments> & Json },
  ): Promise<void> {
    const [uuid, createdAt] = [this.#random.uuid(), this.#clock.now()];
    const task = { uuid, kind: kind.name, userId: null, arguments: taskArguments, isSingle: false, result: null, createdAt };
    await this.#requested(tx, kind, await insertTask(tx, task));
  }

  /** A task of the same person for the failed items, those with these codes, of one that has ended. Throws `conflict`. */
  async retry(tx: Tx, kind: TaskKind, from: TaskRow, codes?: readonly string[]): Promise<TaskView> {
    const { id, userId, result } = from;
    if (userId === null) throw new Problem('not_found');
    const items = await lockRequestsOf(tx, userId);
    const unfinished = await unfinishedOf(tx, userId);
    if (unfinished.some(({ retryOf }) => retryOf === id))
      throw new Problem('conflict', 'The failed items of this job are being tried again already.');
    requireFewer(unfinished, kind.isSingle ? 0 : items);
    const anew = { uuid: this.#random.uuid(), result: kind.resultOfRetry(result), codes, createdAt: this.#clock.now() };
    const row = await insertRetry(tx, id, anew);
    if (row === null) throw new Problem('conflict', 'Nothing of this job failed in that way.');
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
      `Your jobs of the last 30 days had ${TASK_ITEMS_MAX} items; wait until older ones are deleted.`,
    );
  if (unfinished.length >= UNFINISHED_TASKS_MAX)
    throw new Problem('conflict', `You have ${UNFINISHED_TASKS_MAX} jobs that have not ended; wait for one, or cancel one.`);
}
