import { isDeepStrictEqual } from 'node:util';
import type { EventData } from '../../events/catalogue.ts';
import type { User } from '../../store/postgres/tables.ts';

/** Returns the `data` of user.created, which user.updated extends. */
export const userCreated = (user: User): EventData<'user.created'> => ({
  id: user.uuid,
  email: user.email,
  username: user.username,
  display_name: user.displayName,
  contact_email: user.contactEmail,
  roles: [...user.roles],
  is_active: user.isActive,
  created_at: user.createdAt.toISOString(),
});

/** Returns the `data` of user.updated: the user after `changes`. */
export const userUpdated = (user: User, changes: readonly string[]): EventData<'user.updated'> => ({
  ...userCreated(user),
  updated_at: user.updatedAt.toISOString(),
  changes: [...changes],
});

/** The API's names of the fields whose changes are reported. */
const FIELDS = [
  ['email', 'email'],
  ['username', 'username'],
  ['display_name', 'displayName'],
  ['contact_email', 'contactEmail'],
  ['roles', 'roles'],
  ['storage_quota', 'storageQuota'],
  ['is_active', 'isActive'],
  ['password', 'passwordHash'],
] as const;

/** Returns the names of the fields that differ. */
export const userChanges = (before: User, after: User): string[] =>
  FIELDS.filter(([, field]) => !isDeepStrictEqual(before[field], after[field])).map(([name]) => name);
