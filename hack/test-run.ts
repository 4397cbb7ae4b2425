import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll, isAlive, markedProcesses, type MarkedProcess, startTime } from '../pkg/local/processes.ts';

/** Postgres and etcd end cleanly within this; what does not is killed. */
const GRACE_MS = 3_000;
/** What starts others goes first and at once, so that it starts none again. */
const STARTERS = new Set(['supervisor', 'node']);

/**
 * All processes of one run of the tests: those that carry its id (`CARREL_TEST_RUN`) in their environment, and those of platforms
 * whose state lies in one of its folders, since a platform's programs do not inherit their environment.
 *
 * Invariant: an id names its runner by pid and start time, so a living run is never taken for one that was killed.
 */
export class TestRun {
  readonly id: string;
  readonly #folders: readonly string[];

  private constructor(id: string, root: string) {
    this.id = id;
    this.#folders = [join(tmpdir(), `carrel-test-${id}`), join(root, '.carrel', 'test', id)];
  }

  /** Begins a run of this process; its temporary files lie in a folder that goes with it. */
  static begin(root: string): TestRun {
    const run = new TestRun(`${process.pid}-${startTime(process.pid)}`, root);
    for (const folder of run.#folders) mkdirSync(folder, { recursive: true });
    return run;
  }

  /** Runs whose runner is gone while processes or folders of theirs are still there. */
  static abandoned(root: string): TestRun[] {
    const ids = [
      ...markedProcesses().map(({ environment }) => environment['CARREL_TEST_RUN'] ?? ''),
      ...namesIn(tmpdir()).map((name) => /^carrel-test-(\d+-\d+)$/.exec(name)?.[1] ?? ''),
      ...namesIn(join(root, '.carrel', 'test')),
    ];
    return [...new Set(ids)].filter((id) => isRunId(id) && !isRunning(id)).map((id) => new TestRun(id, root));
  }

  /** What makes a process, and all that it starts, one of this run. */
  get environment(): Record<string, string> {
    return { CARREL_TEST_RUN: this.id, TMPDIR: this.#folders[0] ?? tmpdir() };
  }

  processes(): MarkedProcess[] {
    return markedProcesses().filter(
      ({ environment }) =>
        environment['CARREL_TEST_RUN'] === this.id || this.#folders.some((folder) => environment['CARREL_HOME']?.startsWith(`${folder}/`)),
    );
  }

  /** Ends every process of the run and removes its folders. Gives the number of processes that it met. */
  async end(): Promise<number> {
    const pids = (include: (process: MarkedProcess) => boolean): number[] =>
      this.processes()
        .filter(include)
        .map(({ pid }) => pid);
    const met = this.processes().length;
    await endAll(
      pids(({ environment }) => STARTERS.has(environment['CARREL_PROGRAM'] ?? '')),
      GRACE_MS,
      'SIGKILL',
    );
    const isPostgres = ({ environment }: MarkedProcess): boolean => environment['CARREL_PROGRAM'] === 'postgres';
    // Postgres reads SIGTERM as "wait for the clients"; SIGINT ends it at once, cleanly.
    await Promise.all([
      endAll(pids(isPostgres), GRACE_MS, 'SIGINT'),
      endAll(
        pids((process) => !isPostgres(process)),
        GRACE_MS,
      ),
    ]);
    await endAll(
      pids(() => true),
      0,
      'SIGKILL',
    );
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    return met;
  }
}

const isRunId = (id: string): boolean => /^\d+-\d+$/.test(id);

function isRunning(id: string): boolean {
  const [pid = '', start = ''] = id.split('-');
  return isAlive(Number(pid)) && startTime(Number(pid)) === start;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
