import { z } from 'zod';
import { LEVELS } from '../../../api/actor.ts';
import { Bytes, changesOf, Etag, SPACES, text, Timestamp, Uuid } from '../../../api/schemas.ts';
import { Name } from '../names/names.schema.ts';

const Sha256 = z.string().length(64).meta({
  description: 'SHA-256 of the content, hex',
  example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
});
/** The level of the caller on a file or folder. */
export const OwnAccess = z
  .enum(LEVELS)
  .describe('what you may do: read, write (rename, move, change, move to the trash) or admin (also share, and delete for ever)');
const Person = z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) });

/** Metadata of a file (docs/design/records.md, File). */
export const FileView = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: 'thesis.pdf' }),
    size: Bytes,
    mime_type: z.string().nullable().meta({ example: 'application/pdf' }),
    owner: Person,
    access: OwnAccess,
    folder: z
      .object({ id: Uuid, name: z.string().meta({ example: 'History' }) })
      .nullable()
      .describe('null: none, or one that the caller may not know of'),
    created_at: Timestamp,
    updated_at: Timestamp,
    path: z.string().meta({ description: 'from the highest folder that the caller may see', example: '/History/thesis.pdf' }),
    version: z.int().meta({ description: 'number of the current version', example: 1 }),
    checksum: Sha256,
    is_encrypted: z
      .boolean()
      .meta({ description: 'whether the object store says that it encrypts the content at rest', example: true }),
    etag: Etag,
    deleted_at: Timestamp.nullable().meta({ example: null }),
    uploaded_by: z
      .string()
      .nullable()
      .meta({ description: 'the name that whoever sent it by a share link typed; null: its owner uploaded it', example: null }),
  })
  .meta({ id: 'File' });
export type FileView = z.output<typeof FileView>;

/** Reply to an upload (docs/design/records.md, File). */
export const UploadView = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: 'thesis.pdf' }),
    size: Bytes,
    mime_type: z.string().meta({ example: 'application/pdf' }),
    url: z.url().meta({
      description: 'where the content is downloaded',
      example: 'https://files.example.org/api/v1/files/7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11/download',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    folder_id: Uuid.nullable(),
    version: z.int().meta({ example: 1 }),
    checksum: Sha256,
    etag: Etag,
  })
  .meta({ id: 'Upload' });
export type UploadView = z.output<typeof UploadView>;

const MIME_FILTER = new RegExp(`^[^/\\u0000${SPACES}]+/[^/\\u0000${SPACES}]+$`);
export const MimeFilter = z
  .string()
  .max(100)
  .regex(MIME_FILTER, 'must be type/subtype, or type/* for all of a type')
  .toLowerCase()
  .meta({ example: 'image/*' });

/** All that JavaScript takes for space is cut off both ends; something else is left. */
export const NamePart = text(1, 255)
  .trim()
  .min(1)
  .meta({ pattern: `^[^\\u0000]*[^\\u0000${SPACES}][^\\u0000]*$`, example: 'thesis' });

/** For PATCH and PUT: given fields are changed, absent fields stay. */
export const FileChanges = changesOf(z.strictObject({ name: Name, folder_id: Uuid.nullable() })).meta({ id: 'FileChanges' });
export type FileChanges = z.output<typeof FileChanges>;

export const FileRestoration = z
  .strictObject({
    folder_id: Uuid.nullable().optional().describe('the destination; null: the owner’s root; left out: where it was'),
    on_conflict: z.enum(['fail', 'rename']).default('fail').describe('if its name is taken: 409, or another name'),
  })
  .meta({ id: 'FileRestoration' });
export type FileRestoration = z.output<typeof FileRestoration>;

export const FileCopy = z
  .strictObject({
    folder_id: Uuid.nullable()
      .optional()
      .describe("where to, null for the caller's root; left out, the folder that the caller is shown"),
    name: Name.optional().describe("left out, the file's"),
    on_conflict: z.enum(['fail', 'rename']).default('fail').describe('if the name is taken: 409, or another name'),
  })
  .meta({ id: 'FileCopy' });
export type FileCopy = z.output<typeof FileCopy>;

export const ON_CONFLICT = ['fail', 'rename', 'replace'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];

/** The upload form for the OpenAPI document; uploads/multipart.ts reads the form itself. */
export const Binary = z.string().meta({ format: 'binary', example: 'Hello.' });
export const UploadForm = z.object({ file: Binary, folder_id: Uuid.optional(), on_conflict: z.enum(ON_CONFLICT).optional() });
export const VersionForm = z.object({ file: Binary, comment: text(0, 2000).optional().meta({ example: 'After review' }) });
