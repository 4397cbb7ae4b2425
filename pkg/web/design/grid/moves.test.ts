import { expect, test } from '@jest/globals';
import { moved } from './moves.ts';

const SIZE = { rows: 100, columns: 4, page: 10, isRtl: false };
const from = (row: number, column: number, key: string, isMod = false) => {
  const cell = moved({ row, column }, key, isMod, SIZE);
  return cell && [cell.row, cell.column];
};

test('the arrows go by one, up to the headings and no further than the edges', () => {
  expect([from(5, 1, 'ArrowDown'), from(99, 1, 'ArrowDown'), from(0, 1, 'ArrowUp'), from(-1, 1, 'ArrowUp')]).toEqual([
    [6, 1],
    [99, 1],
    [-1, 1],
    [-1, 1],
  ]);
  expect([from(5, 1, 'ArrowRight'), from(5, 3, 'ArrowRight'), from(5, 0, 'ArrowLeft')]).toEqual([
    [5, 2],
    [5, 3],
    [5, 0],
  ]);
});

test('Home and End go to the first and last row, with Ctrl to the ends of the row; a page is a screen', () => {
  expect([from(5, 1, 'Home'), from(5, 1, 'End'), from(5, 1, 'Home', true), from(5, 1, 'End', true)]).toEqual([
    [0, 1],
    [99, 1],
    [5, 0],
    [5, 3],
  ]);
  expect([from(5, 1, 'PageDown'), from(5, 1, 'PageUp'), from(95, 1, 'PageDown')]).toEqual([
    [15, 1],
    [0, 1],
    [99, 1],
  ]);
});

test('where text runs from right to left, so do the arrows', () => {
  expect(moved({ row: 0, column: 1 }, 'ArrowLeft', false, { ...SIZE, isRtl: true })).toEqual({ row: 0, column: 2 });
});

test('other keys do not move', () => {
  expect(from(5, 1, 'a')).toBeUndefined();
});
