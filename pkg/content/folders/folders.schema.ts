import { z } from 'zod';
import { Timestamp, Uuid } from '../../api/schemas.ts';
import { Name } from '../names/names.schema.ts';

/** specification: Folder. */
export const FolderView = z
  .object({
    id: Uuid,
    name: z.string(),
    path: z.string().describe('from the highest folder that the caller may see'),
    parent_id: Uuid.nullable().describe('null: none, or one that the caller may not know of'),
    owner: z.object({ id: Uuid, name: z.string() }),
    depth: z.int().min(0).describe('0 for a root, and for the highest folder that the caller may see'),
    is_system: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: z.string(),
  })
  .meta({ id: 'Folder' });
export type FolderView = z.output<typeof FolderView>;

export const NewFolder = z.strictObject({ name: Name, parent_id: Uuid.nullable().optional() });
export type NewFolder = z.output<typeof NewFolder>;
