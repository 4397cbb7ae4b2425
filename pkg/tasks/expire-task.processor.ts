import { processor, TryLater } from '../events/processor.ts';
import { EXPIRE_TASK } from './task-kind.ts';
import { deleteTask } from './task-steps.sql.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes a task, once it has ended, with its items. */
export const expireTask = processor({
  job: EXPIRE_TASK,
  create:
    () =>
    async ({ transaction }, { task }) => {
      if (!(await deleteTask(transaction, task))) throw new TryLater('the task has not ended', DAY_MS);
    },
});
