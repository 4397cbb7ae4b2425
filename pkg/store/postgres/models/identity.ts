import { bigint, boolean, filled, nullable, oneOf, table, text, texts, textsOf, timestamp, uuid } from '../columns.ts';

/** docs/design/records.md, User. `isSystem` marks the one system user; `tenantId` defaults to the tenant's own. */
export const users = table('users', ['id'], {
  id: filled(bigint),
  uuid,
  email: text,
  username: text,
  displayName: nullable(text),
  /** The address that an LMS sent last; never the account's own address, and nobody signs in with it. */
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

/**
 * docs/design/api-conventions.md, Sign-in and sessions. A session is open while `endedAt` is null and `expiresAt` is in the
 * future.
 */
export const sessions = table('sessions', ['id'], {
  id: uuid,
  userId: bigint,
  launchId: nullable(text),
  createdAt: filled(timestamp),
  lastActivity: filled(timestamp),
  expiresAt: timestamp,
  endedAt: nullable(timestamp),
  /** The roles to which it is limited; null: all roles of its account. */
  cappedTo: nullable(texts),
  /** The address from which it was opened, as it is counted (for IPv6 the /64). */
  ip: nullable(text),
  userAgent: nullable(text),
});

/** A refresh token is stored as the hex SHA-256 of its text; one that is presented again after `usedAt` is set is reuse. */
export const refreshTokens = table('refresh_tokens', ['tokenHash'], {
  tokenHash: text,
  sessionId: uuid,
  createdAt: filled(timestamp),
  expiresAt: timestamp,
  usedAt: nullable(timestamp),
});

/** A group. A course's group has its platform and context, and the title that the platform sent last. */
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
