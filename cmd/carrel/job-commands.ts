import type { Command } from 'commander';

const WHERE_HELP = `
Run it where the operator runs (kubectl exec); without CARREL_SHARDS_DIR it is the platform on this machine.
Exit code 1: there is no such tenant, job or webhook, or it is not in a state for that; the line says which.`;

const JOBS_HELP = `
Jobs of the worker have numbers, jobs of people (GET /jobs) have UUIDs; the latter are listed with --tenant. States of the worker's: dead (never tried again),
put_back (of another release), retrying, due, running, scheduled, held (the tenant is being moved).${WHERE_HELP}`;

/** `carrel jobs` and `carrel webhooks`: what there is of them in an installation, for whoever runs it. */
export function addJobCommands(program: Command, at: { readonly stateDirectory: string; readonly env: NodeJS.ProcessEnv }): void {
  const jobs = program.command('jobs').description('jobs of the worker, dead letters too, and of people').addHelpText('after', JOBS_HELP);
  jobs
    .command('list')
    .description('list jobs that failed or wait for another attempt')
    .option('--tenant <slug>', 'of this tenant, those of its people too; left out: of all tenants')
    .option('--state <state>', "in this state, or 'all'")
    .option('--json', 'a line of JSON for each', false)
    .addHelpText('after', JOBS_HELP)
    .action(async ({ tenant, state, json }: { tenant?: string; state?: string; json: boolean }) => {
      const { listJobs } = await import('../../pkg/local/commands/jobs.ts');
      await listJobs({ tenant, state, json, ...at });
    });
  for (const [name, description] of [
    ['show', 'print all that there is of a job, as JSON'],
    ['retry', 'have a job of the worker due at once, a dead letter too, as if it had never failed'],
    ['cancel', "end a job of a person, or delete one of the worker's that does not run"],
  ] as const) {
    jobs
      .command(name)
      .description(description)
      .argument('<id>', 'as `carrel jobs list` shows it')
      .requiredOption('--tenant <slug>', 'whose job it is')
      .addHelpText('after', JOBS_HELP)
      .action(async (id: string, { tenant }: { tenant: string }) => {
        const { showJob: show, retryJob: retry, cancelJob: cancel } = await import('../../pkg/local/commands/jobs.ts');
        await { show, retry, cancel }[name](id, { tenant, ...at });
      });
  }

  const webhooks = program.command('webhooks').description('webhooks of tenants and their deliveries').addHelpText('after', WHERE_HELP);
  webhooks
    .command('list')
    .description('list the webhooks of a tenant, and how many of their deliveries are due')
    .requiredOption('--tenant <slug>', 'whose webhooks')
    .option('--json', 'a line of JSON for each', false)
    .addHelpText('after', WHERE_HELP)
    .action(async ({ tenant, json }: { tenant: string; json: boolean }) => {
      const { listWebhooks } = await import('../../pkg/local/commands/webhooks.ts');
      await listWebhooks({ tenant, json, ...at });
    });
  webhooks
    .command('replay')
    .description("deliver again what did not arrive in a time, at the receiver's pace")
    .argument('<id>', 'as `carrel webhooks list` shows it')
    .requiredOption('--tenant <slug>', 'whose webhook it is')
    .requiredOption('--since <time>', 'what was created at or after, such as 2026-01-31T12:00:00Z')
    .option('--until <time>', 'and before; left out: now')
    .option('--status <status>', 'failed, canceled or delivered; left out: failed and canceled')
    .addHelpText('after', WHERE_HELP)
    .action(async (id: string, options: { tenant: string; since: string; until?: string; status?: string }) => {
      const { replayWebhook } = await import('../../pkg/local/commands/webhooks.ts');
      const { until, status } = options;
      await replayWebhook(id, { ...options, until, status, ...at });
    });
}
