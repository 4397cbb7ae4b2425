import { expect, test } from '@jest/globals';
import { Slots } from './slots.ts';

const never = new AbortController().signal;

/** Starts tasks that end when `endAll` ends them; records their names in the order in which they began. */
function tasks(slots: Slots) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = async (name: string, signal = never): Promise<string> => {
    const [whose = ''] = name;
    await slots.run(whose, signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
    return name;
  };
  /** Ends each task as it begins, until none is left. */
  const endAll = async (all: readonly Promise<unknown>[]): Promise<void> => {
    for (let at = 0; slots.running > 0; at += 1) {
      ends.get(begun[at] ?? '')?.();
      await new Promise(setImmediate);
    }
    await Promise.allSettled(all);
  };
  return { ask, begun, endAll };
}

const outcome = (asked: Promise<string>): Promise<string> => asked.catch(({ code }: { code: string }) => code);

test('requesters get slots in turns: a single task waits for only one task of a requester with two hundred', async () => {
  const { ask, begun, endAll } = tasks(new Slots({ running: 2, waiting: 300 }));

  const all = Array.from({ length: 200 }, (_, index) => ask(`a${index}`));
  all.push(ask('b0'), ask('c0'), ask('c1'));
  await endAll(all);

  expect(begun.slice(0, 8)).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'c1', 'a3', 'a4']);
  expect(begun).toHaveLength(203);
});

test('the user with less running goes first, however long another has waited', async () => {
  const slots = new Slots({ running: 3, waiting: 10 });
  const { ask, begun, endAll } = tasks(slots);

  const all = ['a0', 'a1', 'b0', 'a2', 'b1', 'c0'].map((name) => ask(name));
  await endAll(all);

  expect(begun.slice(0, 4)).toEqual(['a0', 'a1', 'b0', 'c0']);
});

test('in a full queue, a request of the user with the fewest replaces the last one of the user with the most', async () => {
  const slots = new Slots({ running: 1, waiting: 4 });
  const { ask, begun, endAll } = tasks(slots);

  const running = ask('a0');
  const waiting = ['a1', 'a2', 'a3', 'a4'].map((name) => outcome(ask(name)));
  const refused = outcome(ask('a5'));
  const others = ['b0', 'b1', 'b2'].map((name) => outcome(ask(name)));
  expect(() => slots.requireVacancy('b')).toThrow('Too many requests');
  slots.requireVacancy('c');
  await endAll([running, ...waiting, ...others]);

  expect([await refused, await Promise.all(waiting), await Promise.all(others)]).toEqual([
    'busy',
    ['a1', 'a2', 'busy', 'busy'],
    ['b0', 'b1', 'busy'],
  ]);
  expect(begun).toEqual(['a0', 'b0', 'a1', 'b1', 'a2']);
  expect([slots.running, slots.waiting]).toEqual([0, 0]);
});

test('one request more than run and wait is 503 with Retry-After, and a task that is given up leaves the queue', async () => {
  const slots = new Slots({ running: 1, waiting: 1 });
  const gate = Promise.withResolvers<void>();
  const first = slots.run('a', never, () => gate.promise);
  const givenUp = new AbortController();
  const second = slots.run('a', givenUp.signal, async () => 'second');

  await expect(slots.run('a', never, async () => 'third')).rejects.toMatchObject({ code: 'busy', retryAfter: 5 });
  givenUp.abort(new Error('the client left'));
  await expect(second).rejects.toThrow('the client left');
  const fourth = slots.run('a', never, async () => 'fourth');
  gate.resolve();

  await first;
  expect(await fourth).toBe('fourth');
  expect([slots.running, slots.waiting]).toEqual([0, 0]);
});
