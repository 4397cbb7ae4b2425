import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { ManualClock, settled } from '../../test/support/clock.ts';
import { systemRandom } from '../runtime/random.ts';
import { PRIORITY, type Priority, WorkQueue } from './work-queue.ts';

const setUp = (
  perNamespace = { share: Infinity, most: Infinity },
): { queue: WorkQueue; clock: ManualClock; metrics: Registry } => {
  const clock = new ManualClock();
  const metrics = new Registry();
  const backOff = { baseMs: 100, maxMs: 1_000, jitter: 0 };
  return { queue: new WorkQueue({ name: 'test', clock, random: systemRandom, metrics, backOff, perNamespace }), clock, metrics };
};

async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = await queue.take();
    if (key === undefined) break;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

test('a key that is added often waits once', async () => {
  const { queue } = setUp();

  for (const key of ['a', 'b', 'a', 'a']) queue.add(key);

  expect(await drain(queue)).toEqual(['a', 'b']);
});

test("a person's edit precedes changes, which precede a resync; adding a key again only advances it", async () => {
  const { queue } = setUp();
  queue.add('old', PRIORITY.resync);
  queue.add('child', PRIORITY.change);
  queue.add('edited', PRIORITY.resync);

  queue.add('edited', PRIORITY.person);
  queue.add('edited', PRIORITY.resync);

  expect(await drain(queue)).toEqual(['edited', 'child', 'old']);
});

test('namespaces take turns, and one with its full share waits behind those with less, whatever their priority', async () => {
  const { queue } = setUp({ share: 2, most: 4 });
  for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5']) queue.add(key, PRIORITY.person);
  for (const key of ['b/1', 'b/2']) queue.add(key, PRIORITY.resync);

  const taken = [await queue.take(), await queue.take(), await queue.take(), await queue.take(), await queue.take()];

  expect(taken).toEqual(['a/1', 'a/2', 'b/1', 'b/2', 'a/3']);
});

test('a namespace at its limit gets another key when one of its keys is done', async () => {
  const { queue } = setUp({ share: 1, most: 2 });
  for (const key of ['a/1', 'a/2', 'a/3']) queue.add(key);
  await queue.take();
  await queue.take();
  let third: string | undefined;
  void queue.take().then((key) => (third = key));

  await settled();
  expect([third, queue.depth]).toEqual([undefined, 1]);
  queue.done('a/1');
  await settled();

  expect(third).toBe('a/3');
});

test('a key that is added while it is processed waits until that is done', async () => {
  const { queue } = setUp();
  queue.add('a');
  const first = await queue.take();
  let second: string | undefined;
  void queue.take().then((key) => (second = key));

  queue.add('a');
  queue.add('a');
  await settled();
  expect([first, second]).toEqual(['a', undefined]);
  queue.done('a');
  await settled();

  expect(second).toBe('a');
  queue.done('a');
  expect(queue.depth).toBe(0);
});

test('each key has its own back-off until that is reset', async () => {
  const { queue, clock } = setUp();
  const waits: number[] = [];
  for (let tries = 0; tries < 6; tries++) {
    if (tries === 5) queue.resetBackoff('a');
    queue.retry('a');
    const startedAt = clock.monotonic();
    while (queue.depth === 0) await clock.advance(50);
    waits.push(clock.monotonic() - startedAt);
    await drain(queue);
  }

  expect(waits).toEqual([100, 200, 400, 800, 1_000, 100]);
});

test('a key that fails repeatedly waits behind pending changes', async () => {
  const { queue, clock } = setUp();
  for (let tries = 0; tries < 4; tries++) {
    queue.retry('failing');
    await clock.advance(1_000);
    if (tries < 3) await drain(queue);
  }

  queue.add('changed');

  expect(await drain(queue)).toEqual(['changed', 'failing']);
});

test('the earliest of several later times counts, and the key is returned once', async () => {
  const { queue, clock } = setUp();

  queue.addAfter('a', 5_000);
  queue.addAfter('a', 1_000);
  queue.addAfter('a', 9_000);
  await clock.advance(999);
  expect(queue.depth).toBe(0);
  await clock.advance(1);

  expect(await drain(queue)).toEqual(['a']);
  await clock.advance(60_000);
  expect(queue.depth).toBe(0);
});

test('a closed queue returns no key and resolves waiting callers', async () => {
  const { queue, clock } = setUp();
  queue.addAfter('later', 10);
  const waiting = queue.take();

  queue.close();
  queue.add('a');
  await clock.advance(100);

  expect(await waiting).toBeUndefined();
  expect(await queue.take()).toBeUndefined();
  expect(clock.sleepers).toBe(0);
});

test('depth, adds and retries are reported under the names of client-go', async () => {
  const { queue, clock, metrics } = setUp();
  queue.add('a');
  queue.add('b');
  queue.retry('c');
  await clock.advance(100);
  await queue.take();

  const text = await metrics.metrics();

  expect(text).toContain('workqueue_depth{name="test"} 2');
  expect(text).toContain('workqueue_adds_total{name="test"} 3');
  expect(text).toContain('workqueue_retries_total{name="test"} 1');
  expect(text).toContain('workqueue_queue_duration_seconds_count{name="test"} 1');
});

test('in any order of add and done, no key is processed twice at once and none is lost', async () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      key: fc.constantFrom('a', 'b', 'c'),
      priority: fc.constantFrom<Priority>(0, 1, 2),
    }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('done' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { queue } = setUp();
      const out: string[] = [];
      const owed = new Set<string>();
      for (const one of steps) {
        if (one.do === 'add') {
          queue.add(one.key, one.priority);
          owed.add(one.key);
        } else if (one.do === 'take' && queue.depth > 0) {
          const key = (await queue.take())!;
          expect(out).not.toContain(key);
          expect(owed.delete(key)).toBe(true);
          out.push(key);
        } else if (one.do === 'done') {
          const key = out.shift();
          if (key !== undefined) queue.done(key);
        }
      }
      for (const key of out) queue.done(key);
      expect((await drain(queue)).toSorted()).toEqual([...owed].toSorted());
    }),
    { numRuns: 300 },
  );
});
