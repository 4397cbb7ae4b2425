import { beforeEach } from '@jest/globals';
import { WORKER_FLAGS } from '../../../pkg/local/programs/carrel.ts';
import { fixture, testFixture } from './fixture.ts';
import { type Grading, startGrading } from '../clients/grading.ts';
import type { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { type Receiver, startReceiver } from '../fakes/receiver.ts';
import type { TestTenant } from '../programs/server.ts';
import { startPlatform, type TestPlatform } from '../programs/worker-platform.ts';
import { ROOMY, startWorkerProcess, type WorkerProcess } from '../programs/worker-process.ts';

type Settings = Readonly<Record<string, string>>;

interface SuiteOptions {
  /** See test/support/backends/stores.ts. */
  readonly durable?: boolean;
  /** True: the worker has the memory that the chart gives it, for tests that measure memory. */
  readonly asInChart?: boolean;
}

/** A worker that a test may end and restart. */
export interface SuiteWorker extends WorkerProcess {
  /** Once it has ended: another one, with the suite's settings, these changed. */
  start(settings?: Settings, platformKeys?: string): Promise<void>;
}

export interface WorkerSuite {
  readonly platform: TestPlatform;
  readonly worker: SuiteWorker;
}

/** Stores of the file's own with a registry; the tests start the workers. Registers its own hooks, as all of these. */
export const platformSuite = (options: SuiteOptions = {}): TestPlatform =>
  fixture(
    () => startPlatform(options),
    (platform) => platform.stop(),
  );

/** Stores of the file's own, and a worker. */
export function workerSuite(settings: Settings = {}, options: SuiteOptions = {}): WorkerSuite {
  const platform = platformSuite(options);
  const worker = fixture(
    () => restartable(platform, settings, options.asInChart ? WORKER_FLAGS : ROOMY),
    (running) => running.end('SIGTERM'),
  );
  return { platform, worker };
}

async function restartable(platform: TestPlatform, settings: Settings, flags: readonly string[]): Promise<SuiteWorker> {
  let current = await startWorkerProcess(platform, settings, undefined, flags);
  return {
    metrics: () => current.metrics(),
    get ended() {
      return current.ended;
    },
    end: (signal) => current.end(signal),
    start: async (changed = {}, platformKeys = platform.platformKeys) => {
      current = await startWorkerProcess({ ...platform, platformKeys }, { ...settings, ...changed }, undefined, flags);
    },
  };
}

/** A tenant that the platform's workers serve. */
export const platformTenant = (platform: TestPlatform): TestTenant =>
  fixture(
    () => platform.tenant(),
    async () => {},
  );

export interface WebhookSuite extends WorkerSuite {
  readonly tenant: TestTenant;
  /** New in each test. */
  readonly receiver: Receiver;
}

/** The same with a tenant, which has no webhook when a test begins, and a receiver. */
export function webhookSuite(settings: Settings = {}): WebhookSuite {
  const { platform, worker } = workerSuite(settings);
  const tenant = platformTenant(platform);
  const receiver = testFixture(startReceiver, async (running) => {
    await tenant.db.query('DELETE FROM webhooks');
    await running.close();
  });
  return { platform, worker, tenant, receiver };
}

export interface GradingSuite extends WorkerSuite {
  readonly grading: Grading;
  /** Behaves well when a test begins. */
  readonly lms: Lms;
}

/** Stores of the file's own, and a tenant whose instructors give grades; without settings no worker sends them. */
export function gradingSuite(settings: Settings): GradingSuite;
export function gradingSuite(settings?: undefined): Omit<GradingSuite, 'worker'>;
export function gradingSuite(settings?: Settings): Omit<GradingSuite, 'worker'> {
  const suite = settings ? workerSuite(settings) : { platform: platformSuite() };
  const grading = fixture(
    () => startGrading(suite.platform),
    (running) => running.stop(),
  );
  const lms = fixture(
    async () => grading.at.lms,
    async () => {},
  );
  beforeEach(() => {
    lms.scores.manner.set('well');
    lms.tokens.manner.set('well');
  });
  return { ...suite, grading, lms };
}
