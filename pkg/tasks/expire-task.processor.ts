import { NextTurn, processor, TryLater } from '../events/processor.ts';
import { EXPIRE_TASK } from './task-kind.ts';
import { deleteTask } from './task-steps.sql.ts';
import { DAY_MS } from '../runtime/time.ts';

/** Deletes a task with its items, once it has ended and its archive has been deleted. */
export const expireTask = processor({
  job: EXPIRE_TASK,
  create:
    () =>
    async ({ transaction }, { task }) => {
      const became = await deleteTask(transaction, task);
      if (became === 'unfinished') throw new TryLater('the task has not ended', DAY_MS);
      if (became === 'kept') throw new NextTurn('its archive still exists', DAY_MS);
    },
});
