import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStateDirectory, paths } from '../../../pkg/local/state-directory.ts';
import { thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { startStores, type StoreAddresses } from '../../../pkg/local/platform.ts';
import { makeScratch, runBackends } from './backends.ts';
import { withCluster } from './cluster-template.ts';

type Program = 'postgres' | 'valkey' | 'valkey-queue' | 'versitygw';

export interface TestStores extends StoreAddresses {
  /** The folder of their data. */
  readonly folder: string;
  /** Sends a signal that ends a program; its supervisor starts it again. Resolves when the process has ended. */
  kill(program: Program, signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that does not end the program (SIGSTOP, SIGCONT). */
  signal(program: Program, signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/**
 * Postgres, Valkey and S3 for one test file that restarts, freezes or floods them. `stop` removes their data too.
 * `durable`: a commit survives a kill; without it the stores are faster.
 */
export async function stores({ durable = false }: { durable?: boolean } = {}): Promise<TestStores> {
  const folder = await makeScratch('stores');
  const stateDirectory = await withCluster(await openStateDirectory(folder), runBackends()?.cluster);
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const running = await startStores({ stateDirectory, machine: thisMachine(root), durable });
  const pidOf = (program: string): number => Number(readFileSync(join(folder, 'run', `${program}.pid`), 'utf8'));
  return {
    ...running,
    folder: paths(stateDirectory.path).data,
    signal: (program, signal) => {
      process.kill(pidOf(program), signal);
      if (signal === 'SIGSTOP') untilStopped(pidOf(program));
    },
    kill: async (program, signal = 'SIGKILL') => {
      const pid = pidOf(program);
      process.kill(pid, signal);
      while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    stop: async () => {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const STOP_LIMIT_MS = 10_000;

/** A busy machine stops the threads of a process one after the other; those that still run would serve. */
function untilStopped(pid: number): void {
  const deadline = performance.now() + STOP_LIMIT_MS;
  const isStopped = (task: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').split(') ')[1]?.startsWith('T') ?? false;
    } catch {
      return false; // the thread has ended: the next look does not list it
    }
  };
  while (existsSync(`/proc/${pid}/task`) && !readdirSync(`/proc/${pid}/task`).every(isStopped)) {
    if (performance.now() > deadline) throw new Error(`process ${pid} was not stopped within ${STOP_LIMIT_MS} ms`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}
