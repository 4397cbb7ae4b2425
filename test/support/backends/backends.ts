import { mkdir, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTime } from '../../../pkg/local/processes.ts';
import { compileCache } from '../../../pkg/local/programs/carrel.ts';
import type { StoreAddresses } from '../../../pkg/local/platform.ts';
import type { ClusterTemplate } from './cluster-template.ts';

/** The checkout. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

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
  /** The address that serves the API servers that test files share (shared-clusters.ts). */
  readonly clusters: string;
  /** For stores of a test's own. */
  readonly cluster: ClusterTemplate | undefined;
}

/** Holds TestBackends as JSON: what start-backends.ts started. */
export const BACKENDS_VARIABLE = 'CARREL_TEST_BACKENDS';

/** The back ends of this run. Throws when the test's lane has not started them (jest.config.js). */
export function testBackends(): TestBackends {
  const found = runBackends();
  if (!found) throw new Error(`${BACKENDS_VARIABLE} is not set: run this test by jest, whose globalSetup starts the back ends`);
  return found;
}

/** Returns the back ends of the run, or undefined in the benchmarks, which run without them. */
export function runBackends(): TestBackends | undefined {
  const text = process.env[BACKENDS_VARIABLE];
  return text === undefined ? undefined : (JSON.parse(text) as TestBackends);
}

/**
 * A new folder for data of this run, within the one that `hack/test.ts` names (`CARREL_TEST_DATA`) and removes in the end. A jest
 * that was started by hand is a run of its own: the next `hack/test.ts` ends what it has left.
 */
export async function makeScratch(name = 'scratch'): Promise<string> {
  const folder = process.env['CARREL_TEST_DATA'] ?? join(ROOT, '.carrel', 'test', `${process.pid}-${startTime(process.pid)}`);
  await mkdir(folder, { recursive: true });
  return mkdtemp(join(folder, `${name}-`));
}
