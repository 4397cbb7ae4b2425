import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';

const ROLLOUT_HELP = `
The command uses the cluster of KUBECONFIG or of its own pod, and the registry of CARREL_SHARDS_DIR; otherwise those of the
platform on this machine. In a cluster run it in the operator's pod (kubectl exec).`;

/** Adds `carrel rollout`, which shows, pauses and resumes the rollout of a new image. */
export function addRolloutCommands(program: Command, installation: FindInstallation): void {
  const rollout = program
    .command('rollout')
    .description('the rollout of a new image, or of new settings, to all tenants')
    .addHelpText('after', ROLLOUT_HELP);
  rollout
    .command('status')
    .description('show how many tenants have the image, wait for it or failed; exit code 1 if some failed or are halted')
    .action(async () => {
      const { rolloutStatus } = await import('../../pkg/admin/commands/rollout.ts');
      process.exitCode = (await rolloutStatus({ installation: await installation() })) ? 0 : 1;
    });
  rollout
    .command('pause')
    .description('stop giving further tenants a new image or new settings')
    .action(async () => {
      const { pause } = await import('../../pkg/admin/commands/rollout.ts');
      await pause({ installation: await installation() });
    });
  rollout
    .command('resume')
    .description('continue with the waiting tenants')
    .action(async () => {
      const { resume } = await import('../../pkg/admin/commands/rollout.ts');
      await resume({ installation: await installation() });
    });
}
