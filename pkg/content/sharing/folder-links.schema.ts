import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Bytes, text, Timestamp, Uuid } from '../../api/schemas.ts';
import { Binary, NamePart } from '../model/files/files.schema.ts';
import { FOLDER_SORT_FIELDS } from '../model/folders/folders.schema.ts';
import { nameFault } from '../model/names/names.policy.ts';
import { LINK_TERMS, NAME_BY_LINK, SHARE_MODES, ShareParams, SharedFileView } from './shares.schema.ts';

/** A file as shown to whoever sent it. */
export const SentFile = z
  .object({
    name: z.string().meta({ description: 'the name under which it was sent', example: 'thesis.pdf' }),
    size: Bytes,
    sent_at: Timestamp,
  })
  .meta({ id: 'SentFile' });
export type SentFile = z.output<typeof SentFile>;

/** The name that a sender typed. */
const SenderName = text(1, 100)
  .overwrite((name) => name.normalize('NFC').trim())
  .refine((name) => nameFault(name.replaceAll(/[/\\]/g, '-')) === null, {
    error: (issue) => nameFault(String(issue.input).replaceAll(/[/\\]/g, '-')) ?? 'is not a name',
  })
  .meta({ description: 'the name of the sender; the file shows it as `uploaded_by`', example: 'Grace Hopper' });

export const LinkUploadFields = z.object({ uploaded_by: SenderName });
export const LINK_UPLOAD_FIELDS = ['uploaded_by'] as const;
export const LinkUploadForm = LinkUploadFields.extend({ file: Binary });

/** The folder as shown to anybody who has the link. */
export const SharedFolderView = z
  .object({
    kind: z.literal('folder'),
    mode: z.enum(SHARE_MODES).describe('upload: holders of the link can send files but see nothing in the folder'),
    name: NAME_BY_LINK.meta({ example: 'History' }),
    ...LINK_TERMS,
    max_upload_size: Bytes.nullable().describe(
      'largest size of one file, in bytes: the limit of the service, or what is left of the quota of the maker, rounded down; ' +
        'null: the link takes no uploads',
    ),
    sent: z.array(SentFile).describe('the last 100 files uploaded in this session, newest first'),
  })
  .meta({ id: 'SharedFolderInfo' });

export const SharedView = z.discriminatedUnion('kind', [SharedFileView, SharedFolderView]).meta({ id: 'SharedInfo' });
export type SharedView = z.output<typeof SharedView>;

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
  folder_id: Uuid.optional().describe('a folder below the folder of the link (default: the folder of the link)'),
  q: NamePart.optional().describe('part of the name; case and accents do not matter'),
});
export type SharedChildQuery = z.output<typeof SharedChildQuery>;

export const SharedFileParams = ShareParams.extend({ id: Uuid });
