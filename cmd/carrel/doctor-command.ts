import type { Command } from 'commander';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import type { FindInstallation } from './installation.ts';
import { wholeNumber } from './numbers.ts';

const DOCTOR_HELP = `
Without --tenant it checks the whole installation: shards and their schemas, workers, Redis, the object store, the API server,
the custom resources, the leader, and every Tenant, LtiRegistration and Webhook that is not Ready. It changes nothing. Run it
where the operator runs (kubectl exec).
With --tenant it compares the tenant's rows with its objects. It reports versions without an object, objects of the wrong size,
orphaned objects, wrong counts of used bytes, and wrong checksums of some versions. --repair deletes orphaned objects and recounts
used bytes; it changes nothing else. Run it where the worker runs.
Both also work for the platform on this machine. Exit code 1: something is wrong and was not repaired.`;

const sampleFrom = (text: string): number | 'all' => (text === 'all' ? 'all' : wholeNumber(text));

/** Adds `carrel doctor`, which checks an installation or the data of a tenant. */
export function addDoctorCommand(program: Command, installation: FindInstallation): void {
  program
    .command('doctor')
    .description("check a whole installation, or whether a tenant's rows and objects agree, and explain what is wrong")
    .option('--tenant <slug>', 'the tenant; default: the whole installation')
    .option('--repair', 'with --tenant: repair what can be repaired safely', false)
    .option(
      '--sample <count>',
      "with --tenant: how many versions to read and compare with their checksums, or 'all' (default: 100 of at most 256 MiB)",
      sampleFrom,
    )
    .addHelpText('after', DOCTOR_HELP)
    .action(async ({ tenant, repair, sample }: { tenant?: string; repair: boolean; sample?: number | 'all' }) => {
      if (tenant === undefined) {
        if (repair || sample !== undefined) throw new CommandError('--repair and --sample need a tenant. Name it with --tenant');
        const { checkInstallation } = await import('../../pkg/admin/commands/doctor-installation.ts');
        process.exitCode = (await checkInstallation({ installation: await installation() })) ? 0 : 1;
        return;
      }
      const { checkTenant } = await import('../../pkg/admin/commands/doctor-tenant.ts');
      process.exitCode = (await checkTenant(tenant, { installation: await installation(), repair, sample })) ? 0 : 1;
    });
}
