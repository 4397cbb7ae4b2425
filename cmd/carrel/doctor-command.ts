import type { Command } from 'commander';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import type { FindInstallation } from './installation.ts';
import { wholeNumber } from './numbers.ts';

const DOCTOR_HELP = `
Without --tenant it looks at the whole installation: shards and their schemas, workers, Redis, the object store, the API server, the custom resources,
who leads, and every Tenant, LtiRegistration and Webhook that is not Ready. It changes nothing. Run it where the operator runs (kubectl exec).
With --tenant it compares the tenant's rows with its objects: versions without an object, objects of another size, objects of nobody, used bytes, and
checksums of some versions. --mend deletes objects of nobody and counts used bytes again; nothing else is changed. Run it where the worker runs.
Both also look at the platform on this machine. Exit code 1: something is wrong and was not put right.`;

const sampleFrom = (text: string): number | 'all' => (text === 'all' ? 'all' : wholeNumber(text));

/** `carrel doctor`: what is wrong with an installation, or with the data of a tenant. */
export function addDoctorCommand(program: Command, installation: FindInstallation): void {
  program
    .command('doctor')
    .description("check a whole installation, or that a tenant's rows and objects agree, and say in words what is wrong")
    .option('--tenant <slug>', 'the tenant; left out: the installation')
    .option('--mend', 'with --tenant: put right what leaves no choice', false)
    .option(
      '--sample <count>',
      "with --tenant: how many versions to read and compare with their checksums, or 'all' (default: 100 of at most 256 MiB)",
      sampleFrom,
    )
    .addHelpText('after', DOCTOR_HELP)
    .action(async ({ tenant, mend, sample }: { tenant?: string; mend: boolean; sample?: number | 'all' }) => {
      if (tenant === undefined) {
        if (mend || sample !== undefined) throw new CommandError('--mend and --sample are for one tenant. Name it by --tenant');
        const { checkInstallation } = await import('../../pkg/admin/commands/doctor-installation.ts');
        process.exitCode = (await checkInstallation({ installation: await installation() })) ? 0 : 1;
        return;
      }
      const { checkTenant } = await import('../../pkg/admin/commands/doctor-tenant.ts');
      process.exitCode = (await checkTenant(tenant, { installation: await installation(), mend, sample })) ? 0 : 1;
    });
}
