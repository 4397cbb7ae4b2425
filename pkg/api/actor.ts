/** The roles of a user; ROLE_PERMISSIONS says what each may do (docs/design/api-conventions.md, Permissions). */
export const ROLES = ['admin', 'instructor', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** `<action>:<resource>` (docs/design/api-conventions.md, Permissions). */
export type Permission =
  | 'read:files'
  | 'write:files'
  | 'share:files'
  | 'read:folders'
  | 'write:folders'
  | 'read:users'
  | 'write:users'
  | 'read:groups'
  | 'write:groups'
  | 'read:webhooks'
  | 'write:webhooks'
  | 'read:schedules'
  | 'write:schedules'
  | 'read:registrations'
  | 'write:registrations'
  | 'write:grades'
  | 'read:audit';

/** What a grant gives on one file or folder; cumulative, lowest first (docs/design/records.md, Grant). */
export const LEVELS = ['read', 'write', 'admin'] as const;
export type Level = (typeof LEVELS)[number];

/** All that a user may do: `<action>:<resource>` by roles, `<level>:file/<uuid>` and `<level>:folder/<uuid>` by grants. */
export interface PermissionSet {
  readonly entries: ReadonlySet<string>;
  /** The highest level granted on that very resource; what folders above it grant is for the policy to add. */
  levelOf(kind: 'file' | 'folder', uuid: string): Level | null;
}

/** The caller of a request, made from a verified access token or a valid download link and its live session. */
export interface Actor {
  /** Internal id (users.id), as pkg/store gives it. */
  readonly userId: number;
  /** The user's uuid, `sub` of the token. */
  readonly userUuid: string;
  readonly email: string;
  /** Of a launch's session only those that the launch gave as well (`capped`). */
  readonly roles: readonly Role[];
  readonly permissions: ReadonlySet<Permission>;
  readonly sessionId: string;
  /** Numeric tenant id, a decimal string. */
  readonly tenantId: string;
  /** uuid of the LTI launch that the session began with. */
  readonly launchId?: string;
  /**
   * What the actor may do as of this request. Loaded once; no round trip when it was looked up with the session and is warm, else
   * one SQL statement.
   */
  permissionSet(): Promise<PermissionSet>;
}

const VIEWER: readonly Permission[] = ['read:files', 'read:folders'];
const MEMBER: readonly Permission[] = [...VIEWER, 'write:files', 'share:files', 'write:folders'];

/** The one table of what a role may do. Files themselves are guarded by ownership and grants on top of it. */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
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
    'read:registrations',
    'write:registrations',
    'read:audit',
  ],
};

export const rolesWith = (permission: Permission): readonly Role[] =>
  ROLES.filter((role) => ROLE_PERMISSIONS[role].includes(permission));

export const permissionsOf = (roles: readonly Role[]): ReadonlySet<Permission> =>
  new Set(roles.flatMap((role) => ROLE_PERMISSIONS[role]));

/** Roles that a launch can give: never `admin`. */
export const LAUNCH_ROLES = ROLES.filter((role) => role !== 'admin');

/** Roles and permissions that account and cap both hold. A cap never has `admin`, so neither does the result. */
export function capped(account: readonly Role[], cap: readonly Role[]): { roles: Role[]; permissions: ReadonlySet<Permission> } {
  const capPermissions = permissionsOf(cap);
  const permissions = new Set([...permissionsOf(account)].filter((permission) => capPermissions.has(permission)));
  const roles = LAUNCH_ROLES.filter(
    (role) =>
      (account.includes(role) || cap.includes(role)) && ROLE_PERMISSIONS[role].every((permission) => permissions.has(permission)),
  );
  return { roles, permissions };
}
