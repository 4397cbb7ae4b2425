#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { compileCacheFolder } from '../../pkg/runtime/compile-cache.ts';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import { ConfigError } from '../../pkg/runtime/config.ts';
import type { Group } from '../../pkg/local/platform.ts';
import { withoutLineEnds } from '../../pkg/runtime/line-end.ts';
import { addJobCommands } from './job-commands.ts';
import { installationFrom } from './installation.ts';
import { addLinkKeyCommands } from './link-key-commands.ts';

// Each command imports its modules when it runs, so that `--help` and the supervisor's programs load nothing else.
const commands = {
  adoptionToken: () => import('../../pkg/admin/commands/adoption-token.ts'),
  doctorInstallation: () => import('../../pkg/admin/commands/doctor-installation.ts'),
  doctorTenant: () => import('../../pkg/admin/commands/doctor-tenant.ts'),
  down: () => import('../../pkg/local/commands/down.ts'),
  move: () => import('../../pkg/admin/commands/move.ts'),
  logs: () => import('../../pkg/local/commands/logs.ts'),
  backup: () => import('../../pkg/admin/commands/backup.ts'),
  binaries: () => import('../../pkg/local/commands/binaries.ts'),
  reclaim: () => import('../../pkg/admin/commands/reclaim.ts'),
  rollout: () => import('../../pkg/admin/commands/rollout.ts'),
  rotate: () => import('../../pkg/admin/commands/rotate.ts'),
  restart: () => import('../../pkg/local/commands/restart.ts'),
  run: () => import('../../pkg/local/run.ts'),
  status: () => import('../../pkg/local/commands/status.ts'),
  supervise: () => import('../../pkg/local/commands/supervise.ts'),
  up: () => import('../../pkg/local/commands/up.ts'),
};
const root = dirname(dirname(import.meta.dirname));
const env = withoutLineEnds(process.env);
// For what the commands import. A folder that cannot be written makes a command slower and breaks nothing.
enableCompileCache(env['NODE_COMPILE_CACHE'] || compileCacheFolder(root));
const stateDirectory = resolve(env['CARREL_HOME'] || join(root, '.carrel'));
const installation = () => installationFrom({ stateDirectory, env });

const ADOPTION_TOKEN_HELP = `
The token is valid once, for 24 hours; a new token replaces it. Write it into the annotation carrel.dev/adopt of the new Tenant.
The registry is that of CARREL_SHARDS_DIR when it is set, as in the operator's pod, else that of the platform on this machine.
Exit code 1: no tenant has this slug, its data are in use or are being deleted, or the registry does not answer.`;

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

const positiveNumber = (text: string): number => {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError('It must be at least 1.');
  return number;
};

function portFrom(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535)
    throw new CommandError(`CARREL_PORT is ${text}. Set it to a port from 1 to 65535, or leave it out for 8080.`);
  return port;
}

// `carrel logs operator | head` closes standard output; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const program = new Command('carrel')
  .description('Runs the platform on one machine. Its state directory is .carrel (CARREL_HOME); tenants answer on port 8080 (CARREL_PORT).')
  .showHelpAfterError()
  .configureHelp({ showGlobalOptions: true });

program
  .command('up')
  .description('start the platform: binaries, stores, control plane, operator, samples; a second run is harmless')
  .addOption(
    new Option('--only <what>', 'do not start operator and worker; do not apply custom resources and samples').choices(['platform']),
  )
  .action(async ({ only }: { only?: string }) => {
    const { up } = await commands.up();
    const { status } = await commands.status();
    await up({ stateDirectory, root, env, port: portFrom(env['CARREL_PORT']), onlyPlatform: only === 'platform' });
    await status(stateDirectory);
  });

program
  .command('down')
  .description('stop the platform; keep its data')
  .action(async () => {
    const { down } = await commands.down();
    process.stdout.write(
      (await down(stateDirectory))
        ? 'The platform is down. Its data are kept; to delete them: make clean\n'
        : 'The platform was not running.\n',
    );
  });

program
  .command('status')
  .description('show programs, tenants and addresses; exit code 1 when something is not ready')
  .action(async () => {
    const { status } = await commands.status();
    process.exitCode = (await status(stateDirectory)) ? 0 : 1;
  });

program
  .command('clean')
  .description('stop the platform and delete its data')
  .action(async () => {
    const { clean } = await commands.down();
    await clean(stateDirectory);
    process.stdout.write('The platform is down and its data are deleted.\n');
  });

program
  .command('restart')
  .description('restart operator, worker and tenants, or only the named programs, with the current sources')
  .argument('[programs...]')
  .action(async (programs: string[]) => {
    const { restart } = await commands.restart();
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
    const { logs } = await commands.logs();
    await logs(stateDirectory, name, options);
  });

program
  .command('binaries')
  .description('find, download or build the binaries of the platform; start none')
  .action(async () => {
    const { findBinaries } = await commands.binaries();
    await findBinaries(root, env);
  });

const tenants = program.command('tenants').description('administer single tenants');
tenants
  .command('adoption-token')
  .description('print a token with which another Tenant adopts the data of a deleted one (deletionPolicy: Retain)')
  .argument('<slug>', 'the slug of the deleted Tenant')
  .addHelpText('after', ADOPTION_TOKEN_HELP)
  .action(async (slug: string) => {
    const { adoptionToken } = await commands.adoptionToken();
    await adoptionToken(slug, { installation: await installation() });
  });

const REPOSITORY_HELP = `
<repository> is a folder, or s3://<bucket>/<prefix>: then AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name a key of it, and AWS_ENDPOINT_URL and AWS_REGION
where it is. Backups hold people's data and are not encrypted; secrets in them are sealed with the platform key, which is not among them: keep it too.
Run it where the operator runs (kubectl exec); without CARREL_SHARDS_DIR it is the platform on this machine.`;

const BACKUP_HELP = `${REPOSITORY_HELP}
The tenants go on meanwhile. Of all tenants, four at once, those come first that have waited longest, and those last that named their store. An object is copied once, whatever number of backups has it.
What was written is read back.
Exit code 1: a tenant has no backup, or its storage has lost objects.`;

tenants
  .command('backup')
  .description('copy rows and objects of tenants as of one moment to a folder or bucket')
  .argument('[slugs...]', 'the slugs of the Tenants; left out: all')
  .requiredOption('--to <repository>', 'where to')
  .option('--keep <count>', 'afterwards delete all but so many of its newest backups', positiveNumber)
  .option('--most-minutes <count>', 'give a tenant up after so long, and go on with the next', positiveNumber)
  .addHelpText('after', BACKUP_HELP)
  .action(async (slugs: string[], { to, keep, mostMinutes }: { to: string; keep?: number; mostMinutes?: number }) => {
    const { backUpTenants } = await commands.backup();
    const mostMs = mostMinutes === undefined ? undefined : mostMinutes * 60_000;
    process.exitCode = (await backUpTenants(slugs, { to, keep, mostMs, installation: await installation(), env })) ? 0 : 1;
  });

tenants
  .command('backups')
  .description('list the backups of a tenant')
  .argument('<slug>', 'the slug of the Tenant')
  .requiredOption('--at <repository>', 'where they are')
  .option('--verify', 'read every byte, and compare it with what was written', false)
  .addHelpText('after', `${REPOSITORY_HELP}\nExit code 1: there is none, or something is wrong.`)
  .action(async (slug: string, options: { at: string; verify: boolean }) => {
    const { listBackups } = await commands.backup();
    process.exitCode = (await listBackups(slug, { ...options, installation: await installation(), env })) ? 0 : 1;
  });

const RESTORE_HELP = `${REPOSITORY_HELP}
The tenant must be there and suspended: apply its Tenant with suspended: true (a new one too, after a loss), and wait until its pods have ended.
With --of it gets a copy of another tenant's data: webhooks and LTI registrations of the copy are inactive.
A backup is signed under the platform key. One that was altered, that is not of this tenant, or that another installation made, is refused: --former takes one of
a former tenant of the slug, and CARREL_PLATFORM_KEYS takes the key of that time at its end. --unsigned takes any: whoever wrote it chose the people and rights in it.
Exit code 1: it was refused, or some objects are missing.`;

interface RestoreArguments {
  readonly from: string;
  readonly backup?: string;
  readonly of?: string;
  readonly replace: boolean;
  readonly former: boolean;
  readonly unsigned: boolean;
}

tenants
  .command('restore')
  .description('bring a suspended tenant to the state of a backup')
  .argument('<slug>', 'the slug of the Tenant')
  .requiredOption('--from <repository>', 'where the backup is')
  .option('--backup <name>', 'its name, such as 20261123T150301Z; left out: the newest')
  .option('--of <slug>', 'whose backup it is; left out: the tenant’s own')
  .option('--replace', 'delete the data that the tenant has now', false)
  .option('--former', 'take a backup of a tenant that had the slug in another installation, or before it was deleted', false)
  .option('--unsigned', 'take a backup that Carrel may not have made, or that was altered', false)
  .addHelpText('after', RESTORE_HELP)
  .action(async (slug: string, options: RestoreArguments) => {
    const { restoreTenant } = await commands.backup();
    const { backup, of } = options;
    process.exitCode = (await restoreTenant(slug, { ...options, backup, of, installation: await installation(), env })) ? 0 : 1;
  });

const MOVE_HELP = `
Its objects stay where they are. While its rows are copied the tenant can only be read, what is written gets a 503 that says to try again; then its pods are
replaced. The command says how long it took. A Tenant that names a shard (spec.database.shard) must name that one first.
Run it where the operator runs (kubectl exec); without CARREL_SHARDS_DIR it is the platform on this machine.
Exit code 1: the tenant is where it was, and the line says why.`;

tenants
  .command('move')
  .description('move the rows of a tenant to another shard')
  .argument('<slug>', 'the slug of the Tenant')
  .requiredOption('--to <shard>', 'the name of the shard')
  .addHelpText('after', MOVE_HELP)
  .action(async (slug: string, { to }: { to: string }) => {
    const { move } = await commands.move();
    await move(slug, { to, installation: await installation() });
  });

const RECLAIM_HELP = `
A tenant belongs to a namespace by its uid. When the cluster was rebuilt without its etcd, namespaces have new uids, and every Tenant is SlugTaken.
Without --yes it only says which tenants it would give. Look at them: whoever has a namespace of this name now gets their data.
Run it where the operator runs (kubectl exec); without CARREL_SHARDS_DIR it is the platform on this machine.
Exit code 1: a namespace is not there, or the registry does not answer.`;

tenants
  .command('reclaim')
  .description('after the loss of etcd: give the tenants of lost namespaces to the namespaces that have their names now')
  .argument('[namespaces...]', 'the names of the namespaces; left out: all')
  .option('--yes', 'do it', false)
  .addHelpText('after', RECLAIM_HELP)
  .action(async (namespaces: string[], { yes }: { yes: boolean }) => {
    const { reclaim } = await commands.reclaim();
    await reclaim(namespaces, { isMeant: yes, installation: await installation() });
  });

const ROTATE_HELP = `
The credentials are database, redis, storage, signing and data; left out: all of them. The operator replaces them without a failed request: pods roll, and the
former values end when nothing uses them (storage after 15 minutes, signing after an hour, data after a day).
The cluster is that of KUBECONFIG, or of the pod it runs in, else the platform on this machine. The platform's own key is another matter: docs/operate.md.
Exit code 1: there is no such Tenant or credential, or the operator does not begin within a minute.`;

const keys = program.command('keys').description('credentials and keys of tenants');
addLinkKeyCommands(keys, installation);
keys
  .command('rotate')
  .description('replace passwords and keys of a tenant')
  .argument('<tenant>', 'the name of the Tenant')
  .argument('[credentials...]')
  .option('-n, --namespace <namespace>', "the Tenant's namespace", 'default')
  .addHelpText('after', ROTATE_HELP)
  .action(async (name: string, credentials: string[], { namespace }: { namespace: string }) => {
    const { rotate } = await commands.rotate();
    await rotate({ namespace, name }, credentials, { installation: await installation() });
  });

const ROLLOUT_HELP = `
The cluster is that of KUBECONFIG, or of the pod it runs in, else the platform on this machine; the registry that of CARREL_SHARDS_DIR, else the same
platform's. In a cluster run it in the operator's pod (kubectl exec).`;

const rollout = program
  .command('rollout')
  .description('the rollout of a new image, or of new settings, to all tenants')
  .addHelpText('after', ROLLOUT_HELP);
rollout
  .command('status')
  .description('show how many tenants have the image, wait for it or failed; exit code 1 when some failed or all are halted')
  .action(async () => {
    const { rolloutStatus } = await commands.rollout();
    process.exitCode = (await rolloutStatus({ installation: await installation() })) ? 0 : 1;
  });
rollout
  .command('pause')
  .description('let no further tenant get a new image or new settings')
  .action(async () => {
    const { pause } = await commands.rollout();
    await pause({ installation: await installation() });
  });
rollout
  .command('resume')
  .description('go on with the tenants that wait')
  .action(async () => {
    const { resume } = await commands.rollout();
    await resume({ installation: await installation() });
  });

addJobCommands(program, installation);

const DOCTOR_HELP = `
Without --tenant it looks at the whole installation: shards and their schemas, workers, Redis, the object store, the API server, the custom resources,
who leads, and every Tenant, LtiRegistration and Webhook that is not Ready. It changes nothing. Run it where the operator runs (kubectl exec).
With --tenant it compares the tenant's rows with its objects: versions without an object, objects of another size, objects of nobody, used bytes, and
checksums of some versions. --mend deletes objects of nobody and counts used bytes again; nothing else is changed. Run it where the worker runs.
Both also look at the platform on this machine. Exit code 1: something is wrong and was not put right.`;

const sampleFrom = (text: string): number | 'all' => (text === 'all' ? 'all' : wholeNumber(text));

program
  .command('doctor')
  .description("check a whole installation, or that a tenant's rows and objects agree, and say in words what is wrong")
  .option('--tenant <slug>', 'the tenant; left out: the installation')
  .option('--mend', 'with --tenant: put right what leaves no choice', false)
  .option(
    '--sample <count>',
    "with --tenant: how many versions to read and compare with their checksums, or 'all' (default: 100 of at most 256 MiB)",
    sampleFrom,
  )
  .addHelpText('after', DOCTOR_HELP)
  .action(async ({ tenant, mend, sample }: { tenant?: string; mend: boolean; sample?: number | 'all' }) => {
    if (tenant === undefined) {
      if (mend || sample !== undefined) throw new CommandError('--mend and --sample are for one tenant. Name it by --tenant');
      const { checkInstallation } = await commands.doctorInstallation();
      process.exitCode = (await checkInstallation({ installation: await installation() })) ? 0 : 1;
      return;
    }
    const { checkTenant } = await commands.doctorTenant();
    process.exitCode = (await checkTenant(tenant, { installation: await installation(), mend, sample })) ? 0 : 1;
  });

async function runProgram(name: 'node' | 'router'): Promise<void> {
  const { runOwn } = await commands.run();
  await runOwn(name, { stateDirectory, root });
}
async function trustCertificatesOf(path: string): Promise<void> {
  const { readTrustedCertificates, trustCertificates } = await import('../../pkg/runtime/trusted-certificates.ts');
  try {
    trustCertificates(readTrustedCertificates(path));
  } catch (error) {
    throw new CommandError(`CARREL_TRUSTED_CERTIFICATES_FILE: ${(error as Error).message} (docs/operate.md)`);
  }
}
const own = program.command('run', { hidden: true }).description('programs that the supervisor runs');
own
  .command('supervisor')
  .requiredOption('--groups <groups>')
  .action(async ({ groups }: { groups: string }) => {
    const { supervise } = await commands.supervise();
    await supervise({ stateDirectory, root, groups: groups.split(',') as Group[] });
  });
own.command('node').action(() => runProgram('node'));
own.command('router').action(() => runProgram('router'));

// In the operator's pod, whose stores and storage of tenants may have certificates of the installation's own authorities.
const trusted = env['CARREL_TRUSTED_CERTIFICATES_FILE'];

try {
  if (trusted) await trustCertificatesOf(trusted);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommandError) process.stderr.write(`carrel: ${error.message}\n`);
  else if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else throw error;
  process.exit(1); // a program that failed may have left handles open
}
