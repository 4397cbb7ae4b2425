import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { differences, removalOf } from './diff.ts';
import { CONFIG_MAP, DEPLOYMENT, type Deployment, NETWORK_POLICY, SERVICE } from './kinds.ts';
import type { KubeObject } from './object.ts';
import type { JsonPatchOperation } from './resource.ts';

const CLEAN = { drift: [], extras: [] };
const pods = (spec: object): Deployment => ({ spec: { selector: {}, template: { spec } } }) as unknown as Deployment;

describe('a desired value', () => {
  test.each([
    ['0.5', '500m', true],
    ['1Gi', '1073741824', true],
    ['1Gi', '2Gi', false],
  ])('of a limit: %s for a live %s', (desired, live, same) => {
    const limit = (memory: string): Deployment => pods({ containers: [{ name: 'c', resources: { limits: { memory } } }] });

    expect(differences(DEPLOYMENT, limit(desired), limit(live)).drift).toEqual(
      same ? [] : ['/spec/template/spec/containers/0/resources/limits/memory'],
    );
  });

  test.each<[unknown, unknown, boolean]>([
    ['', undefined, true],
    [[], undefined, true],
    [undefined, 'anything', true],
    [null, 'anything', true],
    [false, undefined, false],
    [0, undefined, false],
    [{}, undefined, false],
    [{}, { a: 1 }, true],
    ['1', 1, false],
    [{ a: 1 }, [1], false],
    [[1], { 0: 1 }, false],
  ])('of %j for a live %j: the same is %j', (desired, live, same) => {
    const object = (thing: unknown): KubeObject => ({ spec: { thing } }) as KubeObject;

    expect(differences({ group: 'example.com', kind: 'Thing' }, object(desired), object(live)).drift).toEqual(
      same ? [] : ['/spec/thing'],
    );
  });

  test('that is `false` counts as absent where the server drops it', () => {
    const mount = (more: object): Deployment =>
      pods({ containers: [{ name: 'c', volumeMounts: [{ name: 'a', mountPath: '/a', ...more }] }] });

    expect(differences(DEPLOYMENT, mount({ readOnly: false }), mount({}))).toEqual(CLEAN);
  });
});

test('a selector is compared whole', () => {
  const policy = (podSelector: object): KubeObject => ({ spec: { podSelector } }) as KubeObject;

  expect(differences(NETWORK_POLICY, policy({}), policy({ matchLabels: { app: 'other' } })).drift).toEqual([
    '/spec/podSelector/matchLabels',
  ]);
});

test("a field added to an item of an atomic list is drift, unless it is the server's default", () => {
  const policy = (peer: object, port: object): KubeObject =>
    ({ spec: { ingress: [{ from: [peer], ports: [port] }] } }) as KubeObject;
  const desired = policy({ podSelector: {} }, { port: 80 });

  expect(differences(NETWORK_POLICY, desired, policy({ podSelector: {} }, { port: 80, protocol: 'TCP' }))).toEqual(CLEAN);
  expect(differences(NETWORK_POLICY, desired, policy({ podSelector: {}, namespaceSelector: {} }, { port: 80 })).drift).toEqual([
    '/spec/ingress/0/from/0/namespaceSelector',
  ]);
});

test('ports of a Service are matched by port and protocol, and others may be added', () => {
  const service = (...ports: object[]): KubeObject => ({ spec: { ports } }) as KubeObject;
  const live = service(
    { port: 22, protocol: 'TCP' },
    { port: 80, protocol: 'UDP' },
    { port: 80, protocol: 'TCP', targetPort: 8080 },
  );

  expect(differences(SERVICE, service({ port: 80, targetPort: 8080 }), live)).toEqual(CLEAN);
  expect(differences(SERVICE, service({ port: 80, targetPort: 9090 }), live).drift).toEqual(['/spec/ports/2/targetPort']);
  expect(differences(SERVICE, service({ port: 443 }), live).drift).toEqual(['/spec/ports/-']);
});

test('keys with a slash or a tilde are escaped', () => {
  const map = (value: string): KubeObject => ({ metadata: { annotations: { 'a/b~c': value } } });

  expect(differences(CONFIG_MAP, map('1'), map('2')).drift).toEqual(['/metadata/annotations/a~1b~0c']);
});

const item = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.constantFrom('1', '2') });
const environment = fc.uniqueArray(item, { selector: ({ name }) => name, maxLength: 5 });
const container = fc.record({ name: fc.constantFrom('x', 'y', 'z'), env: fc.option(environment, { nil: undefined }) });
const containers = fc.uniqueArray(container, { selector: ({ name }) => name, minLength: 1, maxLength: 3 });
const volumes = fc.option(environment, { nil: undefined });
const template = fc.record({ containers, volumes, initContainers: fc.option(containers, { nil: undefined }) });

test('an object does not differ from itself, whatever the order of its keyed lists', () => {
  fc.assert(
    fc.property(template, (spec) => {
      const turned = { ...spec, containers: spec.containers.toReversed().map((one) => ({ ...one, env: one.env?.toReversed() })) };
      expect(differences(DEPLOYMENT, pods(spec), pods(spec))).toEqual(CLEAN);
      expect(differences(DEPLOYMENT, pods(spec), pods(turned))).toEqual(CLEAN);
    }),
  );
});

test('merging the desired state and removing the extras leaves exactly the desired state, from any live state', () => {
  fc.assert(
    fc.property(template, template, (desired, live) => {
      const merged = mergeByName(desired, live) as object;
      const found = differences(DEPLOYMENT, pods(desired), pods(merged));
      expect(found.drift).toEqual([]);
      const repaired = removalOf(found.extras).reduce(remove, structuredClone(pods(merged)));

      expect(differences(DEPLOYMENT, pods(desired), repaired)).toEqual(CLEAN);
      expect(normal(repaired.spec?.template.spec)).toEqual(normal(desired));
    }),
    { numRuns: 1_000 },
  );
});

test('it finds a difference exactly when a desired value is missing or different', () => {
  fc.assert(
    fc.property(template, template, (desired, live) => {
      const { drift, extras } = differences(DEPLOYMENT, pods(desired), pods(live));

      expect(drift.length + extras.length === 0).toBe(JSON.stringify(normal(desired)) === JSON.stringify(normal(live)));
    }),
    { numRuns: 1_000 },
  );
});

type Named = { name: string };

/** Server-side apply of named lists as the server does it: desired items over live ones, others unchanged. */
function mergeByName(desired: unknown, live: unknown): unknown {
  if (Array.isArray(desired) && Array.isArray(live)) {
    const byName = new Map((live as Named[]).map((one) => [one.name, one]));
    for (const one of desired as Named[]) byName.set(one.name, mergeByName(one, byName.get(one.name)) as Named);
    return [...byName.values()];
  }
  if (typeof desired !== 'object' || desired === null || typeof live !== 'object' || live === null) return desired ?? live;
  const names = new Set([...Object.keys(desired), ...Object.keys(live)]);
  const field = (object: object, name: string): unknown => (object as Record<string, unknown>)[name];
  return Object.fromEntries([...names].map((name) => [name, mergeByName(field(desired, name), field(live, name))]));
}

/** Removes order and empty values. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return (value as Named[]).toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(normal);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([, inner]) => inner !== undefined && !(Array.isArray(inner) && inner.length === 0),
  );
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, normal(inner)]));
}

function remove(object: Deployment, { path }: JsonPatchOperation): Deployment {
  const parts = path.split('/').slice(1);
  const last = parts.pop()!;
  const parent = parts.reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], object);
  if (Array.isArray(parent)) {
    expect(Number(last)).toBeLessThan(parent.length);
    parent.splice(Number(last), 1);
  } else {
    expect(parent).toHaveProperty(last);
    delete (parent as Record<string, unknown>)[last];
  }
  return object;
}
