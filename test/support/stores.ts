import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openHome, paths } from '../../pkg/local/home.ts';
import { thisMachine } from '../../pkg/local/parts/resolve.ts';
import { startStores, type StoreAddresses } from '../../pkg/local/platform.ts';

export interface TestStores extends StoreAddresses {
  /** Where they keep their data. */
  readonly folder: string;
  /** Ends one program as the kernel would; its supervisor starts it again. Resolves when it is gone. */
  kill(program: 'postgres' | 'valkey' | 'versitygw', signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal to a program that stays (SIGSTOP, SIGCONT). */
  signal(program: 'postgres' | 'valkey' | 'versitygw', signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/**
 * Postgres, Valkey and S3 of one's own, for a test file that restarts, freezes or floods them. Data in a folder that goes with them.
 * `durable`: a commit is one, whatever is killed then; without it the stores are faster.
 */
export async function stores({ durable = false }: { durable?: boolean } = {}): Promise<TestStores> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-stores-'));
  const home = await openHome(folder);
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const running = await startStores({ home, machine: thisMachine(root), durable });
  const pidOf = (program: string): number => Number(readFileSync(join(folder, 'run', `${program}.pid`), 'utf8'));
  return {
    ...running,
    folder: paths(home.path).data,
    signal: (program, signal) => void process.kill(pidOf(program), signal),
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
