import type { Actor } from '../api/actor.ts';
import { allOf, type List, listPage, type Page } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import type { Uuid } from '../api/schemas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Database } from '../store/postgres/database.ts';
import type { TaskKind } from './task-kind.ts';
import type { TaskRequests } from './task-requests.ts';
import type { TASK_ITEM_SORT_FIELDS, TaskItemQuery, TaskItemView, TaskQuery, TaskRetry, TaskView } from './tasks.schema.ts';
import {
  cancelTask,
  findTask,
  TASK_COLUMNS,
  TASK_ITEM_COLUMNS,
  TASK_ITEMS,
  type TaskItemRow,
  type TaskRow,
  TASKS,
} from './tasks.sql.ts';
import { presentTaskItem, presentTaskTo } from './tasks.view.ts';

/**
 * Work that people requested and that takes longer than a request. The API calls it a job, at /jobs. Here it is a task, since
 * jobs are the worker's.
 *
 * Invariants:
 * - For others a task does not exist (404). Administrators see every task and may cancel it. Only the owner sees its subject and
 *   its items, which name people's files, and the link to an export.
 * - A task that has ended stays as it is.
 */
export class Tasks {
  readonly #db: Database;
  readonly #requests: TaskRequests;
  readonly #kinds: readonly TaskKind[];
  readonly #clock: Clock;

  constructor(deps: { db: Database; requests: TaskRequests; kinds: readonly TaskKind[]; clock: Clock }) {
    this.#db = deps.db;
    this.#requests = deps.requests;
    this.#kinds = deps.kinds;
    this.#clock = deps.clock;
  }

  /** Runs one statement. Throws `forbidden` if `all` is set and the actor is not an administrator. */
  async list(actor: Actor, { all = false, kind, state, ...query }: TaskQuery): Promise<Page<TaskView>> {
    if (all && !isAdministrator(actor)) throw new Problem('forbidden', "Only administrators see everybody's jobs.");
    return listPage(this.#db, query, {
      keyset: TASKS,
      columns: TASK_COLUMNS,
      from: 'tasks t',
      where: (params) => [
        ...(all ? [] : [`t.user_id = ${params.add(actor.userId)}`]),
        ...(kind === undefined ? [] : [`t.kind = ${params.add(kind)}`]),
        ...(state === undefined ? [] : [`t.state = ${params.add(state)}`]),
      ],
      present: (task) => presentTaskTo(actor, task),
    });
  }

  /** Runs one statement. Throws `not_found`. */
  async get(actor: Actor, id: Uuid): Promise<TaskView> {
    return presentTaskTo(actor, await this.#find(actor, id, { byAdministrators: true }));
  }

  /** Runs two statements. Throws `not_found`. */
  async items(actor: Actor, id: Uuid, query: TaskItemQuery): Promise<Page<TaskItemView>> {
    const task = await this.#find(actor, id);
    return listPage(this.#db, query, itemsOf(task, query));
  }

  /**
   * Returns all items, in pieces. Runs one statement, and one for each piece once the reader has taken those before. Throws
   * `not_found`.
   */
  async allItems(actor: Actor, id: Uuid, query: TaskItemQuery): Promise<AsyncGenerator<readonly TaskItemView[]>> {
    const task = await this.#find(actor, id);
    return allOf(this.#db, query, itemsOf(task, query));
  }

  /**
   * Cancels a task. What it has done stays done; it does no further item after the commit. Runs two statements. Throws
   * `not_found`, `conflict`.
   */
  async cancel(actor: Actor, id: Uuid): Promise<TaskView> {
    const task = await this.#find(actor, id, { byAdministrators: true });
    const canceled = await cancelTask(this.#db, task.id, this.#clock.now());
    if (canceled === null) throw new Problem('conflict', 'The job has ended.');
    return presentTaskTo(actor, canceled);
  }

  /**
   * Requests another task for the failed items, or those with the given codes. Throws `not_found`, and `conflict` if the task has
   * not ended, nothing failed, a retry exists, or the person has too many tasks.
   */
  async retry(actor: Actor, id: Uuid, { codes }: TaskRetry): Promise<TaskView> {
    return this.#db.transaction(async (tx) => {
      const task = required(actor, await findTask(tx, id), {});
      if (task.endedAt === null) throw new Problem('conflict', 'The job has not ended.');
      const kind = this.#kinds.find(({ name }) => name === task.kind);
      if (!kind) throw new Problem('conflict', 'Jobs of this kind cannot be retried: request a new one.');
      if (task.failed === 0) throw new Problem('conflict', 'No item of this job failed, so there is nothing to retry.');
      return this.#requests.retry(tx, kind, task, codes);
    });
  }

  async #find(actor: Actor, id: Uuid, by: { byAdministrators?: boolean } = {}): Promise<TaskRow> {
    return required(actor, await findTask(this.#db, id), by);
  }
}

const itemsOf = (
  { id }: TaskRow,
  { state, code }: TaskItemQuery,
): List<TaskItemRow, (typeof TASK_ITEM_SORT_FIELDS)[number], TaskItemView> => ({
  keyset: TASK_ITEMS,
  columns: TASK_ITEM_COLUMNS,
  from: 'task_items i',
  where: (params) => [
    `i.task_id = ${params.add(id)}`,
    // Literals, not parameters, so that Postgres can use the partial index of failed items.
    ...(state === undefined ? [] : [`i.state = '${state}'`]),
    ...(code === undefined ? [] : [`i.state = 'failed' AND i.error_code = ${params.add(code)}`]),
  ],
  present: presentTaskItem,
});

/** Administrators are those who may manage users. */
const isAdministrator = (actor: Actor): boolean => actor.permissions.has('write:users');

function required(actor: Actor, task: TaskRow | null, { byAdministrators = false }: { byAdministrators?: boolean }): TaskRow {
  if (!task || !(task.userId === actor.userId || (byAdministrators && isAdministrator(actor)))) throw new Problem('not_found');
  return task;
}
