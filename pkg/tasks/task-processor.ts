import type { z } from 'zod';
import type { Actor, Permission } from '../api/actor.ts';
import { permissionsOf } from '../api/role-permissions.ts';
import type { ProblemCode } from '../api/error-catalogue.ts';
import { Problem } from '../api/problem.ts';
import { type JobContext, NextTurn, type Processor, processor, type WorkerServices } from '../events/processor.ts';
import type { Tx } from '../store/postgres/database.ts';
import type { Sql } from '../store/postgres/pool.ts';
import type { TaskKind } from './task-kind.ts';
import { taskMetrics } from './task-metrics.ts';
import {
  type ItemEnd,
  endItems,
  endQueued,
  endTask,
  lockTask,
  nextItems,
  type RunningTask,
  startTask,
  type StepSize,
  type TaskItem,
} from './task-steps.sql.ts';

/** After this time a task lets other tasks of the tenant go first. */
const TURN_MS = 10_000;

/** Another person or program ended the task, or its owner was deleted. */
export class TaskOver extends Error {
  override readonly name = 'TaskOver';
}

/** A processor of a task does its steps with these. */
export interface TaskSteps<Arguments> {
  readonly context: JobContext;
  /** Ends the run if others should go first. Call it between two steps that do not depend on each other. */
  yieldTurn(): void;
  /**
   * Runs one transaction of the tenant's role that locks the task. Steps of a task run one after another, even in two workers
   * that both believe they hold its lease, and each step sees what the one before did. Throws TaskOver after the task has ended.
   */
  step<T>(fn: (tx: Tx, task: HeldTask<Arguments>) => Promise<T>): Promise<T>;
}

/** A task that a step has locked. */
export interface HeldTask<Arguments> extends Omit<RunningTask, 'arguments'> {
  readonly arguments: Arguments;
  /** Returns the next queued items, all of the lowest remaining rank and of one type. */
  next(most: StepSize): Promise<TaskItem[]>;
  /** Records the outcome of items. */
  end(items: readonly ItemEnd[]): Promise<void>;
  /** Fails all items that are queued. */
  endRest(error: { readonly code: ProblemCode; readonly message: string }): Promise<void>;
  /** Ends the task as succeeded, once each item has ended. */
  succeed(): Promise<void>;
  /** Ends the task as failed. */
  fail(error: { readonly code: ProblemCode; readonly message: string }): Promise<void>;
}

/**
 * Returns the processor of a kind of task. `run` continues until it has called `succeed`; it may run again after a crash at any
 * point. A Problem that it throws ends the task as failed; any other error makes it run again later, as for any job.
 */
export const taskProcessor = <Arguments extends z.ZodType>({
  kind,
  create,
  undo,
}: {
  readonly kind: TaskKind<Arguments>;
  create(services: WorkerServices): (steps: TaskSteps<z.output<Arguments>>) => Promise<void>;
  /** Deletes what only the task knows. Called, perhaps more than once, after the task ended without `succeed`. */
  undo?(services: WorkerServices, context: JobContext, uuid: string): Promise<void>;
}): Processor =>
  processor({
    job: kind.job,
    create: (services) => {
      const run = create(services);
      const metrics = taskMetrics(services.metrics);
      const now = (): Date => services.clock.now();
      const { name } = kind;
      return async (context, { task: uuid }) => {
        const secondsSince = (): number => Math.max(0, now().getTime() - context.requestedAt.getTime()) / 1_000;
        const started = await context.transaction((tx) => startTask(tx, uuid, now()));
        if (started === null) return undo?.(services, context, uuid);
        if (started === 'first') metrics.began(name, secondsSince());
        const turnEnds = services.clock.monotonic() + TURN_MS;
        const yieldTurn = (): void => {
          if (services.clock.monotonic() > turnEnds) throw new NextTurn('the turn of this task is over');
        };
        try {
          await run({ context, yieldTurn, step: (fn) => stepOf(kind, context, uuid, now, fn) });
          metrics.ended(name, 'succeeded', secondsSince());
        } catch (error) {
          if (error instanceof TaskOver) metrics.ended(name, 'canceled', secondsSince());
          else {
            if (!(error instanceof Problem)) throw error;
            const { code, message } = error;
            await context.transaction((tx) => endTask(tx, uuid, 'failed', now(), { code, message }));
            metrics.ended(name, 'failed', secondsSince());
          }
          await undo?.(services, context, uuid);
        }
      };
    },
  });

async function stepOf<Arguments extends z.ZodType, T>(
  kind: TaskKind<Arguments>,
  { transaction, signal }: JobContext,
  uuid: string,
  now: () => Date,
  fn: (tx: Tx, task: HeldTask<z.output<Arguments>>) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  return transaction(async (tx) => {
    const task = await lockTask(tx, uuid);
    if (!task) throw new TaskOver('the task has ended');
    return fn(tx, {
      ...task,
      arguments: kind.arguments.parse(task.arguments),
      next: (most) => nextItems(tx, task.id, most),
      end: (items) => endItems(tx, task.id, items),
      endRest: (error) => endQueued(tx, task.id, error),
      succeed: () => endTask(tx, uuid, 'succeeded', now(), null),
      fail: ({ code, message }) => endTask(tx, uuid, 'failed', now(), { code, message }),
    });
  });
}

/** The user who requested a task, with all current permissions of the account, and without a session. */
export type Requester = Omit<Actor, 'permissionSet'>;

/**
 * Runs one statement. Throws `forbidden` if the requester no longer has the permission, or a schedule runs it and the requester
 * may no longer have schedules.
 */
export async function requireRequester(
  tx: Sql,
  { userId, scheduleId }: Pick<RunningTask, 'userId' | 'scheduleId'>,
  permission: Permission,
): Promise<Requester> {
  const [user] = await tx.query<Omit<Requester, 'permissions' | 'sessionId'>>(
    `SELECT id AS "userId", uuid AS "userUuid", email, roles, tenant_id::text AS "tenantId" FROM users
    WHERE id = $1 AND is_active`,
    [userId],
  );
  const permissions = permissionsOf(user?.roles ?? []);
  const required: Permission[] = scheduleId === null ? [permission] : [permission, 'write:schedules'];
  const missing = required.find((each) => !permissions.has(each));
  if (!user || missing !== undefined) throw new Problem('forbidden', `Requires the permission ${missing ?? permission}.`);
  return { ...user, permissions, sessionId: '' };
}
