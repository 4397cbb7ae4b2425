import type { Command } from 'commander';
import type { Installation } from '../../pkg/admin/installation.ts';

const HELP = `
Teachers place links to files in their LMS, and a key of the tenant's own signs what each link opens. The newest key signs; links of the former keys go on
working until these are withdrawn. Nothing of it needs the LMS or rolls a pod.
Run it where the operator runs (kubectl exec); without CARREL_SHARDS_DIR it is the platform on this machine.
Exit code 1: there is no such tenant or key, or the key is the one that signs.`;

/** `carrel keys links`: the keys that sign the links which teachers placed. */
export function addLinkKeyCommands(keys: Command, at: () => Promise<Installation>): void {
  const links = keys.command('links').description('keys that sign the links to files which teachers placed').addHelpText('after', HELP);
  const command = (name: string, description: string): Command =>
    links
      .command(name)
      .description(description)
      .requiredOption('--tenant <slug>', 'whose keys')
      .option('--json', 'lines of JSON', false)
      .addHelpText('after', HELP);
  command('list', 'show the keys, the one that signs first, and how many links that were opened each has signed').action(
    async (of: { tenant: string; json: boolean }) => {
      const { listLinkKeys } = await import('../../pkg/admin/commands/link-keys.ts');
      await listLinkKeys({ ...of, installation: await at() });
    },
  );
  command('rotate', 'sign with a new key from now on; placed links go on working').action(async (of: { tenant: string; json: boolean }) => {
    const { rotateLinkKey } = await import('../../pkg/admin/commands/link-keys.ts');
    await rotateLinkKey({ ...of, installation: await at() });
  });
  command('withdraw', 'delete a former key: no link that it signed opens anything any more, in any course')
    .argument('<id>', 'as `carrel keys links list` shows it')
    .action(async (id: string, of: { tenant: string; json: boolean }) => {
      const { withdrawLinkKey } = await import('../../pkg/admin/commands/link-keys.ts');
      await withdrawLinkKey(id, { ...of, installation: await at() });
    });
}
