import { afterEach, expect, test } from '@jest/globals';
import { type Answer, hostile, type Hostile, json, refusal } from '../../test/support/fakes/hostile.ts';
import { waitFor } from '../../test/support/wait.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { EventRecorder } from './events.ts';
import { CONFIG_MAP } from './kinds.ts';

let server: Hostile;
afterEach(() => server.close());

const object = {
  metadata: { name: 'thing', namespace: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
};

test('an Event in flight when the recorder stops is not lost, and neither is a count made meanwhile', async () => {
  const bodies: unknown[] = [];
  const reading =
    (answer: Answer): Answer =>
    (request, response, body) => {
      bodies.push(JSON.parse(body));
      answer(request, response, body);
    };
  const unanswered: Answer = () => undefined;
  // The first request arrives, and its answer does not come before the end.
  server = await hostile([unanswered, refusal(409, 'AlreadyExists'), reading(json({}))]);
  const { client, metrics } = server;
  const recorder = new EventRecorder({
    client,
    controller: 'example.com/things',
    instance: 'one',
    clock: systemClock,
    log: silentLogger,
    metrics,
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  const say = (): void => recorder.record(object, CONFIG_MAP, { type: 'Warning', reason: 'Failed', message: 'no luck' });

  say();
  await waitFor('the Event to be under way', () => server.calls.length === 1);
  say();
  say();
  stop.abort();
  await running;

  expect(server.calls.map((call) => call.split(' ')[0])).toEqual(['POST', 'POST', 'PATCH']);
  expect(bodies).toMatchObject([{ series: { count: 3 } }]);
  expect((await metrics.getSingleMetric('events_dropped_total')?.get())?.values).toEqual([]);
});
