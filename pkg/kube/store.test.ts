import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CONFIG_MAP, type ConfigMap } from './kinds.ts';
import type { Observed } from './object.ts';
import { Store } from './store.ts';

const thing = (name: string, version: number, more: { uid?: string; label?: string } = {}): Observed<ConfigMap> => ({
  metadata: {
    namespace: 'n',
    name,
    uid: more.uid ?? name,
    resourceVersion: String(version),
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(more.label ? { labels: { team: more.label } } : {}),
  },
});

const states = (objects: Iterable<Observed<ConfigMap>>): string[] =>
  [...objects].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted();

function synced(items: Observed<ConfigMap>[], version: number): { store: Store<ConfigMap>; reported: string[] } {
  const store = new Store<ConfigMap>({
    kind: CONFIG_MAP,
    indexes: { team: (object) => Object.values(object.metadata.labels ?? {}) },
  });
  listed(store, items, version);
  const reported: string[] = [];
  store.onChange(
    ({ type, object, initial }) => initial || reported.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`),
  );
  return { store, reported };
}

function listed(store: Store<ConfigMap>, items: Observed<ConfigMap>[], version: number): void {
  store.beginList(String(version));
  for (const item of items) store.upsert(item);
  store.endList(new Set(items.map(({ metadata }) => `n/${metadata.name}`)), String(version));
}

test('a write of our own is seen at once, and the watch does not report it again', () => {
  const { store, reported } = synced([thing('a', 1)], 5);

  store.record(thing('a', 7));
  store.upsert(thing('a', 6));
  store.upsert(thing('a', 7));

  expect(reported).toEqual(['updated a@7']);
});

test('an update of fields that a transform drops is not a change', () => {
  const store = new Store<ConfigMap>({ kind: CONFIG_MAP, transform: ({ data: _dropped, ...kept }) => kept });
  listed(store, [{ ...thing('a', 1), data: { at: '1' } }], 1);
  const reported: string[] = [];
  store.onChange(({ object, initial }) => initial || reported.push(object.metadata.resourceVersion));

  store.upsert({ ...thing('a', 2), data: { at: '2' } });
  store.upsert(thing('a', 3, { label: 'x' }));

  expect([reported, states(store.list())]).toEqual([['3'], ['a@3']]);
});

test('a late answer to a write does not restore an object deleted since', () => {
  const { store, reported } = synced([thing('a', 1)], 5);
  store.remove(thing('a', 8));
  store.progress('8');

  store.record(thing('a', 7));

  expect(reported).toEqual(['deleted a@1']);
  expect(store.size).toBe(0);
});

test("an older incarnation's deletion does not remove the new one", () => {
  const { store, reported } = synced([thing('a', 1)], 5);
  store.record(thing('a', 9, { uid: 'anew' }));

  store.remove(thing('a', 8));

  expect(reported).toEqual(['deleted a@1', 'added a@9']);
  expect(store.get({ namespace: 'n', name: 'a' })?.metadata.uid).toBe('anew');
});

test('a list that is older than our own write keeps it', () => {
  const { store } = synced([], 5);
  store.record(thing('ours', 9));

  listed(store, [thing('other', 6)], 8);

  expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['ours', 'other']);
});

test('the versions of a server that was restored from an older backup count', () => {
  const { store, reported } = synced([thing('a', 50), thing('b', 60)], 60);

  listed(store, [thing('a', 20)], 30);

  expect(reported).toEqual(['updated a@20', 'deleted b@60']);
});

test('with a scope per namespace, a list or a version of one does not affect the other', () => {
  const of = (namespace: string, name: string, version: number): Observed<ConfigMap> => {
    const { metadata } = thing(name, version);
    return { metadata: { ...metadata, namespace } };
  };
  const store = new Store<ConfigMap>({ kind: CONFIG_MAP, scopes: ['a', 'b'] });
  store.beginList('5', 'a');
  store.upsert(of('a', 'x', 1));
  store.endList(new Set(['a/x']), '5', 'a');
  expect(store.hasSynced).toBe(false);
  store.beginList('9', 'b');
  store.upsert(of('b', 'y', 8));
  store.endList(new Set(['b/y']), '9', 'b');

  expect(store.hasSynced).toBe(true);
  // Newer than the last version that the watch of a delivered, older than that of b.
  store.record(of('a', 'x', 7));
  store.record(of('b', 'z', 7));
  expect(states(store.list())).toEqual(['x@7', 'y@8']);

  store.beginList('12', 'b');
  store.endList(new Set(), '12', 'b');
  expect(states(store.list())).toEqual(['x@7']);
});

test('indexes follow changes', () => {
  const { store } = synced([thing('a', 1, { label: 'red' }), thing('b', 2, { label: 'red' })], 5);
  const names = (team: string): string[] => store.byIndex('team', team).map(({ metadata }) => metadata.name);

  store.upsert(thing('a', 6, { label: 'blue' }));
  store.remove(thing('b', 7));

  expect([names('red'), names('blue')]).toEqual([[], ['a']]);
  expect(() => store.byIndex('colour', 'red')).toThrow('configmaps have no index colour');
});

test('a new subscriber gets the existing objects, marked as initial', () => {
  const { store } = synced([thing('a', 1)], 5);
  const reported: [string, boolean][] = [];

  store.onChange(({ object, initial }) => reported.push([object.metadata.name, initial]));
  store.upsert(thing('b', 6));

  expect(reported).toEqual([
    ['a', true],
    ['b', false],
  ]);
});

test('waiting for the first list ends with it, or with the signal', async () => {
  const store = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const waiting = store.waitForSync(new AbortController().signal);
  const givenUp = store.waitForSync(AbortSignal.abort(new Error('enough')));

  listed(store, [], 1);

  await waiting;
  await expect(givenUp).rejects.toThrow('enough');
});

test('for any mix of events, answers and lists, the reported changes build exactly the content of the store', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const kind = fc.constantFrom('write', 'recreate', 'delete', 'record', 'list', 'deliver');
  fc.assert(
    fc.property(fc.array(fc.tuple(kind, name), { maxLength: 80 }), (steps) => {
      const { store } = synced([], 1);
      const model = new Map<string, string>();
      store.onChange(({ type, object }) => {
        expect(model.has(object.metadata.name)).toBe(type !== 'added');
        if (type === 'deleted') model.delete(object.metadata.name);
        else model.set(object.metadata.name, object.metadata.resourceVersion);
      });
      const server = new Map<string, Observed<ConfigMap>>();
      let version = 1;
      let log: { type: 'upsert' | 'remove'; object: Observed<ConfigMap> }[] = [];
      let lastAnswer: Observed<ConfigMap> | undefined;
      const deliver = (): void => {
        for (const { type, object } of log) {
          store[type](object);
          store.progress(object.metadata.resourceVersion);
        }
        log = [];
      };
      const remove = (key: string): void => {
        const object = server.get(key);
        if (!object) return;
        server.delete(key);
        log.push({ type: 'remove', object: thing(key, ++version, { uid: object.metadata.uid }) });
      };
      for (const [step, key] of steps) {
        if (step === 'delete' || step === 'recreate') remove(key);
        if (step === 'write' || step === 'recreate') {
          lastAnswer = thing(key, ++version, { uid: server.get(key)?.metadata.uid ?? `${key}${version}` });
          server.set(key, lastAnswer);
          log.push({ type: 'upsert', object: lastAnswer });
        }
        if (step === 'record' && lastAnswer) store.record(lastAnswer);
        if (step === 'deliver') deliver();
        if (step === 'list') {
          listed(store, [...server.values()], version);
          log = [];
        }
      }
      deliver();
      const truth = states(server.values());
      expect([...model].map(([key, reported]) => `${key}@${reported}`).toSorted()).toEqual(truth);
      expect(states(store.list())).toEqual(truth);
    }),
    { numRuns: 500 },
  );
});

test('a packed store returns what an unpacked one returns, and does not unpack recently read objects again', () => {
  const given = [
    thing('a', 1, { label: 'red' }),
    { ...thing('b', 2, { label: 'red' }), data: { größe: '1 €', long: 'x'.repeat(100_000) } },
  ];
  const store = new Store<ConfigMap>({
    kind: CONFIG_MAP,
    packed: true,
    indexes: { team: ({ metadata }) => Object.values(metadata.labels ?? {}) },
  });
  const changes: unknown[] = [];
  listed(store, given, 5);
  store.onChange(({ type, object, previous }) => changes.push([type, object.data, previous?.data]));

  expect(store.get({ namespace: 'n', name: 'b' })).toBe(store.get({ namespace: 'n', name: 'b' }));
  expect([store.list(), store.byIndex('team', 'red'), store.has({ namespace: 'n', name: 'b' })]).toEqual([given, given, true]);
  store.upsert({ ...thing('a', 6), data: { is: 'new' } });
  store.remove(thing('b', 7));
  expect(changes.slice(2)).toEqual([
    ['updated', { is: 'new' }, undefined],
    ['deleted', given[1]?.data, undefined],
  ]);
  expect(store.get({ namespace: 'n', name: 'a' })?.data).toEqual({ is: 'new' });
});

test('a packed store holds a bounded number of unpacked objects, those that were read last', () => {
  const store = new Store<ConfigMap>({ kind: CONFIG_MAP, packed: true });
  const names = Array.from({ length: 100 }, (_, index) => `c${index}`);
  const read = (name = '') => store.get({ namespace: 'n', name });
  listed(
    store,
    names.map((name, index) => thing(name, index + 1)),
    200,
  );
  const first = names.map(read);

  expect(names.map((name, index) => index < 50 || read(name) === first[index]).every(Boolean)).toBe(true);
  expect([read('c0') === first[0], read('c0')]).toEqual([false, first[0]]);
});

test('the objects that an owner controls are found by its uid, in a namespace', () => {
  const owned = (name: string, uid: string): Observed<ConfigMap> => {
    const { metadata } = thing(name, 1);
    return { metadata: { ...metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'o', uid, controller: true }] } };
  };
  const { store } = synced([owned('a', '1'), owned('b', '2'), thing('c', 3)], 5);

  expect([store.controlledBy('1', 'n'), store.controlledBy('1', 'other')].map(states)).toEqual([['a@1'], []]);
});
