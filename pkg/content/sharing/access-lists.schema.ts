import { z } from 'zod';
import { LEVELS } from '../../api/actor.ts';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Timestamp, Uuid } from '../../api/schemas.ts';
import { FileView } from '../model/files/files.schema.ts';
import { FolderView } from '../model/folders/folders.schema.ts';

const Named = (example: string) => z.object({ id: Uuid, name: z.string().meta({ example }) });

const Reason = z
  .object({
    via: z
      .enum(['owner', 'grant', 'group', 'folder'])
      .describe(
        'owner: the person owns it; grant: it is granted to the person; group: to one of their groups; ' +
          'folder: they own a folder above it, or have a grant on one',
      ),
    permission_id: Uuid.optional().describe('id of the grant'),
    group: Named('History 1').optional().describe('the group that has the grant'),
    folder: Named('History').optional().describe('the folder above; absent if the caller may not see it'),
    expires_at: Timestamp.optional().describe('when this reason ends'),
  })
  .meta({ id: 'AccessReason' });

/** A person who has access, with every reason. */
export const AccessView = z
  .object({
    user: Named('Ada Okafor'),
    level: z.enum(LEVELS).describe('the highest level of all reasons'),
    because: z.array(Reason),
  })
  .meta({ id: 'Access' });
export type AccessView = z.output<typeof AccessView>;

export const AccessPage = pageOf(AccessView).meta({ id: 'AccessPage' });
export const ACCESS_SORT_FIELDS = ['name'] as const;
export const AccessQuery = z.object(pageQueryOf(ACCESS_SORT_FIELDS));
export type AccessQuery = z.output<typeof AccessQuery>;

const grant = {
  level: z.enum(LEVELS).describe('the highest level granted on this item itself'),
  granted_by: Uuid,
  granted_at: Timestamp,
  expires_at: Timestamp.nullable(),
};

/** A file or folder that is granted to the caller. */
export const SharedItem = z
  .discriminatedUnion('type', [
    FolderView.extend({ type: z.literal('folder'), ...grant }).meta({ id: 'SharedFolder' }),
    FileView.extend({ type: z.literal('file'), ...grant }).meta({ id: 'SharedFile' }),
  ])
  .meta({ id: 'SharedItem' });
export type SharedItem = z.output<typeof SharedItem>;

export const SharedPage = pageOf(SharedItem).meta({ id: 'SharedPage' });
export const SHARED_SORT_FIELDS = ['granted_at', 'name'] as const;
export const SharedQuery = z.object(pageQueryOf(SHARED_SORT_FIELDS));
export type SharedQuery = z.output<typeof SharedQuery>;
