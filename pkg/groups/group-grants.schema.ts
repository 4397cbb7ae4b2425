import { z } from 'zod';
import { LEVELS } from '../api/actor.ts';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { Timestamp, Uuid } from '../api/schemas.ts';

export const GroupGrant = z
  .object({
    id: Uuid,
    resource: z.object({
      type: z.enum(['file', 'folder']),
      id: Uuid,
      name: z.string().meta({ example: 'Reading list' }),
    }),
    permission_level: z.enum(LEVELS),
    granted_by: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
    granted_at: Timestamp,
    expires_at: Timestamp.nullable(),
  })
  .meta({ id: 'GroupPermission' });
export type GroupGrant = z.output<typeof GroupGrant>;

export const GroupGrantPage = pageOf(GroupGrant).meta({ id: 'GroupPermissionPage' });
export const GROUP_GRANT_SORT_FIELDS = ['granted_at'] as const;
export const GroupGrantQuery = z.object(pageQueryOf(GROUP_GRANT_SORT_FIELDS));
export type GroupGrantQuery = z.output<typeof GroupGrantQuery>;
