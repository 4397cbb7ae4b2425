import { expect, test } from '@jest/globals';
import { afterAwake } from './awake.ts';

const passed = (ms: number): Promise<void> => new Promise((resolve) => void afterAwake(ms, resolve));

test('an action does not run before its time', async () => {
  const began = performance.now();

  await passed(100);

  // Timers are exact to a millisecond.
  expect(performance.now() - began).toBeGreaterThan(95);
});

test('a process that stands still for longer than the whole time loses a quarter of it', async () => {
  const began = performance.now();
  const over = passed(400);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);

  await over;

  expect(performance.now() - began).toBeGreaterThan(600 + 295);
});

test('a cancelled action does not run', async () => {
  let runs = 0;
  const cancel = afterAwake(10, () => (runs += 1));
  cancel();

  await passed(50);

  expect(runs).toBe(0);
});
