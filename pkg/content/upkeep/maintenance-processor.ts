import type { z } from 'zod';
import type { Processor, WorkerServices } from '../../events/processor.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { Json } from '../../store/postgres/job-store.ts';
import type { TaskKind } from '../../tasks/task-kind.ts';
import { type HeldTask, requireRequester, taskProcessor, type TaskSteps } from '../../tasks/task-processor.ts';
import { setResult } from '../../tasks/task-steps.sql.ts';

/** The steps of a run that has no items. */
export interface Maintenance<Arguments> extends TaskSteps<Arguments> {
  readonly arguments: Arguments;
  /** A step that does not need its task: as `JobContext.transaction`, and over when the task is canceled. */
  transaction: TaskSteps<Arguments>['context']['transaction'];
}

/**
 * Returns the processor of a task without items that a schedule requests. `run` returns the result, and may be run again from the
 * beginning after a crash. Fails with `forbidden` if the person it acts for is no longer an administrator.
 */
export const maintenanceProcessor = <Arguments extends z.ZodType>({
  kind,
  create,
}: {
  readonly kind: TaskKind<Arguments>;
  create(services: WorkerServices): (run: Maintenance<z.output<Arguments>>) => Promise<Json>;
}): Processor =>
  taskProcessor({
    kind,
    create: (services) => {
      const run = create(services);
      return async (steps) => {
        const begun = await steps.step((tx, task) => administered(tx, task));
        const result = await run({ ...steps, arguments: begun.arguments, transaction: (fn) => steps.step((tx) => fn(tx)) });
        await steps.step(async (tx, task) => {
          await setResult(tx, task.id, result);
          await task.succeed();
        });
      };
    },
  });

/** Returns the task. Throws `forbidden`. */
async function administered<Arguments>(tx: Sql, task: HeldTask<Arguments>): Promise<HeldTask<Arguments>> {
  await requireRequester(tx, task, 'write:schedules');
  return task;
}
