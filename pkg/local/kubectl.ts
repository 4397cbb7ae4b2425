import { join } from 'node:path';
import { LocalError } from './errors.ts';
import { paths } from './home.ts';
import { lastLine, run } from './parts/run.ts';

/** Runs the platform's own kubectl. Throws LocalError with its last line. */
export async function kubectl(home: string, ...args: string[]): Promise<string> {
  const { kubeconfig, bin } = paths(home);
  const { code, stdout, output } = await run(join(bin, 'kubectl'), ['--kubeconfig', kubeconfig, ...args]);
  if (code !== 0) throw new LocalError(`kubectl ${args.slice(0, 2).join(' ')} failed: ${lastLine(output)}`);
  return stdout;
}
