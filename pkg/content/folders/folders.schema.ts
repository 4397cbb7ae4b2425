import { z } from 'zod';
import { Timestamp, Uuid } from '../../api/schemas.ts';
import { Name } from '../names/names.schema.ts';

/** specification: Folder. */
export const FolderView = z
  .object({
    id: Uuid,
    name: z.string(),
    path: z.string(),
    parent_id: Uuid.nullable(),
    owner: z.object({ id: Uuid, name: z.string() }),
    depth: z.int().min(0).describe('0 for a root'),
    is_system: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: z.string(),
  })
  .meta({ id: 'Folder' });
export type FolderView = z.output<typeof FolderView>;

export const NewFolder = z.strictObject({ name: Name, parent_id: Uuid.nullable().optional() });
export type NewFolder = z.output<typeof NewFolder>;
