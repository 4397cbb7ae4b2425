import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programEnvironment, ROOT } from '../support/backends/backends.ts';
import { freePort } from '../support/backends/ports.ts';
import type { TestTenant } from '../support/programs/server.ts';
import { waitFor } from '../support/wait.ts';
import type { Program } from './kept.ts';

/**
 * The program itself, cmd/server/main.ts, for one tenant, at a port that stays the same. Resolves when it is ready. `log` gets
 * what it writes to its log.
 */
export async function startServerProcess(
  tenant: TestTenant,
  port: number,
  settings: Readonly<Record<string, string>> = {},
  log?: (text: string) => void,
): Promise<Program & { readonly pid: number }> {
  const opsPort = await freePort();
  const child = spawn(process.execPath, ['cmd/server/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', log ? 'pipe' : process.env.CARREL_TEST_LOG ? 'inherit' : 'ignore', 'inherit'],
    env: {
      ...programEnvironment(),
      ...tenant.env,
      CARREL_APP_URL: `http://127.0.0.1:${port}`,
      CARREL_PORT: String(port),
      CARREL_OPS_PORT: String(opsPort),
      CARREL_LOG_LEVEL: process.env.CARREL_TEST_LOG ?? 'warn',
      ...settings,
    },
  });
  if (log) child.stdout?.setEncoding('utf8').on('data', log);
  const ended = once(child, 'exit').then(([code]: unknown[]) => code as number | null);
  await waitFor('the server', async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok);
  return {
    pid: child.pid ?? 0,
    ended,
    end: async (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
