import { beforeEach, expect, test } from '@jest/globals';
import { DEPLOYMENT, type Deployment } from '../../../kube/kinds.ts';
import type { Observed } from '../../../kube/object.ts';
import { Store } from '../../../kube/store.ts';
import { createMetrics } from '../../../runtime/metrics.ts';
import type { ObservedTenant } from '../../kinds.ts';
import { RELEASE_ANNOTATION } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';
import { ManualClock } from '../../../../test/support/clock.ts';
import { releaseOf } from './release.ts';
import { Rollouts } from './rollouts.ts';
import { settingsWith, tenantWith } from '../../../../test/support/cluster/tenant-resources.ts';

const [OLD, NEW] = ['carrel:1', 'carrel:2'];
let version = 0;
let clock: ManualClock;
let store: Store<Deployment>;
let rollouts: Rollouts;
let enqueued: string[];

const tenant = (name: string, spec: Parameters<typeof tenantWith>[0] = {}, seen = 1): ObservedTenant => {
  const made = tenantWith(spec);
  const available = {
    type: 'WorkloadAvailable',
    status: 'True' as const,
    reason: 'Available',
    message: '',
    lastTransitionTime: '',
    observedGeneration: seen,
  };
  return { ...made, metadata: { ...made.metadata, name, uid: name }, status: { conditions: [available] } };
};

type State = 'ready' | 'rolling' | 'failed' | 'failed-beside-former';

/** Returns a Deployment as the API server stores it. */
function deployment(
  name: string,
  image: string,
  state: State = 'ready',
  replicas = 1,
  release = releaseOf({ spec: {} }, settingsWith({ image })),
): Observed<Deployment> {
  const rolledOut = { replicas, updatedReplicas: replicas, availableReplicas: replicas, readyReplicas: replicas };
  const conditions = [
    { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too late' },
    { type: 'Available', status: state === 'failed' ? 'False' : 'True' },
  ];
  const object = {
    metadata: {
      ...tenant(name).metadata,
      generation: 2,
      resourceVersion: String((version += 1)),
    },
    spec: {
      replicas,
      selector: {},
      template: {
        metadata: { annotations: { [RELEASE_ANNOTATION]: release } },
        spec: { containers: [{ name: 'server', image }] },
      },
    },
    status: {
      observedGeneration: 2,
      ...(state === 'ready' ? rolledOut : { replicas }),
      ...(state.startsWith('failed') ? { conditions } : {}),
    },
  };
  store.upsert(object);
  return object;
}

/** Returns what a tenant's pass decides, and applies it. */
function pass(name: string, becomes: State = 'rolling', isPaused = false): string {
  const waits = rollouts.waitsFor(tenant(name), store.get({ namespace: 'schools', name }), isPaused);
  if (!waits) deployment(name, NEW, becomes);
  if (!waits) rollouts.settle();
  return waits?.reason ?? 'goes';
}

function leads(concurrency: number, settings = settingsWith({ image: NEW })): void {
  rollouts = new Rollouts({ concurrency, settings, deployments: store, clock, metrics: createMetrics('test') });
  rollouts.begin(({ name }) => void enqueued.push(name));
}

beforeEach(() => {
  clock = new ManualClock();
  store = new Store({ kind: DEPLOYMENT });
  enqueued = [];
  for (const name of 'abcdefgh') deployment(name, OLD);
  leads(2);
});

test('tenants roll out while slots are free, and a freed slot goes to the next in the order of waiting', () => {
  expect(['a', 'b', 'c', 'd'].map((name) => pass(name))).toEqual(['goes', 'goes', 'RolloutWaits', 'RolloutWaits']);

  deployment('a', NEW, 'ready');
  rollouts.settle();

  expect(enqueued).toEqual(['c']);
  expect([pass('c'), pass('d')]).toEqual(['goes', 'RolloutWaits']);
});

test('after a change of leader those that roll out keep their places', () => {
  pass('a');
  pass('b');

  leads(2);

  expect([pass('c'), pass('a')]).toEqual(['RolloutWaits', 'goes']);
});

test('failures halt the others until one succeeds or is deleted; those that failed may go on', () => {
  leads(8);
  for (const name of 'abcde') pass(name, 'failed');

  expect(pass('f')).toBe('RolloutHalted');
  deployment('a', OLD);
  expect(pass('a', 'failed')).toBe('goes');
  rollouts.remove(tenant('b'));
  expect(pass('f')).toBe('goes');
});

test('a failed rollout that succeeds after all counts no more', () => {
  leads(8);
  for (const name of 'abcde') pass(name, 'failed');
  deployment('c', NEW, 'ready');
  rollouts.settle();

  expect(pass('f')).toBe('goes');
});

test('tenants that did not serve before their turn halt nobody, also after a change of leader', () => {
  leads(8);
  for (const name of 'abcde') deployment(name, OLD, 'failed');
  for (const name of 'abcde') pass(name, 'failed');

  leads(8);
  rollouts.settle();

  expect([pass('f'), pass('g')]).toEqual(['goes', 'goes']);
});

test('rollouts that failed where the pods of before still serve halt the others after a change of leader too', () => {
  leads(8);
  for (const name of 'abcde') pass(name, 'failed-beside-former');

  leads(8);
  rollouts.settle();

  expect(pass('f')).toBe('RolloutHalted');
});

test('while rollouts are paused none begins, and those that run go on', () => {
  pass('a');

  expect([pass('b', 'rolling', true), pass('a', 'rolling', true)]).toEqual(['RolloutPaused', 'goes']);
});

test('a change that never reaches the API server, however often it is tried, gives its place back as a failure', async () => {
  leads(1);
  const tries = () => rollouts.waitsFor(tenant('a'), store.get({ namespace: 'schools', name: 'a' }), false);
  tries();
  expect(pass('b')).toBe('RolloutWaits');
  await clock.advance(299_000);
  tries();
  await clock.advance(1_000);
  rollouts.settle();

  expect(pass('b')).toBe('goes');
});

test('a person’s change, a suspended and a new tenant wait for nothing', () => {
  leads(1);
  pass('a');
  const live = store.get({ namespace: 'schools', name: 'b' });
  const waits = (given: ObservedTenant, found = live): boolean => rollouts.waitsFor(given, found, true) !== undefined;

  expect([
    waits(tenant('b')),
    waits(tenant('b', {}, 0)),
    waits(tenant('b', { suspended: true })),
    waits(tenant('b'), deployment('b', OLD, 'ready', 0)),
    rollouts.waitsFor(tenant('new'), undefined, true) !== undefined,
  ]).toEqual([true, false, false, false, false]);
});

test('settings that all pods get roll out as an image does, also to a Tenant that names its own image', () => {
  const [silent, talkative] = [settingsWith({ image: NEW, logLevel: 'warn' }), settingsWith({ image: NEW, logLevel: 'debug' })];
  const own = tenant('own', { image: 'mine:1' });
  const released = (name: string, settings: OperatorSettings, image = NEW) =>
    deployment(name, image, 'ready', 1, releaseOf(tenant(name, name === 'own' ? { image } : {}), settings));
  for (const name of 'ab') released(name, silent);
  const live = released('own', silent, 'mine:1');
  leads(1, talkative);
  const waits = (given: ObservedTenant, found: Deployment | undefined) => rollouts.waitsFor(given, found, false)?.message;

  const first = waits(tenant('a'), store.get({ namespace: 'schools', name: 'a' }));
  const others = [waits(tenant('b'), store.get({ namespace: 'schools', name: 'b' })), waits(own, live)];
  leads(1, settingsWith({ ...silent, image: OLD }));

  expect([first, ...others]).toEqual([
    undefined,
    'Waiting for one of the 1 rollouts that may run at once, then what changed in the settings of the operator; 1 of ' +
      '1 pods are ready',
    'Waiting for one of the 1 rollouts that may run at once, then what changed in the settings of the operator; 1 of ' +
      '1 pods are ready',
  ]);
  // A new image is not for it.
  pass('a');
  expect(waits(own, live)).toBeUndefined();
});

test('pods of an operator that wrote down no release are of a former one, and rolled once', () => {
  leads(1);
  const bare = (name: string) => deployment(name, NEW, 'ready', 1, '');
  bare('a');
  bare('b');

  expect([pass('a'), pass('b')]).toEqual(['goes', 'RolloutWaits']);
  deployment('a', NEW, 'ready');
  rollouts.settle();
  expect([pass('b'), pass('a')]).toEqual(['goes', 'goes']);
});
