import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { startHostileStore } from '../../support/fakes/hostile-store.ts';
import {
  children,
  condition,
  conditionOf,
  newNamespace,
  ready,
  startOperator,
  tenantOf,
  unique,
  type OperatorProcess,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

/** The number of workers that the operator has for Tenants. */
const HOSTILE = 8;
/**
 * An ordinary Tenant takes 1 to 3 s, and several times that on a busy machine. Where the slow ones hold all workers it waits
 * without end.
 */
const SOON_MS = 45_000;

/**
 * Eight pages of 7.9 MiB that are read and parsed whole cost the operator 238 to 303 MiB. Without them it grows by
 * 18 to 56 MiB: the busier the machine, the later its collector comes.
 */
const GROWTH_BYTES = 112 * (1 << 20);

const { cluster } = operatorSuite({ operator: false });
let operator: OperatorProcess;
beforeAll(async () => {
  operator = await startOperator(cluster);
});
const store = fixture(startHostileStore, (running) => running.close());

interface HostileTenant {
  readonly key: ObjectKey;
  readonly bucket: string;
}

/** Tenants of one namespace that name buckets of the hostile store, each a bucket of its own. */
async function hostileTenants(behave: (bucket: string) => void, count = HOSTILE): Promise<HostileTenant[]> {
  const namespace = await newNamespace(cluster);
  const stringData = { endpoint: store.url, accessKeyId: 'key', secretAccessKey: 'secret' };
  await cluster.of(children.SECRET).create({ metadata: { namespace, name: 'hostile' }, stringData });
  const tenants = range(count).map(() => ({ key: { namespace, name: unique() }, bucket: unique('bucket') }));
  for (const { key, bucket } of tenants) {
    behave(bucket);
    const storage = { credentialsSecretRef: { name: 'hostile' }, bucket };
    await cluster.tenants.create(tenantOf(namespace, key.name, { storage, deletionPolicy: 'Delete' }));
  }
  return tenants;
}

/** Returns the time that an ordinary Tenant of another namespace takes to become Ready, in ms. */
async function timeUntilReady(): Promise<number> {
  const key = { namespace: await newNamespace(cluster), name: unique() };
  const begun = performance.now();
  await cluster.tenants.create(tenantOf(key.namespace, key.name));
  await ready(cluster.tenants, key);
  return performance.now() - begun;
}

const asked = (tenants: readonly HostileTenant[], before: ReadonlyMap<string, number> = new Map()): Promise<boolean> =>
  waitFor('each hostile bucket to be asked', () =>
    tenants.every(({ bucket }) => store.asked(bucket) > (before.get(bucket) ?? 1)),
  );

/**
 * A Tenant is deleted while its store drips its marker; once its status says so it gets the policy Retain, and goes. Gives what
 * the status said.
 */
async function deletedWhileDripping(): Promise<{ bucket: string; message: string }> {
  const [tenant] = (await hostileTenants(() => undefined, 1)) as [HostileTenant];
  const { key, bucket } = tenant;
  await ready(cluster.tenants, key);
  store.behave(bucket, { marker: 'drips' });

  await cluster.tenants.delete(key);
  const message = await waitFor('a status that names the store', async () => {
    const said = conditionOf(await cluster.tenants.find(key), 'Ready')?.message;
    return said?.includes('did not answer') && said;
  });
  await cluster.tenants.patch(key, { spec: { deletionPolicy: 'Retain' } });
  await waitFor('the Tenant to be gone', async () => (await cluster.tenants.find(key)) === undefined);
  return { bucket, message };
}

/** It waits for time-outs, so it goes on beside the first test, whose Tenants are of another namespace. */
let retained: ReturnType<typeof deletedWhileDripping>;
beforeAll(() => {
  retained = deletedWhileDripping();
  retained.catch(() => undefined);
});

test('while the stores of eight Tenants drip their markers, another is Ready within seconds; the eight say why', async () => {
  const tenants = await hostileTenants((bucket) => store.behave(bucket, { marker: 'drips' }));
  await asked(tenants);

  const tookMs = await timeUntilReady();
  const [first] = tenants as [HostileTenant];
  const slow = await condition(cluster.tenants, first.key, 'StorageReady', 'False', 'StorageUnreachable');
  for (const { key } of tenants) await cluster.tenants.delete(key);

  expect(tookMs).toBeLessThan(SOON_MS);
  expect(conditionOf(slow, 'StorageReady')?.message).toBe(
    `spec.storage: the store at ${new URL(store.url).host} did not answer within 10 s`,
  );
  await waitFor(
    'the slow Tenants to be gone',
    async () => (await cluster.tenants.list({ namespace: first.key.namespace })).length === 0,
  );
});

test('a Tenant deleted while its store drips its marker says so, and goes once its policy is Retain', async () => {
  const { bucket, message } = await retained;

  const { host } = new URL(store.url);
  expect(message).toBe(
    `Waiting for the objects in ${bucket}/ at ${store.url} to be deleted: the store at ${host} did not answer within ` +
      '10 s; with deletionPolicy Retain they are left',
  );
});

test('while eight deletions meet endless lists, another Tenant is Ready within seconds; they end with the fault', async () => {
  const tenants = await hostileTenants(() => undefined);
  for (const { key } of tenants) await ready(cluster.tenants, key);
  tenants.forEach(({ bucket }, at) => store.behave(bucket, { endless: (['keys', 'strange keys', 'uploads'] as const)[at % 3]! }));
  const before = new Map(tenants.map(({ bucket }) => [bucket, store.asked(bucket)]));
  for (const { key } of tenants) await cluster.tenants.delete(key);
  await asked(tenants, before);

  const tookMs = await timeUntilReady();
  const [first] = tenants as [HostileTenant];
  const message = await waitFor('a status that names the objects', async () => {
    const said = conditionOf(await cluster.tenants.find(first.key), 'Ready')?.message;
    return said?.includes('the objects in') && said;
  });
  for (const { bucket } of tenants) store.behave(bucket, {});

  expect(tookMs).toBeLessThan(SOON_MS);
  expect(message).toBe(`Waiting for the objects in ${first.bucket}/ at ${store.url} to be deleted`);
  await waitFor(
    'the Tenants to be gone',
    async () => (await cluster.tenants.list({ namespace: first.key.namespace })).length === 0,
  );
});

/** Returns the peak of the operator's resident memory since the last call. */
function peakBytes(): number {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${operator.pid}/status`, 'utf8'))?.[1];
  writeFileSync(`/proc/${operator.pid}/clear_refs`, '5');
  return Number(kilobytes) * 1024;
}

test('while eight deletions meet pages of 7.9 MiB, the operator stays small, and another Tenant is Ready soon', async () => {
  const tenants = await hostileTenants(() => undefined);
  for (const { key } of tenants) await ready(cluster.tenants, key);
  for (const { bucket } of tenants) store.behave(bucket, { listing: 'huge' });
  const before = new Map(tenants.map(({ bucket }) => [bucket, store.asked(bucket)]));
  peakBytes();
  const restingBytes = peakBytes();
  for (const { key } of tenants) await cluster.tenants.delete(key);
  await asked(tenants, before);

  const tookMs = await timeUntilReady();
  const [first] = tenants as [HostileTenant];
  const message = await waitFor('a status that names the reply', async () => {
    const said = conditionOf(await cluster.tenants.find(first.key), 'Ready')?.message;
    return said?.includes('cannot be read') && said;
  });
  const grownBytes = peakBytes() - restingBytes;
  for (const { bucket } of tenants) store.behave(bucket, {});

  expect(tookMs).toBeLessThan(SOON_MS);
  expect(message).toBe(
    `Waiting for the objects in ${first.bucket}/ at ${store.url} to be deleted: the store ` +
      `at ${new URL(store.url).host} answered with a listing that cannot be read; with deletionPolicy Retain they are ` +
      'left',
  );
  expect(grownBytes).toBeLessThan(GROWTH_BYTES);
  await waitFor(
    'the Tenants to be gone',
    async () => (await cluster.tenants.list({ namespace: first.key.namespace })).length === 0,
  );
});
