import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';
import { WHERE } from './help.ts';

const ROTATE_HELP = `
The credentials are database, redis, storage, signing and data; left out: all of them. The operator replaces them without a failed request: pods roll, and the
former values end when nothing uses them (storage after 15 minutes, signing after an hour, data after a day).
The cluster is that of KUBECONFIG, or of the pod it runs in, else the platform on this machine. The platform's own key is another matter: docs/operate.md.
Exit code 1: there is no such Tenant or credential, or the operator does not begin within a minute.`;

const LINKS_HELP = `
Teachers place links to files in their LMS, and a key of the tenant's own signs what each link opens. The newest key signs; links of the former keys go on
working until these are withdrawn. Nothing of it needs the LMS or rolls a pod.
${WHERE}
Exit code 1: there is no such tenant or key, or the key is the one that signs.`;

/** `carrel keys`: credentials of tenants, and the keys that sign the links which teachers placed. */
export function addKeyCommands(program: Command, installation: FindInstallation): void {
  const keys = program.command('keys').description('credentials and keys of tenants');
  addLinkKeys(keys, installation);
  keys
    .command('rotate')
    .description('replace passwords and keys of a tenant')
    .argument('<tenant>', 'the name of the Tenant')
    .argument('[credentials...]')
    .option('-n, --namespace <namespace>', "the Tenant's namespace", 'default')
    .addHelpText('after', ROTATE_HELP)
    .action(async (name: string, credentials: string[], { namespace }: { namespace: string }) => {
      const { rotate } = await import('../../pkg/admin/commands/rotate.ts');
      await rotate({ namespace, name }, credentials, { installation: await installation() });
    });
}

function addLinkKeys(keys: Command, installation: FindInstallation): void {
  const links = keys
    .command('links')
    .description('keys that sign the links to files which teachers placed')
    .addHelpText('after', LINKS_HELP);
  const command = (name: string, description: string): Command =>
    links
      .command(name)
      .description(description)
      .requiredOption('--tenant <slug>', 'whose keys')
      .option('--json', 'lines of JSON', false)
      .addHelpText('after', LINKS_HELP);
  command('list', 'show the keys, the one that signs first, and how many links that were opened each has signed').action(
    async (of: { tenant: string; json: boolean }) => {
      const { listLinkKeys } = await import('../../pkg/admin/commands/link-keys.ts');
      await listLinkKeys({ ...of, installation: await installation() });
    },
  );
  command('rotate', 'sign with a new key from now on; placed links go on working').action(
    async (of: { tenant: string; json: boolean }) => {
      const { rotateLinkKey } = await import('../../pkg/admin/commands/link-keys.ts');
      await rotateLinkKey({ ...of, installation: await installation() });
    },
  );
  command('withdraw', 'delete a former key: no link that it signed opens anything any more, in any course')
    .argument('<id>', 'as `carrel keys links list` shows it')
    .action(async (id: string, of: { tenant: string; json: boolean }) => {
      const { withdrawLinkKey } = await import('../../pkg/admin/commands/link-keys.ts');
      await withdrawLinkKey(id, { ...of, installation: await installation() });
    });
}
