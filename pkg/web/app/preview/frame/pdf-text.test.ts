import { expect, test } from '@jest/globals';
import { partsIn, patternOf, positionsOf, textOf } from './pdf-text.ts';

const page = textOf([
  { str: 'The ', hasEOL: false },
  { str: 'teacher', hasEOL: true },
  { str: '', hasEOL: true },
  { str: 'reads (a) book.', hasEOL: false },
]);
const found = (words: string): string[] => {
  const pattern = patternOf(words);
  return pattern ? partsIn(page.text, pattern, 10).map(({ start, end }) => page.text.slice(start, end)) : [];
};

test('words are found in any case, over the ends of runs and lines, and each sign is itself', () => {
  expect([found('the TEACHER'), found(' teacher reads '), found('(a)'), found('e.'), found('k.'), found('x')]).toEqual([
    ['The teacher'],
    ['teacher\n\nreads'],
    ['(a)'],
    [],
    ['k.'],
    [],
  ]);
});

test('spaces alone find nothing', () => {
  expect([patternOf(''), patternOf(' \n')]).toEqual([undefined, undefined]);
});

test('no more parts are returned than asked for', () => {
  expect(partsIn('aaaa', /a/g, 2)).toEqual([
    { start: 0, end: 1 },
    { start: 1, end: 2 },
  ]);
});

test('a part has its positions in the runs of the page', () => {
  const [part = { start: 0, end: 0 }] = partsIn(page.text, /teacher\s+reads/g, 1);

  expect(positionsOf(page, part)).toEqual([
    { run: 1, offset: 0 },
    { run: 3, offset: 5 },
  ]);
});
