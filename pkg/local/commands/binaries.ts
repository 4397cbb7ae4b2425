import type { ListrTask } from 'listr2';
import { resolveBinary, thisMachine, type Machine } from '../binaries/resolve.ts';
import { ALL_GROUPS, type Group, BINARIES_OF } from '../platform.ts';
import { runTasks } from '../progress.ts';

/** Finds, downloads or builds all binaries; starts none. Throws CommandError if one is unavailable. */
export async function findBinaries(root: string, env: NodeJS.ProcessEnv): Promise<void> {
  await runTasks(binaryTasks(ALL_GROUPS, thisMachine(root, env)), { collapseSubtasks: false });
}

/** Returns one task per binary; a build reports its progress on the line below. */
export const binaryTasks = (groups: readonly Group[], machine: Machine): ListrTask[] =>
  groups
    .flatMap((group) => BINARIES_OF[group])
    .map((name) => ({
      title: name,
      task: async (_, task) => {
        const program = await resolveBinary(name, machine, (line) => {
          if (process.stdout.isTTY || /^(building|downloading|installing|waiting)/.test(line)) task.output = line;
        });
        task.title = `${name} (${program})`;
      },
    }));
