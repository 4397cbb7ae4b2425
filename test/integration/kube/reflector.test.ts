import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { informer, type Informer } from '../../../pkg/kube/informer.ts';
import { CONFIG_MAP, type ConfigMap, NAMESPACE, SECRET } from '../../../pkg/kube/kinds.ts';
import { keyOf, keyText, type Observed } from '../../../pkg/kube/object.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import type { Store } from '../../../pkg/kube/store.ts';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { type ApiServer, startApiServer } from '../../support/cluster/apiserver.ts';
import { heapUsed } from '../../support/measures/memory.ts';
import { inParallel, range, WAIT_LIMIT_MS, waitFor } from '../../support/wait.ts';

/** Several pages of a list. `make faults` runs 5,000 (OBJECTS). */
const OBJECTS = Number(process.env['OBJECTS'] ?? 1_500);
/** Bytes of heap that the store may hold for each object, and that two changes of it may leave. */
const HELD = 8 * 1024;
const LEFT = 3 * 1024;

let server: ApiServer;
let client: KubeClient;
let configMaps: ResourceApi<ConfigMap>;
let metrics: Registry;

beforeAll(async () => {
  server = await startApiServer();
  metrics = new Registry();
  client = new KubeClient({ kubeConfig: server.kubeConfig, metrics });
  configMaps = new ResourceApi(client, CONFIG_MAP);
});
afterAll(async () => {
  await client?.close();
  await server?.close();
});

const named = (namespace: string, index: number, value: string): ConfigMap => ({
  metadata: { namespace, name: `c-${index}`, labels: { parity: String(index % 2) } },
  data: { value, filler: 'x'.repeat(1_000) },
});

function watching(namespace: string): Informer<ConfigMap> {
  return informer({
    client,
    kind: CONFIG_MAP,
    namespace,
    log: silentLogger,
    metrics,
    indexes: { parity: (o) => [o.metadata.labels?.['parity'] ?? ''] },
  });
}

/** Follows the changes that a store reports, and throws at once when a change does not fit those before it. */
function modelOf(store: Store<ConfigMap>): {
  objects: Map<string, Observed<ConfigMap>>;
  reported: Set<string>;
  faults: string[];
} {
  const objects = new Map<string, Observed<ConfigMap>>();
  const seen = new Set<string>();
  const faults: string[] = [];
  store.onChange(({ type, object }) => {
    const key = keyText(keyOf(object));
    const before = objects.get(key);
    const isNewer = before === undefined || BigInt(object.metadata.resourceVersion) > BigInt(before.metadata.resourceVersion);
    if ((type === 'added') !== (before === undefined)) faults.push(`${type} ${key}, which is ${before ? '' : 'not '}there`);
    if (type !== 'deleted' && (!isNewer || seen.has(object.metadata.resourceVersion)))
      faults.push(`${type} ${key} reported twice or backwards`);
    if (type === 'deleted') objects.delete(key);
    else {
      objects.set(key, object);
      seen.add(object.metadata.resourceVersion);
    }
  });
  return { objects, reported: seen, faults };
}

let many: Promise<string> | undefined;
/**
 * The namespace of OBJECTS objects, which are created once: what the API server does for them is most of what this file costs.
 */
const manyObjects = (): Promise<string> =>
  (many ??= (async () => {
    await new ResourceApi(client, NAMESPACE).create({ metadata: { name: 'many' } });
    await inParallel(range(OBJECTS), 40, (index) => configMaps.create(named('many', index, '0')));
    return 'many';
  })());

const states = (objects: Iterable<Observed<ConfigMap>>): string[] =>
  [...objects].map((o) => `${keyText(keyOf(o))} ${o.metadata.uid} ${o.metadata.resourceVersion} ${o.data?.['value']}`).toSorted();

const listsRead = async (): Promise<number> =>
  (await metrics.getSingleMetric('reflector_lists_total')!.get()).values[0]?.value ?? 0;

test(`${OBJECTS} objects are listed in pages and watched; every change is reported once, and memory does not grow`, async () => {
  const namespace = await manyObjects();
  const { store, run } = watching(namespace);
  const stop = new AbortController();
  const emptyHeap = heapUsed();

  const running = run(stop.signal);
  await store.waitForSync(AbortSignal.timeout(WAIT_LIMIT_MS));

  expect(store.size).toBe(OBJECTS);
  expect(store.byIndex('parity', '1')).toHaveLength(OBJECTS / 2);
  expect(store.get({ namespace, name: 'c-7' })?.metadata.managedFields).toBeUndefined();
  const fullHeap = heapUsed();
  expect(fullHeap - emptyHeap).toBeLessThan(OBJECTS * HELD);

  const model = modelOf(store);
  const seenBefore = model.reported.size;
  const written = new Set<string>();
  for (const round of ['1', '2']) {
    await inParallel(range(OBJECTS), 40, async (index) => {
      const { metadata } = await configMaps.update(named(namespace, index, round));
      written.add(metadata.resourceVersion);
    });
  }
  await waitFor('all changes to be reported', () => model.reported.size === seenBefore + written.size);

  expect([...written].filter((version) => !model.reported.has(version))).toEqual([]);
  expect(model.faults).toEqual([]);
  model.objects.clear();
  model.reported.clear();
  expect(heapUsed() - fullHeap).toBeLessThan(OBJECTS * LEFT);
  stop.abort();
  await running;
}, 300_000);

test('while etcd and the API server are killed and restarted, no change is missed or reported twice', async () => {
  const namespace = 'faults';
  await new ResourceApi(client, NAMESPACE).create({ metadata: { name: namespace } });
  await inParallel(range(300), 20, (index) => configMaps.create(named(namespace, index, '0')));
  const { store, run } = watching(namespace);
  const model = modelOf(store);
  const stop = new AbortController();
  const running = run(stop.signal);
  await store.waitForSync(AbortSignal.timeout(WAIT_LIMIT_MS));

  const writing = new AbortController();
  let succeeded = 0;
  const writers = range(6).map(async (writer) => {
    for (let step = 0; !writing.signal.aborted; step++) {
      const index = (writer * 50 + ((step * 7) % 50)) % 300;
      const key = { namespace, name: `c-${index}` };
      const write = (): Promise<unknown> => {
        if (step % 5 === 3) return configMaps.delete(key);
        return step % 5 === 4
          ? configMaps.create(named(namespace, index, `new ${step}`))
          : configMaps.update(named(namespace, index, `${step}`));
      };
      await write().then(
        () => succeeded++,
        () => new Promise((resolve) => setTimeout(resolve, 20)),
      );
    }
  });
  for (const fault of ['etcd', 'etcd', 'api', 'both'] as const) {
    const before = succeeded;
    await waitFor('work goes on', () => succeeded > before + 200);
    if (fault !== 'api') await server.stopEtcd();
    if (fault !== 'etcd') await server.stopApiServer();
    if (fault !== 'api') await server.startEtcd();
    if (fault !== 'etcd') await server.startApiServer();
  }
  const before = succeeded;
  await waitFor('work goes on', () => succeeded > before + 200);
  writing.abort();
  await Promise.all(writers);

  const truth = states(await configMaps.list({ namespace }));
  await waitFor('the store is what the server holds', () => JSON.stringify(states(store.list())) === JSON.stringify(truth));
  expect(states(model.objects.values())).toEqual(truth);
  expect(model.faults).toEqual([]);
  stop.abort();
  await running;
}, 300_000);

test('a compacted resourceVersion causes one new list, of which only the differences are reported', async () => {
  const namespace = await manyObjects();
  const { store, run } = watching(namespace);
  const first = new AbortController();
  const firstRun = run(first.signal);
  await store.waitForSync(AbortSignal.timeout(WAIT_LIMIT_MS));
  first.abort();
  await firstRun;
  const changes: string[] = [];
  store.onChange(({ type, object, initial }) => initial || changes.push(`${type} ${object.metadata.name}`));
  const lists = await listsRead();

  await configMaps.update(named(namespace, 1, 'other'));
  await configMaps.delete({ namespace, name: 'c-2' });
  await configMaps.delete({ namespace, name: 'c-3' });
  await configMaps.create(named(namespace, 3, 'made again'));
  await configMaps.create(named(namespace, 9_999, 'new'));
  await server.compact();
  await server.stopApiServer();
  await server.startApiServer();
  changes.length = 0;
  const second = new AbortController();
  const secondRun = run(second.signal);
  await waitFor('the differences to be reported', () => changes.length >= 5);
  await configMaps.update(named(namespace, 4, 'after'));
  await waitFor('the watch to continue', () => changes.length >= 6);

  expect(changes.slice(0, 5).toSorted()).toEqual(['added c-3', 'added c-9999', 'deleted c-2', 'deleted c-3', 'updated c-1']);
  expect(changes.indexOf('deleted c-3')).toBeLessThan(changes.indexOf('added c-3'));
  expect(changes.slice(5)).toEqual(['updated c-4']);
  expect(await listsRead()).toBe(lists + 1);
  expect(states(store.list())).toEqual(states(await configMaps.list({ namespace })));
  second.abort();
  await secondRun;
}, 300_000);

test('a metadata-only reflector sees that a Secret changed, and never its content', async () => {
  const secrets = new ResourceApi(client, SECRET);
  const metadata = { namespace: 'default', name: 'theirs', labels: { a: 'b' } };
  await secrets.create({ metadata, data: { password: 'c2VjcmV0' } });
  const { store, run } = informer({ client, kind: SECRET, namespace: 'default', metadataOnly: true, log: silentLogger, metrics });
  const stop = new AbortController();
  const running = run(stop.signal);
  await store.waitForSync(AbortSignal.timeout(WAIT_LIMIT_MS));
  const before = store.get(metadata)!;

  await secrets.update({ metadata, data: { password: 'b3RoZXI=' } });
  await waitFor(
    'the change to be reported',
    () => store.get(metadata)?.metadata.resourceVersion !== before.metadata.resourceVersion,
  );

  const [after] = [store.get(metadata)!];
  expect(Object.keys(before).toSorted()).toEqual(['apiVersion', 'kind', 'metadata']);
  expect(Object.keys(after).toSorted()).toEqual(['apiVersion', 'kind', 'metadata']);
  expect(after).toMatchObject({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'theirs', labels: { a: 'b' } } });
  stop.abort();
  await running;
});
