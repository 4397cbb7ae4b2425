import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterEach, expect, test } from '@jest/globals';
import { HTTP_ROUTE } from '../../../pkg/kube/gateway-api.ts';
import { type Deployment, ENDPOINT_SLICE } from '../../../pkg/kube/kinds.ts';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { isRolledOut } from '../../../pkg/operator/tenant/workload/availability.ts';
import { releaseIn } from '../../../pkg/operator/tenant/workload/release.ts';
import { imageIn } from '../../../pkg/operator/tenant/workload/rollouts.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { newClient } from '../../../pkg/store/s3/objects.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { installGatewayApi } from '../../support/cluster/gateway-api.ts';
import { range, waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  conditionOf,
  follow,
  newNamespace,
  ready,
  secretValues,
  startOperator,
  tenantOf,
  unique,
  type OperatorProcess,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace } = operatorSuite({ operator: false });
const operators: OperatorProcess[] = [];

/** Each test has operators of its own settings: of two that run at once one alone would lead. */
const operatorWith = async (env: NodeJS.ProcessEnv): Promise<OperatorProcess> => {
  const operator = await startOperator(cluster, { env });
  operators.push(operator);
  return operator;
};
afterEach(() => Promise.all(operators.splice(0).map((operator) => operator.end())));

test('hosts of other slugs that old Tenants have no longer lead there, and go to their slug without sessions', async () => {
  const [namespace, stranger] = [await newNamespace(cluster), await newNamespace(cluster)];
  const victim = { namespace, name: unique() };
  const [app, lti, own] = [`${victim.name}.localhost`, `lti.${victim.name}.localhost`, `${unique()}.example.org`];
  const [half, whole] = [1, 2].map(() => ({ namespace: stranger, name: unique() })) as [typeof victim, typeof victim];
  const hostsOf = async (key: typeof victim) =>
    (await cluster.of(children.INGRESS).find(key))?.spec?.rules?.map(({ host }) => host);
  const routed = { namespace: stranger, name: unique() };
  const routesOf = async () => (await cluster.of(HTTP_ROUTE).find(routed))?.spec?.hostnames;
  await installGatewayApi(cluster);
  const before = await operatorWith({ CARREL_BASE_DOMAIN: 'before.example', CARREL_ALLOWED_HOSTS: '*' });
  await cluster.tenants.create(tenantOf(stranger, half.name, { hosts: { app: own, lti } }));
  await cluster.tenants.create(tenantOf(stranger, whole.name, { hosts: { app, lti: app } }));
  const gatewayHosts = { app: `${unique()}.localhost`, lti: `${unique()}.example.org` };
  const exposure = { type: 'Gateway', gateway: { name: 'edge' } };
  await cluster.tenants.create(tenantOf(stranger, routed.name, { hosts: gatewayHosts, exposure }));
  await Promise.all([ready(cluster.tenants, half), ready(cluster.tenants, whole)]);
  await condition(cluster.tenants, routed, 'Exposed', 'False', 'GatewayMissing');
  const had = [await hostsOf(half), await hostsOf(whole), await routesOf()];
  await before.end();
  const { url = '' } = (await secretValues(cluster, stranger, `${half.name}-database`)) ?? {};
  const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
  await pool.query(
    `INSERT INTO sessions (id, user_id, expires_at) SELECT gen_random_uuid(), id, now() + interval '30 days' FROM users
     WHERE NOT is_system`,
  );

  await operatorWith({});
  await Promise.all([half, whole, routed].map((key) => condition(cluster.tenants, key, 'Accepted', 'False', 'HostNotAllowed')));
  const has = [await hostsOf(half), await hostsOf(whole), await routesOf()];
  await cluster.tenants.create(tenantOf(namespace, victim.name));
  await ready(cluster.tenants, victim);
  const open = await pool.query('SELECT id FROM sessions WHERE ended_at IS NULL');
  await pool.close();
  await cluster.tenants.patch(half, { spec: { hosts: { lti: own } } });
  await ready(cluster.tenants, half);

  expect(had).toEqual([[own, lti], [app], Object.values(gatewayHosts)]);
  expect(has).toEqual([[own], undefined, [gatewayHosts.lti]]);
  expect(await hostsOf(victim)).toEqual([app, lti]);
  expect(open).toEqual([]);
  await waitFor('the host of its own to lead there', async () => (await hostsOf(half))?.join() === own);
});

test('a platform without a store runs tenants that name theirs; the condition of others says what to name', async () => {
  const unset = {
    CARREL_S3_ADMIN_ENDPOINT: undefined,
    CARREL_S3_ACCESS_KEY_ID: undefined,
    CARREL_S3_SECRET_ACCESS_KEY: undefined,
  };
  await operatorWith(unset);
  const admin = new StorageAdmin(testBackends().stores.s3);
  const own = { bucket: unique('own'), accessKeyId: unique('key'), secretAccessKey: unique('secret') };
  await admin.ensureBucketWithUser(own);
  const stringData = { accessKeyId: own.accessKeyId, secretAccessKey: own.secretAccessKey };
  await cluster.of(children.SECRET).create({ metadata: { namespace, name: 'my-storage' }, stringData });
  const [named, unnamed] = [unique(), unique()].map((name) => ({ namespace, name })) as [ObjectKey, ObjectKey];

  await cluster.tenants.create(
    tenantOf(namespace, named.name, {
      storage: { credentialsSecretRef: { name: 'my-storage' }, bucket: own.bucket },
      deletionPolicy: 'Delete',
    }),
  );
  await cluster.tenants.create(tenantOf(namespace, unnamed.name, { deletionPolicy: 'Delete' }));
  await ready(cluster.tenants, named);
  const unready = await condition(cluster.tenants, unnamed, 'StorageReady', 'False', 'StorageNotNamed');
  await cluster.tenants.delete(named);
  await waitFor('the tenant to be gone', async () => (await cluster.tenants.find(named)) === undefined);

  expect(conditionOf(unready, 'StorageReady')?.message).toContain('name a bucket and the Secret of its key in spec.storage');
  const root = newClient(testBackends().stores.s3);
  expect((await root.send(new ListObjectsV2Command({ Bucket: own.bucket }))).KeyCount).toBe(0);
  root.destroy();
  admin.close();
});

/** The API server takes no address of loopback here; the port answers on loopback all the same. */
const operatorAt = (address: string): Promise<OperatorProcess> =>
  operatorWith({ CARREL_POD_IP: address, CARREL_SUSPENDED_PORT: '0' });

test('the Service of a suspended tenant leads to the leading operator, also from its creation, until it runs', async () => {
  const operator = await operatorAt('10.1.2.3');
  const key = { namespace, name: unique() };
  const slice = { namespace, name: `${key.name}-suspended` };
  await cluster.tenants.create(tenantOf(namespace, key.name));
  await ready(cluster.tenants, key);
  const before = await cluster.of(ENDPOINT_SLICE).find(slice);

  await cluster.tenants.patch(key, { spec: { suspended: true } });
  await condition(cluster.tenants, key, 'Ready', 'False', 'Suspended');
  const { metadata, addressType, endpoints, ports } = await cluster.of(ENDPOINT_SLICE).get(slice);
  const address = `http://127.0.0.1:${ports?.[0]?.port}`;
  const [api, page] = await Promise.all([fetch(`${address}/api/v1/files`, { method: 'POST', body: 'x' }), fetch(`${address}/`)]);
  await cluster.tenants.patch(key, { spec: { suspended: false } });
  await ready(cluster.tenants, key);

  expect(before).toBeUndefined();
  expect(metadata.labels?.['kubernetes.io/service-name']).toBe(key.name);
  expect([addressType, endpoints?.map(({ addresses }) => addresses), ports?.[0]?.name]).toEqual(['IPv4', [['10.1.2.3']], 'http']);
  expect([api.status, api.headers.get('retry-after'), await api.json()]).toEqual([
    503,
    '60',
    { error: 'suspended', message: 'This tenant is suspended.', request_id: api.headers.get('x-request-id') },
  ]);
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('This service is suspended.')]);
  await waitFor('the way to the operator to be gone', async () => (await cluster.of(ENDPOINT_SLICE).find(slice)) === undefined);
  expect((await cluster.of(children.SERVICE).get(key)).metadata.annotations?.['carrel.dev/suspended']).toBeUndefined();

  const first = { namespace, name: unique() };
  const addresses = async () =>
    (await cluster.of(ENDPOINT_SLICE).get({ namespace, name: `${first.name}-suspended` })).endpoints?.[0]?.addresses;
  await cluster.tenants.create(tenantOf(namespace, first.name, { suspended: true }));
  await condition(cluster.tenants, first, 'Ready', 'False', 'Suspended');
  const led = await addresses();
  await operator.end();
  await operatorAt('10.1.2.4');

  expect(led).toEqual(['10.1.2.3']);
  await waitFor('the address of the next', async () => (await addresses())?.[0] === '10.1.2.4');
});

test('a new image or new settings reach a few tenants at a time, none while paused, and at once edited ones', async () => {
  const keys = range(3).map(() => ({ namespace, name: unique('roll') }));
  const registry = new SqlPool({ url: testBackends().stores.postgres.operator, poolSize: 1, log: silentLogger });
  const pause = (at: string) => registry.query(`UPDATE registry.installation SET rollouts_paused_at = ${at}`);
  const images = async () => (await Promise.all(keys.map((key) => cluster.tenants.get(key)))).map(({ status }) => status?.image);
  const levels = async () =>
    (await Promise.all(keys.map((key) => cluster.of(children.CONFIG_MAP).get(key)))).map(
      ({ data }) => data?.['CARREL_LOG_LEVEL'],
    );
  const before = await operatorWith({});
  const [changed, waiting, ofOwnImage] = keys as [ObjectKey, ObjectKey, ObjectKey];
  const specOf = (key: ObjectKey) => (key === ofOwnImage ? { image: 'carrel:own' } : {});
  await Promise.all(keys.map((key) => cluster.tenants.create(tenantOf(namespace, key.name, specOf(key)))));
  await Promise.all(keys.map((key) => ready(cluster.tenants, key)));
  await before.end();
  const { store, stop } = follow(cluster, children.DEPLOYMENT, namespace);
  await store.waitForSync(AbortSignal.timeout(30_000));
  const former = new Set(store.list().map(releaseIn));
  let most = 0;
  // The suspended tenant of another test here has no pods and waits for nothing.
  const isRolling = (deployment: Deployment): boolean =>
    deployment.spec?.replicas !== 0 && !former.has(releaseIn(deployment)) && !isRolledOut(deployment);
  store.onChange(() => {
    most = Math.max(most, store.list().filter(isRolling).length);
  });

  try {
    await pause('now()');
    await operatorWith({ CARREL_IMAGE: 'carrel:next', CARREL_LOG_LEVEL: 'debug', CARREL_ROLLOUT_CONCURRENCY: '1' });
    await Promise.all(keys.map((key) => condition(cluster.tenants, key, 'WorkloadAvailable', 'True', 'RolloutPaused')));
    await cluster.tenants.patch(changed, { spec: { displayName: 'Changed' } });
    await condition(cluster.tenants, changed, 'WorkloadAvailable', 'True', 'Available');
    // It is Available while its pods of both releases serve, and it does not count: the bound is for the others.
    await waitFor('its pods of the new release alone', () => {
      const live = store.get(changed);
      return live !== undefined && !former.has(releaseIn(live)) && isRolledOut(live);
    });
    const paused = [await images(), await levels()];
    await cluster.of(children.NETWORK_POLICY).delete(waiting);
    await cluster.of(children.DEPLOYMENT).patch(waiting, { spec: { replicas: 3 } });
    await waitFor('what a person harmed to be repaired while its tenant waits', async () => {
      const [policy, { spec }] = [
        await cluster.of(children.NETWORK_POLICY).find(waiting),
        await cluster.of(children.DEPLOYMENT).get(waiting),
      ];
      return policy && spec?.replicas === 1;
    });
    const held = (await cluster.of(children.DEPLOYMENT).get(waiting)) as Deployment;
    await pause('NULL');
    await Promise.all(keys.map((key) => cluster.tenants.patch(key, { metadata: { annotations: { touched: '1' } } })));
    await waitFor('the new settings everywhere', async () => (await levels()).every((level) => level === 'debug'));
    await Promise.all(keys.map((key) => condition(cluster.tenants, key, 'WorkloadAvailable', 'True', 'Available')));

    expect(paused).toEqual([
      ['carrel:next', 'carrel:dev', 'carrel:own'],
      ['debug', 'info', 'info'],
    ]);
    expect(imageIn(held)).toBe('carrel:dev');
    expect(await images()).toEqual(['carrel:next', 'carrel:next', 'carrel:own']);
    expect(most).toBe(1);
  } finally {
    await pause('NULL');
    await registry.close();
    await stop();
  }
});
