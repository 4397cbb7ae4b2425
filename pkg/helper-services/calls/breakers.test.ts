import { expect, test } from '@jest/globals';
import { Problem } from '../../api/problem.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { HelperKind } from '../helper.ts';
import { Breakers } from './breakers.ts';

const fails = (): Promise<never> => Promise.reject(new Problem('helper_unavailable'));
const refuses = (): Promise<never> => Promise.reject(new Problem('helper_rejected'));
const well = (): Promise<string> => Promise.resolve('well');

/** Breakers that open after three failures, and a stopped clock. */
function breakers(): {
  of: Breakers;
  pass(ms: number): void;
  fail(tenant: string, kind?: HelperKind): Promise<void>;
  open(kind: HelperKind): Promise<number>;
} {
  let now = 1_000;
  const metrics = createMetrics('test');
  const of = new Breakers({
    clock: { ...systemClock, monotonic: () => now },
    metrics,
    limits: { failures: 3, openMs: 30_000 },
  });
  return {
    of,
    pass: (ms) => void (now += ms),
    open: async (kind) => {
      const gauge = await metrics.getSingleMetric('carrel_helper_breakers_open')?.get();
      return gauge?.values.find(({ labels }) => labels['helper'] === kind)?.value ?? NaN;
    },
    fail: async (tenant, kind = 'translate') => {
      for (let times = 0; times < 3; times += 1) await of.run(tenant, kind, fails).catch(() => undefined);
    },
  };
}

test('a breaker is of one tenant and one helper', async () => {
  const { of, fail } = breakers();
  await fail('1');

  await expect(of.run('1', 'translate', well)).rejects.toMatchObject({ code: 'helper_unavailable', retryAfter: 30 });
  expect(await of.run('2', 'translate', well)).toBe('well');
  expect(await of.run('1', 'pdf_translate', well)).toBe('well');
});

test('a success in between keeps it closed, and so does every refusal', async () => {
  const { of } = breakers();
  for (const call of [fails, fails, well, fails, fails, refuses, fails, fails, refuses])
    await of.run('1', 'translate', call).catch(() => undefined);

  expect(of.isOpen('1', 'translate')).toBe(false);
});

test('after its time one call tries, while others are refused; its failure opens it again, its success closes it', async () => {
  const { of, fail, pass } = breakers();
  await fail('1');
  pass(10_001);
  await expect(of.run('1', 'translate', well)).rejects.toMatchObject({ retryAfter: 20 });
  pass(20_000);

  const trying = Promise.withResolvers<never>();
  const first = of.run('1', 'translate', () => trying.promise);
  await expect(of.run('1', 'translate', well)).rejects.toMatchObject({ retryAfter: 5 });
  trying.reject(new Problem('helper_unavailable'));
  await expect(first).rejects.toMatchObject({ code: 'helper_unavailable' });
  await expect(of.run('1', 'translate', well)).rejects.toMatchObject({ retryAfter: 30 });

  pass(30_000);
  expect(await of.run('1', 'translate', well)).toBe('well');
  expect(await of.run('1', 'translate', well)).toBe('well');
});

test('a breaker counts as open while it refuses, and no longer when the next call may try', async () => {
  const { fail, pass, open } = breakers();

  expect(await open('translate')).toBe(0);
  await fail('1');
  await fail('2');
  await fail('2', 'pdf_optimize');
  expect([await open('translate'), await open('pdf_optimize'), await open('pdf_translate')]).toEqual([2, 1, 0]);

  pass(30_000);
  expect([await open('translate'), await open('pdf_optimize'), await open('pdf_translate')]).toEqual([0, 0, 0]);

  await fail('1');
  expect(await open('translate')).toBe(1);
});

test('a trial that ends by something of ours, such as a client that leaves, decides nothing: the next call tries', async () => {
  const { of, fail, pass, open } = breakers();
  await fail('1');
  pass(30_000);
  const left = (): Promise<never> => Promise.reject(new Error('the client left'));

  await expect(of.run('1', 'translate', left)).rejects.toThrow('the client left');
  await expect(of.run('1', 'translate', left)).rejects.toThrow('the client left');
  await expect(of.run('1', 'translate', fails)).rejects.toMatchObject({ code: 'helper_unavailable' });

  expect(await open('translate')).toBe(1);
  pass(30_000);
  expect(await of.run('1', 'translate', well)).toBe('well');
  expect(await of.run('1', 'translate', well)).toBe('well');
});
