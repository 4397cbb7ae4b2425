import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { testBackends, programEnvironment, ROOT } from '../../support/backends.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `carrel` as a person does beside an operator: with the operator's own settings. */
export function carrel(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const settings = { CARREL_SHARDS_DIR: testBackends().stores.shardsDir, CARREL_HOME: join(testBackends().scratch, 'no-state'), ...env };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(ROOT, 'cmd/carrel/main.ts'), ...args],
      { env: { ...programEnvironment(), ...settings } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** Throws with what the command said when it makes none. */
export async function adoptionToken(slug: string): Promise<string> {
  const { code, stdout, stderr } = await carrel(['tenants', 'adoption-token', slug]);
  if (code !== 0) throw new Error(`carrel tenants adoption-token ${slug}: ${stderr}`);
  return stdout.trim();
}
