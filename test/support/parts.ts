import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openHome } from '../../pkg/local/home.ts';
import { thisMachine } from '../../pkg/local/parts/resolve.ts';
import { startTime } from '../../pkg/local/processes.ts';
import { compileCache } from '../../pkg/local/programs/own.ts';
import { startStores, type StoreAddresses } from '../../pkg/local/platform.ts';

/** The checkout. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** What every program of ours that a test starts has in its environment: that it is of this run, so that nothing of one that was interrupted stays. */
export const programEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  CARREL_TEST_RUN: process.env['CARREL_TEST_RUN'],
  TMPDIR: process.env['TMPDIR'],
  ...compileCache(ROOT),
});

/** Where the parts of this test run answer; plain data, handed to jest's workers by the environment. */
export interface Parts {
  readonly stores: StoreAddresses;
  /** The home of the run; a test keeps files of its own beside it, in `scratch`. */
  readonly home: string;
  readonly scratch: string;
}

const VARIABLE = 'CARREL_TEST_PARTS';

/** The parts of this run. Throws when the test's lane has not started them (jest.config.js). */
export function parts(): Parts {
  const text = process.env[VARIABLE];
  if (!text) throw new Error(`${VARIABLE} is not set: run this test by jest, whose globalSetup starts the parts`);
  return JSON.parse(text) as Parts;
}

/** Starts the stores in a home of their own, fast and without fsync; the answer stops them and removes the home. */
export async function startParts(): Promise<() => Promise<void>> {
  const scratch = await makeScratch();
  const machine = thisMachine(ROOT);
  const home = await openHome(join(scratch, 'home'), { routerPort: 0 });
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const stores = await startStores({ home, machine, durable: false, progress });
  const { stop: _stop, supervisor: _supervisor, ...addresses } = stores;
  const found: Parts = {
    stores: addresses,
    home: home.path,
    scratch,
  };
  process.env[VARIABLE] = JSON.stringify(found);
  return async () => {
    await stores.stop();
    await rm(scratch, { recursive: true, force: true });
  };
}

/**
 * A new folder of this run, which `hack/test.ts` names (`CARREL_TEST_RUN`) and whose folders it removes in the end. A jest that was
 * started by hand is a run of its own: the next `hack/test.ts` ends what it has left.
 */
export async function makeScratch(): Promise<string> {
  const folder = join(ROOT, '.carrel', 'test', process.env['CARREL_TEST_RUN'] ?? `${process.pid}-${startTime(process.pid)}`);
  await mkdir(folder, { recursive: true });
  return mkdtemp(join(folder, 'scratch-'));
}
