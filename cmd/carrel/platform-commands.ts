import { type Command, Option } from 'commander';
import type { Group } from '../../pkg/local/platform.ts';
import type { OwnProgram } from '../../pkg/local/run.ts';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import type { Surroundings } from './installation.ts';
import { wholeNumber } from './numbers.ts';

function portFrom(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535)
    throw new CommandError(`CARREL_PORT is ${text}. Set it to a port from 1 to 65535, or leave it out for 8080.`);
  return port;
}

/** Adds `carrel up`, `down`, `status` and so on, for the platform on this machine. */
export function addPlatformCommands(program: Command, { stateDirectory, root, env }: Surroundings): void {
  program
    .command('up')
    .description('start the platform: binaries, stores, control plane, operator, samples; a second run is harmless')
    .addOption(
      new Option('--only <what>', 'do not start operator and worker; do not apply custom resources and samples').choices([
        'platform',
      ]),
    )
    .action(async ({ only }: { only?: string }) => {
      const { up } = await import('../../pkg/local/commands/up.ts');
      const { status } = await import('../../pkg/local/commands/status.ts');
      await up({ stateDirectory, root, env, port: portFrom(env['CARREL_PORT']), onlyPlatform: only === 'platform' });
      await status(stateDirectory);
    });

  program
    .command('down')
    .description('stop the platform; keep its data')
    .action(async () => {
      const { down } = await import('../../pkg/local/commands/down.ts');
      process.stdout.write(
        (await down(stateDirectory))
          ? 'The platform is down. Its data are kept; make clean deletes them.\n'
          : 'The platform was not running.\n',
      );
    });

  program
    .command('status')
    .description('show programs, tenants and addresses; exit code 1 if something is not ready')
    .action(async () => {
      const { status } = await import('../../pkg/local/commands/status.ts');
      process.exitCode = (await status(stateDirectory)) ? 0 : 1;
    });

  program
    .command('clean')
    .description('stop the platform and delete its data')
    .action(async () => {
      const { clean } = await import('../../pkg/local/commands/down.ts');
      await clean(stateDirectory);
      process.stdout.write('The platform is down and its data are deleted.\n');
    });

  program
    .command('restart')
    .description('restart operator, worker and tenants, or only the named programs, with the current sources')
    .argument('[programs...]')
    .action(async (programs: string[]) => {
      const { restart } = await import('../../pkg/local/commands/restart.ts');
      await restart(stateDirectory, programs);
      process.stdout.write('Restarted.\n');
    });

  program
    .command('logs')
    .description("print a program's log (operator, worker, postgres, kube-apiserver, …)")
    .argument('<program>')
    .option('-f, --follow', 'print new lines as they come', false)
    .option('-n, --lines <count>', 'how many of the last lines to print', wholeNumber, 100)
    .action(async (name: string, options: { follow: boolean; lines: number }) => {
      const { logs } = await import('../../pkg/local/commands/logs.ts');
      await logs(stateDirectory, name, options);
    });

  program
    .command('binaries')
    .description('find, download or build the binaries of the platform; start none')
    .action(async () => {
      const { findBinaries } = await import('../../pkg/local/commands/binaries.ts');
      await findBinaries(root, env);
    });
}

/** Adds `carrel run`, for the programs of the platform that its supervisor starts. */
export function addOwnPrograms(program: Command, { stateDirectory, root }: Surroundings): void {
  const runProgram = async (name: OwnProgram): Promise<void> => {
    const { runOwn } = await import('../../pkg/local/run.ts');
    await runOwn(name, { stateDirectory, root });
  };
  const own = program.command('run', { hidden: true }).description('programs that the supervisor runs');
  own
    .command('supervisor')
    .requiredOption('--groups <groups>')
    .action(async ({ groups }: { groups: string }) => {
      const { supervise } = await import('../../pkg/local/commands/supervise.ts');
      await supervise({ stateDirectory, root, groups: groups.split(',') as Group[] });
    });
  for (const name of ['node', 'router', 'demo'] as const) own.command(name).action(() => runProgram(name));
}
