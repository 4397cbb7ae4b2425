import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Problem } from './problem.ts';
import { Queue, type Restored, type State, type Task } from './queue.ts';

const tasks = (count: number, size = 10): Task[] =>
  Array.from({ length: count }, (_, n) => ({ folderId: null, path: [`${n}.txt`], file: undefined, size }));

const restored = (more: Partial<Restored>): Restored[] =>
  tasks(1).map((task) => ({ ...task, state: 'waiting', onTaken: 'ask', problem: undefined, canRead: false, ...more }));

const problem = (code: string, more: Partial<Problem> = {}): Problem => ({ code, message: `it is ${code}`, ...more });

/** A queue whose clock stands until it is moved. */
function queueAt(now = 1_000_000): { queue: Queue; clock: { now: number }; changes: () => number } {
  const clock = { now };
  let changes = 0;
  return { queue: new Queue({ now: () => clock.now, onChange: () => (changes += 1) }), clock, changes: () => changes };
}

/** Takes all that may start now. */
function taken(queue: Queue): number[] {
  const ids: number[] = [];
  for (let upload = queue.take(); upload; upload = queue.take()) ids.push(upload.id);
  return ids;
}

const statesOf = (queue: Queue): (State | undefined)[] => queue.ids.map((id) => queue.get(id)?.state);

test('four uploads start at once, in the order of the list, and each that ends lets the next one start', () => {
  const { queue } = queueAt();
  queue.add(tasks(6));

  expect(taken(queue)).toEqual([1, 2, 3, 4]);
  queue.done(2, 'file');
  expect(taken(queue)).toEqual([5]);
  expect(statesOf(queue)).toEqual(['preparing', 'done', 'preparing', 'preparing', 'preparing', 'waiting']);
});

test('a paused upload gives its turn to the next one, and joins the end when it is resumed', () => {
  const { queue } = queueAt();
  queue.add(tasks(6));
  taken(queue);

  queue.pause(1);
  expect(taken(queue)).toEqual([5]);
  queue.resume(1);
  for (const id of [2, 3]) queue.done(id, 'file');
  expect(taken(queue)).toEqual([6, 1]);
});

test('an upload that is paused and resumed before its turn starts once', () => {
  const { queue } = queueAt();
  queue.add(tasks(1));
  queue.pause(1);
  queue.resume(1);

  expect(taken(queue)).toEqual([1]);
  queue.done(1, 'file');
  expect(taken(queue)).toEqual([]);
});

test('taken names are answered once for all: for those that are known, and those that come later', () => {
  const { queue } = queueAt();
  queue.add(tasks(3));
  taken(queue);
  queue.failed(1, problem('name_conflict'));
  queue.failed(2, problem('name_conflict'));
  expect(queue.summary().count.conflict).toBe(2);

  queue.answer('skip');
  queue.failed(3, problem('name_conflict'));

  expect(statesOf(queue)).toEqual(['skipped', 'skipped', 'skipped']);
});

test.each(['replace', 'rename'] as const)('after the answer %s the upload starts again with it', (answer) => {
  const { queue } = queueAt();
  queue.add(tasks(1));
  taken(queue);
  queue.failed(1, problem('name_conflict'));

  queue.answer(answer);

  expect(queue.take()).toMatchObject({ id: 1, onTaken: answer, problem: undefined });
});

test('files that are added after an answer ask again', () => {
  const { queue } = queueAt();
  queue.add(tasks(1));
  queue.answer('replace');
  queue.add(tasks(1));

  expect(queue.ids.map((id) => queue.get(id)?.onTaken)).toEqual(['replace', 'ask']);
});

test('a name that is taken by a folder fails after the answer, instead of asking for ever', () => {
  const { queue } = queueAt();
  queue.add(tasks(1));
  queue.answer('replace');
  taken(queue);
  queue.failed(1, problem('name_conflict'));

  expect(queue.get(1)).toMatchObject({ state: 'failed', problem: { code: 'name_conflict' } });
});

test('a full quota stops the whole list with one message; nothing fails', () => {
  const { queue } = queueAt();
  queue.add(tasks(4_000));
  for (const id of taken(queue)) queue.failed(id, problem('quota_exceeded'));

  expect(taken(queue)).toEqual([]);
  const { hold, count } = queue.summary();
  expect(hold).toMatchObject({ reason: 'stopped', problem: { code: 'quota_exceeded' } });
  expect(count).toMatchObject({ waiting: 4_000, failed: 0 });
  queue.release('stopped');
  expect(taken(queue)).toHaveLength(4);
});

test('a session that ends holds the list until somebody has signed in; then the same uploads continue', () => {
  const { queue, clock } = queueAt();
  queue.add(tasks(6));
  for (const id of taken(queue)) queue.failed(id, problem('unauthenticated'));

  clock.now += 3_600_000;
  expect(taken(queue)).toEqual([]);
  queue.release('signed-out');
  expect(new Set(taken(queue))).toEqual(new Set([1, 2, 3, 4]));
});

test('a server that is busy is asked again after its Retry-After, and not before', () => {
  const { queue, clock } = queueAt();
  queue.add(tasks(1));
  taken(queue);
  queue.failed(1, problem('rate_limit_exceeded', { retryAfter: 30 }));

  clock.now += 29_999;
  expect(taken(queue)).toEqual([]);
  clock.now += 1;
  expect(taken(queue)).toEqual([1]);
  expect(queue.get(1)?.attempts).toBe(0);
});

test('an upload whose connection breaks waits for another attempt, however often', () => {
  const { queue, clock } = queueAt();
  queue.add(tasks(1));
  for (let time = 0; time < 50; time += 1) {
    expect(taken(queue)).toEqual([1]);
    queue.failed(1, problem('unreachable'));
    expect(queue.hold?.reason).toBe('offline');
    clock.now += 5_000;
  }
});

test('a browser that is online again ends the wait at once, and so does an upload that succeeds', () => {
  const { queue } = queueAt();
  queue.add(tasks(3));
  taken(queue);
  queue.failed(1, problem('unreachable'));
  queue.release('offline');
  expect(taken(queue)).toEqual([1]);

  queue.failed(1, problem('unreachable'));
  queue.done(2, 'file');
  expect(queue.hold).toBeUndefined();
});

test('a hold that waits for a person is not replaced by one that ends by itself', () => {
  const { queue } = queueAt();
  queue.add(tasks(2));
  taken(queue);
  queue.failed(1, problem('unauthenticated'));
  queue.failed(2, problem('unreachable'));

  expect(queue.hold?.reason).toBe('signed-out');
});

test('an internal error is tried five times, with growing pauses; then the upload fails and may be tried again', () => {
  const { queue, clock } = queueAt();
  queue.add(tasks(1));
  for (const pause of [1_000, 2_000, 4_000, 8_000]) {
    taken(queue);
    queue.failed(1, problem('internal'));
    clock.now += pause - 1;
    expect(taken(queue)).toEqual([]);
    clock.now += 1;
  }
  taken(queue);
  queue.failed(1, problem('internal', { requestId: 'r-1' }));

  expect(queue.get(1)).toMatchObject({ state: 'failed', problem: { code: 'internal', requestId: 'r-1' } });
  queue.resume(1);
  expect(queue.take()).toMatchObject({ id: 1, attempts: 0 });
});

test('a refusal that another attempt would meet again fails at once', () => {
  const { queue } = queueAt();
  queue.add(tasks(1));
  taken(queue);
  queue.failed(1, problem('payload_too_large'));

  expect(queue.get(1)?.state).toBe('failed');
});

test('an interrupted upload waits for its file, and continues with it', () => {
  const { queue } = queueAt();
  queue.add(restored({ state: 'interrupted' }));
  queue.resume(1);
  expect(taken(queue)).toEqual([]);

  const file = new File(['0123456789'], '0.txt');
  queue.setFile(1, file, false);
  queue.resume(1);
  expect(queue.take()).toMatchObject({ id: 1, file });
});

test('an interrupted upload that the browser can read continues without its file, and waits again if it cannot', () => {
  const { queue } = queueAt();
  queue.add(restored({ state: 'interrupted', canRead: true }));
  queue.resume(1);
  expect(taken(queue)).toEqual([1]);

  queue.interrupt(1, false);
  queue.resume(1);

  expect(taken(queue)).toEqual([]);
  expect(queue.get(1)).toMatchObject({ state: 'interrupted', canRead: false });
});

test('a file that has changed counts with its new size', () => {
  const { queue } = queueAt();
  queue.add(restored({ state: 'interrupted' }));

  queue.setFile(1, new File(['01234'], '0.txt'), true);

  expect(queue.get(1)).toMatchObject({ size: 5, isChanged: true });
  expect(queue.summary().part).toBe(0);
});

test('uploads come back as they were: paused, failed or asking, and only those that waited start', () => {
  const { queue } = queueAt();
  const states = ['paused', 'waiting', 'failed', 'conflict'] as const;
  queue.add(states.flatMap((state) => restored({ state, onTaken: 'rename' })));

  expect(taken(queue)).toEqual([2]);
  expect(statesOf(queue)).toEqual(['paused', 'preparing', 'failed', 'conflict']);
  expect(queue.get(1)?.onTaken).toBe('rename');
});

test('whoever keeps the list learns of each new state and each answer, and not of progress', () => {
  const reported: (number | undefined)[] = [];
  const queue = new Queue({ now: () => 0, onChange: (id) => id !== undefined && reported.push(id) });
  queue.add(tasks(3));
  queue.take();
  queue.sending(1);
  reported.length = 0;

  queue.progress(1, 5);
  queue.pause(2);
  queue.answer('skip');

  expect(reported).toEqual([2, 1, 2, 3]);
});

test('an upload that was cancelled while it was sent is gone from the list and its sums', () => {
  const { queue } = queueAt();
  queue.add(tasks(2));
  taken(queue);
  queue.sending(1);
  queue.progress(1, 5);

  queue.cancel(1);
  queue.done(1, 'file');

  expect(queue.ids).toEqual([2]);
  expect(queue.summary()).toMatchObject({ total: 1, part: 0 });
});

test('speed and remaining time follow the clock; bytes that the server had already are no speed', () => {
  const { queue, clock } = queueAt();
  queue.add(tasks(1, 1_000_000));
  taken(queue);
  queue.progress(1, 500_000);
  queue.sending(1);
  for (let second = 1; second <= 4; second += 1) {
    queue.progress(1, 500_000 + second * 50_000);
    clock.now += 1_000;
  }

  expect(queue.speedOf(1)).toEqual({ bytesPerSecond: 50_000, secondsLeft: 6 });
  expect(queue.summary()).toMatchObject({ bytesPerSecond: 50_000, secondsLeft: 6 });
});

test('the remaining time of many small files follows their number, not their bytes', () => {
  const { queue, clock } = queueAt();
  queue.add(tasks(100, 1));
  for (let second = 0; second < 10; second += 1) {
    for (const id of taken(queue).slice(0, 4)) queue.done(id, 'file');
    clock.now += 1_000;
  }

  expect(queue.summary().secondsLeft).toBeCloseTo(60 / 4);
});

test('the bar of a list with many empty files moves evenly', () => {
  const { queue } = queueAt();
  queue.add(tasks(10, 0));
  for (const id of taken(queue)) queue.done(id, 'file');

  expect(queue.summary().part).toBeCloseTo(0.4);
});

test('a list that has ended loses what is done when more is added, and keeps what has failed', () => {
  const { queue } = queueAt();
  queue.add(tasks(2));
  taken(queue);
  queue.done(1, 'file');
  queue.failed(2, problem('payload_too_large'));
  expect(queue.isOver).toBe(true);

  queue.add(tasks(1));

  expect(queue.ids).toEqual([2, 3]);
});

test('an upload that has ended releases its file', () => {
  const { queue } = queueAt();
  queue.add([{ folderId: null, path: ['a.txt'], file: new File(['a'], 'a.txt'), size: 1 }]);
  taken(queue);
  queue.done(1, 'file');

  expect(queue.get(1)?.file).toBeUndefined();
});

test('whatever happens, the sums are those of the list', () => {
  const event = fc.record({
    act: fc.constantFrom('add', 'take', 'sending', 'progress', 'done', 'fail', 'pause', 'resume', 'cancel', 'answer', 'clear'),
    id: fc.integer({ min: 1, max: 12 }),
    code: fc.constantFrom('name_conflict', 'internal', 'payload_too_large', 'unreachable', 'quota_exceeded'),
    sent: fc.integer({ min: 0, max: 10 }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const { queue, clock } = queueAt();
      for (const { act, id, code, sent } of events) {
        clock.now += 700;
        const isRunning = ['preparing', 'sending'].includes(queue.get(id)?.state ?? '');
        if (act === 'add') queue.add(tasks(3));
        else if (act === 'take') queue.take();
        else if (act === 'done' && isRunning) queue.done(id, 'file');
        else if (act === 'fail' && isRunning) queue.failed(id, problem(code));
        else if (act === 'progress' && isRunning) queue.progress(id, sent);
        else if (act === 'answer') queue.answer('skip');
        else if (act === 'clear') queue.clear();
        else if (act === 'sending' || act === 'pause' || act === 'resume' || act === 'cancel') queue[act](id);
      }
      const { total, count, part } = queue.summary();
      const states = statesOf(queue);
      expect(total).toBe(states.length);
      for (const [state, number] of Object.entries(count)) expect(states.filter((one) => one === state)).toHaveLength(number);
      expect(count.preparing + count.sending).toBeLessThanOrEqual(4);
      expect(part).toBeGreaterThanOrEqual(0);
      expect(part).toBeLessThanOrEqual(1);
    }),
  );
});

test('an event costs the same in a list of 100,000 as in one of 1,000', () => {
  const time = (count: number): number => {
    const { queue } = queueAt();
    queue.add(tasks(count));
    const started = performance.now();
    for (let n = 0; n < 1_000; n += 1) {
      const upload = queue.take();
      if (!upload) throw new Error('nothing starts');
      queue.sending(upload.id);
      queue.progress(upload.id, 5);
      queue.done(upload.id, 'file');
      queue.summary();
    }
    return performance.now() - started;
  };
  time(1_000);

  // A list that is gone through at each event would take 100 times as long. Of ten, a busy machine lets one pass undisturbed.
  const least = Math.min(...Array.from({ length: 10 }, () => time(100_000)));
  expect(least).toBeLessThan(10 * Math.max(time(1_000), 5));
});
