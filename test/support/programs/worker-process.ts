import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKER_FLAGS, WORKER_MALLOC } from '../../../pkg/local/programs/carrel.ts';
import { programEnvironment, ROOT } from '../backends/backends.ts';
import { freePort } from '../backends/ports.ts';
import { waitFor } from '../wait.ts';
import type { TestPlatform } from './worker-platform.ts';

export interface WorkerProcess {
  /** Text of /metrics. */
  metrics(): Promise<string>;
  /** Its exit code, once it has ended, by whatever; null by a signal. */
  readonly ended: Promise<number | null>;
  /** Ends it as the kernel would, or gracefully; gives its exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/**
 * V8's flags of a worker whose memory nobody looks at: with room for what loading the modules leaves behind, a start costs a
 * fifth less CPU.
 */
export const ROOMY: readonly string[] = ['--min-semi-space-size=16'];

/**
 * The program itself, cmd/worker/main.ts, in a process that a test may kill. Resolves when it is ready. `log` gets what it writes
 * to its log.
 * `flags` are those of the chart unless given.
 */
export async function startWorkerProcess(
  platform: Pick<TestPlatform, 'workerUrl' | 'platformKeys' | 'stores'>,
  settings: Readonly<Record<string, string>> = {},
  log?: (text: string) => void,
  flags: readonly string[] = WORKER_FLAGS,
): Promise<WorkerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-worker-'));
  mkdirSync(join(folder, 'one'));
  writeFileSync(join(folder, 'one', 'worker-url'), platform.workerUrl);
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [...flags, 'cmd/worker/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', log ? 'pipe' : process.env.CARREL_TEST_LOG ? 'inherit' : 'ignore', 'inherit'],
    env: {
      ...programEnvironment(),
      ...WORKER_MALLOC,
      CARREL_SHARDS_DIR: folder,
      CARREL_PLATFORM_KEYS: platform.platformKeys,
      CARREL_REDIS_ADMIN_URL: platform.stores.redis.adminUrl,
      CARREL_QUEUE_REDIS_URL: platform.stores.redis.queueUrl,
      CARREL_LISTEN_HOST: '127.0.0.1',
      CARREL_OPS_PORT: String(port),
      CARREL_EGRESS_ALLOW: '127.0.0.0/8',
      CARREL_LOG_LEVEL: process.env.CARREL_TEST_LOG ?? 'info',
      ...settings,
    },
  });
  if (log) child.stdout?.setEncoding('utf8').on('data', log);
  const ended = once(child, 'exit').then(([code]: unknown[]) => code as number | null);
  await waitFor('the worker', async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
  return {
    metrics: async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    ended,
    end: async (signal) => {
      child.kill(signal);
      const code = await ended;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}
