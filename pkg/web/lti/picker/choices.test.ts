import { expect, test } from '@jest/globals';
import { arePoints, type Choice, itemOf, toggled, typesOf } from './choices.ts';

const ALL = { types: ['ltiResourceLink', 'link', 'file', 'image'], media_types: null } as const;
const choice = (id: string, more: Partial<Choice> = {}): Choice => ({
  file: { id, name: `${id}.txt`, mime_type: 'text/plain' },
  type: 'ltiResourceLink',
  points: '',
  ...more,
});

test.each([
  ['text/plain', ALL, ['ltiResourceLink', 'link', 'file']],
  ['image/png', ALL, ['ltiResourceLink', 'link', 'file', 'image']],
  [null, ALL, ['ltiResourceLink', 'link', 'file']],
  ['text/plain', { ...ALL, media_types: ['image/*'] }, ['ltiResourceLink', 'link']],
  ['image/png', { types: ['file'], media_types: ['image/*'] }, ['file']],
  ['text/plain', { types: ['file'], media_types: ['image/*'] }, []],
  ['text/plain; charset=utf-8', { types: ['file'], media_types: ['text/plain'] }, ['file']],
  [null, { types: ['file'], media_types: ['*/*'] }, ['file']],
] as const)('a file of %s is taken as what the LMS accepts', (mime_type, accepted, types) => {
  expect(typesOf({ mime_type }, accepted)).toEqual(types);
});

test('of several, each is switched by itself; of one, another takes its place', () => {
  const [a, b] = [choice('a'), choice('b')];

  expect(toggled([a], b, true)).toEqual([a, b]);
  expect(toggled([a, b], choice('a', { type: 'link' }), true)).toEqual([b]);
  expect(toggled([a], b, false)).toEqual([b]);
  expect(toggled([a], a, false)).toEqual([a]);
});

test.each([
  ['', true],
  [' ', true],
  ['10', true],
  ['0.5', true],
  ['0', false],
  ['-1', false],
  ['1000', false],
  ['ten', false],
])('%j as points is right: %s', (points, is) => {
  expect(arePoints(points)).toBe(is);
});

test('points are a column of the grade book for a link of the course, where the LMS takes one', () => {
  expect(itemOf(choice('a', { points: '10' }), { line_items: true })).toEqual({
    type: 'ltiResourceLink',
    file_id: 'a',
    line_item: { score_maximum: 10 },
  });
  expect(itemOf(choice('a', { points: '10' }), { line_items: false })).toEqual({ type: 'ltiResourceLink', file_id: 'a' });
  expect(itemOf(choice('a', { points: '10', type: 'link' }), { line_items: true })).toEqual({ type: 'link', file_id: 'a' });
});
