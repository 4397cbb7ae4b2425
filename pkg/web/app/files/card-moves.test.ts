import { expect, test } from '@jest/globals';
import { movedCard } from './card-moves.ts';

/** 0 1 2 3 / 4 5 6 7 / 8 9 */
const SIZE = { count: 10, columns: 4, page: 2, isRtl: false };
const from = (at: number, ...keys: readonly string[]) => keys.map((key) => movedCard(at, key, false, SIZE));

test('left and right go on in the next line, and no further than the first and last card', () => {
  expect([from(3, 'ArrowRight', 'ArrowLeft'), from(0, 'ArrowLeft'), from(9, 'ArrowRight')]).toEqual([[4, 2], [0], [9]]);
});

test('up and down go by a line; below a last line that is not full is its last card', () => {
  expect([from(1, 'ArrowDown', 'ArrowUp'), from(5, 'ArrowDown', 'ArrowUp'), from(7, 'ArrowDown'), from(9, 'ArrowDown')]).toEqual([
    [5, 1],
    [9, 1],
    [9],
    [9],
  ]);
});

test('Home and End go to the first and last card, with Ctrl along the line; a page is a screen', () => {
  expect(from(5, 'Home', 'End', 'PageDown', 'PageUp')).toEqual([0, 9, 9, 1]);
  expect([movedCard(5, 'Home', true, SIZE), movedCard(5, 'End', true, SIZE), movedCard(8, 'End', true, SIZE)]).toEqual([4, 7, 9]);
});

test('from right to left the arrows point the other way; other keys lead nowhere', () => {
  const isRtl = { ...SIZE, isRtl: true };
  expect([movedCard(5, 'ArrowRight', false, isRtl), movedCard(5, 'ArrowLeft', false, isRtl)]).toEqual([4, 6]);
  expect(from(5, 'Enter', 'a', 'toString')).toEqual([undefined, undefined, undefined]);
});
