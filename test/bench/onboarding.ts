import { execFileSync } from 'node:child_process';
import { TENANT } from '../../pkg/operator/kinds.ts';
import { ROOT, testBackends } from '../support/backends/backends.ts';
import { startTestBackends } from '../support/backends/start-backends.ts';
import {
  conditionOf,
  follow,
  newNamespace,
  playPods,
  startCluster,
  startOperator,
  tenantOf,
  unique,
} from '../support/cluster/operator.ts';
import { inParallel, range, waitFor } from '../support/wait.ts';
import { byTurns, costLine, type Line } from './measure.ts';
import { bareClient, CONCURRENCY } from './operator/bare-client.ts';
import { limitFor, SYNC_LIMIT_MS } from './operator/run.ts';

const EACH_TURN = 25;
const ROUNDS = 8;
/** As the line of the first 1,000 Tenants (operator/onboarding.ts). */
const MOST = 1.5;

/**
 * Measures how long Tenants take to be Ready, beside a client that writes the same. It is the first part of `operator` in short
 * turns, so that another commit can be measured in the same run (BASE), each with a cluster and stores of its own.
 */
export async function onboarding(): Promise<Line[]> {
  const stopTestBackends = await startTestBackends();
  const cluster = await startCluster();
  try {
    playPods(cluster);
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
    const { stores } = testBackends();
    const run = {
      cluster,
      namespace: await newNamespace(cluster),
      start: (env?: NodeJS.ProcessEnv) => startOperator(cluster, { env: { ...env }, asInImage: true }),
    };
    const operator = await run.start();
    const control = await bareClient(run, stores.postgres.operator);
    const { store, stop } = follow(cluster, TENANT, run.namespace);
    await store.waitForSync(AbortSignal.timeout(SYNC_LIMIT_MS));
    const readyOnes = (): number => store.list().filter((tenant) => conditionOf(tenant, 'Ready')?.status === 'True').length;
    const timeEach = async (make: (name: string) => Promise<unknown>, done: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await inParallel(
        range(EACH_TURN).map(() => unique('many')),
        CONCURRENCY,
        make,
      );
      await done();
      return (performance.now() - started) / EACH_TURN;
    };
    const measured = await byTurns(
      () => {
        const wanted = readyOnes() + EACH_TURN;
        return timeEach(
          (name) => cluster.tenants.create(tenantOf(run.namespace, name)),
          () => waitFor('all to be Ready', () => readyOnes() >= wanted, limitFor(EACH_TURN)),
        );
      },
      () => timeEach(control.make, async () => undefined),
      { rounds: ROUNDS },
    );
    await stop();
    await control.close();
    await operator.end('SIGTERM');
    return [costLine(`operator: a Tenant to Ready, ${EACH_TURN} at a time`, measured, 'a bare client', MOST, 'ms')];
  } finally {
    await cluster.close();
    await stopTestBackends();
  }
}
