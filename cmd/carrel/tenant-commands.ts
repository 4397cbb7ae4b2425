import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';
import { positiveNumber } from './numbers.ts';
import { WHERE } from './help.ts';

const ADOPTION_TOKEN_HELP = `
The token is valid once, for 24 hours; a new token replaces it. Write it into the annotation carrel.dev/adopt of the new Tenant.
The command uses the registry of CARREL_SHARDS_DIR if it is set, as in the operator's pod, otherwise that of the platform on
this machine.
Exit code 1: no tenant has this slug, its data are in use or are being deleted, or the registry does not answer.`;

const REPOSITORY_HELP = `
<repository> is a folder, or s3://<bucket>/<prefix>. For a bucket set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key of it,
and AWS_ENDPOINT_URL and AWS_REGION to its location. Backups contain people's data and are not encrypted. Secrets in them are
sealed with the platform key, which they do not contain: keep it too.
${WHERE}`;

const BACKUP_HELP = `${REPOSITORY_HELP}
The tenants continue meanwhile. Four tenants are backed up at once: first those that have waited longest, last those with a store
of their own. An object is copied once, however many backups contain it. The command reads back what it wrote.
Exit code 1: a tenant has no backup, or its storage has lost objects.`;

const RESTORE_HELP = `${REPOSITORY_HELP}
The tenant must exist and be suspended: apply its Tenant with suspended: true (after a loss, a new one), and wait until its pods
have ended. With --of it gets a copy of another tenant's data: webhooks and LTI registrations of the copy are inactive.
A backup is signed with the platform key. The command refuses a backup that was altered, or that belongs to another tenant or
another installation. --former accepts a backup of a former tenant with this slug; add the key of that time to the end of
CARREL_PLATFORM_KEYS. --unsigned accepts any backup: its author chose the people and rights in it.
Exit code 1: the backup was refused, or some objects are missing.`;

interface RestoreArguments {
  readonly from: string;
  readonly backup?: string;
  readonly of?: string;
  readonly replace: boolean;
  readonly former: boolean;
  readonly unsigned: boolean;
}

const MOVE_HELP = `
Its objects stay where they are. While its rows are copied the tenant is read-only, and writes get a 503 that says to try again.
Then its pods are replaced. The command reports how long it took. If the Tenant names a shard (spec.database.shard), change that
to the new shard first.
${WHERE}
Exit code 1: the tenant is where it was; the message says why.`;

const RECLAIM_HELP = `
A tenant belongs to a namespace by the namespace's uid. If the cluster was rebuilt without its etcd, namespaces have new uids, and
every Tenant is SlugTaken. Without --yes the command only lists the tenants that it would assign. Check them: the present owner of
a namespace with this name gets their data.
${WHERE}
Exit code 1: a namespace does not exist, or the registry does not answer.`;

/** Adds `carrel tenants`, which works on the data of single tenants. */
export function addTenantCommands(program: Command, installation: FindInstallation, env: NodeJS.ProcessEnv): void {
  const tenants = program.command('tenants').description('administer single tenants');
  addAdoption(tenants, installation);
  addBackups(tenants, installation, env);
  addMoves(tenants, installation);
}

function addAdoption(tenants: Command, installation: FindInstallation): void {
  tenants
    .command('adoption-token')
    .description('print a token with which another Tenant adopts the data of a deleted one (deletionPolicy: Retain)')
    .argument('<slug>', 'the slug of the deleted Tenant')
    .addHelpText('after', ADOPTION_TOKEN_HELP)
    .action(async (slug: string) => {
      const { adoptionToken } = await import('../../pkg/admin/commands/adoption-token.ts');
      await adoptionToken(slug, { installation: await installation() });
    });
}

function addBackups(tenants: Command, installation: FindInstallation, env: NodeJS.ProcessEnv): void {
  tenants
    .command('backup')
    .description('copy rows and objects of tenants as of one moment to a folder or bucket')
    .argument('[slugs...]', 'the slugs of the Tenants; default: all')
    .requiredOption('--to <repository>', 'the repository to write to')
    .option('--keep <count>', 'then delete all but this many of the newest backups of each tenant', positiveNumber)
    .option('--most-minutes <count>', 'give up on a tenant after this time, and continue with the next', positiveNumber)
    .addHelpText('after', BACKUP_HELP)
    .action(async (slugs: string[], { to, keep, mostMinutes }: { to: string; keep?: number; mostMinutes?: number }) => {
      const { backUpTenants } = await import('../../pkg/admin/commands/backup.ts');
      const mostMs = mostMinutes === undefined ? undefined : mostMinutes * 60_000;
      process.exitCode = (await backUpTenants(slugs, { to, keep, mostMs, installation: await installation(), env })) ? 0 : 1;
    });

  tenants
    .command('backups')
    .description('list the backups of a tenant')
    .argument('<slug>', 'the slug of the Tenant')
    .requiredOption('--at <repository>', 'the repository of the backups')
    .option('--verify', 'read every byte and compare it with what was written', false)
    .addHelpText('after', `${REPOSITORY_HELP}\nExit code 1: the tenant has no backup, or something is wrong.`)
    .action(async (slug: string, options: { at: string; verify: boolean }) => {
      const { listBackups } = await import('../../pkg/admin/commands/backup.ts');
      process.exitCode = (await listBackups(slug, { ...options, installation: await installation(), env })) ? 0 : 1;
    });

  tenants
    .command('restore')
    .description('restore a suspended tenant to the state of a backup')
    .argument('<slug>', 'the slug of the Tenant')
    .requiredOption('--from <repository>', 'the repository of the backup')
    .option('--backup <name>', 'its name, such as 20261123T150301Z; default: the newest')
    .option('--of <slug>', 'the tenant that the backup is of; default: <slug>')
    .option('--replace', 'delete the present data of the tenant', false)
    .option('--former', 'accept a backup of a tenant that had the slug in another installation, or before it was deleted', false)
    .option('--unsigned', 'accept a backup that Carrel may not have made, or that was altered', false)
    .addHelpText('after', RESTORE_HELP)
    .action(async (slug: string, options: RestoreArguments) => {
      const { restoreTenant } = await import('../../pkg/admin/commands/backup.ts');
      const { backup, of } = options;
      process.exitCode = (await restoreTenant(slug, { ...options, backup, of, installation: await installation(), env })) ? 0 : 1;
    });
}

function addMoves(tenants: Command, installation: FindInstallation): void {
  tenants
    .command('move')
    .description('move the rows of a tenant to another shard')
    .argument('<slug>', 'the slug of the Tenant')
    .requiredOption('--to <shard>', 'the name of the shard')
    .addHelpText('after', MOVE_HELP)
    .action(async (slug: string, { to }: { to: string }) => {
      const { move } = await import('../../pkg/admin/commands/move.ts');
      await move(slug, { to, installation: await installation() });
    });

  tenants
    .command('reclaim')
    .description('after the loss of etcd: assign the tenants of lost namespaces to the present namespaces of the same names')
    .argument('[namespaces...]', 'the names of the namespaces; default: all')
    .option('--yes', 'do it', false)
    .addHelpText('after', RECLAIM_HELP)
    .action(async (namespaces: string[], { yes }: { yes: boolean }) => {
      const { reclaim } = await import('../../pkg/admin/commands/reclaim.ts');
      await reclaim(namespaces, { isMeant: yes, installation: await installation() });
    });
}
