import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';
import { WHERE_HELP } from './help.ts';

const REPLAY_HELP = `
The command requests a job and follows it. Ctrl-C only stops following: the job continues. carrel jobs show shows its progress,
carrel jobs cancel ends it.
${WHERE_HELP}
Also: the job failed or was canceled. Exit code 130: Ctrl-C.`;

interface OfReplay {
  readonly tenant: string;
  readonly json: boolean;
  readonly since: string;
  readonly until?: string;
  readonly status?: string;
}

/** The exit code that a shell reports for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Adds `carrel webhooks`: webhooks of tenants and their deliveries, for operators of the installation. */
export function addWebhookCommands(program: Command, installation: FindInstallation): void {
  const webhooks = program
    .command('webhooks')
    .description('webhooks of tenants and their deliveries')
    .addHelpText('after', WHERE_HELP);
  webhooks
    .command('list')
    .description('list the webhooks of a tenant, and how many of their deliveries are due')
    .requiredOption('--tenant <slug>', 'the tenant that has the webhooks')
    .option('--json', 'print a line of JSON for each', false)
    .addHelpText('after', WHERE_HELP)
    .action(async (of: { tenant: string; json: boolean }) => {
      const { listWebhooks } = await import('../../pkg/admin/commands/webhooks.ts');
      await listWebhooks({ ...of, installation: await installation() });
    });
  webhooks
    .command('replay')
    .description("deliver again what did not arrive in a time range, at the receiver's pace, as a job")
    .argument('<id>', 'as `carrel webhooks list` shows it')
    .requiredOption('--tenant <slug>', 'the tenant that has the webhook')
    .requiredOption('--since <time>', 'deliveries created at or after this time, such as 2026-01-31T12:00:00Z')
    .option('--until <time>', 'and before this time; default: now')
    .option('--status <status>', 'failed, canceled or delivered; default: failed and canceled')
    .option('--json', 'print the last line as JSON and the others to standard error', false)
    .addHelpText('after', REPLAY_HELP)
    .action(async (id: string, { until, status, ...of }: OfReplay) => {
      const { replayWebhook } = await import('../../pkg/admin/commands/webhooks.ts');
      const state = await replayWebhook(id, { ...of, until, status, installation: await installation() });
      process.exitCode = { succeeded: 0, failed: 1, canceled: 1, running: INTERRUPTED, queued: INTERRUPTED }[state];
    });
}
