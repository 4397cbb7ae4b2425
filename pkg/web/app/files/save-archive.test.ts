import { expect, test } from '@jest/globals';
import { archiveName } from './save-archive.ts';

test('an archive has the name of its list, without what no name has', () => {
  const titles = [' Week 1/2 \u202e', '\ud83d notes', '…'];

  expect(titles.map(archiveName)).toEqual(['Week 1 2', 'notes', 'files']);
});

test('a long name is cut after a whole character, where the API counts 200', () => {
  expect(archiveName(`${'a'.repeat(199)}😀 notes`)).toBe(`${'a'.repeat(199)}😀`);
  expect(archiveName('😀a'.repeat(150))).toBe('😀a'.repeat(100));
});
