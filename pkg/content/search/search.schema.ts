import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { queryInteger, QueryTime, Uuid } from '../../api/schemas.ts';
import { FileView, MimeFilter, NamePart } from '../model/files/files.schema.ts';
import { FolderView } from '../model/folders/folders.schema.ts';
import { TagName } from '../tags/tags.schema.ts';

const Found = {
  rank: z.number().min(0).max(1).meta({
    description: 'how well the name fits; the best come first. 0 without words: then the last changed come first',
    example: 0.9,
  }),
  highlight: z.string().meta({
    description: 'the name with each hit between U+E000 and U+E001, which no name has otherwise; without words there is no hit',
    example: '\uE000thesis\uE001.pdf',
  }),
};

/** A file or folder that a search found. */
export const FoundItem = z
  .discriminatedUnion('type', [
    FolderView.extend({ type: z.literal('folder'), ...Found }).meta({ id: 'FoundFolder' }),
    FileView.extend({ type: z.literal('file'), ...Found }).meta({ id: 'FoundFile' }),
  ])
  .meta({ id: 'FoundItem' });
export type FoundItem = z.output<typeof FoundItem>;

export const FoundPage = pageOf(FoundItem).meta({ id: 'FoundPage' });

const { limit, cursor } = pageQueryOf(['rank']);
const Size = queryInteger(0, Number.MAX_SAFE_INTEGER).meta({ example: 1_048_576 }).optional();

const FILTERS = {
  type: z.enum(['file', 'folder']).optional(),
  folder_id: Uuid.optional().describe('in that folder and all below; not the folder itself'),
  owner: Uuid.optional(),
  mime_type: MimeFilter.optional().describe('files only'),
  tag: TagName.optional().describe('files with this tag of the caller, by name or id'),
  created_after: QueryTime.optional(),
  created_before: QueryTime.optional(),
  size_min: Size.describe('bytes; files only'),
  size_max: Size.describe('bytes; files only'),
};

/** What a search may name: one of these at least. */
const WANTED = ['q', ...Object.keys(FILTERS)];

/** A search without words or a filter would be a list of everything, which other lists are. */
export const isNarrowed = (query: object): boolean =>
  WANTED.some((name) => (query as Readonly<Record<string, unknown>>)[name] !== undefined);
export const UNNARROWED = {
  path: ['q'],
  message: `is required without a filter: send words in q, or a filter (${Object.keys(FILTERS).join(', ')})`,
};
/** The same rule in JSON Schema. */
export const NARROWED = { anyOf: WANTED.map((name) => ({ required: [name] })) };

export const SearchQuery = z
  .object({
    limit,
    cursor,
    q: NamePart.optional()
      .describe(
        'words that all occur in the name; case and accents do not matter. Left out beside a filter: all that fits it, ' +
          'the last changed first',
      )
      .meta({ example: 'thesis draft' }),
    ...FILTERS,
  })
  .refine(isNarrowed, UNNARROWED);
export type SearchQuery = z.output<typeof SearchQuery>;
