import { z } from 'zod';
import { ROLES } from '../../api/actor.ts';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import {
  Bytes,
  changesOf,
  DecimalId,
  distinct,
  Etag,
  label,
  queryBoolean,
  REFUSED_IN_HANDLES,
  text,
  Timestamp,
  Uuid,
} from '../../api/schemas.ts';
import { NewPassword } from '../passwords.schema.ts';

/** A user as the API shows it (docs/design/records.md, User). */
export const UserView = z
  .object({
    id: Uuid,
    email: z.string().meta({ example: 'ada@example.org' }),
    username: z.string().meta({ example: 'ada' }),
    display_name: z.string().nullable().meta({ example: 'Ada Okafor' }),
    contact_email: z.string().nullable().meta({
      description: 'the address that an LMS sent last; it is unverified, and nobody signs in with it',
      example: null,
    }),
    roles: z.array(z.enum(ROLES)),
    tenant_id: DecimalId,
    storage_quota: Bytes,
    storage_used: Bytes,
    is_active: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'User' });
export type UserView = z.output<typeof UserView>;

export const UserPage = pageOf(UserView).meta({ id: 'UserPage' });

/** Dots may not be at the ends or side by side. Avoids look-ahead, which generators of some languages cannot read. */
const EMAIL = /^[A-Za-z0-9_'+-]+(\.[A-Za-z0-9_'+-]+)*@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}$/;
/**
 * Allows everything except `/` and invisible characters: control characters and everything that JavaScript treats as space,
 * listed for languages whose definition differs.
 */
const USERNAME = new RegExp(`^[^/${REFUSED_IN_HANDLES}]+$`);

// Lengths as in docs/design/records.md, User.
const Email = z.email({ pattern: EMAIL }).max(255).meta({ example: 'ada@example.org' });
const Username = text(
  1,
  100,
  z.string().overwrite((name) => name.normalize('NFC')),
)
  .regex(USERNAME, 'must not hold spaces, slashes, control or invisible characters')
  .meta({ pattern: USERNAME.source, example: 'ada' });
const DisplayName = label(255).meta({ example: 'Ada Okafor' }).nullable();
const Roles = distinct(z.enum(ROLES), { min: 1, max: ROLES.length });
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

/** The body of PATCH and PUT. Absent fields keep their values. */
export const UserChanges = changesOf(
  z.object({
    email: Email,
    username: Username,
    display_name: DisplayName,
    roles: Roles,
    storage_quota: Bytes,
    is_active: z.boolean(),
    password: NewPassword,
  }),
).meta({ id: 'UserChanges' });
export type UserChanges = z.output<typeof UserChanges>;

export const USER_SORT_FIELDS = ['created_at', 'updated_at', 'email', 'username', 'storage_used', 'id'] as const;

export const UserQuery = z.object({
  ...pageQueryOf(USER_SORT_FIELDS),
  q: text(1, 255)
    .optional()
    .meta({ description: 'part of the e-mail address, contact address, user name or display name', example: 'ada' }),
  role: z.enum(ROLES).optional(),
  email: text(0, 255).optional().meta({ example: 'ada@example.org' }),
  username: text(0, 100).optional().meta({ example: 'ada' }),
  is_active: queryBoolean().optional(),
});
export type UserQuery = z.output<typeof UserQuery>;

export const PasswordChange = z
  .object({ current_password: text(0, 1024).meta({ example: 'correct horse' }), new_password: NewPassword })
  .meta({ id: 'PasswordChange' });
