import { expect, test } from '@jest/globals';
import { shownLabels, ticks } from './plot-scale.ts';

test.each([
  [0, [0, 1]],
  [1, [0, 0.25, 0.5, 0.75, 1]],
  [7, [0, 2, 4, 6, 8]],
  [100, [0, 25, 50, 75, 100]],
  [0.3, [0, 0.1, 0.2, 0.3]],
  [1_234_567, [0, 500_000, 1_000_000, 1_500_000]],
])('an axis up to %d has the marks %j', (max, marks) => {
  expect(ticks(max)).toEqual(marks);
});

test('as many labels are shown as have space, and the last one always', () => {
  expect([[...shownLabels(5, 500, 50)], [...shownLabels(10, 200, 50)], [...shownLabels(1, 0, 50)]]).toEqual([
    [0, 1, 2, 3, 4],
    [0, 3, 6, 9],
    [0],
  ]);
});
