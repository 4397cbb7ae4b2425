import type { Actor } from '../../api/actor.ts';
import type { UserChanges } from './users.schema.ts';

/**
 * What a person may change of their own account without being an administrator. The password goes by `/users/me/password`, which
 * asks for the present one.
 */
const OWN_FIELDS: ReadonlySet<keyof UserChanges> = new Set(['display_name', 'username']);

/** An administrator sees everybody, others themselves. */
export const maySee = (actor: Actor, userUuid: string): boolean =>
  actor.userUuid === userUuid || actor.permissions.has('read:users');

/** Fields that the actor may not change. */
export const refusedFields = (actor: Actor, changes: UserChanges): string[] =>
  actor.permissions.has('write:users')
    ? []
    : (Object.keys(changes) as (keyof UserChanges)[]).filter((field) => !OWN_FIELDS.has(field));

/** Whether the address is the placeholder of an account that a launch created: nobody signs in with it. */
export const isNoAddress = (email: string): boolean => email.toLowerCase().endsWith('@lti.invalid');

interface Administrator {
  readonly roles: readonly string[];
  readonly isActive: boolean;
}

type AdministratorFields = Pick<UserChanges, 'roles' | 'is_active'>;

/** Whether the change would remove an administrator, if the user is one. */
export const mayRemoveAdministrator = (changes: AdministratorFields): boolean =>
  changes.is_active === false || (changes.roles !== undefined && !changes.roles.includes('admin'));

/** Whether the change removes an administrator. */
export const removesAdministrator = (user: Administrator, changes: AdministratorFields): boolean =>
  user.roles.includes('admin') && user.isActive && mayRemoveAdministrator(changes);
