import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';
import { positiveNumber } from './numbers.ts';
import { WHERE } from './help.ts';

const ADOPTION_TOKEN_HELP = `
The token is valid once, for 24 hours; a new token replaces it. Write it into the annotation carrel.dev/adopt of the new Tenant.
The registry is that of CARREL_SHARDS_DIR when it is set, as in the operator's pod, else that of the platform on this machine.
Exit code 1: no tenant has this slug, its data are in use or are being deleted, or the registry does not answer.`;

const REPOSITORY_HELP = `
<repository> is a folder, or s3://<bucket>/<prefix>: then AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name a key of it, and AWS_ENDPOINT_URL and AWS_REGION
where it is. Backups hold people's data and are not encrypted; secrets in them are sealed with the platform key, which is not among them: keep it too.
${WHERE}`;

const BACKUP_HELP = `${REPOSITORY_HELP}
The tenants go on meanwhile. Of all tenants, four at once, those come first that have waited longest, and those last that named their store. An object is copied once, whatever number of backups has it.
What was written is read back.
Exit code 1: a tenant has no backup, or its storage has lost objects.`;

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

const MOVE_HELP = `
Its objects stay where they are. While its rows are copied the tenant can only be read, what is written gets a 503 that says to try again; then its pods are
replaced. The command says how long it took. A Tenant that names a shard (spec.database.shard) must name that one first.
${WHERE}
Exit code 1: the tenant is where it was, and the line says why.`;

const RECLAIM_HELP = `
A tenant belongs to a namespace by its uid. When the cluster was rebuilt without its etcd, namespaces have new uids, and every Tenant is SlugTaken.
Without --yes it only says which tenants it would give. Look at them: whoever has a namespace of this name now gets their data.
${WHERE}
Exit code 1: a namespace is not there, or the registry does not answer.`;

/** `carrel tenants`: what is done to the data of single tenants. */
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
    .argument('[slugs...]', 'the slugs of the Tenants; left out: all')
    .requiredOption('--to <repository>', 'where to')
    .option('--keep <count>', 'afterwards delete all but so many of its newest backups', positiveNumber)
    .option('--most-minutes <count>', 'give a tenant up after so long, and go on with the next', positiveNumber)
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
    .requiredOption('--at <repository>', 'where they are')
    .option('--verify', 'read every byte, and compare it with what was written', false)
    .addHelpText('after', `${REPOSITORY_HELP}\nExit code 1: there is none, or something is wrong.`)
    .action(async (slug: string, options: { at: string; verify: boolean }) => {
      const { listBackups } = await import('../../pkg/admin/commands/backup.ts');
      process.exitCode = (await listBackups(slug, { ...options, installation: await installation(), env })) ? 0 : 1;
    });

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
    .description('after the loss of etcd: give the tenants of lost namespaces to the namespaces that have their names now')
    .argument('[namespaces...]', 'the names of the namespaces; left out: all')
    .option('--yes', 'do it', false)
    .addHelpText('after', RECLAIM_HELP)
    .action(async (namespaces: string[], { yes }: { yes: boolean }) => {
      const { reclaim } = await import('../../pkg/admin/commands/reclaim.ts');
      await reclaim(namespaces, { isMeant: yes, installation: await installation() });
    });
}
