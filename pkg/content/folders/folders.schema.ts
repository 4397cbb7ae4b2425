import { z } from 'zod';
import { changesOf, Etag, Timestamp, Uuid } from '../../api/schemas.ts';
import { Name } from '../names/names.schema.ts';

/** docs/design/records.md, Folder. */
export const FolderView = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: 'History' }),
    path: z.string().meta({ description: 'from the highest folder that the caller may see', example: '/History' }),
    parent_id: Uuid.nullable().describe('null: none, or one that the caller may not know of'),
    owner: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
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
  .strictObject({ name: Name.meta({ example: 'History' }), parent_id: Uuid.nullable().optional() })
  .meta({ id: 'NewFolder' });
export type NewFolder = z.output<typeof NewFolder>;

/** For PATCH and PUT: given fields are changed, absent fields stay. */
export const FolderChanges = changesOf(
  z.strictObject({ name: Name.meta({ example: 'History' }), parent_id: Uuid.nullable().describe('null: the root of its owner') }),
).meta({ id: 'FolderChanges' });
export type FolderChanges = z.output<typeof FolderChanges>;
