import type { Command } from 'commander';
import type { Installation } from '../../pkg/admin/installation.ts';

const WHERE_HELP = `
Run it where the operator runs (kubectl exec); without CARREL_SHARDS_DIR it is the platform on this machine.
Exit code 1: there is no such tenant, job or webhook, or it is not in a state for that; the line says which.`;

const STATES_HELP = `
Jobs of the worker have numbers, jobs of people (GET /jobs) have UUIDs; the latter are listed with --tenant. States of the worker's: dead (never tried again),
put_back (of another release), retrying, due, running, scheduled, held (the tenant is being moved). Of people's: queued, running, succeeded, failed, canceled.
${WHERE_HELP}`;

const RETRY_HELP = `
A job of a person that has not ended goes on where it is, a dead letter too. One that has ended stays as it is: its failed items become a new job of that
person, as by POST /jobs/{id}/retry. The tenant's audit log shows either as Carrel's own.${STATES_HELP}`;

const CANCEL_HELP = `
A job of a person ends where it is, also when the number of the worker's is named that does it: what is done stays done. Any other job of the worker is deleted.
${STATES_HELP}`;

const REPLAY_HELP = `
It requests a job and follows it. Ctrl-C ends the following alone: the job goes on; carrel jobs show says how far it is, carrel jobs cancel ends it.
${WHERE_HELP}
Also: the job failed or was canceled. Exit code 130: Ctrl-C.`;

const jsonOption = (description: string): [string, string, boolean] => ['--json', description, false];
const ONE_LINE = jsonOption('a line of JSON');

type At = () => Promise<Installation>;

/** `carrel jobs` and `carrel webhooks`: what there is of them in an installation, for whoever runs it. */
export function addJobCommands(program: Command, at: At): void {
  addJobs(program.command('jobs').description('jobs of the worker, dead letters too, and of people').addHelpText('after', STATES_HELP), at);
  addWebhooks(program.command('webhooks').description('webhooks of tenants and their deliveries').addHelpText('after', WHERE_HELP), at);
}

interface OfJob {
  readonly tenant: string;
  readonly json: boolean;
}

function addJobs(jobs: Command, at: At): void {
  jobs
    .command('list')
    .description('list jobs that failed or wait for another attempt')
    .option('--tenant <slug>', 'of this tenant, those of its people too; left out: of all tenants')
    .option('--state <state>', "in this state, or 'all'")
    .option(...jsonOption('a line of JSON for each'))
    .addHelpText('after', STATES_HELP)
    .action(async ({ tenant, state, json }: { tenant?: string; state?: string; json: boolean }) => {
      const { listJobs } = await import('../../pkg/admin/commands/jobs.ts');
      await listJobs({ tenant, state, json, installation: await at() });
    });
  const ofOne = (name: string, description: string, help: string): Command =>
    jobs
      .command(name)
      .description(description)
      .argument('<id>', 'as `carrel jobs list` shows it')
      .requiredOption('--tenant <slug>', 'whose job it is')
      .option(...ONE_LINE)
      .addHelpText('after', help);
  ofOne('show', 'print all that there is of a job, as JSON', STATES_HELP).action(async (id: string, of: OfJob) => {
    const { showJob } = await import('../../pkg/admin/commands/jobs.ts');
    await showJob(id, { ...of, installation: await at() });
  });
  ofOne('retry', 'have a job due at once, a dead letter too, as if it had never failed', RETRY_HELP).action(
    async (id: string, of: OfJob) => {
      // A retry of an import reads its archive anew, by services of the tenant's server.
      const { retryJob } = await import('../../pkg/admin/commands/job-changes.ts');
      const { RETRYABLE_TASKS } = await import('../server/retryable-tasks.ts');
      await retryJob(id, { ...of, installation: await at(), kinds: RETRYABLE_TASKS.filter(({ name }) => name !== 'import') });
    },
  );
  ofOne('cancel', "end a job of a person, or delete one of the worker's that does not run", CANCEL_HELP).action(
    async (id: string, of: OfJob) => {
      const { cancelJob } = await import('../../pkg/admin/commands/job-changes.ts');
      await cancelJob(id, { ...of, installation: await at() });
    },
  );
}

interface OfReplay extends OfJob {
  readonly since: string;
  readonly until?: string;
  readonly status?: string;
}

/** As a shell has it of a program that Ctrl-C has ended. */
const INTERRUPTED = 130;

function addWebhooks(webhooks: Command, at: At): void {
  webhooks
    .command('list')
    .description('list the webhooks of a tenant, and how many of their deliveries are due')
    .requiredOption('--tenant <slug>', 'whose webhooks')
    .option(...jsonOption('a line of JSON for each'))
    .addHelpText('after', WHERE_HELP)
    .action(async (of: OfJob) => {
      const { listWebhooks } = await import('../../pkg/admin/commands/webhooks.ts');
      await listWebhooks({ ...of, installation: await at() });
    });
  webhooks
    .command('replay')
    .description("deliver again what did not arrive in a time, at the receiver's pace, as a job")
    .argument('<id>', 'as `carrel webhooks list` shows it')
    .requiredOption('--tenant <slug>', 'whose webhook it is')
    .requiredOption('--since <time>', 'what was created at or after, such as 2026-01-31T12:00:00Z')
    .option('--until <time>', 'and before; left out: now')
    .option('--status <status>', 'failed, canceled or delivered; left out: failed and canceled')
    .option(...jsonOption('the last line as JSON; the others go to standard error'))
    .addHelpText('after', REPLAY_HELP)
    .action(async (id: string, { until, status, ...of }: OfReplay) => {
      const { replayWebhook } = await import('../../pkg/admin/commands/webhooks.ts');
      const state = await replayWebhook(id, { ...of, until, status, installation: await at() });
      process.exitCode = { succeeded: 0, failed: 1, canceled: 1, running: INTERRUPTED, queued: INTERRUPTED }[state];
    });
}
