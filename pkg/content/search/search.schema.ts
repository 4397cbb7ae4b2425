import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { queryInteger, QueryTime, Uuid } from '../../api/schemas.ts';
import { FileView, MimeFilter, NamePart } from '../model/files/files.schema.ts';
import { FolderView } from '../model/folders/folders.schema.ts';
import { TagName } from '../tags/tags.schema.ts';

const Found = {
  rank: z.number().min(0).max(1).meta({ description: 'how well the name fits; the best come first', example: 0.9 }),
  highlight: z.string().meta({
    description: 'the name with each hit between U+E000 and U+E001, which no name has otherwise',
    example: '\uE000thesis\uE001.pdf',
  }),
};

/** A file or folder with a name that a search found. */
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

export const SearchQuery = z.object({
  limit,
  cursor,
  q: NamePart.describe('words that all occur in the name; case and accents do not matter').meta({ example: 'thesis draft' }),
  type: z.enum(['file', 'folder']).optional(),
  folder_id: Uuid.optional().describe('in that folder and all below'),
  owner: Uuid.optional(),
  mime_type: MimeFilter.optional().describe('files only'),
  tag: TagName.optional().describe('files with this tag of the caller, by name or id'),
  created_after: QueryTime.optional(),
  created_before: QueryTime.optional(),
  size_min: Size.describe('bytes; files only'),
  size_max: Size.describe('bytes; files only'),
});
export type SearchQuery = z.output<typeof SearchQuery>;
