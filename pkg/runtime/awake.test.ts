import { expect, test } from '@jest/globals';
import { afterAwake } from './awake.ts';

const passed = (ms: number): Promise<void> => new Promise((resolve) => void afterAwake(ms, resolve));

test('what is due after a time runs no sooner', async () => {
  const began = performance.now();

  await passed(100);

  // Timers are exact to a millisecond.
  expect(performance.now() - began).toBeGreaterThan(95);
});

test('a process that stands still for longer than the whole time loses a fourth of it', async () => {
  const began = performance.now();
  const over = passed(400);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);

  await over;

  expect(performance.now() - began).toBeGreaterThan(600 + 295);
});

test('what is called off does not run', async () => {
  let runs = 0;
  const cancel = afterAwake(10, () => (runs += 1));
  cancel();

  await passed(50);

  expect(runs).toBe(0);
});
