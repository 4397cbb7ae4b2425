#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import { compileCacheFolder } from '../../pkg/runtime/compile-cache.ts';
import { ConfigError } from '../../pkg/runtime/config.ts';
import { withoutLineEnds } from '../../pkg/runtime/line-end.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { installationFrom, type Surroundings } from './installation.ts';
import { addJobCommands } from './job-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addOwnPrograms, addPlatformCommands } from './platform-commands.ts';
import { addRolloutCommands } from './rollout-commands.ts';
import { addTenantCommands } from './tenant-commands.ts';
import { addWebhookCommands } from './webhook-commands.ts';

const root = dirname(dirname(import.meta.dirname));
const env = withoutLineEnds(process.env);
// Caches the modules that the commands import. A folder that cannot be written makes a command slower and breaks nothing.
enableCompileCache(env['NODE_COMPILE_CACHE'] || compileCacheFolder(root));

// `carrel logs operator | head` closes standard output, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const program = new Command('carrel')
  .description(
    'Runs the platform on one machine. Its state directory is .carrel (CARREL_HOME); tenants answer on port 8080 (CARREL_PORT).',
  )
  .showHelpAfterError()
  .configureHelp({ showGlobalOptions: true });

const surroundings: Surroundings = { root, stateDirectory: resolve(env['CARREL_HOME'] || join(root, '.carrel')), env };
const installation = () => installationFrom(surroundings);
// Each command imports its modules when it runs, so that `--help` and the supervisor's programs load nothing else.
addPlatformCommands(program, surroundings);
addTenantCommands(program, installation, env);
addKeyCommands(program, installation);
addRolloutCommands(program, installation);
addJobCommands(program, installation);
addWebhookCommands(program, installation);
addDoctorCommand(program, installation);
addOwnPrograms(program, surroundings);

async function trustCertificatesOf(path: string): Promise<void> {
  const { readTrustedCertificates, trustCertificates } = await import('../../pkg/runtime/trusted-certificates.ts');
  try {
    trustCertificates(readTrustedCertificates(path));
  } catch (error) {
    throw new CommandError(`CARREL_TRUSTED_CERTIFICATES_FILE: ${(error as Error).message} (docs/operate/settings.md)`);
  }
}
// For the operator's pod: its stores, and storage of tenants, may have certificates of the installation's own authorities.
const trusted = env['CARREL_TRUSTED_CERTIFICATES_FILE'];

try {
  if (trusted) await trustCertificatesOf(trusted);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommandError) process.stderr.write(`carrel: ${error.message}\n`);
  else if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else throw error;
  process.exit(1); // A program that failed may have left handles open.
}
