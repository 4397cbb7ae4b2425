import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Bytes, Timestamp, Uuid } from '../../api/schemas.ts';
import { NamePart } from '../model/files/files.schema.ts';
import { FOLDER_SORT_FIELDS } from '../model/folders/folders.schema.ts';
import { LINK_TERMS, SHARE_MODES, ShareParams, SharedFileView } from './shares.schema.ts';

/** The folder as shown to anybody who has the link. */
export const SharedFolderView = z
  .object({
    kind: z.literal('folder'),
    mode: z.enum(SHARE_MODES).describe('upload: holders of the link send files, and see nothing that is in the folder'),
    name: z.string().meta({ example: 'History' }),
    ...LINK_TERMS,
  })
  .meta({ id: 'SharedFolderInfo' });
export type SharedFolderView = z.output<typeof SharedFolderView>;

export const SharedView = z.discriminatedUnion('kind', [SharedFileView, SharedFolderView]).meta({ id: 'SharedInfo' });

const Common = { id: Uuid, name: z.string().meta({ example: 'thesis.pdf' }), updated_at: Timestamp };

/** A file or folder in the folder of a link. */
export const SharedChild = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('folder'), ...Common }).meta({ id: 'SharedFolderChild' }),
    z
      .object({
        type: z.literal('file'),
        ...Common,
        size: Bytes,
        mime_type: z.string().nullable().meta({ example: 'application/pdf' }),
      })
      .meta({ id: 'SharedFileChild' }),
  ])
  .meta({ id: 'SharedChild' });
export type SharedChild = z.output<typeof SharedChild>;

export const SharedChildPage = pageOf(SharedChild).meta({ id: 'SharedChildPage' });

export const SharedChildQuery = z.object({
  ...pageQueryOf(FOLDER_SORT_FIELDS),
  folder_id: Uuid.optional().describe('a folder below that of the link; left out, the folder of the link'),
  q: NamePart.optional().describe('part of the name; case and accents do not matter'),
});
export type SharedChildQuery = z.output<typeof SharedChildQuery>;

export const SharedFileParams = ShareParams.extend({ id: Uuid });
