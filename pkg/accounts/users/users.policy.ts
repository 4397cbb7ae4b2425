import type { Actor } from '../../api/actor.ts';
import type { UserChanges } from './users.schema.ts';

/**
 * Fields of their own account that people may change without being administrators. `/users/me/password` changes the password, and
 * asks for the current one.
 */
const OWN_FIELDS: ReadonlySet<keyof UserChanges> = new Set(['display_name', 'username']);

/** Administrators see everybody; others see themselves. */
export const maySee = (actor: Actor, userUuid: string): boolean =>
  actor.userUuid === userUuid || actor.permissions.has('read:users');

/** Returns the fields that the actor may not change. */
export const refusedFields = (actor: Actor, changes: UserChanges): string[] =>
  actor.permissions.has('write:users')
    ? []
    : (Object.keys(changes) as (keyof UserChanges)[]).filter((field) => !OWN_FIELDS.has(field));

/** Returns true if the address is the placeholder of an account that a launch created. Nobody can sign in with it. */
export const isNoAddress = (email: string): boolean => email.toLowerCase().endsWith('@lti.invalid');

interface Administrator {
  readonly roles: readonly string[];
  readonly isActive: boolean;
}

type AdministratorFields = Pick<UserChanges, 'roles' | 'is_active'>;

/** Returns true if the change would remove an administrator, if the user is one. */
export const mayRemoveAdministrator = (changes: AdministratorFields): boolean =>
  changes.is_active === false || (changes.roles !== undefined && !changes.roles.includes('admin'));

/** Returns true if the change removes an administrator. */
export const removesAdministrator = (user: Administrator, changes: AdministratorFields): boolean =>
  user.roles.includes('admin') && user.isActive && mayRemoveAdministrator(changes);
