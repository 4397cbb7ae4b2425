import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { EventRecorder } from '../../../pkg/kube/events.ts';
import { CONFIG_MAP, EVENT, LEASE, NAMESPACE } from '../../../pkg/kube/kinds.ts';
import { LeaderElector } from '../../../pkg/kube/leader.ts';
import type { Observed } from '../../../pkg/kube/object.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { type ApiServer, startApiServer } from '../../support/cluster/apiserver.ts';
import { waitFor } from '../../support/wait.ts';

let server: ApiServer;
let client: KubeClient;
let metrics: Registry;
let object: Observed;

beforeAll(async () => {
  server = await startApiServer();
  metrics = new Registry();
  client = new KubeClient({ kubeConfig: server.kubeConfig, metrics });
  await new ResourceApi(client, NAMESPACE).create({ metadata: { name: 'a' } });
  object = await new ResourceApi(client, CONFIG_MAP).create({ metadata: { namespace: 'a', name: 'thing' } });
});
afterAll(async () => {
  await client?.close();
  await server?.close();
});

const common = { clock: systemClock, log: silentLogger };

test('repeated Events are one Event with a count, and all are written when the recorder stops', async () => {
  const events = new ResourceApi(client, EVENT);
  const recorder = new EventRecorder({ client, controller: 'example.com/things', instance: 'one', metrics, ...common });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  const say = (message: string): void => recorder.record(object, CONFIG_MAP, { type: 'Warning', reason: 'Failed', message });

  say('no luck');
  await waitFor('the first is written', async () => (await events.list({ namespace: 'a' })).length === 1);
  for (let times = 0; times < 20; times++) say('no luck');
  say('ä'.repeat(2_000));
  stop.abort();
  await running;

  const [first, second] = (await events.list({ namespace: 'a' })).toSorted(
    (a, b) => (a.note?.length ?? 0) - (b.note?.length ?? 0),
  );
  expect(first).toMatchObject({
    type: 'Warning',
    reason: 'Failed',
    note: 'no luck',
    action: 'Reconcile',
    reportingController: 'example.com/things',
    regarding: { kind: 'ConfigMap', namespace: 'a', name: 'thing', uid: object.metadata.uid },
    series: { count: 21 },
  });
  expect(Buffer.byteLength(second?.note ?? '')).toBeLessThanOrEqual(1_024);
  expect(second?.note).toMatch(/^ä+…$/);
});

test('an Event that the server refuses is dropped and counted, and the next is written', async () => {
  const events = new ResourceApi(client, EVENT);
  const recorder = new EventRecorder({ client, controller: 'example.com/things', instance: 'two', metrics, ...common });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  const elsewhere = { ...object, metadata: { ...object.metadata, namespace: 'missing' } };

  recorder.record(elsewhere, CONFIG_MAP, { type: 'Normal', reason: 'Lost', message: '' });
  recorder.record(object, CONFIG_MAP, { type: 'Normal', reason: 'Found', message: 'well' });
  await waitFor('the second is written', async () =>
    (await events.list({ namespace: 'a' })).some(({ reason }) => reason === 'Found'),
  );

  expect((await metrics.getSingleMetric('events_dropped_total')!.get()).values).toMatchObject([
    { labels: { reason: 'refused' }, value: 1 },
  ]);
  stop.abort();
  await running;
});

test('the text of an Event is in the log, without a stack, if its namespace is being deleted', async () => {
  await new ResourceApi(client, NAMESPACE).create({ metadata: { name: 'going' } });
  const there = await new ResourceApi(client, CONFIG_MAP).create({ metadata: { namespace: 'going', name: 'thing' } });
  await new ResourceApi(client, NAMESPACE).delete({ namespace: '', name: 'going' });
  let tries = 0;
  await waitFor('the API server to refuse what is new there', () =>
    new ResourceApi(client, CONFIG_MAP).create({ metadata: { namespace: 'going', name: `another-${tries++}` } }).then(
      () => false,
      () => true,
    ),
  );
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const recorder = new EventRecorder({ client, controller: 'example.com/things', instance: 'three', metrics, ...common, log });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);

  recorder.record(there, CONFIG_MAP, { type: 'Warning', reason: 'ObjectsLeft', message: 'the objects in a/b/ are not deleted' });
  const [line] = await waitFor('the line', async () => lines.length > 0 && lines);
  stop.abort();
  await running;

  expect(line).toMatchObject({
    reason: 'ObjectsLeft',
    note: 'the objects in a/b/ are not deleted',
    regarding: 'thing',
    namespace: 'going',
  });
  expect(line).not.toHaveProperty('err');
});

test('on a real Lease one leads; with etcd gone it stops in time, and leads again when etcd is back', async () => {
  // A call that lets the lease go has `retryMs`, also of an etcd that has just started over.
  const times = { leaseMs: 9_000, renewDeadlineMs: 6_000, retryMs: 1_500, standbyMs: 1_500 };
  const impatient = new KubeClient({ kubeConfig: server.kubeConfig, metrics: new Registry(), requestTimeoutMs: 2_000 });
  const leases = new ResourceApi(client, LEASE);
  const key = { namespace: 'a', name: 'things' };
  const history: string[] = [];
  const elect = (identity: string, stop: AbortController): Promise<void> => {
    const elector = new LeaderElector({
      client: impatient,
      ...key,
      identity,
      times,
      random: systemRandom,
      metrics: new Registry(),
      ...common,
    });
    return elector.run(async (signal) => {
      history.push(`${identity} begins`);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      history.push(`${identity} ends`);
    }, stop.signal);
  };
  const [stopA, stopB] = [new AbortController(), new AbortController()];
  const a = elect('a', stopA);
  await waitFor('a leads', () => history.includes('a begins'));
  const b = elect('b', stopB);

  stopA.abort();
  await a;
  const holder = (await leases.get(key)).spec?.holderIdentity;
  await waitFor('b leads', () => history.includes('b begins'));
  await server.stopEtcd();
  await waitFor('b stops', () => history.includes('b ends'), times.leaseMs);
  await server.startEtcd();
  await waitFor('b leads again', () => history.length === 5);

  expect(['', 'b']).toContain(holder); // a has let it go; b need not wait for its end
  expect(history).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'b begins']);
  stopB.abort();
  await b;
  expect((await leases.get(key)).spec).toMatchObject({
    holderIdentity: '',
    leaseTransitions: 1,
  });
  await impatient.close();
});
