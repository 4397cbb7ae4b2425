import type { Command } from 'commander';
import type { FindInstallation } from './installation.ts';
import { WHERE_HELP } from './help.ts';

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

const jsonOption = (description: string): [string, string, boolean] => ['--json', description, false];
const ONE_LINE = jsonOption('a line of JSON');

interface OfJob {
  readonly tenant: string;
  readonly json: boolean;
}

/** `carrel jobs`: jobs of the worker and of people, for whoever runs the installation. */
export function addJobCommands(program: Command, installation: FindInstallation): void {
  const jobs = program
    .command('jobs')
    .description('jobs of the worker, dead letters too, and of people')
    .addHelpText('after', STATES_HELP);
  jobs
    .command('list')
    .description('list jobs that failed or wait for another attempt')
    .option('--tenant <slug>', 'of this tenant, those of its people too; left out: of all tenants')
    .option('--state <state>', "in this state, or 'all'")
    .option(...jsonOption('a line of JSON for each'))
    .addHelpText('after', STATES_HELP)
    .action(async ({ tenant, state, json }: { tenant?: string; state?: string; json: boolean }) => {
      const { listJobs } = await import('../../pkg/admin/commands/jobs.ts');
      await listJobs({ tenant, state, json, installation: await installation() });
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
    await showJob(id, { ...of, installation: await installation() });
  });
  ofOne('retry', 'have a job due at once, a dead letter too, as if it had never failed', RETRY_HELP).action(
    async (id: string, of: OfJob) => {
      // A retry of an import reads its archive anew, by services of the tenant's server.
      const { retryJob } = await import('../../pkg/admin/commands/job-changes.ts');
      const { RETRYABLE_TASKS } = await import('../server/retryable-tasks.ts');
      await retryJob(id, {
        ...of,
        installation: await installation(),
        kinds: RETRYABLE_TASKS.filter(({ name }) => name !== 'import'),
      });
    },
  );
  ofOne('cancel', "end a job of a person, or delete one of the worker's that does not run", CANCEL_HELP).action(
    async (id: string, of: OfJob) => {
      const { cancelJob } = await import('../../pkg/admin/commands/job-changes.ts');
      await cancelJob(id, { ...of, installation: await installation() });
    },
  );
}
