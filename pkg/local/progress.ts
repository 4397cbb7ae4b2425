import { Listr, ListrLogger, ListrLogLevels, type ListrTask } from 'listr2';

/**
 * Runs tasks and shows how they go on: live on a terminal, else a line for each change. Throws the first task's error;
 * its message is left to the catcher, so that it is printed once and last.
 */
export async function runTasks(
  tasks: ListrTask[],
  options: { concurrent?: boolean; collapseSubtasks?: boolean } = {},
): Promise<void> {
  const { concurrent = false, collapseSubtasks = true } = options;
  await new Listr(tasks, {
    concurrent,
    rendererOptions: { collapseSubtasks },
    fallbackRenderer: 'simple',
    fallbackRendererCondition: () => !process.stdout.isTTY,
    fallbackRendererOptions: { logger: new PlainLogger() },
  }).run();
}

const FAILED: string = ListrLogLevels.FAILED;

class PlainLogger extends ListrLogger {
  constructor() {
    super({ useIcons: true, toStderr: [FAILED] });
  }

  override log(...[level, message, options]: Parameters<ListrLogger['log']>): void {
    super.log(level, message, level === FAILED ? undefined : options);
  }
}
