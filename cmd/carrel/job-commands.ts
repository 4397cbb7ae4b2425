import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';
import { WHERE_HELP } from './help.ts';

const STATES_HELP = `
Jobs of the worker have numbers; jobs of people (GET /jobs) have UUIDs and are listed with --tenant.
States of the worker's jobs: dead (never retried), put_back (of another release), retrying, due, running, scheduled,
held (the tenant is being moved). States of people's jobs: queued, running, succeeded, failed, canceled.
${WHERE_HELP}`;

const RETRY_HELP = `
An unfinished job of a person continues where it is, even if it is a dead letter. A job that has ended stays as it is; a new job
of that person retries its failed items, as with POST /jobs/{id}/retry. The tenant's audit log attributes both to Carrel.
${STATES_HELP}`;

const CANCEL_HELP = `
A job of a person ends where it is, even if you name the number of the worker's job that does it. What is done stays done.
Any other job of the worker is deleted.
${STATES_HELP}`;

const jsonOption = (description: string): [string, string, boolean] => ['--json', description, false];
const ONE_LINE = jsonOption('print a line of JSON');

interface OfJob {
  readonly tenant: string;
  readonly json: boolean;
}

/** Adds `carrel jobs`: jobs of the worker and of people, for operators of the installation. */
export function addJobCommands(program: Command, installation: FindInstallation): void {
  const jobs = program
    .command('jobs')
    .description('jobs of the worker, including dead letters, and of people')
    .addHelpText('after', STATES_HELP);
  jobs
    .command('list')
    .description('list jobs that failed or wait for another attempt')
    .option('--tenant <slug>', 'jobs of this tenant, including those of its people; default: jobs of all tenants')
    .option('--state <state>', "jobs in this state, or 'all'")
    .option(...jsonOption('print a line of JSON for each'))
    .addHelpText('after', STATES_HELP)
    .action(async ({ tenant, state, json }: { tenant?: string; state?: string; json: boolean }) => {
      const { listJobs } = await import('../../pkg/admin/commands/jobs.ts');
      await listJobs({ tenant, state, json, installation: await installation() });
    });
  const jobCommand = (name: string, description: string, help: string): Command =>
    jobs
      .command(name)
      .description(description)
      .argument('<id>', 'as `carrel jobs list` shows it')
      .requiredOption('--tenant <slug>', 'the tenant that has the job')
      .option(...ONE_LINE)
      .addHelpText('after', help);
  jobCommand('show', 'print everything about a job as JSON', STATES_HELP).action(async (id: string, of: OfJob) => {
    const { showJob } = await import('../../pkg/admin/commands/jobs.ts');
    await showJob(id, { ...of, installation: await installation() });
  });
  jobCommand('retry', 'make a job due at once, even a dead letter, as if it had never failed', RETRY_HELP).action(
    async (id: string, of: OfJob) => {
      // Retrying an import reads its archive again, which needs services of the tenant's server.
      const { retryJob } = await import('../../pkg/admin/commands/job-changes.ts');
      const { RETRYABLE_TASKS } = await import('../server/retryable-tasks.ts');
      await retryJob(id, {
        ...of,
        installation: await installation(),
        kinds: RETRYABLE_TASKS.filter(({ name }) => name !== 'import'),
      });
    },
  );
  jobCommand('cancel', 'cancel a job of a person, or delete a job of the worker that is not running', CANCEL_HELP).action(
    async (id: string, of: OfJob) => {
      const { cancelJob } = await import('../../pkg/admin/commands/job-changes.ts');
      await cancelJob(id, { ...of, installation: await installation() });
    },
  );
}
