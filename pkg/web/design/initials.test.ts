import { expect, test } from '@jest/globals';
import { hueOf, initialsOf } from './initials.ts';

test.each([
  ['Ada Okafor', 'AO'],
  ['ada', 'A'],
  ['Ben van der Berg', 'BB'],
  ['ada.okafor@example.org', 'AO'],
  ['王 小明', '王小'],
  ['Éva  Å', 'ÉÅ'],
  ['  ', '?'],
  ['- .', '?'],
])('the initials of "%s" are %s', (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});

test('a name always has the same colour, and names have all of them', () => {
  const names = Array.from({ length: 100 }, (_, index) => `Person ${index}`);

  expect(names.map(hueOf)).toEqual(names.map(hueOf));
  expect([...new Set(names.map(hueOf))].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
});
