import { expect, test } from '@jest/globals';
import { characters, nameFault } from '../model/names/names.policy.ts';
import { archiveName } from './archive-name.policy.ts';

test('an archive is named like what is in it', () => {
  expect(archiveName('Übung 1')).toBe('Übung 1.zip');
});

test('a name that is too long with its ending is cut after a whole character', () => {
  const name = archiveName(`${'a'.repeat(250)}😀 notes`);

  expect(name).toBe(`${'a'.repeat(250)}😀.zip`);
  expect([characters(name), nameFault(name)]).toEqual([255, null]);
});

test('a name of as many characters as a name may have keeps all but four of them', () => {
  expect(archiveName('😀'.repeat(255))).toBe(`${'😀'.repeat(251)}.zip`);
});
