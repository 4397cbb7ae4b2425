import { z } from 'zod';
import { type Job, job } from '../api/job.ts';
import type { JobRequests } from '../events/job-requests.ts';
import type { BackOff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Tx } from '../store/postgres/database.ts';
import type { TaskKindName, TaskView } from './tasks.schema.ts';
import type { TaskRow } from './tasks.sql.ts';

/** The queue of jobs that people request. They may take minutes; purges and caches never wait behind them. */
export const TASK_QUEUE = 'tasks';

/** Each turn counts as an attempt, so the wait after an error does not depend on the number of errors. */
const RETRY: BackOff = { baseMs: 1_000, maxMs: 60_000, jitter: 0.5 };

const TaskPayload = z.object({ task: z.uuid() });

/** A kind of task, declared beside its feature. The server requests it and the worker processes it (`taskProcessor`). */
export interface TaskKind<Arguments extends z.ZodType = z.ZodType> {
  readonly name: TaskKindName;
  readonly arguments: Arguments;
  /** A person has at most one unfinished task of this kind; a further request joins it. */
  readonly isSingle: boolean;
  /** Returns the result that a retry begins with, from the result of the task that it retries. */
  resultOfRetry(result: TaskView['result']): TaskView['result'];
  /** Completes the items of a retry, in the transaction that requests it. Throws `conflict` if the task cannot be retried. */
  prepareRetry(tx: Tx, retry: Retry, by: { readonly jobs: JobRequests; readonly clock: Clock }): Promise<void>;
  readonly job: Job<typeof TaskPayload>;
}

/** A task that has ended, and the task that retries items of it. */
export interface Retry {
  readonly from: Pick<TaskRow, 'id' | 'state'>;
  readonly to: Pick<TaskRow, 'id' | 'uuid' | 'total'>;
}

export const taskKind = <Arguments extends z.ZodType>(
  declaration: Pick<TaskKind<Arguments>, 'name' | 'arguments'> &
    Partial<Pick<TaskKind<Arguments>, 'isSingle' | 'resultOfRetry' | 'prepareRetry'>> & {
      /** Default: TASK_QUEUE. */
      readonly queue?: string;
    },
): TaskKind<Arguments> => ({
  isSingle: false,
  resultOfRetry: (result) => result,
  prepareRetry: async () => {},
  ...declaration,
  job: job({ kind: `tasks.${declaration.name}`, queue: declaration.queue ?? TASK_QUEUE, payload: TaskPayload, retry: RETRY }),
});

/** Deletes a task with its items. */
export const EXPIRE_TASK = job({ kind: 'tasks.expire', payload: TaskPayload });
