import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Level, LEVELS } from '../../../api/actor.ts';
import {
  allows,
  grantedAtLeast,
  hiddenAncestors,
  levelOn,
  requireLevel,
  requireMove,
  type Granted,
  type Right,
} from './inherited-access.policy.ts';

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
    expect(levelOn('file', { actor, granted: grants(entries) }, file)).toBe(level);
  });
});

test.each<[string, { userId: number }, Record<string, Level>, number]>([
  ['all, from whoever has a grant on the thing alone', me, { 'file/f': 'admin' }, 2],
  ['those above a folder that is granted', me, { 'folder/sub': 'read' }, 1],
  ['none, from whoever has the highest', me, { 'folder/top': 'read' }, 0],
  ['none, from whoever owns the highest', { userId: 2 }, {}, 0],
  ['those above a folder of theirs', { userId: 3 }, {}, 1],
])('folders above are hidden: %s', (_, actor, entries, hidden) => {
  expect(hiddenAncestors({ actor, granted: grants(entries) }, file.ancestors)).toBe(hidden);
});

describe('a move', () => {
  const [soon, late] = [new Date('2026-01-01'), new Date('2026-02-01')];
  const right = (level: Level, endsAt: Date | null = null): Right => ({ level, endsAt });
  const ofOwner = [{ uuid: 'other', ownerId: 2 }];
  const own = [{ uuid: 'mine', ownerId: 1 }];

  test.each<[string, Right[], Right[], typeof own, boolean]>([
    ['by a lasting admin goes where nobody gets more', [right('admin')], [right('admin')], ofOwner, true],
    ['by a lasting admin does not go into a folder of theirs, for a grant can be taken back', [right('admin')], [], own, false],
    [
      'by a lasting admin does not go below a folder of somebody else',
      [right('admin')],
      [],
      [{ uuid: 'theirs', ownerId: 9 }],
      false,
    ],
    ['by an admin for a time does not go into a folder of theirs', [right('admin', late)], [], own, false],
    ['by an admin for a time goes where nobody gets more', [right('admin', late)], [right('admin', soon)], ofOwner, true],
    ['does not go where a right lasts longer', [right('admin', soon)], [right('read', late)], ofOwner, false],
    ['does not go where a right has no end', [right('write', late)], [right('write')], ofOwner, false],
    ['does not go where a right is higher', [right('write')], [right('admin', soon)], ofOwner, false],
    [
      'goes where the rights are the same',
      [right('write', soon), right('read')],
      [right('write', soon), right('read', late)],
      ofOwner,
      true,
    ],
    ['does not go below a folder of somebody else', [right('write')], [], [{ uuid: 'theirs', ownerId: 9 }], false],
  ])('%s', (_, here, there, ancestors, passes) => {
    const move = (): void => requireMove(me, { uuid: 'f', ownerId: 2, ancestors: [] }, ancestors, { here, there });
    if (passes) expect(move).not.toThrow();
    else expect(move).toThrow(/This move would give/);
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

test('a resource that one may not know of is not found; an action that one may not do is forbidden', () => {
  expect(() => requireLevel(null, 'read')).toThrow('The resource does not exist, or the caller may not see it.');
  expect(() => requireLevel('read', 'write')).toThrow('Requires write access; you have read access.');
  expect(() => requireLevel('write', 'write')).not.toThrow();
});

test('grants of a level exclude lower grants and entries that are not grants', () => {
  const entries = ['read:files', 'read:file/a', 'write:file/b', 'admin:folder/c', 'read:folder/d'];
  expect(grantedAtLeast({ entries }, 'read')).toEqual({ files: ['a', 'b'], folders: ['c', 'd'] });
  expect(grantedAtLeast({ entries }, 'write')).toEqual({ files: ['b'], folders: ['c'] });
});
