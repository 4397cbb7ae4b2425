import { join } from 'node:path';
import { CommandError } from '../runtime/command-error.ts';
import { paths } from './state-directory.ts';
import { lastLine, run } from './binaries/run.ts';

/** Runs the platform's own kubectl. Throws CommandError with its last line. */
export async function kubectl(stateDirectory: string, ...args: string[]): Promise<string> {
  const { kubeconfig, bin } = paths(stateDirectory);
  const { code, stdout, output } = await run(join(bin, 'kubectl'), ['--kubeconfig', kubeconfig, ...args]);
  if (code !== 0) throw new CommandError(`kubectl ${args.slice(0, 2).join(' ')} failed: ${lastLine(output)}`);
  return stdout;
}
