import { expect, test } from '@jest/globals';
import type { Access, Permission } from '../../api/operations.generated.ts';
import { accessRows } from './access-rows.ts';

const person = (name: string, level: Access['level'], ...because: Access['because']): Access => ({
  user: { id: name.toLowerCase(), name },
  level,
  because,
});
const grant = (id: string, to: Partial<Pick<Permission, 'user_id' | 'group_id'>>): Permission => ({
  id,
  resource_type: 'file',
  resource_id: 'f',
  user_id: null,
  group_id: null,
  permission_level: 'read',
  granted_by: 'ada',
  granted_at: '2026-03-09T12:00:00Z',
  expires_at: null,
  etag: id,
  ...to,
});

test('the owner comes first, then what was granted, then who has access by a folder above alone', () => {
  const people = [
    person('Ada', 'admin', { via: 'owner' }),
    person('Bob', 'write', { via: 'grant', permission_id: 'g1' }, { via: 'folder', folder: { id: 't', name: 'Term' } }),
    person('Carl', 'read', { via: 'group', permission_id: 'g2', group: { id: 'h', name: 'History' } }),
    person('Dora', 'read', { via: 'folder', folder: { id: 't', name: 'Term' } }),
    person('Eva', 'write', { via: 'folder' }),
  ];
  const grants = [grant('g1', { user_id: 'bob' }), grant('g2', { group_id: 'h' })];

  expect(accessRows(people, grants, new Map()).map(({ kind, name }) => [kind, name])).toEqual([
    ['owner', 'Ada'],
    ['user', 'Bob'],
    ['group', 'History'],
    ['inherited', 'Dora'],
    ['inherited', 'Eva'],
  ]);
});

test('a group without members has the name that was chosen, and otherwise none', () => {
  const grants = [grant('g1', { group_id: 'h' }), grant('g2', { group_id: 'i' })];

  expect(accessRows([], grants, new Map([['h', 'History']])).map(({ name }) => name)).toEqual(['History', undefined]);
});

test('an owner who has a grant of a folder above too is listed once', () => {
  const people = [person('Ada', 'admin', { via: 'owner' }, { via: 'folder', folder: { id: 't', name: 'Term' } })];

  expect(accessRows(people, [], new Map())).toHaveLength(1);
});
