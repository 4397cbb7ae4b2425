import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStateDirectory } from '../../pkg/local/state-directory.ts';
import { thisMachine } from '../../pkg/local/binaries/resolve.ts';
import { startTime } from '../../pkg/local/processes.ts';
import { compileCache } from '../../pkg/local/programs/carrel.ts';
import { serveSharedClusters } from './shared-clusters.ts';
import { startStores, type StoreAddresses } from '../../pkg/local/platform.ts';
import { type ClusterTemplate, makeClusterTemplate, withCluster } from './cluster-template.ts';

/** The checkout. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The environment of every program that a test starts: it names the run, so that programs of an interrupted run can be ended. */
export const programEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  CARREL_TEST_RUN: process.env['CARREL_TEST_RUN'],
  TMPDIR: process.env['TMPDIR'],
  ...compileCache(ROOT),
});

/** The addresses of this run's back ends; plain data, which jest's workers get by the environment. */
export interface TestBackends {
  readonly stores: StoreAddresses;
  /** The state directory of the run; tests write their own files beside it, in `scratch`. */
  readonly stateDirectory: string;
  readonly scratch: string;
  /** Where API servers that test files share are had (shared-clusters.ts). */
  readonly clusters: string;
  /** For stores of a test's own. */
  readonly cluster: ClusterTemplate | undefined;
}

const VARIABLE = 'CARREL_TEST_BACKENDS';

/** The back ends of this run. Throws when the test's lane has not started them (jest.config.js). */
export function testBackends(): TestBackends {
  const found = runBackends();
  if (!found) throw new Error(`${VARIABLE} is not set: run this test by jest, whose globalSetup starts the back ends`);
  return found;
}

/** The same, if there are any: the benchmarks run without. */
export function runBackends(): TestBackends | undefined {
  const text = process.env[VARIABLE];
  return text === undefined ? undefined : (JSON.parse(text) as TestBackends);
}

/** Starts the stores in a new state directory, without fsync. Returns a function that stops them and removes the directory. */
export async function startTestBackends(): Promise<() => Promise<void>> {
  const scratch = await makeScratch();
  const machine = thisMachine(ROOT);
  const cluster = await makeClusterTemplate(join(scratch, 'template'), machine);
  const stateDirectory = await withCluster(await openStateDirectory(join(scratch, 'state'), { routerPort: 0 }), cluster);
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const stores = await startStores({ stateDirectory, machine, durable: false, progress });
  const { stop: _stop, supervisor: _supervisor, ...addresses } = stores;
  const clusters = await serveSharedClusters();
  const found: TestBackends = {
    stores: addresses,
    stateDirectory: stateDirectory.path,
    scratch,
    clusters: clusters.address,
    cluster,
  };
  process.env[VARIABLE] = JSON.stringify(found);
  return async () => {
    delete process.env[VARIABLE];
    await clusters.stop();
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
