import { bigint, boolean, filled, nullable, oneOf, table, text, texts, textsOf, timestamp, uuid } from '../columns.ts';

/** docs/design/records.md, User. `isSystem` marks the one system user; `tenantId` defaults to the tenant's own. */
export const users = table('users', ['id'], {
  id: filled(bigint),
  uuid,
  email: text,
  username: text,
  displayName: nullable(text),
  /** What an LMS sent last; never the account's own address, and nobody signs in with it. */
  contactEmail: nullable(text),
  /** argon2id; null: cannot sign in with a password. */
  passwordHash: nullable(text),
  roles: filled(textsOf<'admin' | 'instructor' | 'member' | 'viewer'>()),
  tenantId: nullable(bigint),
  storageQuota: filled(bigint),
  storageUsed: filled(bigint),
  isActive: filled(boolean),
  isSystem: filled(boolean),
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
});

/** docs/design/api-conventions.md, Sign-in and sessions. A session lives while `endedAt` is null and `expiresAt` lies ahead. */
export const sessions = table('sessions', ['id'], {
  id: uuid,
  userId: bigint,
  launchId: nullable(text),
  createdAt: filled(timestamp),
  lastActivity: filled(timestamp),
  expiresAt: timestamp,
  endedAt: nullable(timestamp),
  /** The roles beyond which it does not go; null: all that its account has. */
  cappedTo: nullable(texts),
  /** The address that it was opened from, as it is counted (of IPv6 the /64). */
  ip: nullable(text),
  userAgent: nullable(text),
});

/** The one reset of a person's password that is outstanding. `tokenHash`: hex SHA-256 of the token. */
export const passwordResets = table('password_resets', ['userId'], {
  userId: bigint,
  tokenHash: text,
  createdAt: filled(timestamp),
  expiresAt: timestamp,
});

/** A refresh token is kept as the hex SHA-256 of its text; `usedAt` set and shown again is reuse. */
export const refreshTokens = table('refresh_tokens', ['tokenHash'], {
  tokenHash: text,
  sessionId: uuid,
  createdAt: filled(timestamp),
  expiresAt: timestamp,
  usedAt: nullable(timestamp),
});

/** A group; that of a course has the platform and context it came from, and the title that the platform said last. */
export const groups = table('groups', ['id'], {
  id: filled(bigint),
  uuid,
  name: text,
  description: nullable(text),
  platformId: nullable(bigint),
  contextId: nullable(text),
  lmsTitle: nullable(text),
  createdBy: bigint,
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
});

export const groupMembers = table('group_members', ['groupId', 'userId'], {
  groupId: bigint,
  userId: bigint,
  role: filled(oneOf('member', 'instructor', 'learner')),
  createdAt: filled(timestamp),
});
