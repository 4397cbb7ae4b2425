import { expect, test } from '@jest/globals';
import { KubeError } from '../../kube/errors.ts';
import { LockTimeout } from '../../store/postgres/errors.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import type { Logger } from '../../runtime/log.ts';
import { ManualClock } from '../../../test/support/clock.ts';
import { failureOf, ConditionError, ConditionRunner } from './runner.ts';
import { stepTimer } from './step-timer.ts';

const never = new AbortController().signal;
const good = async (value: string) => ({ value, reason: 'Good', message: '' });

test('a step whose input is missing waits for it by name, and independent steps run', async () => {
  const steps = new ConditionRunner(never);

  const first = await steps.run('First', {}, () => Promise.reject(new ConditionError('TooEarly', 'not now')));
  await steps.run('Second', { first }, () => good('second'));
  const third = await steps.run('Third', {}, () => good('third'));

  expect(third.value).toBe('third');
  expect(steps.conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
    'First False TooEarly',
    'Second Unknown WaitingForFirst',
    'Third True Good',
  ]);
  expect(steps.conditions[1]?.message).toBe('Waiting for First: not now');
  expect(steps.worst?.type).toBe('First');
});

test('a value that is undefined is a value', async () => {
  const steps = new ConditionRunner(never);
  const first = await steps.run('First', {}, async () => ({ value: undefined, reason: 'Good', message: '' }));
  await steps.run('Second', { first }, () => good('second'));

  expect(steps.worst).toBeUndefined();
});

test('a step that says when to look again is run then, the soonest first; a failure is thrown for the back-off', async () => {
  const steps = new ConditionRunner(never);
  await steps.run('A', {}, () => Promise.reject(new ConditionError('Later', '', { retryAfterMs: 500 })));
  await steps.run('B', {}, () => Promise.reject(new ConditionError('Soon', '', { retryAfterMs: 100, isTerminal: true })));

  expect(steps.result()).toEqual({ requeueAfterMs: 100, isLasting: true });
  expect(steps.terminal?.type).toBe('B');

  const failure = new StoreUnavailableError('redis', new Error('ECONNREFUSED 127.0.0.1:1234'));
  await steps.run('C', {}, () => Promise.reject(failure));
  expect(() => steps.result()).toThrow(failure);
});

test('a reconcile whose signal is aborted ends at once: its step by its failure, and no further one begins', async () => {
  const stopping = new AbortController();
  const steps = new ConditionRunner(stopping.signal);
  const cutOff = steps.run('A', {}, async () => {
    stopping.abort(new Error('leadership was lost'));
    throw new Error('cut off');
  });
  let begun = false;

  await expect(cutOff).rejects.toThrow('cut off');
  await expect(steps.run('B', {}, () => ((begun = true), good('b')))).rejects.toThrow('leadership was lost');
  expect(begun).toBe(false);
});

test.each([
  [new StoreUnavailableError('postgres', new Error('port 5432')), 'PostgresUnavailable', 'Postgres does not answer; will retry'],
  [
    new LockTimeout('canceling statement due to lock timeout'),
    'Failed',
    'a lock in Postgres was not obtained in time; will retry',
  ],
  [new KubeError(0, 'Unreachable', 'x'), 'ApiServerUnavailable', 'the API server does not answer; will retry'],
  [new KubeError(409, 'Conflict', 'x'), 'Conflict', 'an object was changed at the same time; will retry'],
  [new KubeError(422, 'Invalid', 'spec.x is wrong'), 'Invalid', 'spec.x is wrong'],
  [new KubeError(403, 'Forbidden', 'exceeded quota'), 'Refused', 'exceeded quota'],
  [new Error('boom'), 'Failed', 'boom'],
])('%s reads as %s', (error, reason, message) => {
  expect(failureOf(error)).toMatchObject({ status: 'False', reason, message });
});

test('each step is measured by its condition, and a step of 3 s or more is logged with its object', async () => {
  const [clock, metrics] = [new ManualClock(), createMetrics('test')];
  const logged: unknown[] = [];
  const log = { warn: (...line: unknown[]) => logged.push(line) } as unknown as Logger;
  const steps = new ConditionRunner(never, stepTimer({ clock, metrics, log }, 'tenant')({ namespace: 'schools', name: 'north' }));
  const after = (ms: number) => async () => {
    await clock.advance(ms);
    return good('');
  };

  await steps.run('RedisReady', {}, after(2_999));
  await steps.run('StorageReady', {}, after(3_000));
  await steps.run('KeysReady', {}, async () => {
    await clock.advance(4_500);
    throw new ConditionError('Broken', 'it failed late');
  });

  expect(logged).toEqual([
    [{ controller: 'tenant', key: 'schools/north', step: 'StorageReady', ms: 3_000 }, 'a step of a reconcile was slow'],
    [{ controller: 'tenant', key: 'schools/north', step: 'KeysReady', ms: 4_500 }, 'a step of a reconcile was slow'],
  ]);
  const text = await metrics.getSingleMetricAsString('carrel_reconcile_step_seconds');
  const sums = [...text.matchAll(/_sum\{.*?step="(\w+)".*?\} (\S+)/g)].map(([, step, sum]) => `${step} ${sum}`);
  expect(sums).toEqual(['RedisReady 2.999', 'StorageReady 3', 'KeysReady 4.5']);
});
