import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LONGEST, longestFirst } from './test-sequencer.ts';

const ROOT = join(import.meta.dirname, '..');

test('each file that begins first is there', () => {
  expect(LONGEST.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('the longest files begin first, in the order of the list, and the others keep theirs', () => {
  const path = (file: string) => ({ path: join('/repository', file) });
  const [first, ...rest] = LONGEST;
  expect(longestFirst(['a/small.test.ts', ...rest, 'z/other.test.ts', first ?? ''].map(path))).toEqual(
    [...LONGEST, 'a/small.test.ts', 'z/other.test.ts'].map(path),
  );
});
