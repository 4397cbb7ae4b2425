import { expect, test } from '@jest/globals';
import { permissionSet } from '../../access/permission-sets.ts';
import type { Actor, Role } from '../../api/actor.ts';
import { permissionsOf } from '../../api/role-permissions.ts';
import { maySee, refusedFields, removesAdministrator } from './users.policy.ts';

const actor = (role: Role): Actor => ({
  userId: 1,
  userUuid: 'me',
  email: 'me@example.org',
  roles: [role],
  permissions: permissionsOf([role]),
  sessionId: 's',
  tenantId: '1',
  permissionSet: async () => permissionSet([]),
});

test.each([
  ['admin', 'me', true],
  ['admin', 'other', true],
  ['instructor', 'me', true],
  ['instructor', 'other', false],
  ['viewer', 'other', false],
] as const)('%s may see %s: %s', (role, uuid, expected) => {
  expect(maySee(actor(role), uuid)).toBe(expected);
});

test('users change their own names; only administrators change the rest', () => {
  const changes = { display_name: 'x', username: 'x', email: 'x@example.org', roles: ['admin' as const], is_active: true };

  expect(refusedFields(actor('member'), changes)).toEqual(['email', 'roles', 'is_active']);
  expect(refusedFields(actor('admin'), changes)).toEqual([]);
});

test.each([
  [{ roles: ['member' as const] }, true],
  [{ is_active: false }, true],
  [{ roles: ['admin' as const, 'member' as const] }, false],
  [{ is_active: true }, false],
  [{}, false],
])('the change %j removes an administrator: %s', (changes, expected) => {
  expect(removesAdministrator({ roles: ['admin'], isActive: true }, changes)).toBe(expected);
  expect(removesAdministrator({ roles: ['member'], isActive: true }, changes)).toBe(false);
  expect(removesAdministrator({ roles: ['admin'], isActive: false }, changes)).toBe(false);
});
