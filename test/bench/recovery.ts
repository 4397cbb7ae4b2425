import { insertJob } from '../../pkg/store/postgres/job-store.ts';
import { newKey } from '../../pkg/store/s3/objects.ts';
import { systemRandom } from '../../pkg/runtime/random.ts';
import { median } from '../faults/latency.ts';
import {
  children,
  newNamespace,
  playPods,
  ready,
  startCluster,
  startOperator,
  tenantOf,
  unique,
} from '../support/cluster/operator.ts';
import { startPlatform } from '../support/programs/worker-platform.ts';
import { startWorkerProcess } from '../support/programs/worker-process.ts';
import { startTestBackends } from '../support/backends/start-backends.ts';
import { inParallel, range, waitFor } from '../support/wait.ts';
import type { Line } from './measure.ts';

const REPAIRS = 21;
const REPAIRED_WITHIN_MS = 1_000;
const OBJECTS = 120;
const TAKEN_OVER_WITHIN_MS = 5_000;

/** Measures the time until damage is repaired. Tests on a busy machine cannot judge these promises. */
export async function recovery(): Promise<Line[]> {
  return [await repairs(), await takeOver()];
}

/** A child edited by hand, until it is as the operator made it. The control is the time of such an edit alone. */
async function repairs(): Promise<Line> {
  const stopTestBackends = await startTestBackends();
  const cluster = await startCluster();
  try {
    playPods(cluster);
    await startOperator(cluster);
    const key = { namespace: await newNamespace(cluster), name: unique() };
    await cluster.tenants.create(tenantOf(key.namespace, key.name));
    await ready(cluster.tenants, key);
    const configMaps = cluster.of(children.CONFIG_MAP);
    const { data = {} } = await configMaps.get(key);
    const [setting = ''] = Object.keys(data);
    const edits: number[] = [];
    const times: number[] = [];
    for (const _ of range(REPAIRS)) {
      const started = performance.now();
      await configMaps.patch(key, { data: { [setting]: 'edited by hand' } });
      const edited = performance.now();
      while ((await configMaps.get(key)).data?.[setting] !== data[setting]);
      edits.push(edited - started);
      times.push(performance.now() - edited);
    }
    const worst = Math.max(...times);
    return {
      what: `a child edited by hand is put right, median and worst of ${REPAIRS}`,
      ours: `${median(times).toFixed(0)} and ${worst.toFixed(0)} ms`,
      control: `${median(edits).toFixed(0)} ms for the edit`,
      target: `≤ ${REPAIRED_WITHIN_MS} ms`,
      met: worst <= REPAIRED_WITHIN_MS,
    };
  } finally {
    await cluster.close();
    await stopTestBackends();
  }
}

/**
 * A purge whose worker is killed, from the next worker's start until nothing is left. The control is the same purge undisturbed.
 */
async function takeOver(): Promise<Line> {
  const platform = await startPlatform();
  let worker = await startWorkerProcess(platform);
  try {
    const tenant = await platform.tenant();
    const left = async (): Promise<number> =>
      (await platform.pool.query('SELECT FROM carrel.work WHERE kind = $1', ['objects.purge'])).length;
    const purge = async (meanwhile: () => Promise<unknown>): Promise<number> => {
      const keys = range(OBJECTS).map(() => newKey(systemRandom));
      await inParallel(keys, 8, (key) => tenant.objects.put(key, Buffer.from('x')));
      await tenant.db.transaction(async (tx) => {
        for (const key of keys)
          await insertJob(tx, {
            kind: 'objects.purge',
            payload: { keys: [key] },
          });
      });
      await waitFor('the first ones to go', async () => (await left()) < OBJECTS - 20);
      await meanwhile();
      const started = performance.now();
      await waitFor('the purge', async () => (await left()) === 0);
      return performance.now() - started;
    };
    const undisturbed = await purge(async () => undefined);
    const disturbed = await purge(async () => {
      await worker.end('SIGKILL');
      worker = await startWorkerProcess(platform);
    });
    return {
      what: `a purge of ${OBJECTS} goes on after its worker was killed`,
      ours: `${disturbed.toFixed(0)} ms`,
      control: `${undisturbed.toFixed(0)} ms undisturbed`,
      target: `≤ ${TAKEN_OVER_WITHIN_MS} ms`,
      met: disturbed <= TAKEN_OVER_WITHIN_MS,
    };
  } finally {
    await worker.end('SIGTERM');
    await platform.stop();
  }
}
