import { z } from 'zod';
import { pageOf, pageQuery } from '../../api/paging.ts';
import { Bytes, Timestamp, Uuid } from '../../api/schemas.ts';
import { Name } from '../names/names.schema.ts';

const Sha256 = z.string().length(64).describe('SHA-256 of the content, hex');
const Etag = z.string().describe('what If-Match compares, without quotes');
const Person = z.object({ id: Uuid, name: z.string() });

/** Metadata of a file (specification: File, API shapes). */
export const FileView = z
  .object({
    id: Uuid,
    name: z.string(),
    size: Bytes,
    mime_type: z.string().nullable(),
    owner: Person,
    folder: z.object({ id: Uuid, name: z.string() }).nullable().describe('null: none, or one that the caller may not know of'),
    created_at: Timestamp,
    updated_at: Timestamp,
    path: z.string().describe('from the highest folder that the caller may see'),
    version: z.int().describe('number of the current version'),
    checksum: Sha256,
    etag: Etag,
    deleted_at: Timestamp.nullable(),
  })
  .meta({ id: 'File' });
export type FileView = z.output<typeof FileView>;

/** Reply to an upload (specification: File, API shapes). */
export const UploadView = z
  .object({
    id: Uuid,
    name: z.string(),
    size: Bytes,
    mime_type: z.string(),
    url: z.url().describe('where the content is downloaded'),
    created_at: Timestamp,
    updated_at: Timestamp,
    folder_id: Uuid.nullable(),
    version: z.int(),
    checksum: Sha256,
    etag: Etag,
  })
  .meta({ id: 'Upload' });
export type UploadView = z.output<typeof UploadView>;

export const FilePage = pageOf(FileView);

const MimeFilter = z
  .string()
  .max(100)
  .regex(/^[^\s/]+\/[^\s/]+$/, 'must be type/subtype, or type/* for all of a type')
  .toLowerCase();

export const FileQuery = z.object({
  ...pageQuery,
  folder_id: z
    .union([Uuid, z.literal('root')])
    .optional()
    .describe('files of that folder; root: files without a folder'),
  q: z.string().trim().min(1).max(255).optional().describe('part of the name; case and accents do not matter'),
  mime_type: MimeFilter.optional(),
  owner: Uuid.optional(),
  trashed: z.enum(['true', 'false']).optional().describe('true: the soft-deleted, of those one may write'),
});
export type FileQuery = z.output<typeof FileQuery>;

export const FILE_SORT_FIELDS = ['name', 'size', 'created_at', 'updated_at'] as const;

/** The whole of what may be changed (PUT). */
export const FileChange = z.strictObject({ name: Name, folder_id: Uuid.nullable() });
/** A part of it (PATCH). */
export const FilePatch = FileChange.partial().refine((patch) => Object.keys(patch).length > 0, 'must change something');
export type FilePatch = z.output<typeof FilePatch>;

export const ON_CONFLICT = ['fail', 'rename', 'replace'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];

/** What the OpenAPI document says of an upload; the form itself is read by uploads/multipart.ts. */
const Binary = z.string().meta({ format: 'binary' });
export const UploadForm = z.object({ file: Binary, folder_id: Uuid.optional(), on_conflict: z.enum(ON_CONFLICT).optional() });
export const VersionForm = z.object({ file: Binary, comment: z.string().max(2000).optional() });
