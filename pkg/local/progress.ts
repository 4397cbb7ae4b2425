import { Listr, ListrLogger, ListrLogLevels, type ListrTask } from 'listr2';

/**
 * Runs tasks and shows their progress: live on a terminal, otherwise a line for each change. Throws the first task's error. The
 * catcher prints its message, so that it appears once and last.
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
