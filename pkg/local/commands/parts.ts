import type { ListrTask } from 'listr2';
import { resolvePart, thisMachine, type Machine } from '../parts/resolve.ts';
import { ALL_GROUPS, type Group, PARTS_OF } from '../platform.ts';
import { runTasks } from '../progress.ts';

/** Finds, fetches or builds all parts and starts nothing. Throws LocalError for one that cannot be had. */
export async function findParts(root: string, env: NodeJS.ProcessEnv): Promise<void> {
  await runTasks(partTasks(ALL_GROUPS, thisMachine(root, env)), { collapseSubtasks: false });
}

/** One task per part; a build tells its progress on the line below. */
export const partTasks = (groups: readonly Group[], machine: Machine): ListrTask[] =>
  groups
    .flatMap((group) => PARTS_OF[group])
    .map((name) => ({
      title: name,
      task: async (_, task) => {
        const program = await resolvePart(name, machine, (line) => {
          if (process.stdout.isTTY || /^(building|fetching|installing|waiting)/.test(line)) task.output = line;
        });
        task.title = `${name} (${program})`;
      },
    }));
