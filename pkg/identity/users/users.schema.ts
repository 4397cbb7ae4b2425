import { z } from 'zod';
import { ROLES } from '../../api/actor.ts';
import { etagOf } from '../../api/etag.ts';
import { pageOf, pageQuery } from '../../api/paging.ts';
import { Bytes, DecimalId, Timestamp, Uuid } from '../../api/schemas.ts';
import type { User } from '../../store/postgres/tables.ts';

/** A user as the API shows it (design: Users). */
export const UserView = z
  .object({
    id: Uuid,
    email: z.string(),
    username: z.string(),
    display_name: z.string().nullable(),
    contact_email: z.string().nullable().describe('the address that an LMS sent last; nobody has proved it, and nobody signs in with it'),
    roles: z.array(z.enum(ROLES)),
    tenant_id: DecimalId,
    storage_quota: Bytes,
    storage_used: Bytes,
    is_active: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: z.string(),
  })
  .meta({ id: 'User' });
export type UserView = z.output<typeof UserView>;

export const UserPage = pageOf(UserView).meta({ id: 'UserPage' });

// Lengths as in specification.md, User.
const Email = z.email().max(255);
const Username = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\s/\p{Cc}]+$/u, 'must not hold spaces, slashes or control characters');
const DisplayName = z.string().min(1).max(255).nullable();
const Roles = z
  .array(z.enum(ROLES))
  .min(1)
  .max(ROLES.length)
  .refine((roles) => new Set(roles).size === roles.length, 'names a role twice');
/** At least 8 characters (NIST SP 800-63B); the upper bound keeps hashing cheap. */
export const NewPassword = z.string().min(8).max(256);

export const NewUser = z
  .object({
    email: Email,
    username: Username,
    display_name: DisplayName.optional(),
    password: NewPassword.optional().describe('without one the user cannot sign in with a password'),
    roles: Roles.default(['member']),
    storage_quota: Bytes.optional(),
  })
  .meta({ id: 'NewUser' });
export type NewUser = z.output<typeof NewUser>;

/** PUT takes the whole; the password is write-only and may be left out. */
export const WholeUser = z
  .object({
    email: Email,
    username: Username,
    display_name: DisplayName,
    roles: Roles,
    storage_quota: Bytes,
    is_active: z.boolean(),
    password: NewPassword.optional(),
  })
  .meta({ id: 'WholeUser' });

export const UserChanges = WholeUser.partial()
  .refine((changes) => Object.keys(changes).length > 0, 'names nothing to change')
  .meta({ id: 'UserChanges' });
export type UserChanges = z.output<typeof UserChanges>;

export const UserQuery = z.object({
  ...pageQuery,
  q: z.string().min(1).max(255).optional().describe('part of e-mail address, contact address, user name or display name'),
  role: z.enum(ROLES).optional(),
  email: z.string().max(255).optional(),
  username: z.string().max(100).optional(),
  is_active: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).optional(),
});
export type UserQuery = z.output<typeof UserQuery>;

export const USER_SORT_FIELDS = ['created_at', 'updated_at', 'email', 'username', 'id'] as const;

export const PasswordChange = z
  .object({ current_password: z.string().max(1024), new_password: NewPassword })
  .meta({ id: 'PasswordChange' });

export const presentUser = (user: User, tenantId: string): UserView => ({
  id: user.uuid,
  email: user.email,
  username: user.username,
  display_name: user.displayName,
  contact_email: user.contactEmail,
  roles: [...user.roles],
  tenant_id: user.tenantId === null ? tenantId : String(user.tenantId),
  storage_quota: user.storageQuota,
  storage_used: user.storageUsed,
  is_active: user.isActive,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
  etag: userEtag(user),
});

export const userEtag = (user: User): string => etagOf('user', user.uuid, user.revision);
