import { expect, test } from '@jest/globals';
import { added, countOf, EVERYTHING, isEmpty, isSelected, kept, NOTHING, rangeOf, selectionOf, toggled } from './selection.ts';

const idAt = (index: number): string | undefined => ['a', 'b', 'c', undefined, 'e'][index];

test('a row that is toggled twice is as before', () => {
  const once = toggled(NOTHING, 'a');

  expect([isSelected(once, 'a'), isEmpty(toggled(once, 'a'))]).toEqual([true, true]);
});

test('of all rows, loaded or not, single ones can be left out and taken back', () => {
  const most = toggled(EVERYTHING, 'a');

  expect([isSelected(most, 'a'), isSelected(most, 'never loaded'), countOf(most, 100_000)]).toEqual([false, true, 99_999]);
  expect(countOf(added(most, ['a', 'b']), 100_000)).toBe(100_000);
});

test('how many all are is unknown as long as nobody knows the length of the list', () => {
  expect([countOf(EVERYTHING, undefined), countOf(selectionOf(['a', 'b', 'a']), undefined)]).toEqual([undefined, 2]);
});

test('a range goes either way and ends at a row that is not loaded', () => {
  expect([rangeOf(0, 2, idAt), rangeOf(2, 1, idAt), rangeOf(1, 4, idAt), rangeOf(4, 0, idAt)]).toEqual([
    ['a', 'b', 'c'],
    ['c', 'b'],
    ['b', 'c'],
    ['e'],
  ]);
});

test('what a list no longer has is no longer selected', () => {
  const some = selectionOf(['a', 'b']);

  expect([kept(some, (id) => id === 'a'), kept(some, () => true)]).toEqual([selectionOf(['a']), some]);
  expect(kept(EVERYTHING, () => false)).toBe(EVERYTHING);
});

test('10,000 rows are selected with one look at each', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `row ${index}`);
  let looks = 0;
  const selection = added(
    NOTHING,
    rangeOf(0, ids.length - 1, (index) => {
      looks += 1;
      return ids[index];
    }),
  );

  expect([countOf(selection, undefined), looks]).toEqual([10_000, 10_000]);
});
