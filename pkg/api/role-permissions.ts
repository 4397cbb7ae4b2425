import { type Permission, type Role, ROLES } from './actor.ts';

const VIEWER: readonly Permission[] = ['read:files', 'read:folders'];
const MEMBER: readonly Permission[] = [...VIEWER, 'write:files', 'share:files', 'write:folders'];

/** The only table of the permissions of roles. Ownership and grants additionally guard the files themselves. */
const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: VIEWER,
  member: MEMBER,
  instructor: [...MEMBER, 'write:grades'],
  admin: [
    ...MEMBER,
    'write:grades',
    'read:users',
    'write:users',
    'read:groups',
    'write:groups',
    'read:webhooks',
    'write:webhooks',
    'read:schedules',
    'write:schedules',
    'read:settings',
    'write:settings',
    'read:registrations',
    'write:registrations',
    'read:audit',
  ],
};

export const rolesWith = (permission: Permission): readonly Role[] =>
  ROLES.filter((role) => ROLE_PERMISSIONS[role].includes(permission));

export const permissionsOf = (roles: readonly Role[]): ReadonlySet<Permission> =>
  new Set(roles.flatMap((role) => ROLE_PERMISSIONS[role]));

/** Roles that a launch can grant: never `admin`. */
const LAUNCH_ROLES = ROLES.filter((role) => role !== 'admin');

/** Returns roles and permissions that both account and cap hold. A cap never has `admin`, so neither does the result. */
export function capped(account: readonly Role[], cap: readonly Role[]): { roles: Role[]; permissions: ReadonlySet<Permission> } {
  const capPermissions = permissionsOf(cap);
  const permissions = new Set([...permissionsOf(account)].filter((permission) => capPermissions.has(permission)));
  const roles = LAUNCH_ROLES.filter(
    (role) =>
      (account.includes(role) || cap.includes(role)) && ROLE_PERMISSIONS[role].every((permission) => permissions.has(permission)),
  );
  return { roles, permissions };
}
