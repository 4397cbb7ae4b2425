import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { release, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { endAll, isAlive, markedProcesses, type MarkedProcess, startTime } from '../pkg/local/processes.ts';

/** Postgres and etcd end cleanly within this time. A process that does not is killed. */
const GRACE_MS = 3_000;
/** Programs that start others are killed first and at once, so that they restart none. */
const STARTERS = new Set(['supervisor', 'node']);

/** A folder of runs on a file system in memory (tmpfs) on Linux. */
const IN_MEMORY = join('/dev/shm', `carrel-test-${userInfo().uid}`);
const GIBIBYTE = 2 ** 30;
/** A generous upper bound of what the stores of a run hold. */
const DATA_BYTES = 6 * GIBIBYTE;
/** The programs of a run hold half of this. */
const MEMORY_BYTES = 12 * GIBIBYTE;

/**
 * All processes of one run of the tests: those that carry its id (`CARREL_TEST_RUN`) in their environment, and those of platforms
 * whose state lies in one of its folders, since a platform's programs do not inherit their environment.
 *
 * Invariant: an id names its runner by pid and start time, so a living run is never taken for one that was killed.
 */
export class TestRun {
  readonly id: string;
  readonly #temporary: string;
  readonly #onDisk: string;
  readonly #inMemory: string;
  #data: string;

  private constructor(id: string, root: string) {
    this.id = id;
    this.#temporary = join(tmpdir(), `carrel-test-${id}`);
    this.#onDisk = join(root, '.carrel', 'test', id);
    this.#inMemory = join(IN_MEMORY, id);
    this.#data = this.#onDisk;
  }

  /**
   * Begins a run of this process; its temporary files and the data of its stores lie in folders that go with it. `inMemory`: the
   * data lie in memory where there is enough. Nothing of a run outlives the machine, so no test can tell; a measurement could.
   */
  static begin(root: string, { inMemory = false } = {}): TestRun {
    const run = new TestRun(`${process.pid}-${startTime(process.pid)}`, root);
    if (inMemory && hasMemory()) run.#data = run.#inMemory;
    for (const folder of [run.#temporary, run.#data]) mkdirSync(folder, { recursive: true });
    return run;
  }

  /** Returns the runs whose runner has ended but whose processes or folders are still there. */
  static abandoned(root: string): TestRun[] {
    const ids = [
      ...markedProcesses().map(({ environment }) => environment['CARREL_TEST_RUN'] ?? ''),
      ...namesIn(tmpdir()).map((name) => /^carrel-test-(\d+-\d+)$/.exec(name)?.[1] ?? ''),
      ...namesIn(join(root, '.carrel', 'test')),
      ...namesIn(IN_MEMORY),
    ];
    return [...new Set(ids)].filter((id) => isRunId(id) && !isRunning(id)).map((id) => new TestRun(id, root));
  }

  /** The variables that mark a process, and all that it starts, as part of this run. */
  get environment(): Record<string, string> {
    return { CARREL_TEST_RUN: this.id, CARREL_TEST_DATA: this.#data, TMPDIR: this.#temporary };
  }

  get #folders(): string[] {
    return [this.#temporary, this.#onDisk, this.#inMemory];
  }

  processes(): MarkedProcess[] {
    return markedProcesses().filter(
      ({ environment }) =>
        environment['CARREL_TEST_RUN'] === this.id ||
        this.#folders.some((folder) => environment['CARREL_HOME']?.startsWith(`${folder}/`)),
    );
  }

  /** Ends every process of the run and removes its folders. Returns the number of processes that it found. */
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

/**
 * Returns whether the stores keep their data in memory. Each tenant's schema is some hundred files, which Postgres creates and
 * removes there for less than half of the CPU time. tmpfs keeps extended attributes, which the object store needs, since Linux
 * 6.6. Where memory is scarce the data go to the disk.
 */
function hasMemory(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number.parseFloat);
  if (process.platform !== 'linux' || major < 6 || (major === 6 && minor < 6)) return false;
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= DATA_BYTES && process.availableMemory() >= MEMORY_BYTES;
  } catch {
    return false; // there is none
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
