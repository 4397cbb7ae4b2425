import { expect, test } from '@jest/globals';
import { type Keys, periodMs, rotationStep } from './rotation.policy.ts';

const DAY = 86_400_000;
const at = (days: number): Date => new Date(Date.UTC(2026, 0, 1) + days * DAY);
const current = { kid: 'a', since: at(0) };
const next = { kid: 'b', publishedAt: at(29) };
const keys = (more: Partial<Keys> = {}): Keys => ({ current, next: undefined, former: [], ...more });
const MONTH = 30 * DAY;

test.each<[string, Keys, number | undefined, number, ReturnType<typeof rotationStep>]>([
  ['a key signs for its period', keys(), MONTH, 1, { action: 'stay', dueAt: at(29) }],
  ['the next is published a day ahead', keys(), MONTH, 29, { action: 'publish', dueAt: at(29) }],
  ['it waits for the period’s end', keys({ next }), MONTH, 29.5, { action: 'stay', dueAt: at(30) }],
  ['then it signs', keys({ next }), MONTH, 30, { action: 'sign', dueAt: at(30) }],
  [
    'one published late waits its day out',
    keys({ next: { kid: 'b', publishedAt: at(40) } }),
    MONTH,
    40.5,
    { action: 'stay', dueAt: at(41) },
  ],
  ['a short period leads by half of it', keys(), DAY / 2, 0.2, { action: 'stay', dueAt: at(0.25) }],
  ['without rotation all stay for ever', keys(), undefined, 99, { action: 'stay', dueAt: undefined }],
  ['without rotation the next key is discarded', keys({ next }), undefined, 29.5, { action: 'discard', dueAt: undefined }],
  [
    'a former wants a look at its end',
    keys({ former: [{ kid: 'z', until: at(3) }] }),
    MONTH,
    2,
    { action: 'stay', dueAt: at(3) },
  ],
])('%s', (_, present, period, day, step) => {
  expect(rotationStep(present, period, at(day))).toEqual(step);
});

test('over a year one step at a time, some key signs always and every signer was published a day before', () => {
  let present = keys();
  const signers: string[] = [];
  for (let day = 0; day < 365; day += 0.5) {
    const { action } = rotationStep(present, MONTH, at(day));
    if (action === 'publish') present = { ...present, next: { kid: `k${day}`, publishedAt: at(day) } };
    if (action === 'sign' && present.next) {
      expect(at(day).getTime() - present.next.publishedAt.getTime()).toBeGreaterThanOrEqual(DAY);
      signers.push(present.next.kid);
      present = keys({ current: { kid: present.next.kid, since: at(day) } });
    }
  }
  expect(signers).toHaveLength(12);
});

test('a period is days or hours', () => {
  expect([periodMs('30d'), periodMs('12h')]).toEqual([MONTH, DAY / 2]);
});
