import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { installationFrom } from '../../../cmd/carrel/installation.ts';
import type { Installation } from '../../../pkg/admin/installation.ts';
import { CommandError } from '../../../pkg/runtime/command-error.ts';
import { testBackends, programEnvironment, ROOT } from '../../support/backends/backends.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `carrel` as a person does beside an operator: with the operator's own settings. */
export function carrel(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const settings = {
    CARREL_SHARDS_DIR: testBackends().stores.shardsDir,
    CARREL_HOME: join(testBackends().scratch, 'no-state'),
    ...env,
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(ROOT, 'cmd/carrel/main.ts'), ...args],
      { env: { ...programEnvironment(), ...settings } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** Runs a command's work in this process, since its modules take longer to load than most commands run. */
export async function inProcess(
  work: (options: { installation: Installation; env: NodeJS.ProcessEnv }) => Promise<unknown>,
  env: NodeJS.ProcessEnv,
): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  const writes = [process.stdout.write, process.stderr.write] as const;
  // The client library reads it from the process's own environment.
  const kubeconfig = process.env['KUBECONFIG'];
  if (env['KUBECONFIG']) process.env['KUBECONFIG'] = env['KUBECONFIG'];
  process.stdout.write = (text: string | Uint8Array): boolean => ((stdout += String(text)), true);
  process.stderr.write = (text: string | Uint8Array): boolean => ((stderr += String(text)), true);
  try {
    const installation = await installationFrom({ stateDirectory: join(testBackends().scratch, 'no-state'), env });
    const isWell = (await work({ installation, env })) !== false;
    return { code: isWell ? 0 : 1, stdout, stderr };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { code: 1, stdout, stderr: `${stderr}carrel: ${error.message}\n` };
  } finally {
    [process.stdout.write, process.stderr.write] = writes;
    if (kubeconfig === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = kubeconfig;
  }
}

/** Throws with what the command said when it makes none. */
export async function adoptionToken(slug: string): Promise<string> {
  const { code, stdout, stderr } = await carrel(['tenants', 'adoption-token', slug]);
  if (code !== 0) throw new Error(`carrel tenants adoption-token ${slug}: ${stderr}`);
  return stdout.trim();
}
