import { expect, test } from '@jest/globals';
import {
  keyIdOf,
  type PlacedTarget,
  readPlacedTarget,
  signPlacedTarget,
  TARGET_PARAMETER,
  type TargetKey,
  type TargetRegistration,
} from './placed-target.policy.ts';

const KEY: TargetKey = { id: 'k1', secret: Buffer.alloc(32, 1) };
const FORMER: TargetKey = { id: 'k0', secret: Buffer.alloc(32, 2) };
const MOODLE: TargetRegistration = { issuer: 'https://lms.example.org', clientId: 'carrel' };
const TARGET: PlacedTarget = {
  file: '0b9dcb6a-7c0a-4a57-8f53-6e4d2f0c8a11',
  maker: '5ad1f1f6-3fdb-4e0f-9a0b-7f1de8c5b222',
  course: 'c3c7c0de-1d2e-4f3a-8b4c-5d6e7f809333',
};

const keys =
  (...held: TargetKey[]) =>
  (id: string) =>
    held.find((key) => key.id === id);
const signed = (target = TARGET, key = KEY): string => signPlacedTarget(key, target, MOODLE)[TARGET_PARAMETER] ?? '';
const read = (text: string, registration = MOODLE, find = keys(KEY)) =>
  readPlacedTarget(find, { [TARGET_PARAMETER]: text }, registration);

test.each([TARGET, { ...TARGET, course: null }])('a target reads as it was signed: %j', (target) => {
  expect(read(signed(target))).toEqual({ target });
});

test('custom parameters are text that an LMS neither substitutes nor mangles, but for the histories that it is asked for', () => {
  const { [TARGET_PARAMETER]: target, ...others } = signPlacedTarget(KEY, TARGET, MOODLE);

  expect(target).toMatch(/^[A-Za-z0-9._-]{1,200}$/);
  expect(others).toEqual({ carrel_link_history: '$ResourceLink.id.history', carrel_course_history: '$Context.id.history' });
});

test.each([{}, { [TARGET_PARAMETER]: '' }, { file: 'x' }])(
  'custom parameters without a target are of no placed link: %j',
  (custom) => {
    expect(readPlacedTarget(keys(KEY), custom, MOODLE)).toBeUndefined();
    expect(keyIdOf(custom)).toBeUndefined();
  },
);

test.each([
  TARGET.file,
  '$carrel_target',
  'v2.k1.x.y',
  `${signed()}=`,
  ` ${signed()}`,
  signed().replace('v1', 'v2'),
  signed().slice(0, -1),
])('a text that is no target is malformed: %s', (text) => {
  expect(read(text)).toEqual({ fault: 'target_malformed' });
});

test('a target that was altered in any character counts for nothing', () => {
  const text = signed();
  const from = text.indexOf('.', 3) + 1;

  const faults = Array.from(text.slice(from), (character, at) => {
    if (character === '.') return 'target_altered';
    const other = character === 'A' ? 'Q' : 'A';
    const found = read(text.slice(0, from + at) + other + text.slice(from + at + 1));
    return found && 'fault' in found ? found.fault : 'opened';
  });

  expect(new Set(faults)).toEqual(new Set(['target_altered']));
});

test('the parts of two targets cannot be put together', () => {
  const [own, other] = [signed(), signed({ ...TARGET, file: TARGET.maker })].map((text) => text.split('.'));

  expect(read([...(own ?? []).slice(0, 3), other?.[3]].join('.'))).toEqual({ fault: 'target_altered' });
});

test.each([
  ['client', { ...MOODLE, clientId: 'other' }],
  ['issuer', { ...MOODLE, issuer: 'https://other.example.org' }],
  ['issuer and client, put together otherwise', { issuer: 'https://lms.example.orgcarrel', clientId: '' }],
])('a target of another %s is foreign', (_, registration) => {
  expect(read(signed(), registration)).toEqual({ fault: 'target_foreign' });
});

test('a former key still verifies its targets; a withdrawn key, or a foreign one with the same id, does not', () => {
  const former = signed(TARGET, FORMER);

  expect(read(former, MOODLE, keys(KEY, FORMER))).toEqual({ target: TARGET });
  expect(read(former, MOODLE, keys(KEY))).toEqual({ fault: 'target_key_unknown' });
  expect(read(former, MOODLE, keys(KEY, { ...KEY, id: FORMER.id }))).toEqual({ fault: 'target_altered' });
  expect(keyIdOf({ [TARGET_PARAMETER]: former })).toBe(FORMER.id);
});
