import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { queryBoolean, text, Uuid } from '../../api/schemas.ts';
import { MetadataKey } from '../metadata/metadata.schema.ts';
import { FileView, MimeFilter, NamePart } from '../model/files/files.schema.ts';
import { TagName } from '../tags/tags.schema.ts';
import { IncludedFields, IncludeList } from './file-includes.schema.ts';

/** A file as GET shows it: with the fields that `include` names. */
export const FileWithIncludes = FileView.extend(IncludedFields.shape).meta({ id: 'FileWithIncludes' });
export type FileWithIncludes = z.output<typeof FileWithIncludes>;

export const FilePage = pageOf(FileWithIncludes).meta({ id: 'FilePage' });

export const FILE_SORT_FIELDS = ['name', 'size', 'created_at', 'updated_at'] as const;

export const FileGetQuery = z.object({
  include: IncludeList.optional().describe(
    'what to add to the metadata; the ETag header then covers it too, for If-None-Match, while If-Match takes `etag` of the body',
  ),
});

/** Numbers of tags and metadata keys that a query may name, and the longest value (characters). */
const TAG_FILTERS_MAX = 10;
const METADATA_FILTERS_MAX = 10;
const METADATA_FILTER_MAX = 1_000;

export const FileQuery = z.object({
  ...pageQueryOf(FILE_SORT_FIELDS),
  folder_id: z
    .union([Uuid, z.literal('root')])
    .optional()
    .describe('files of that folder; root: files without a folder'),
  q: NamePart.optional().describe('part of the name; case and accents do not matter'),
  mime_type: MimeFilter.optional(),
  owner: Uuid.optional(),
  tag: z
    .array(TagName)
    .max(TAG_FILTERS_MAX)
    .optional()
    .meta({ description: 'files with this tag of the caller, by name or id; with several, all of them', example: ['To read'] }),
  metadata: z
    .record(MetadataKey, text(0, METADATA_FILTER_MAX).meta({ example: 'History 1' }))
    .refine((filters) => Object.keys(filters).length <= METADATA_FILTERS_MAX, `must have at most ${METADATA_FILTERS_MAX} keys`)
    .optional()
    .meta({
      description:
        '`metadata[key]=value`: files with this value; a number in any form, true, false, or JSON as it is stored. ' +
        'Of several, with all',
      maxProperties: METADATA_FILTERS_MAX,
      example: { course: 'History 1' },
    }),
  trashed: queryBoolean().optional().describe('true: items in the trash that the caller may write'),
  include: IncludeList.optional().describe('what to add to each file; the page ends early where that is more than 4 MiB'),
});
export type FileQuery = z.output<typeof FileQuery>;
