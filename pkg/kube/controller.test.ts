import { afterEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { ManualClock, settled } from '../../test/support/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';
import { Controller, type ControllerOptions } from './controller.ts';
import { CONFIG_MAP, type ConfigMap, DEPLOYMENT } from './kinds.ts';
import type { Observed } from './object.ts';
import { keyText } from './object.ts';
import { done, requeueAfter, TerminalError } from './result.ts';
import { forMapped, forObject, forOwner } from './sources.ts';
import { Store } from './store.ts';

const thing = (name: string, version: number, metadata: Partial<Observed['metadata']> = {}): Observed<ConfigMap> => ({
  metadata: {
    namespace: 'n',
    name,
    uid: name,
    resourceVersion: String(version),
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 1,
    ...metadata,
  },
});

let clock: ManualClock;
let metrics: Registry;
let store: Store<ConfigMap>;
let stop: AbortController;
let running: Promise<void> = Promise.resolve();
afterEach(async () => {
  stop.abort();
  await clock.advance(10_000);
  await running;
});

function start(options: Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>): Controller {
  clock = new ManualClock();
  metrics = new Registry();
  store = new Store<ConfigMap>({ kind: CONFIG_MAP });
  stop = new AbortController();
  const controller = new Controller({
    name: 'things',
    sources: [forObject(store)],
    backOff: { baseMs: 100, maxMs: 1_000, jitter: 0 },
    clock,
    random: systemRandom,
    log: silentLogger,
    metrics,
    ...options,
  });
  running = controller.run(stop.signal);
  return controller;
}

function sync(...objects: Observed<ConfigMap>[]): Promise<void> {
  for (const object of objects) store.upsert(object);
  store.endList(new Set(objects.map(({ metadata }) => `n/${metadata.name}`)), '10');
  return settled();
}

const count = async (name: string, labels: Record<string, string>): Promise<number> => {
  const { values } = await metrics.getSingleMetric(name)!.get();
  const matching = values.filter((value) => Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted));
  return matching.reduce((sum, { value }) => sum + value, 0);
};

test('nothing is reconciled before the stores have synced; then everything is', async () => {
  const seen: string[] = [];
  start({ reconcile: async (key) => (seen.push(keyText(key)), done) });

  store.upsert(thing('a', 1));
  await settled();
  expect(seen).toEqual([]);
  await sync(thing('a', 1), thing('b', 2));

  expect(seen.toSorted()).toEqual(['n/a', 'n/b']);
  expect(await count('controller_runtime_reconcile_total', { controller: 'things', result: 'success' })).toBe(2);
});

test('a key is never reconciled twice at once, and runs again after a change meanwhile', async () => {
  let active = 0;
  let most = 0;
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  start({
    concurrency: 4,
    reconcile: async () => {
      runs++;
      most = Math.max(most, ++active);
      if (runs === 1) await gate.promise;
      active--;
      return done;
    },
  });
  await sync(thing('a', 1));

  for (let version = 11; version < 20; version++) store.upsert(thing('a', version));
  await settled();
  expect(await count('controller_runtime_active_workers', {})).toBe(1);
  gate.resolve();
  await settled();

  expect([most, runs]).toEqual([1, 2]);
});

test('endless reconciles of one namespace hold no worker and leave room for another namespace', async () => {
  const begun: string[] = [];
  const gate = Promise.withResolvers<void>();
  start({
    concurrency: 4,
    slowMs: 3_000,
    timeoutMs: 60_000,
    reconcile: async (key) => {
      begun.push(keyText(key));
      if (key.namespace === 'n') await gate.promise;
      return done;
    },
  });
  await sync(...['a', 'b', 'c', 'd', 'e', 'f'].map((name, at) => thing(name, at + 1)));
  await clock.advance(3_000);

  store.upsert(thing('g', 20, { namespace: 'other', uid: 'g' }));
  await clock.advance(1);

  expect(begun).toEqual(['n/a', 'n/b', 'n/c', 'n/d', 'other/g']);
  expect([await count('controller_runtime_slow_reconciles', {}), await count('controller_runtime_active_workers', {})]).toEqual([
    4, 0,
  ]);
  gate.resolve();
  await settled();
  expect(begun.slice(5).toSorted()).toEqual(['n/e', 'n/f']);
  expect(await count('controller_runtime_slow_reconciles', {})).toBe(0);
});

test('a reconcile that continues after its time-out does not start again before it has ended', async () => {
  const begun: number[] = [];
  const gate = Promise.withResolvers<void>();
  start({
    slowMs: 3_000,
    timeoutMs: 10_000,
    reconcile: async (_key, signal) => {
      begun.push(clock.monotonic());
      if (begun.length > 1) return done;
      await gate.promise;
      signal.throwIfAborted();
      return done;
    },
  });
  await sync(thing('a', 1));

  await clock.advance(10_000);
  store.upsert(thing('a', 11));
  await clock.advance(60_000);
  expect(begun).toEqual([0]);
  expect(await count('controller_runtime_reconcile_timeouts_total', {})).toBe(1);
  gate.resolve();
  await clock.advance(1_000);

  expect(begun[1]).toBe(70_000);
});

test('a failure is retried with back-off, a terminal one waits for a change', async () => {
  const times: Record<string, number[]> = { 'n/a': [], 'n/b': [] };
  start({
    reconcile: async (key) => {
      times[keyText(key)]?.push(clock.monotonic());
      if (key.name === 'b') throw new TerminalError('no such class');
      if ((times['n/a']?.length ?? 0) < 4) throw new Error('unavailable');
      return done;
    },
  });
  await sync(thing('a', 1), thing('b', 2));

  await clock.advance(10_000);
  store.upsert(thing('b', 11, { generation: 2 }));
  await settled();

  expect(times).toEqual({ 'n/a': [0, 100, 300, 700], 'n/b': [0, 10_000] });
  expect(await count('controller_runtime_reconcile_errors_total', {})).toBe(5);
  expect(await count('controller_runtime_terminal_reconcile_errors_total', {})).toBe(2);
});

test('a lasting failure is retried at its own time, unless its key is added before', async () => {
  const times: number[] = [];
  const controller = start({
    reconcile: async () => {
      times.push(clock.monotonic());
      if (times.length < 4) throw Object.assign(new Error('the shard is lost'), { retryAfterMs: 60_000 });
      return done;
    },
  });
  await sync(thing('a', 1));

  await clock.advance(70_000);
  controller.enqueue({ namespace: 'n', name: 'a' });
  await clock.advance(200_000);

  expect(times).toEqual([0, 60_000, 70_000, 120_000]);
});

test('a reconcile may ask to be called again later', async () => {
  const times: number[] = [];
  start({ reconcile: async () => (times.push(clock.monotonic()), times.length < 3 ? requeueAfter(5_000) : done) });

  await sync(thing('a', 1));
  await clock.advance(60_000);

  expect(times).toEqual([0, 5_000, 10_000]);
});

test('an existing object is reconciled again about every resync period, a deleted one once at most', async () => {
  const seen: string[] = [];
  start({ resyncMs: 1_000_000, reconcile: async (key) => (seen.push(key.name), done) });
  await sync(thing('a', 1), thing('b', 2));
  store.remove(thing('b', 11));
  await settled();
  seen.length = 0;

  await clock.advance(3_400_000);

  expect(seen.filter((name) => name === 'a')).toHaveLength(3);
  expect(seen.filter((name) => name === 'b').length).toBeLessThanOrEqual(1);
});

test('a reconcile that takes too long is aborted by its signal, and retried', async () => {
  const reasons: string[] = [];
  start({
    timeoutMs: 1_000,
    reconcile: (_key, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push((signal.reason as Error).message);
          reject(signal.reason as Error);
        });
      }),
  });
  await sync(thing('a', 1));

  await clock.advance(2_150);

  expect(reasons).toEqual(['the reconcile took longer than 1000 ms', 'the reconcile took longer than 1000 ms']);
});

test('stop waits for running reconciles within the drain time and starts no more', async () => {
  const ends: string[] = [];
  start({
    concurrency: 2,
    drainMs: 3_000,
    reconcile: async (key, signal) => {
      const ms = key.name === 'quick' ? 1_000 : 60_000;
      await clock.sleep(ms, signal).then(
        () => ends.push(`${key.name} ended`),
        () => ends.push(`${key.name} aborted at ${clock.monotonic()}`),
      );
      return done;
    },
  });
  await sync(thing('quick', 1), thing('slow', 2), thing('waiting', 3));

  stop.abort();
  await clock.advance(5_000);
  await running;

  expect(ends).toEqual(['quick ended', 'slow aborted at 3000']);
});

test("a person's edit overtakes the backlog of a restart", async () => {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  start({
    concurrency: 1,
    reconcile: async (key) => {
      order.push(key.name);
      if (order.length === 1) await gate.promise;
      return done;
    },
  });
  await sync(thing('a', 1), thing('b', 2), thing('c', 3), thing('d', 4));

  store.upsert(thing('c', 11, { labels: { touched: 'yes' } }));
  store.upsert(thing('d', 12, { generation: 2 }));
  gate.resolve();
  await settled(20);

  expect(order).toEqual(['a', 'd', 'c', 'b']);
});

test('children from before the controller are not read: their owner is reconciled anyway, and once', async () => {
  const owners = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const children = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const reads: string[] = [];
  const read = children.onChange.bind(children);
  children.onChange = (handler, options) => read((change) => (reads.push(change.object.metadata.name), handler(change)), options);
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'web', uid: 'u', controller: true };
  owners.upsert(thing('web', 1));
  owners.endList(new Set(['n/web']), '10');
  children.upsert(thing('owned', 2, { ownerReferences: [owner] }));
  children.endList(new Set(['n/owned']), '10');
  const seen: string[] = [];
  start({
    reconcile: async (key) => (seen.push(keyText(key)), done),
    sources: [forObject(owners), forOwner(children, CONFIG_MAP)],
  });
  await settled();

  expect([seen, reads]).toEqual([['n/web'], []]);
  children.upsert(thing('owned', 11, { ownerReferences: [owner] }));
  await settled();
  expect([seen, reads]).toEqual([['n/web', 'n/web'], ['owned']]);
});

test('a status, finalizer or child that the reconcile itself wrote does not run it again', async () => {
  const children = new Store<ConfigMap>({ kind: CONFIG_MAP });
  children.endList(new Set(), '10');
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a', controller: true };
  const withStatus = (version: number, metadata: Partial<Observed['metadata']> = {}) =>
    ({ ...thing('a', version, metadata), status: { seen: version } }) as Observed<ConfigMap>;
  let looks = 0;
  store = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const owners = store;
  start({ reconcile: async () => ((looks += 1), done), sources: [forObject(owners), forOwner(children, CONFIG_MAP)] });
  store = owners;
  await sync(thing('a', 1));
  const looksAfter = async (change: () => void): Promise<number> => {
    const before = looks;
    change();
    await settled();
    return looks - before;
  };

  expect(await looksAfter(() => owners.record(thing('a', 11, { finalizers: ['ours'] })))).toBe(0);
  expect(await looksAfter(() => owners.record(withStatus(12)))).toBe(0);
  expect(await looksAfter(() => children.record(thing('child', 13, { ownerReferences: [owner] })))).toBe(0);
  // The watch repeats the recorded change; then another client writes.
  expect(await looksAfter(() => owners.upsert(withStatus(12)))).toBe(0);
  expect(await looksAfter(() => owners.upsert(withStatus(14)))).toBe(1);
  expect(await looksAfter(() => children.upsert(thing('child', 15, { ownerReferences: [owner] })))).toBe(1);
  // Our status was set on a spec that had changed meanwhile.
  expect(await looksAfter(() => owners.record(withStatus(16, { generation: 2 })))).toBe(1);
});

test('children name their owner, and mapped objects all keys that they concern before and after a change', async () => {
  const children = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const secrets = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const seen: string[] = [];
  const usedBy = (object: Observed<ConfigMap>): { namespace: string; name: string }[] => [
    { namespace: 'n', name: object.metadata.labels?.['for'] ?? '' },
  ];
  start({
    reconcile: async (key) => (seen.push(keyText(key)), done),
    sources: [forOwner(children, DEPLOYMENT), forMapped(secrets, usedBy)],
  });
  const owner = { apiVersion: 'apps/v1beta9', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
  children.endList(new Set(), '10');
  secrets.upsert(thing('s', 1, { labels: { for: 'one' } }));
  secrets.endList(new Set(['n/s']), '10');
  await settled();
  seen.length = 0;

  children.upsert(thing('owned', 11, { ownerReferences: [owner] }));
  children.upsert(thing('stranger', 12, { ownerReferences: [{ ...owner, apiVersion: 'other/v1' }] }));
  secrets.upsert(thing('s', 13, { labels: { for: 'two' } }));
  await settled();

  expect(seen.toSorted()).toEqual(['n/one', 'n/two', 'n/web']);
});
