import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LONGEST, longestFirst } from './test-sequencer.ts';

const ROOT = join(import.meta.dirname, '..');

test('each file that begins first is there', () => {
  expect(LONGEST.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('the longest files begin first, in the order of the list, unit tests come last, and the others keep their order', () => {
  const path = (file: string) => ({ path: join('/repository', file) });
  const [first, ...rest] = LONGEST;
  const [unit, others] = [
    ['pkg/z.test.ts', 'cmd/a.test.ts'],
    ['test/integration/z.test.ts', 'test/e2e/a.test.ts'],
  ];
  expect(longestFirst([...unit, ...others, ...rest, first ?? ''].map(path))).toEqual([...LONGEST, ...others, ...unit].map(path));
});
