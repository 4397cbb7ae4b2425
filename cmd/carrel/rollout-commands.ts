import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';

const ROLLOUT_HELP = `
The cluster is that of KUBECONFIG, or of the pod it runs in, else the platform on this machine; the registry that of CARREL_SHARDS_DIR, else the same
platform's. In a cluster run it in the operator's pod (kubectl exec).`;

/** `carrel rollout`: how far a new image is, and whether it goes on. */
export function addRolloutCommands(program: Command, installation: FindInstallation): void {
  const rollout = program
    .command('rollout')
    .description('the rollout of a new image, or of new settings, to all tenants')
    .addHelpText('after', ROLLOUT_HELP);
  rollout
    .command('status')
    .description('show how many tenants have the image, wait for it or failed; exit code 1 when some failed or all are halted')
    .action(async () => {
      const { rolloutStatus } = await import('../../pkg/admin/commands/rollout.ts');
      process.exitCode = (await rolloutStatus({ installation: await installation() })) ? 0 : 1;
    });
  rollout
    .command('pause')
    .description('let no further tenant get a new image or new settings')
    .action(async () => {
      const { pause } = await import('../../pkg/admin/commands/rollout.ts');
      await pause({ installation: await installation() });
    });
  rollout
    .command('resume')
    .description('go on with the tenants that wait')
    .action(async () => {
      const { resume } = await import('../../pkg/admin/commands/rollout.ts');
      await resume({ installation: await installation() });
    });
}
