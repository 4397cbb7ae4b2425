import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beginLanes, fileEnded } from './jest/end-of-lanes.ts';
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
    ['test/integration/z.test.ts', 'test/faults/a.test.ts'],
  ];
  expect(longestFirst([...unit, ...others, ...rest, first ?? ''].map(path))).toEqual([...LONGEST, ...others, ...unit].map(path));
});

test('all files of the e2e lane begin before the short ones of other lanes, so that its platform ends early', () => {
  const paths = ['test/integration/a.test.ts', 'test/e2e/z.test.ts', ...LONGEST].map((file) => ({ path: `/repository/${file}` }));
  const lanes = longestFirst(paths).map(({ path }) => path.split('/')[3]);
  const listed = LONGEST.map((file) => file.split('/')[1]);
  const last = listed.lastIndexOf('e2e');
  expect(lanes).toEqual([...listed.slice(0, last + 1), 'e2e', ...listed.slice(last + 1), 'integration']);
});

test('a lane ends with the last of its files, whatever the others do, and files of a single lane may run', () => {
  const file = (name: string) => ({ context: { config: { displayName: { name } } } });
  const ended = (...names: string[]): boolean[] => names.map((name) => fileEnded(file(name)));

  beginLanes(['e2e', 'unit', 'e2e'].map(file));
  const all = ended('e2e', 'unit', 'e2e');
  beginLanes(['unit'].map(file));
  const one = ended('unit');

  expect({ all, one }).toEqual({ all: [false, true, true], one: [true] });
});
