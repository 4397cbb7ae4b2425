import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { ManualClock } from '../../test/support/clock.ts';
import { type Answer, type Hostile, hostile, json, refusal, reset, stream } from '../../test/support/fakes/hostile.ts';
import { waitFor } from '../../test/support/wait.ts';
import { silentLogger } from '../runtime/log.ts';
import { CONFIG_MAP, type ConfigMap } from './kinds.ts';
import type { Observed } from './object.ts';
import { Reflector } from './reflector.ts';
import { ResourceApi } from './resource.ts';
import { Store } from './store.ts';

let server: Hostile;
let stop: AbortController;
let running: Promise<void>;
afterEach(async () => {
  stop.abort();
  await running;
  await server.close();
});

const thing = (name: string, version: number, uid = name): Observed<ConfigMap> => ({
  metadata: { namespace: 'n', name, uid, resourceVersion: String(version), creationTimestamp: '2026-01-01T00:00:00Z' },
});
const event = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
const list = (version: number, items: unknown[], next?: string): Answer =>
  json({ metadata: { resourceVersion: String(version), continue: next }, items });
const bookmark = (version: number): string => event('BOOKMARK', { metadata: { resourceVersion: String(version) } });
const gone = event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' });
const forEver = (): void => undefined;
const quiet = stream([], forEver);

/** Runs a reflector against the script until it has seen `count` changes and calls; returns the reported changes. */
async function follow(
  answers: Answer[],
  until: (reported: string[], calls: string[]) => boolean,
  idleMs = 60_000,
): Promise<string[]> {
  server = await hostile(answers);
  stop = new AbortController();
  const store = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const reported: string[] = [];
  store.onChange(({ type, object }) => reported.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`));
  const reflector = new Reflector({
    api: new ResourceApi(server.client, CONFIG_MAP),
    store,
    namespace: 'n',
    idleMs,
    backOff: { baseMs: 1, maxMs: 5, jitter: 0.5 },
    log: silentLogger,
    metrics: server.metrics,
  });
  running = reflector.run(stop.signal);
  const deadline = performance.now() + 60_000;
  while (!until(reported, server.calls)) {
    if (performance.now() > deadline) throw new Error(`never came: ${JSON.stringify({ reported, calls: server.calls })}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return reported;
}

const versionOf = (call: string | undefined): string | null =>
  new URL(call?.split(' ')[1] ?? '', 'http://x').searchParams.get('resourceVersion');
const listsRead = async (): Promise<number> =>
  (await server.metrics.getSingleMetric('reflector_lists_total')?.get())?.values[0]?.value ?? 0;
const isWatch = (call: string): boolean => call.includes('watch=true');

test('a list of several pages is one list, and the watch starts at its version', async () => {
  const reported = await follow(
    [list(9, [thing('a', 1)], 'more'), list(9, [thing('b', 2)]), stream([event('ADDED', thing('c', 10))], forEver)],
    (reported) => reported.length === 3,
  );

  expect(reported).toEqual(['added a@1', 'added b@2', 'added c@10']);
  expect(server.calls[1]).toContain('continue=more');
  expect(versionOf(server.calls[2])).toBe('9');
});

test('an expired continue token restarts the list, and nothing is reported twice', async () => {
  const reported = await follow(
    [
      list(9, [thing('a', 1), thing('b', 2)], 'more'),
      refusal(410, 'Expired'),
      list(12, [thing('a', 1)], 'x'),
      list(12, [thing('c', 11)]),
      quiet,
    ],
    (_reported, calls) => calls.some(isWatch),
  );

  expect(reported).toEqual(['added a@1', 'added b@2', 'added c@11', 'deleted b@2']);
});

test.each<[string, (events: string[]) => Answer]>([
  ['is reset', (events) => stream(events, (response) => response.destroy())],
  ['ends', (events) => stream(events)],
  ['ends within a line', (events) => stream([...events, '{"type":"ADDED","obj'])],
  ['ends within a line after a reset', (events) => stream([...events, '{"type":"ADD'], (response) => response.destroy())],
  ['says what is no JSON', (events) => stream([...events, 'nonsense\n'], forEver)],
  ['reports an error', (events) => stream([...events, event('ERROR', { code: 500, message: 'etcd is unavailable' })], forEver)],
  ['falls silent', (events) => stream(events, forEver)],
])('a watch that %s continues from the last version that it reported', async (what, broken) => {
  const reported = await follow(
    [
      list(5, [thing('a', 1)]),
      broken([event('MODIFIED', thing('a', 6)), event('ADDED', thing('b', 7)), bookmark(8)]),
      stream([event('DELETED', thing('b', 9))], forEver),
    ],
    (reported) => reported.length >= 4,
    what === 'falls silent' ? 3_000 : undefined,
  );

  expect(reported).toEqual(['added a@1', 'updated a@6', 'added b@7', 'deleted b@7']);
  expect(versionOf(server.calls.filter(isWatch)[1])).toBe('8');
});

test('a line in many pieces is one event', async () => {
  const text = event('ADDED', { ...thing('ä', 6), data: { text: 'größer' } });
  const bytes = Buffer.from(text);
  const pieces: Answer = (_request, response) => {
    response.writeHead(200);
    let at = 0;
    const timer = setInterval(() => {
      if (at < bytes.length) response.write(bytes.subarray(at, (at += 7)));
    }, 1);
    response.on('close', () => clearInterval(timer));
  };

  expect(await follow([list(5, []), pieces], (reported) => reported.length === 1)).toEqual(['added ä@6']);
});

test.each<[string, Answer]>([
  ['as the answer', refusal(410, 'Expired')],
  ['in the stream', stream([gone], forEver)],
])('410 %s lists again and reports only the differences', async (_how, tooOld) => {
  const reported = await follow(
    [
      list(5, [thing('a', 1), thing('b', 2), thing('c', 3), thing('d', 4)]),
      tooOld,
      list(20, [thing('a', 1), thing('b', 15), thing('d', 16, 'another d'), thing('e', 17)]),
      quiet,
    ],
    (_reported, calls) => calls.filter(isWatch).length === 2,
  );

  expect(reported.slice(4)).toEqual(['updated b@15', 'deleted d@4', 'added d@16', 'added e@17', 'deleted c@3']);
  expect(versionOf(server.calls.filter(isWatch)[1])).toBe('20');
});

test('refusals, resets and throttling never stop it', async () => {
  const reported = await follow(
    [
      reset,
      reset,
      refusal(500, 'InternalError'),
      refusal(429, 'TooManyRequests', { 'retry-after': '0' }),
      refusal(403, 'Forbidden'),
      list(5, [thing('a', 1)]),
      refusal(503, 'ServiceUnavailable'),
      reset,
      stream([event('MODIFIED', thing('a', 6))], forEver),
    ],
    (reported) => reported.length === 2,
  );

  expect(reported).toEqual(['added a@1', 'updated a@6']);
});

test('a server that ends every watch at once gets fewer than 6 requests in 600 ms', async () => {
  const clock = new ManualClock();
  server = await hostile([list(5, []), stream([])]);
  stop = new AbortController();
  const reflector = new Reflector({
    api: new ResourceApi(server.client, CONFIG_MAP),
    store: new Store<ConfigMap>({ kind: CONFIG_MAP }),
    clock,
    log: silentLogger,
    metrics: server.metrics,
  });
  running = reflector.run(stop.signal);

  while (clock.monotonic() < 600) {
    await waitFor('the reflector to back off', () => clock.sleepers === 1);
    await clock.advance(10);
  }

  expect(server.calls.filter(isWatch).length).toBeLessThan(6);
});

test('a kind that may be missing counts as empty until it exists, and again once it is gone', async () => {
  const clock = new ManualClock();
  const missing = refusal(404, 'NotFound');
  server = await hostile([
    missing,
    missing,
    list(5, [thing('a', 5)]),
    stream([event('ADDED', thing('b', 6))]),
    missing,
    list(9, [thing('c', 9)]),
    quiet,
  ]);
  stop = new AbortController();
  const store = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const reported: string[] = [];
  store.onChange(({ type, object }) => reported.push(`${type} ${object.metadata.name}`));
  const reflector = new Reflector({
    api: new ResourceApi(server.client, CONFIG_MAP),
    store,
    mayBeMissing: true,
    clock,
    log: silentLogger,
    metrics: server.metrics,
  });
  running = reflector.run(stop.signal);
  const retried = (calls: number) =>
    waitFor(`the call ${calls}`, async () => {
      await clock.advance(10_000);
      return server.calls.length >= calls;
    });

  await store.waitForSync(stop.signal);
  const [whileMissing, lists] = [[...reported], await listsRead()];
  await retried(7);

  expect(whileMissing).toEqual([]);
  expect([lists, await listsRead()]).toEqual([0, 2]);
  expect(reported).toEqual(['added a', 'added b', 'deleted a', 'deleted b', 'added c']);
});

test('a missing kind that must exist is logged once in five minutes, and delivered once it exists', async () => {
  const clock = new ManualClock();
  const lines: { level: number; msg: string }[] = [];
  let isThere = false;
  const missing = refusal(404, 'NotFound');
  server = await hostile((request, response, body) => {
    const answer = !isThere ? missing : isWatch(request.url ?? '') ? quiet : list(5, [thing('a', 5)]);
    answer(request, response, body);
  });
  stop = new AbortController();
  const store = new Store<ConfigMap>({ kind: CONFIG_MAP });
  const reflector = new Reflector({
    api: new ResourceApi(server.client, CONFIG_MAP),
    store,
    clock,
    log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line) as { level: number; msg: string }) }),
    metrics: server.metrics,
  });
  running = reflector.run(stop.signal);
  const untilMs = async (ms: number): Promise<void> => {
    while (clock.monotonic() < ms) {
      await waitFor('the reflector to back off', () => clock.sleepers === 1);
      await clock.advance(1_000);
    }
  };

  await untilMs(290_000);
  const first = lines.length;
  await untilMs(310_000);
  isThere = true;
  await clock.advance(10_000);
  await store.waitForSync(stop.signal);

  expect([first, lines.length]).toEqual([1, 2]);
  expect(lines[0]?.msg).toBe('the API server does not serve ConfigMap (v1): install the custom resources (crds/)');
  expect(store.size).toBe(1);
});
