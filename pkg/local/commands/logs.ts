import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../../runtime/command-error.ts';
import { paths } from '../state-directory.ts';
import { readLog } from '../node/logs.ts';

/** Prints the log of a program of the platform. For a tenant's server, which is a pod, use `kubectl logs`. */
export async function logs(stateDirectory: string, program: string, options: { lines: number; follow: boolean }): Promise<void> {
  const folder = paths(stateDirectory).logs;
  const file = join(folder, `${program}.log`);
  if (!/^[\w-]+$/.test(program) || !existsSync(file)) {
    const names = existsSync(folder)
      ? readdirSync(folder).flatMap((name) => (name.endsWith('.log') ? [name.slice(0, -4)] : []))
      : [];
    throw new CommandError(
      `there is no log of ${program}; there are ${names.join(', ') || 'none'}. For a tenant's log, use kubectl logs.`,
    );
  }
  for await (const chunk of readLog(
    file,
    { tailLines: options.lines, limitBytes: undefined, follow: options.follow },
    () => false,
  )) {
    if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}
