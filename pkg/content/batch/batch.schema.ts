import { z } from 'zod';
import { NamedTime, Uuid } from '../../api/schemas.ts';
import { FileQuery } from '../lists/file-list.schema.ts';
import { MimeFilter } from '../model/files/files.schema.ts';
import { NewGrant } from '../model/access/grants.schema.ts';
import { MetadataKey, NewMetadata } from '../metadata/metadata.schema.ts';
import { NewShare } from '../sharing/shares.schema.ts';
import { isNarrowed, NARROWED, SearchQuery, UNNARROWED } from '../search/search.schema.ts';

const ITEMS_MAX = 10_000;

const { limit: _limit, cursor: _cursor, sort: _sort, include: _include, trashed: _trashed, ...fileFilters } = FileQuery.shape;

/** The query of GET /files as JSON. */
const FileFilter = z
  .strictObject({
    search: z.literal(false).optional(),
    ...fileFilters,
    trashed: z.boolean().optional().describe('true: items in the trash that the caller may write'),
  })
  .meta({ id: 'BatchFileFilter' });

const Size = z.int().min(0).optional().meta({ description: 'bytes; files only', example: 1_048_576 });
const { limit: _searchLimit, cursor: _searchCursor, ...searchFilters } = SearchQuery.shape;

/** The query of GET /search as JSON. */
const SearchFilter = z
  .strictObject({
    search: z.literal(true),
    ...searchFilters,
    mime_type: MimeFilter.optional().describe('files only'),
    created_after: NamedTime.optional(),
    created_before: NamedTime.optional(),
    size_min: Size,
    size_max: Size,
  })
  .refine(isNarrowed, UNNARROWED)
  .meta({ ...NARROWED, id: 'BatchSearchFilter' });

export const BatchFilter = z.union([SearchFilter, FileFilter]);
export type BatchFilter = z.output<typeof BatchFilter>;

const FileItem = z.strictObject({ type: z.literal('file'), id: Uuid }).meta({ id: 'BatchFile' });
const AnyItem = z.strictObject({ type: z.enum(['file', 'folder']), id: Uuid }).meta({ id: 'BatchItem' });
export type BatchItem = z.output<typeof AnyItem>;

const NONE = z.strictObject({}).optional();
const Destination = z
  .strictObject({
    folder_id: Uuid.nullable().describe('the destination; null: the owner’s root'),
    on_conflict: z.enum(['fail', 'rename']).default('fail').describe('if a name is taken: the item fails, or gets another name'),
  })
  .meta({ id: 'BatchDestination' });
const TagArguments = z.strictObject({ tag_id: Uuid.describe("one of the caller's tags") }).meta({ id: 'BatchTag' });
const MetadataArguments = z.strictObject({ key: MetadataKey, ...NewMetadata.shape }).meta({ id: 'BatchMetadata' });
const KeyArguments = z.strictObject({ key: MetadataKey }).meta({ id: 'BatchMetadataKey' });

const GranteeArguments = z
  .strictObject({ user_id: Uuid.optional(), group_id: Uuid.optional() })
  .refine(({ user_id, group_id }) => (user_id === undefined) !== (group_id === undefined), {
    path: ['user_id'],
    message: 'give either user_id or group_id',
  })
  .meta({
    id: 'BatchGrantee',
    example: { user_id: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11' },
    oneOf: [{ required: ['user_id'] }, { required: ['group_id'] }],
  });

const EITHER = { oneOf: [{ required: ['items'] }, { required: ['filter'] }] };

function request<const Name extends string, Arguments extends z.ZodType, Item extends typeof FileItem | typeof AnyItem>(
  operation: Name,
  item: Item,
  given: Arguments,
) {
  return z
    .strictObject({
      operation: z.literal(operation),
      items: z.array(item).min(1).max(ITEMS_MAX).optional().describe('duplicate ids count once'),
      filter: BatchFilter.optional().describe('what GET /files finds with this query, or GET /search with `search: true`'),
      arguments: given,
      dry_run: z.boolean().default(false).describe('true: nothing changes, and each item reports the result that it would have'),
    })
    .refine(({ items, filter }) => (items === undefined) !== (filter === undefined), {
      path: ['items'],
      message: 'give either items or filter',
    })
    .meta({
      ...EITHER,
      id: `${pascal(operation)}Batch`,
      example: { operation, items: [{ type: 'file', id: EXAMPLE }], ...EXAMPLES[operation] },
    });
}

/** Returns `SetMetadata` for `set_metadata`. */
const pascal = (name: string): string => name.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

const EXAMPLE = '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11';
const EXAMPLES: Readonly<Record<string, object>> = {
  move: { arguments: { folder_id: EXAMPLE } },
  copy: { arguments: { folder_id: EXAMPLE } },
  tag: { arguments: { tag_id: EXAMPLE } },
  untag: { arguments: { tag_id: EXAMPLE } },
  set_metadata: { arguments: { key: 'course', value: 'History 1' } },
  remove_metadata: { arguments: { key: 'course' } },
  grant: { arguments: { permission_level: 'read', user_id: EXAMPLE } },
  revoke: { arguments: { user_id: EXAMPLE } },
};

export const BatchRequest = z
  .discriminatedUnion('operation', [
    request('delete', AnyItem, NONE),
    request('purge', AnyItem, NONE),
    request('restore', AnyItem, NONE),
    request('move', AnyItem, Destination),
    request('copy', AnyItem, Destination),
    request('tag', FileItem, TagArguments),
    request('untag', FileItem, TagArguments),
    request('set_metadata', FileItem, MetadataArguments),
    request('remove_metadata', FileItem, KeyArguments),
    request('grant', AnyItem, NewGrant),
    request('revoke', AnyItem, GranteeArguments),
    request('share', FileItem, NewShare.strict().optional()),
  ])
  .meta({ id: 'Batch' });
export type BatchRequest = z.output<typeof BatchRequest>;

/** Returns the schema of the batch that a schedule runs each time, with everything that the filter matches at that time. */
const scheduled = <const Name extends string, Arguments extends z.ZodType>(operation: Name, given: Arguments) =>
  z
    .strictObject({
      operation: z.literal(operation),
      filter: BatchFilter.describe('what GET /files finds with this query then, or GET /search with `search: true`'),
      arguments: given,
      dry_run: z.boolean().default(false).describe('true: nothing changes, and each item reports the result that it would have'),
    })
    .meta({
      id: `Scheduled${pascal(operation)}Batch`,
      example: { operation, filter: { folder_id: EXAMPLE }, ...EXAMPLES[operation] },
    });

/** The body of POST /batch with a filter. A scheduled share link has no password, since the schedule would reveal it. */
export const ScheduledBatch = z
  .discriminatedUnion('operation', [
    scheduled('delete', NONE),
    scheduled('purge', NONE),
    scheduled('restore', NONE),
    scheduled('move', Destination),
    scheduled('tag', TagArguments),
    scheduled('untag', TagArguments),
    scheduled('set_metadata', MetadataArguments),
    scheduled('remove_metadata', KeyArguments),
    scheduled('grant', NewGrant),
    scheduled('revoke', GranteeArguments),
    scheduled('share', NewShare.omit({ password: true }).strict().optional()),
  ])
  .meta({ id: 'ScheduledBatch' });
export type ScheduledBatch = z.output<typeof ScheduledBatch>;

/** The arguments of an operation, by its name. */
export type ArgumentsOf<Name extends BatchRequest['operation']> = NonNullable<
  Extract<BatchRequest, { operation: Name }>['arguments']
>;
