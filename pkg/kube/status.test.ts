import { expect, test } from '@jest/globals';
import { findCondition, isConditionTrue, setCondition } from './status.ts';

const T1 = new Date('2026-01-01T00:00:00.123Z');
const T2 = new Date('2026-01-02T00:00:00.456Z');
const ready = (status: 'True' | 'False', message: string, observedGeneration = 1) => ({
  type: 'Ready',
  status,
  reason: 'Why',
  message,
  observedGeneration,
});

test('the time of the last transition moves only when the status does', () => {
  const first = setCondition(undefined, ready('False', 'not yet'), T1);
  const second = setCondition(first, ready('False', 'still not', 2), T2);
  const third = setCondition(second, ready('True', 'now', 2), T2);

  expect(first).toEqual([{ ...ready('False', 'not yet'), lastTransitionTime: '2026-01-01T00:00:00Z' }]);
  expect(second).toEqual([{ ...ready('False', 'still not', 2), lastTransitionTime: '2026-01-01T00:00:00Z' }]);
  expect(third).toEqual([{ ...ready('True', 'now', 2), lastTransitionTime: '2026-01-02T00:00:00Z' }]);
});

test('a default condition is not a transition: the first written one begins now', () => {
  const byDefault = [{ ...ready('False', 'waits'), lastTransitionTime: '1970-01-01T00:00:00Z' }];

  expect(setCondition(byDefault, ready('False', 'not yet'), T1)[0]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
});

test('other conditions keep their position', () => {
  const other = { type: 'Other', status: 'True', reason: 'A', message: '', lastTransitionTime: 'x' } as const;
  const conditions = setCondition(setCondition([other], ready('False', ''), T1), ready('True', ''), T2);

  expect(conditions.map(({ type }) => type)).toEqual(['Other', 'Ready']);
  expect(findCondition(conditions, 'Other')).toEqual(other);
  expect(findCondition(conditions, 'Missing')).toBeUndefined();
});

test('a condition about an older spec is not true', () => {
  const object = (generation: number) => ({
    metadata: { generation },
    status: { conditions: setCondition([], ready('True', '', 3), T1) },
  });

  expect(isConditionTrue(object(3), 'Ready')).toBe(true);
  expect(isConditionTrue(object(4), 'Ready')).toBe(false);
  expect(isConditionTrue({}, 'Ready')).toBe(false);
});

test('a message is truncated at the limit of the API server', () => {
  expect(setCondition([], ready('True', 'x'.repeat(40_000)), T1)[0]?.message).toHaveLength(32_768);
});
