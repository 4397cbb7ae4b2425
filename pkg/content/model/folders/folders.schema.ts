import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../../api/paging.ts';
import { changesOf, Etag, queryBoolean, Timestamp, Uuid } from '../../../api/schemas.ts';
import { FileView, NamePart, OwnAccess } from '../files/files.schema.ts';
import { GrantView } from '../access/grants.schema.ts';
import { Name } from '../names/names.schema.ts';

/** docs/design/records.md, Folder. */
export const FolderView = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: 'History' }),
    path: z.string().meta({ description: 'from the highest folder that the caller may see', example: '/History' }),
    parent_id: Uuid.nullable().describe('null: none, or one that the caller may not know of'),
    owner: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
    access: OwnAccess,
    depth: z.int().min(0).meta({ description: '0 for a root, and for the highest folder that the caller may see', example: 0 }),
    is_system: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    deleted_at: Timestamp.nullable().meta({ example: null }),
    etag: Etag,
  })
  .meta({ id: 'Folder' });
export type FolderView = z.output<typeof FolderView>;

export const NewFolder = z
  .strictObject({
    name: Name.meta({ example: 'History' }),
    parent_id: Uuid.nullable().optional(),
    on_conflict: z
      .enum(['fail', 'rename', 'reuse'])
      .default('fail')
      .describe('if a folder of that name exists: 409, another name, or that folder'),
  })
  .meta({ id: 'NewFolder' });
export type NewFolder = z.output<typeof NewFolder>;

/** For PATCH and PUT: given fields are changed, absent fields stay. */
export const FolderChanges = changesOf(
  z.strictObject({ name: Name.meta({ example: 'History' }), parent_id: Uuid.nullable().describe('null: the root of its owner') }),
).meta({ id: 'FolderChanges' });
export type FolderChanges = z.output<typeof FolderChanges>;

export const FolderPage = pageOf(FolderView).meta({ id: 'FolderPage' });
/** At most as many as folders are deep: it has no pages. */
export const FolderPath = z.object({ data: z.array(FolderView) }).meta({ id: 'FolderPath' });
export const FOLDER_SORT_FIELDS = ['name', 'created_at', 'updated_at'] as const;

export const FolderQuery = z.object({
  ...pageQueryOf(FOLDER_SORT_FIELDS),
  parent_id: z
    .union([Uuid, z.literal('root')])
    .optional()
    .describe("folders in this folder; root: the caller's folders without a parent"),
  q: NamePart.optional().describe('part of the name; case and accents do not matter'),
  owner: Uuid.optional(),
  trashed: queryBoolean().optional().describe('true: items in the trash that the caller may write'),
});
export type FolderQuery = z.output<typeof FolderQuery>;

const GrantOfGroup = GrantView.nullable()
  .optional()
  .describe(
    'with grant_of: the grant that this group has on it; null where there is none or GET …/permissions shows the caller none',
  );

/** A file or folder that is directly in a folder. */
export const Child = z
  .discriminatedUnion('type', [
    FolderView.extend({ type: z.literal('folder'), grant: GrantOfGroup }).meta({ id: 'FolderChild' }),
    FileView.extend({ type: z.literal('file'), grant: GrantOfGroup }).meta({ id: 'FileChild' }),
  ])
  .meta({ id: 'Child' });
export type Child = z.output<typeof Child>;

export const ChildPage = pageOf(Child).meta({ id: 'ChildPage' });

/** Folders are all alike by size: a second field orders them. */
export const CHILD_SORT_FIELDS = ['name', 'size', 'created_at', 'updated_at'] as const;

export const ChildQuery = z.object({
  ...pageQueryOf(CHILD_SORT_FIELDS),
  q: NamePart.optional().describe('part of the name; case and accents do not matter'),
  grant_of: Uuid.optional().describe('a group: each item has `grant`, the grant of this group itself, not one on a folder above'),
});
export type ChildQuery = z.output<typeof ChildQuery>;

export const FolderCopy = z
  .strictObject({
    parent_id: Uuid.nullable()
      .optional()
      .describe("where to, null for the caller's root; left out, the folder that the caller is shown"),
    name: Name.optional().describe("left out, the folder's"),
    on_conflict: z.enum(['fail', 'rename']).default('fail').describe('if the name is taken: 409, or another name'),
  })
  .meta({ id: 'FolderCopy' });
export type FolderCopy = z.output<typeof FolderCopy>;

export const FolderRestoration = z
  .strictObject({
    parent_id: Uuid.nullable().optional().describe('the destination; null: the owner’s root; left out: where it was'),
    on_conflict: z.enum(['fail', 'rename']).default('fail').describe('if its name is taken: 409, or another name'),
  })
  .meta({ id: 'FolderRestoration' });
export type FolderRestoration = z.output<typeof FolderRestoration>;
