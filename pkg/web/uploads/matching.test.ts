import { expect, test } from '@jest/globals';
import { type Candidate, matchesOf } from './matching.ts';
import type { FoundFile } from './walk.ts';

const fileAt = (path: string, { size = 10, lastModified = 1_000 } = {}): FoundFile => {
  const names = path.split('/');
  const file = new File(['x'], names.at(-1) ?? '', { lastModified });
  return { path: names, file: Object.defineProperty(file, 'size', { value: size }) };
};

const candidate = (id: number, path: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  folderId: 'folder',
  path: path.split('/'),
  size: 10,
  lastModified: 1_000,
  ...more,
});

/** Which upload each file continues: its id, with `!` if the file has changed. */
function matched(files: readonly FoundFile[], candidates: readonly Candidate[], target?: { folderId: string | null }): string[] {
  const matches = matchesOf(files, candidates, target);
  return files.map((file) => {
    const match = matches.get(file);
    return match ? `${match.id}${match.isSame ? '' : '!'}` : '';
  });
}

test('a file that is chosen again continues the upload with its name, size and time of change, whatever its folder was', () => {
  const candidates = [candidate(1, 'a.txt'), candidate(2, 'Photos/b.jpg')];

  expect(matched([fileAt('b.jpg'), fileAt('a.txt'), fileAt('c.txt')], candidates)).toEqual(['2', '1', '']);
});

test('of files with one name each finds its own path, also when a folder within or around the first one is chosen', () => {
  const candidates = [candidate(1, 'Photos/May/a.jpg'), candidate(2, 'Photos/June/a.jpg')];

  expect(matched([fileAt('Photos/June/a.jpg'), fileAt('Photos/May/a.jpg')], candidates)).toEqual(['2', '1']);
  expect(matched([fileAt('June/a.jpg'), fileAt('May/a.jpg')], candidates)).toEqual(['2', '1']);
  expect(matched([fileAt('Disk/Photos/June/a.jpg'), fileAt('Disk/Photos/July/a.jpg')], candidates)).toEqual(['2', '']);
});

test('two uploads of one name are continued by two files, and not by a third', () => {
  const candidates = [candidate(1, 'May/a.jpg'), candidate(2, 'June/a.jpg')];

  expect(matched([fileAt('a.jpg'), fileAt('a.jpg'), fileAt('a.jpg')], candidates)).toEqual(['1', '2', '']);
});

test.each([
  ['size', { size: 11 }],
  ['time of change', { lastModified: 2_000 }],
])('a file with another %s has changed', (_, more) => {
  expect(matched([fileAt('a.txt', more)], [candidate(1, 'Notes/a.txt')])).toEqual(['1!']);
});

test('a file counts as changed only where it can be no other one: not in another folder, nor as one of several names', () => {
  const candidates = [candidate(1, 'May/a.jpg'), candidate(2, 'June/a.jpg')];

  expect(matched([fileAt('a.jpg', { size: 11 })], candidates)).toEqual(['']);
  expect(matched([fileAt('Disk/May/a.jpg', { size: 11 })], candidates)).toEqual(['']);
  expect(matched([fileAt('May/a.jpg', { size: 11 })], candidates)).toEqual(['1!']);
});

test('the same file comes before one that has changed, in whichever order they are chosen', () => {
  const changed = fileAt('a.txt', { size: 11 });

  expect(matched([changed, fileAt('a.txt')], [candidate(1, 'a.txt')])).toEqual(['', '1']);
});

test('a file that is dropped into a folder continues the upload to its path there and no other', () => {
  const candidates = [candidate(1, 'a.txt'), candidate(2, 'a.txt', { folderId: null }), candidate(3, 'Notes/b.txt')];
  const files = [fileAt('a.txt', { size: 11 }), fileAt('b.txt')];

  expect(matched(files, candidates, { folderId: null })).toEqual(['2!', '']);
  expect(matched(files, candidates, { folderId: 'elsewhere' })).toEqual(['', '']);
});

test('4,000 files find 4,000 uploads within a second', () => {
  const paths = Array.from({ length: 4_000 }, (_, n) => `Photos/${n % 40}/${n}.jpg`);
  const files = paths.map((path) => fileAt(path));
  const candidates = paths.map((path, index) => candidate(index, path));
  const time = (): number => {
    const started = performance.now();
    const matches = matchesOf(files, candidates);
    const took = performance.now() - started;
    expect([...matches.values()].every(({ isSame }) => isSame) && matches.size).toBe(4_000);
    return took;
  };

  // Of five, a busy machine lets one pass undisturbed.
  expect(Math.min(...Array.from({ length: 5 }, time))).toBeLessThan(1_000);
});
