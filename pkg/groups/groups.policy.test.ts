import { expect, test } from '@jest/globals';
import { permissionsOf, type Role } from '../api/actor.ts';
import { kindOf, managerOf, requireManual, seesAddresses, seesAllGroups } from './groups.policy.ts';

test.each([
  ['one that people made', { contextId: null, isRegistered: false }, 'manual', null],
  ['one of a course', { contextId: 'history-1', isRegistered: true }, 'course', 'lti'],
  ['one of a course whose LMS is gone', { contextId: 'history-1', isRegistered: false }, 'course', null],
] as const)('of groups, %s is of its kind and has its manager', (_which, origin, kind, manager) => {
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
