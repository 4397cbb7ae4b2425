import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programEnvironment, ROOT } from '../support/backends/backends.ts';
import { freePort } from '../support/backends/ports.ts';
import { waitFor } from '../support/wait.ts';
import type { Program } from './kept.ts';

/**
 * The helpers of the product, cmd/helpers/main.ts, at a port that stays the same, with their own libraries only. Resolves when
 * they are ready. `log` gets what they write to their log.
 */
export async function startHelpersProcess(
  port: number,
  log: (text: string) => void,
): Promise<Program & { signal(signal: 'SIGSTOP' | 'SIGCONT'): void }> {
  const opsPort = await freePort();
  const child = spawn(process.execPath, ['cmd/helpers/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...programEnvironment(),
      CARREL_HELPERS_PROVIDERS: 'dictionary',
      CARREL_HELPERS_PDF_PROGRAMS: '',
      CARREL_LISTEN_HOST: '127.0.0.1',
      CARREL_HELPERS_PORT: String(port),
      CARREL_OPS_PORT: String(opsPort),
      CARREL_LOG_LEVEL: process.env.CARREL_TEST_LOG ?? 'warn',
    },
  });
  child.stdout.setEncoding('utf8').on('data', log);
  const ended = once(child, 'exit').then(([code]: unknown[]) => code as number | null);
  await waitFor('the helpers', async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok);
  return {
    ended,
    signal: (signal) => void child.kill(signal),
    end: async (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
