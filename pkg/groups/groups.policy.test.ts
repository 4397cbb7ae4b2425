import { expect, test } from '@jest/globals';
import type { Role } from '../api/actor.ts';
import { permissionsOf } from '../api/role-permissions.ts';
import { kindOf, managerOf, requireManual, seesAddresses, seesAllGroups } from './groups.policy.ts';

test.each([
  ['a group that people made', { contextId: null, isRegistered: false }, 'manual', null],
  ["a course's group", { contextId: 'history-1', isRegistered: true }, 'course', 'lti'],
  ['the group of a course whose LMS was removed', { contextId: 'history-1', isRegistered: false }, 'course', null],
] as const)('%s has its kind and its manager', (_which, origin, kind, manager) => {
  expect([kindOf(origin), managerOf(origin)]).toEqual([kind, manager]);
  if (manager === null) expect(() => requireManual(origin)).not.toThrow();
  else expect(() => requireManual(origin)).toThrow('The LMS manages this group');
});

test.each<[Role, boolean]>([
  ['admin', true],
  ['instructor', false],
  ['member', false],
  ['viewer', false],
])('%s sees all groups and the addresses of their members: %s', (role, expected) => {
  const actor = { permissions: permissionsOf([role]) };
  expect([seesAllGroups(actor), seesAddresses(actor)]).toEqual([expected, expected]);
});
