import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { addJobCommands } from '../../../cmd/carrel/job-commands.ts';
import { addKeyCommands } from '../../../cmd/carrel/key-commands.ts';
import { addWebhookCommands } from '../../../cmd/carrel/webhook-commands.ts';
import type { Installation } from '../../../pkg/admin/installation.ts';
import { CommandError } from '../../../pkg/runtime/command-error.ts';
import { fixture } from '../../support/suites/fixture.ts';
import type { TestPlatform } from '../../support/programs/worker-platform.ts';
import { inProcess, type Outcome } from '../operator/carrel.ts';

/** Returns the environment of the operator's pod. */
export const operatorSettings = (platform: TestPlatform): Record<string, string> =>
  fixture(
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'shards-'));
      mkdirSync(join(folder, 'one'));
      writeFileSync(join(folder, 'one', 'url'), platform.stores.postgres.operator);
      return { CARREL_SHARDS_DIR: folder, CARREL_PLATFORM_KEYS: platform.platformKeys, CARREL_REDIS_ADMIN_URL: '' };
    },
    async ({ CARREL_SHARDS_DIR: folder }) => rmSync(folder, { recursive: true }),
  );

/**
 * Runs `carrel jobs`, `carrel webhooks` and `carrel keys links` in this process, as beside the operator of a platform: the
 * program takes longer to load than they run.
 */
export const besideOperator =
  (settings: Readonly<Record<string, string>>) =>
  async (...args: string[]): Promise<Outcome> => {
    const before = process.exitCode;
    process.exitCode = undefined;
    try {
      const outcome = await inProcess(({ installation }) => parse(args, installation), { ...settings });
      return outcome.code === 0 ? { ...outcome, code: exitCode() } : outcome;
    } finally {
      process.exitCode = before;
    }
  };

const exitCode = (): number => Number(process.exitCode ?? 0);

async function parse(args: readonly string[], installation: Installation): Promise<void> {
  const program = new Command('carrel').exitOverride().configureOutput({ writeErr: () => undefined });
  for (const add of [addJobCommands, addWebhookCommands, addKeyCommands]) add(program, async () => installation);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw new CommandError(error.message);
    throw error;
  }
}
