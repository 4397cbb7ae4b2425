import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Level, LEVELS } from '../../api/actor.ts';
import { allows, grantedAtLeast, levelOn, requireLevel, type Granted } from './access.policy.ts';

const grants = (entries: Record<string, Level>): Granted => ({ levelOf: (kind, uuid) => entries[`${kind}/${uuid}`] ?? null });
const me = { userId: 1 };
const file = {
  uuid: 'f',
  ownerId: 2,
  ancestors: [
    { uuid: 'top', ownerId: 2 },
    { uuid: 'sub', ownerId: 3 },
  ],
};

describe('the level on a file', () => {
  test.each<[string, { userId: number }, Record<string, Level>, Level | null]>([
    ['of a stranger is none', me, {}, null],
    ['of its owner is admin', { userId: 2 }, {}, 'admin'],
    ['of the owner of a folder above is admin', { userId: 3 }, {}, 'admin'],
    ['is what is granted on it', me, { 'file/f': 'write' }, 'write'],
    ['is what is granted on a folder above', me, { 'folder/top': 'read' }, 'read'],
    ['is the highest of all grants', me, { 'file/f': 'read', 'folder/top': 'write', 'folder/sub': 'read' }, 'write'],
    ['is none by a grant on another thing', me, { 'file/g': 'admin', 'folder/f': 'admin' }, null],
  ])('%s', (_, actor, entries, level) => {
    expect(levelOn('file', actor, file, grants(entries))).toBe(level);
  });
});

test('levels are cumulative', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LEVELS), fc.constantFrom(...LEVELS), (have, want) => {
      expect(allows(have, want)).toBe(LEVELS.indexOf(have) >= LEVELS.indexOf(want));
      expect(allows(null, want)).toBe(false);
    }),
  );
});

test('what one may not know of is not found; what one may see but not do is forbidden', () => {
  expect(() => requireLevel(null, 'read')).toThrow('There is no such thing');
  expect(() => requireLevel('read', 'write')).toThrow('This takes the level write; yours is read.');
  expect(() => requireLevel('write', 'write')).not.toThrow();
});

test('what is granted at a level leaves out lower grants and what is no grant', () => {
  const entries = ['read:files', 'read:file/a', 'write:file/b', 'admin:folder/c', 'read:folder/d'];
  expect(grantedAtLeast({ entries }, 'read')).toEqual({ files: ['a', 'b'], folders: ['c', 'd'] });
  expect(grantedAtLeast({ entries }, 'write')).toEqual({ files: ['b'], folders: ['c'] });
});
