import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';
import { WHERE } from './help.ts';

const ROTATE_HELP = `
The credentials are database, redis, storage, signing and data; default: all of them. The operator replaces them without a
failed request: it replaces the pods, and the former values end when nothing uses them any longer (storage after 15 minutes,
signing after an hour, data after a day).
The command works on the cluster of KUBECONFIG or of its own pod, otherwise on the platform on this machine. For the platform's
own key see docs/operate/upgrade.md.
Exit code 1: the Tenant or credential does not exist, or the operator does not begin within a minute.`;

const LINKS_HELP = `
Teachers place links to files in their LMS, and a key of the tenant signs what each link opens. The newest key signs. Links of
former keys continue to work until those keys are withdrawn. None of this involves the LMS or replaces a pod.
${WHERE}
Exit code 1: the tenant or key does not exist, or the key is the one that signs.`;

/** Adds `carrel keys`: credentials of tenants, and the keys that sign links placed by teachers. */
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
    .description('keys that sign the links to files that teachers placed')
    .addHelpText('after', LINKS_HELP);
  const command = (name: string, description: string): Command =>
    links
      .command(name)
      .description(description)
      .requiredOption('--tenant <slug>', 'the tenant that has the keys')
      .option('--json', 'print lines of JSON', false)
      .addHelpText('after', LINKS_HELP);
  command('list', 'show the keys, the signing key first, and how many opened links each has signed').action(
    async (of: { tenant: string; json: boolean }) => {
      const { listLinkKeys } = await import('../../pkg/admin/commands/link-keys.ts');
      await listLinkKeys({ ...of, installation: await installation() });
    },
  );
  command('rotate', 'sign with a new key from now on; existing links continue to work').action(
    async (of: { tenant: string; json: boolean }) => {
      const { rotateLinkKey } = await import('../../pkg/admin/commands/link-keys.ts');
      await rotateLinkKey({ ...of, installation: await installation() });
    },
  );
  command('withdraw', 'delete a former key; links that it signed no longer open anything, in any course')
    .argument('<id>', 'as `carrel keys links list` shows it')
    .action(async (id: string, of: { tenant: string; json: boolean }) => {
      const { withdrawLinkKey } = await import('../../pkg/admin/commands/link-keys.ts');
      await withdrawLinkKey(id, { ...of, installation: await installation() });
    });
}
