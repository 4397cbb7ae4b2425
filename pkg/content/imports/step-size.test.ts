import { expect, test } from '@jest/globals';
import type { ImportItem } from './imports.sql.ts';
import { StepSize, withFewFolders } from './step-size.ts';

const item = (id: number, path: string): ImportItem => ({
  id,
  name: path,
  content: null,
  entry: {
    names: path.split('/'),
    isFolder: false,
    isAdapted: false,
    flags: 0,
    method: 0,
    crc: 0,
    packed: 0,
    size: 0,
    offset: 0,
    end: 0,
    nameCrc: 0,
    mode: 0,
  },
});
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test('steps that last long become smaller, down to one entry, and quick ones larger, up to 100', () => {
  const size = new StepSize();
  const sizes = [50, 50, 50, 2_000, 2_000, 20_000, 200, 10].map((ms) => {
    size.took(ms);
    return size.entries;
  });

  expect(sizes).toEqual([40, 80, 100, 10, 1, 1, 1, 2]);
});

test('a step has at most 100 folders to make, and one entry at least, however deep', () => {
  const flat = numbers(100).map((n) => item(n, `d/${n}.txt`));
  const deep = numbers(100).map((n) => item(n, `${n}/b/c/d/e.txt`));
  const deepest = numbers(100).map((n) => item(n, `${n}/${'d/'.repeat(900)}e.txt`));

  expect([flat, deep, deepest].map((items) => withFewFolders(items).length)).toEqual([100, 25, 1]);
});
