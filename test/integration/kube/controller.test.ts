import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { KubeConfig } from '@kubernetes/client-node';
import { Registry } from 'prom-client';
import { Applier } from '../../../pkg/kube/apply.ts';
import { Controller } from '../../../pkg/kube/controller.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../../pkg/kube/finalizers.ts';
import { informer, type Informer } from '../../../pkg/kube/informer.ts';
import {
  type ConfigMap,
  CONFIG_MAP,
  CUSTOM_RESOURCE_DEFINITION,
  NAMESPACE,
  SECRET,
  type Secret,
} from '../../../pkg/kube/kinds.ts';
import { defineKind, isDeleting, type KubeObject, type Observed } from '../../../pkg/kube/object.ts';
import { ownerReference } from '../../../pkg/kube/owner.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import { done, type Result } from '../../../pkg/kube/result.ts';
import { forObject, forOwner } from '../../../pkg/kube/sources.ts';
import { type Condition, setCondition, StatusWriter } from '../../../pkg/kube/status.ts';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { sharedApiServer } from '../../support/cluster/apiserver.ts';
import { range, waitFor } from '../../support/wait.ts';

interface Thing extends KubeObject {
  spec: { text: string; copies?: number };
  status?: { conditions?: Condition[] };
}
const THING = defineKind<Thing>({ group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true });
const FINALIZER = 'example.com/things';

let kubeConfig: KubeConfig;
let namespace = '';
let serial = 0;

beforeAll(async () => {
  ({ kubeConfig } = await sharedApiServer('idle'));
  const { client, close } = connect();
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { text: { type: 'string' }, copies: { type: 'integer' } } },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const { group, kind, plural, version } = THING;
  const versions = [
    { name: version, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
  ];
  const spec = { group, scope: 'Namespaced', names: { kind, plural, singular: 'thing', listKind: 'ThingList' }, versions };
  await new ResourceApi(client, CUSTOM_RESOURCE_DEFINITION).create({ metadata: { name: `${plural}.${group}` }, spec });
  await waitFor('the kind is served', () => new ResourceApi(client, THING).list().then(() => true));
  await close();
});
beforeEach(async () => {
  namespace = `controller-${serial++}`;
  const { client, close } = connect();
  await new ResourceApi(client, NAMESPACE).create({ metadata: { name: namespace } });
  await close();
});

function connect(): { client: KubeClient; metrics: Registry; close: () => Promise<void> } {
  const metrics = new Registry();
  const client = new KubeClient({ kubeConfig, metrics });
  return { client, metrics, close: () => client.close() };
}

/** A controller as one would write it: a finalizer, `copies` children, a status. */
class Operator {
  readonly metrics = new Registry();
  readonly client = new KubeClient({ kubeConfig, metrics: this.metrics });
  readonly #stop = new AbortController();
  readonly #things: Informer<Thing>;
  readonly #configMaps: Informer<ConfigMap>;
  readonly #applier = new Applier({ client: this.client, fieldManager: 'things', annotationPrefix: 'example.com' });
  readonly #statusWriter: StatusWriter<Thing>;
  readonly #running: Promise<unknown>;

  constructor() {
    const common = { client: this.client, namespace, log: silentLogger, metrics: this.metrics };
    this.#things = informer({ ...common, kind: THING });
    this.#configMaps = informer({ ...common, kind: CONFIG_MAP });
    this.#statusWriter = new StatusWriter({ api: this.#things.api, store: this.#things.store });
    const controller = new Controller({
      name: 'things',
      reconcile: (key) => this.#reconcile(this.#things.store.get(key)),
      sources: [forObject(this.#things.store), forOwner(this.#configMaps.store, THING)],
      concurrency: 8,
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      metrics: this.metrics,
    });
    this.#running = Promise.all([this.#things, this.#configMaps, controller].map((part) => part.run(this.#stop.signal)));
  }

  async #reconcile(thing: Observed<Thing> | undefined): Promise<Result> {
    if (!thing) return done;
    const { store } = this.#things;
    if (isDeleting(thing)) {
      await removeFinalizer(this.#things.api, thing, FINALIZER, { store });
      return done;
    }
    const held = await addFinalizer(this.#things.api, thing, FINALIZER, { store });
    const owner = ownerReference(held, THING);
    const children = range(held.spec.copies ?? 1).map((index): ConfigMap => ({
      metadata: { namespace, name: `${held.metadata.name}-${index}` },
      data: { text: held.spec.text },
    }));
    for (const child of children) await this.#applier.apply(CONFIG_MAP, child, { owner, store: this.#configMaps.store });
    const keep = children.map((child) => child.metadata?.name ?? '');
    await this.#applier.prune(CONFIG_MAP, { owner, namespace, store: this.#configMaps.store, keep });
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Made',
      message: '',
      observedGeneration: held.metadata.generation ?? 0,
    } as const;
    await this.#statusWriter.write(held, { conditions: setCondition(held.status?.conditions, condition, systemClock.now()) });
    return done;
  }

  async writes(): Promise<number> {
    const { values } = await this.metrics.getSingleMetric('rest_client_requests_total')!.get();
    return values.filter(({ labels }) => labels['method'] !== 'GET').reduce((sum, { value }) => sum + value, 0);
  }

  async reconciles(): Promise<number> {
    const { values } = await this.metrics.getSingleMetric('controller_runtime_reconcile_total')!.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  }

  /**
   * Resolves when the copies hold what the server has and no key waits or is worked on: nothing is left that could cause a write.
   */
  async atRest(): Promise<void> {
    await waitFor('rest', async () => (await this.#isIdle()) && (await this.#isCurrent()) && this.#isIdle());
  }

  async #isIdle(): Promise<boolean> {
    const names = ['workqueue_depth', 'controller_runtime_active_workers'];
    const gauges = await Promise.all(names.map((name) => this.metrics.getSingleMetric(name)!.get()));
    return gauges.every(({ values }) => values.every(({ value }) => value === 0));
  }

  async #isCurrent(): Promise<boolean> {
    const versions = (objects: readonly Observed[]): string =>
      objects
        .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
        .toSorted()
        .join();
    const both = [this.#things, this.#configMaps] as unknown as Informer<KubeObject>[];
    const same = await Promise.all(
      both.map(async ({ api, store }) => versions(await api.list({ namespace })) === versions(store.list())),
    );
    return same.every(Boolean);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.client.close();
  }
}

const isReady = (thing: Observed<Thing>): boolean =>
  thing.status?.conditions?.some(
    ({ status, observedGeneration }) => status === 'True' && observedGeneration === thing.metadata.generation,
  ) ?? false;

test('200 things become Ready with three writes each, then nothing is written, even after an operator’s restart', async () => {
  const operator = new Operator();
  const things = new ResourceApi(operator.client, THING);
  await Promise.all(
    range(200).map((index) => things.create({ metadata: { namespace, name: `t-${index}` }, spec: { text: 'a' } })),
  );

  await waitFor('all are Ready', async () => (await things.list({ namespace })).every(isReady));
  await operator.atRest();

  expect(await operator.writes()).toBe(200 * (1 + 3));
  await operator.stop();
  const restarted = new Operator();
  await waitFor('all are looked at', async () => (await restarted.reconciles()) >= 200);
  await restarted.atRest();
  expect(await restarted.writes()).toBe(0);
  await restarted.stop();
});

test('children that are edited, deleted or surplus are restored or removed', async () => {
  const operator = new Operator();
  const things = new ResourceApi(operator.client, THING);
  const configMaps = new ResourceApi(operator.client, CONFIG_MAP);
  const key = (name: string) => ({ namespace, name });
  const texts = async (): Promise<unknown[]> =>
    (await configMaps.list({ namespace }))
      .filter(({ metadata }) => metadata.name.startsWith('t-'))
      .map(({ metadata, data }) => [metadata.name, data?.['text']]);
  const becomes = (expected: unknown[]): Promise<unknown> =>
    waitFor(JSON.stringify(expected), async () => JSON.stringify(await texts()) === JSON.stringify(expected));
  await things.create({ metadata: { namespace, name: 't' }, spec: { text: 'a', copies: 2 } });
  await waitFor('it is Ready', async () => isReady(await things.get(key('t'))));

  await configMaps.patch(key('t-0'), { data: { text: 'edited' } });
  await becomes([
    ['t-0', 'a'],
    ['t-1', 'a'],
  ]);
  await configMaps.delete(key('t-1'));
  await becomes([
    ['t-0', 'a'],
    ['t-1', 'a'],
  ]);
  await things.patch(key('t'), { spec: { text: 'b', copies: 1 } });
  await becomes([['t-0', 'b']]);

  await operator.stop();
});

test("a deleted object's finalizer is removed, and an object with another's finalizer stays", async () => {
  const operator = new Operator();
  const things = new ResourceApi(operator.client, THING);
  const key = { namespace, name: 't' };
  await things.create({ metadata: { ...key, finalizers: ['other.example/keep'] }, spec: { text: 'a' } });
  await waitFor('it is held', async () => hasFinalizer(await things.get(key), FINALIZER));

  await things.delete(key);
  await waitFor('its finalizer to be removed', async () => !hasFinalizer(await things.get(key), FINALIZER));
  await removeFinalizer(things, await things.get(key), 'other.example/keep');

  await waitFor('it is gone', async () => (await things.find(key)) === undefined);
  await operator.stop();
});

test('a status is written once, over a stale copy too, and never on an object that was made again', async () => {
  const { client, close } = connect();
  const things = new ResourceApi(client, THING);
  const key = { namespace, name: 't' };
  const stale = await things.create({ metadata: key, spec: { text: 'a' } });
  await things.patch(key, { spec: { text: 'b' } });
  const writer = new StatusWriter({ api: things });
  const status = {
    conditions: setCondition([], { type: 'Ready', status: 'True', reason: 'A', message: 'm', observedGeneration: 1 }, new Date()),
  };

  const written = await writer.write(stale, status);
  const again = await writer.write(written, structuredClone(status));

  expect(written).toMatchObject({ spec: { text: 'b' }, status });
  expect(again.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  await things.delete(key);
  await things.create({ metadata: key, spec: { text: 'c' } });
  await expect(writer.write(stale, status)).rejects.toMatchObject({ status: 409 });
  expect((await things.get(key)).status).toBeUndefined();
  await close();
});

test('deletion by a stale uid spares the new object, and what is gone is fine', async () => {
  const { client, close } = connect();
  const secrets = new ResourceApi<Secret>(client, SECRET);
  const key = { namespace, name: 's' };
  const old = await secrets.create({ metadata: key });
  await secrets.delete(key, { uid: old.metadata.uid });
  await secrets.delete(key);
  await secrets.create({ metadata: key });

  await expect(secrets.delete(key, { uid: old.metadata.uid })).rejects.toMatchObject({ status: 409 });

  expect(await secrets.find(key)).toBeDefined();
  await close();
});
