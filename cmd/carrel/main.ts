#!/usr/bin/env node
import { dirname } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LocalError } from '../../pkg/local/errors.ts';
import { homePath } from '../../pkg/local/home.ts';
import type { Group } from '../../pkg/local/platform.ts';

// Each command imports what it needs when it runs: `--help` and the programs that the supervisor keeps are not to carry the others.
const commands = {
  adoptionToken: () => import('../../pkg/local/commands/adoption-token.ts'),
  down: () => import('../../pkg/local/commands/down.ts'),
  logs: () => import('../../pkg/local/commands/logs.ts'),
  parts: () => import('../../pkg/local/commands/parts.ts'),
  restart: () => import('../../pkg/local/commands/restart.ts'),
  run: () => import('../../pkg/local/run.ts'),
  status: () => import('../../pkg/local/commands/status.ts'),
  supervise: () => import('../../pkg/local/commands/supervise.ts'),
  up: () => import('../../pkg/local/commands/up.ts'),
};
const root = dirname(dirname(import.meta.dirname));
const { env } = process;
const home = homePath(root, env);

const ADOPTION_TOKEN_HELP = `
The token is valid for 24 hours and once; a new one replaces it. Write it into the annotation carrel.dev/adopt of the new Tenant.
The registry is that of CARREL_SHARDS_DIR where it is set, as in the operator's pod, else that of the platform on this machine.
Exit code 1: no tenant has this slug, its data are in use or being deleted, or the registry does not answer.`;

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

function portFrom(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535)
    throw new LocalError(`CARREL_PORT is ${text}. Set it to a port from 1 to 65535, or leave it out for 8080.`);
  return port;
}

// `carrel logs operator | head` ends us; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const program = new Command('carrel')
  .description('The platform on one machine. State lies in .carrel (CARREL_HOME); tenants answer on port 8080 (CARREL_PORT).')
  .showHelpAfterError()
  .configureHelp({ showGlobalOptions: true });

program
  .command('up')
  .description('bring the platform up: parts, stores, control plane, operator, samples; again is harmless')
  .addOption(new Option('--only <what>', 'leave out operator, worker, custom resources and samples').choices(['platform']))
  .action(async ({ only }: { only?: string }) => {
    const { up } = await commands.up();
    const { status } = await commands.status();
    await up({ home, root, env, port: portFrom(env['CARREL_PORT']), onlyPlatform: only === 'platform' });
    await status(home);
  });

program
  .command('down')
  .description('end everything; the data stay')
  .action(async () => {
    const { down } = await commands.down();
    process.stdout.write(
      (await down(home)) ? 'The platform is down; its data stay. Forget them: make clean\n' : 'The platform was not up.\n',
    );
  });

program
  .command('status')
  .description('programs, tenants and addresses; exit 1 when something is not ready')
  .action(async () => {
    const { status } = await commands.status();
    process.exitCode = (await status(home)) ? 0 : 1;
  });

program
  .command('clean')
  .description('end everything and forget the data')
  .action(async () => {
    const { clean } = await commands.down();
    await clean(home);
    process.stdout.write('The platform and its data are gone.\n');
  });

program
  .command('restart')
  .description('run the sources as they are now: operator, worker and the tenants; or just the programs named')
  .argument('[programs...]')
  .action(async (programs: string[]) => {
    const { restart } = await commands.restart();
    await restart(home, programs);
    process.stdout.write('Restarted.\n');
  });

program
  .command('logs')
  .description('print the log of a program (operator, worker, postgres, kube-apiserver, …)')
  .argument('<program>')
  .option('-f, --follow', 'go on with what comes', false)
  .option('-n, --lines <count>', 'the last lines', wholeNumber, 100)
  .action(async (name: string, options: { follow: boolean; lines: number }) => {
    const { logs } = await commands.logs();
    await logs(home, name, options);
  });

program
  .command('parts')
  .description('find, fetch or build the programs of the platform, and start nothing')
  .action(async () => {
    const { findParts } = await commands.parts();
    await findParts(root, env);
  });

const tenants = program.command('tenants').description('what the person who runs the platform does to single tenants');
tenants
  .command('adoption-token')
  .description('print a token with which another Tenant takes over the data that a deleted one left (deletionPolicy: Retain)')
  .argument('<slug>', 'the slug of the deleted Tenant')
  .addHelpText('after', ADOPTION_TOKEN_HELP)
  .action(async (slug: string) => {
    const { adoptionToken } = await commands.adoptionToken();
    await adoptionToken(slug, { home, shardsDir: env['CARREL_SHARDS_DIR'] });
  });

async function runProgram(name: 'node' | 'router'): Promise<void> {
  const { runOwn } = await commands.run();
  await runOwn(name, { home, root });
}
const own = program.command('run', { hidden: true }).description('programs that the supervisor runs');
own
  .command('supervisor')
  .requiredOption('--groups <groups>')
  .action(async ({ groups }: { groups: string }) => {
    const { supervise } = await commands.supervise();
    await supervise({ home, root, groups: groups.split(',') as Group[] });
  });
own.command('node').action(() => runProgram('node'));
own.command('router').action(() => runProgram('router'));

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof LocalError)) throw error;
  process.stderr.write(`carrel: ${error.message}\n`);
  process.exit(1); // whatever a part that failed has left open
}
