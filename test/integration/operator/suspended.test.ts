import { beforeAll, expect, test } from '@jest/globals';
import { ENDPOINT_SLICE } from '../../../pkg/kube/kinds.ts';
import { waitFor } from '../../support/wait.ts';
import { children, condition, ready, startOperator, tenantOf, unique, type OperatorProcess } from '../../support/operator.ts';
import { operatorSuite } from '../../support/operator-suite.ts';

const { cluster, namespace } = operatorSuite({ operator: false });
let operator: OperatorProcess;

beforeAll(async () => {
  // The API server takes no address of loopback here; the port answers on loopback all the same.
  operator = await operatorAt('10.1.2.3');
}, 60_000);

const operatorAt = (address: string): Promise<OperatorProcess> =>
  startOperator(cluster, { env: { CARREL_POD_IP: address, CARREL_SUSPENDED_PORT: '0' } });

test('the Service of a suspended tenant leads to the operator, which answers for it until it runs again', async () => {
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
});

test('a tenant that is suspended from the first leads to the operator too, and to the one that leads next', async () => {
  const key = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, key.name, { suspended: true }));

  await condition(cluster.tenants, key, 'Ready', 'False', 'Suspended');

  const addresses = async () =>
    (await cluster.of(ENDPOINT_SLICE).get({ namespace, name: `${key.name}-suspended` })).endpoints?.[0]?.addresses;
  const before = await addresses();
  await operator.end();
  operator = await operatorAt('10.1.2.4');

  expect(before).toEqual(['10.1.2.3']);
  await waitFor('the address of the next', async () => (await addresses())?.[0] === '10.1.2.4');
});
