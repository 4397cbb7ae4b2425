/** The roles of a user; role-permissions.ts lists the permissions of each (docs/design/api-conventions.md, Permissions). */
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
  | 'read:settings'
  | 'write:settings'
  | 'read:registrations'
  | 'write:registrations'
  | 'write:grades'
  | 'read:audit';

/** The levels that a grant can have on one file or folder; cumulative, lowest first (docs/design/records.md, Grant). */
export const LEVELS = ['read', 'write', 'admin'] as const;
export type Level = (typeof LEVELS)[number];

/** All rights of a user: `<action>:<resource>` by roles, `<level>:file/<uuid>` and `<level>:folder/<uuid>` by grants. */
export interface PermissionSet {
  readonly entries: ReadonlySet<string>;
  /** Returns the highest level granted on this very resource; the policy adds what folders above it grant. */
  levelOf(kind: 'file' | 'folder', uuid: string): Level | null;
}

/** The caller of a request, made from a verified access token or a valid download link and its live session. */
export interface Actor {
  /** Internal id (users.id), from pkg/store. */
  readonly userId: number;
  /** The user's uuid, `sub` of the token. */
  readonly userUuid: string;
  readonly email: string;
  /** In a launch's session, only those that the launch granted as well (`capped`). */
  readonly roles: readonly Role[];
  readonly permissions: ReadonlySet<Permission>;
  readonly sessionId: string;
  /** Numeric tenant id, a decimal string. */
  readonly tenantId: string;
  /** uuid of the LTI launch that the session began with. */
  readonly launchId?: string;
  /**
   * Returns the actor's rights as of this request. Loaded once. It costs no round trip if it was looked up with the session and
   * is warm, otherwise one SQL statement.
   */
  permissionSet(): Promise<PermissionSet>;
}
