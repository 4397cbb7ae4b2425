import { expect, test } from '@jest/globals';
import { TypeAhead } from './type-ahead.ts';

const NAMES = ['Apple', 'apricot', 'Banana', 'Ångström', 'avocado'];

test('letters typed in a row find the entry that begins with them', () => {
  const search = new TypeAhead();

  expect([search.find('a', NAMES, 2, 0), search.find('v', NAMES, 4, 100), search.find('o', NAMES, 4, 200)]).toEqual([4, 4, 4]);
});

test('the same letter again goes to the next entry that begins with it, and around the end', () => {
  const search = new TypeAhead();

  expect([search.find('a', NAMES, 0, 0), search.find('a', NAMES, 1, 100), search.find('a', NAMES, 4, 200)]).toEqual([1, 4, 0]);
});

test('after a pause the search begins anew', () => {
  const search = new TypeAhead();
  search.find('a', NAMES, 0, 0);

  expect(search.find('b', NAMES, 1, 5_000)).toBe(2);
});

test('what no entry begins with is not found', () => {
  expect([new TypeAhead().find('z', NAMES, 0, 0), new TypeAhead().find('a', [], -1, 0)]).toEqual([undefined, undefined]);
});
