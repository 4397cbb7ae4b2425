import { z } from 'zod';
import { LEVELS } from '../../../api/actor.ts';
import { pageOf, pageQueryOf } from '../../../api/paging.ts';
import { changesOf, Etag, NamedTime, Timestamp, Uuid } from '../../../api/schemas.ts';

/** docs/design/records.md, Grant. */
export const GrantView = z
  .object({
    id: Uuid,
    resource_type: z.enum(['file', 'folder']),
    resource_id: Uuid,
    user_id: Uuid.nullable(),
    group_id: Uuid.nullable(),
    permission_level: z.enum(LEVELS),
    granted_by: Uuid,
    granted_at: Timestamp,
    expires_at: Timestamp.nullable(),
    etag: Etag,
  })
  .meta({ id: 'Permission' });
export type GrantView = z.output<typeof GrantView>;

export const GrantPage = pageOf(GrantView).meta({ id: 'PermissionPage' });
export const GRANT_SORT_FIELDS = ['id'] as const;
export const GrantQuery = z.object(pageQueryOf(GRANT_SORT_FIELDS));
export type GrantQuery = z.output<typeof GrantQuery>;

const EndOfGrant = NamedTime.meta({ example: '2099-01-31T12:00:00Z' }).nullable().describe('when it ends; null: never');

export const NewGrant = z
  .strictObject({
    permission_level: z.enum(LEVELS),
    user_id: Uuid.optional(),
    group_id: Uuid.optional(),
    expires_at: EndOfGrant.optional().describe('when it ends; null or left out: never'),
  })
  .refine((grant) => (grant.user_id === undefined) !== (grant.group_id === undefined), {
    path: ['user_id'],
    message: 'give either user_id or group_id',
  })
  .meta({
    id: 'NewPermission',
    example: { permission_level: 'read', user_id: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11' },
    oneOf: [{ required: ['user_id'] }, { required: ['group_id'] }],
  });
export type NewGrant = z.output<typeof NewGrant>;

/** Given fields are changed, absent fields stay. */
export const GrantChanges = changesOf(z.object({ permission_level: z.enum(LEVELS), expires_at: EndOfGrant })).meta({
  id: 'PermissionChanges',
});
export type GrantChanges = z.output<typeof GrantChanges>;
