import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Operator } from '../../../pkg/operator/operator.ts';
import { readShards, Shards } from '../../../pkg/operator/shards.ts';
import { settingsWith } from '../../../pkg/operator/tenant/tenant.fixture.ts';
import { TenantRedis } from '../../../pkg/operator/tenant/redis.ts';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { stores, type TestStores } from '../../support/stores.ts';
import { waitFor } from '../../support/wait.ts';
import {
  difference,
  newNamespace,
  playPods,
  ready,
  registrationOf,
  startCluster,
  tenantOf,
  unique,
  webhookOf,
  writes,
  type Cluster,
} from './harness.ts';

const metrics = createMetrics('test');
const statements: string[] = [];
/** For news. */
const looks: string[] = [];
const stopping = new AbortController();
let running: TestStores;
let cluster: Cluster;
let close: () => Promise<unknown>;

/** The operator in this process, so that its statements can be counted; stores of the test's own, since it hears what all tenants of a shard left it. */
beforeAll(async () => {
  [running, cluster] = await Promise.all([stores(), startCluster()]);
  playPods(cluster);
  const platformKeys = parseSealingKeys(running.platformKeys);
  const sealer = new Sealer(platformKeys, random);
  const shards = new Shards({
    shards: readShards(running.shardsDir),
    sealer,
    clock,
    random,
    log,
    observe: ({ sql }) => void (/AS news|pg_stat_activity/.test(sql) ? looks : statements).push(sql),
  });
  const redis = new TenantRedis({ url: running.redis.adminUrl, log });
  const client = new KubeClient({ kubeConfig: cluster.operatorConfig, metrics });
  const settings = settingsWith({
    baseDomain: 'localhost',
    redisAddress: running.redis.address,
    s3Endpoint: running.s3.endpoint,
    s3Region: running.s3.region,
  });
  const storage = new StorageAdmin(running.s3);
  const operator = new Operator({
    settings,
    client,
    shards,
    redis,
    storage,
    platformKeys,
    instance: 'test',
    lease: { namespace: 'carrel-system', name: 'carrel-operator' },
    clock,
    random,
    log,
    metrics,
  });
  const works = Promise.all([operator.watch(stopping.signal), operator.lead(stopping.signal)]);
  close = async () => {
    stopping.abort(new Error('the test is over'));
    await works;
    await Promise.all([shards.close(), redis.close(), client.close()]);
  };
}, 120_000);

afterAll(async () => {
  await close();
  await cluster.close();
  await running.stop();
});

/** What each controller's reconcile asks of Postgres when it finds nothing to do. */
const STATEMENTS = { tenant: 2, webhook: 1, ltiregistration: 1 } as const;
type Controller = keyof typeof STATEMENTS;

const valuesOf = async (metric: string) => (await metrics.getSingleMetric(metric)?.get())?.values ?? [];

async function reconciles(): Promise<Record<Controller, number>> {
  const values = await valuesOf('controller_runtime_reconcile_total');
  const of = (controller: Controller): number =>
    values.filter(({ labels }) => labels['controller'] === controller).reduce((sum, { value }) => sum + value, 0);
  return { tenant: of('tenant'), webhook: of('webhook'), ltiregistration: of('ltiregistration') };
}

async function isAtWork(): Promise<boolean> {
  const values = await Promise.all(['controller_runtime_active_workers', 'workqueue_depth'].map(valuesOf));
  return values.flat().some(({ value }) => value > 0);
}

/** Resolves when nothing waits or is worked on, and nothing has been for a second. */
async function atRest(): Promise<void> {
  let before = '';
  await waitFor('rest', async () => {
    const now = JSON.stringify([await reconciles(), statements.length]);
    if (now === before && !(await isAtWork())) return true;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return false;
  });
}

test('a reconcile that finds nothing to do is two statements for a Tenant, one for a Webhook or an LtiRegistration, and no write', async () => {
  const namespace = await newNamespace(cluster);
  const key = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, key.name));
  await ready(cluster.tenants, key);
  const tenantRef = { name: key.name };
  await cluster.webhooks.create(webhookOf(namespace, key.name, { tenantRef, url: 'https://example.com/', events: ['file.created'] }));
  const platform = { preset: 'moodle', issuer: 'https://moodle.example' };
  await cluster.registrations.create(registrationOf(namespace, key.name, { tenantRef, platform, clientId: 'x' }));
  await Promise.all([ready(cluster.webhooks, key), ready(cluster.registrations, key)]);
  await atRest();
  const before = { reconciles: await reconciles(), statements: statements.length, writes: await writes(cluster) };

  // An annotation of no meaning. The Tenant's change is looked at by all three.
  const touched = { metadata: { annotations: { touched: 'yes' } } };
  await cluster.webhooks.patch(key, touched);
  await cluster.registrations.patch(key, touched);
  await cluster.tenants.patch(key, touched);
  const grown = async (): Promise<[Controller, number][]> => {
    const now = await reconciles();
    return Object.entries(before.reconciles).map(([name, count]) => [name as Controller, now[name as Controller] - count]);
  };
  await waitFor('a reconcile of each', async () => (await grown()).every(([, more]) => more > 0));
  await atRest();

  const due = (await grown()).reduce((sum, [name, more]) => sum + more * STATEMENTS[name], 0);
  expect(statements.slice(before.statements)).toHaveLength(due);
  expect(difference(before.writes, await writes(cluster))).toEqual({
    'PATCH webhooks': 1,
    'PATCH ltiregistrations': 1,
    'PATCH tenants': 1,
  });
});
