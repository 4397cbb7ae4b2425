import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Bytes, Timestamp, Uuid } from '../../api/schemas.ts';

export const TRASH_SORT_FIELDS = ['deleted_at', 'name'] as const;
export const TrashQuery = z.object(pageQueryOf(TRASH_SORT_FIELDS));
export type TrashQuery = z.output<typeof TrashQuery>;

/** An item that was deleted by itself. Items that went with a folder are inside it. */
export const TrashItem = z
  .object({
    type: z.enum(['folder', 'file']),
    id: Uuid,
    name: z.string().meta({ example: 'thesis.pdf' }),
    path: z
      .string()
      .meta({ description: 'where it was, from the highest folder that the caller may see', example: '/History/thesis.pdf' }),
    deleted_at: Timestamp,
    expires_at: Timestamp.describe('it is deleted for ever within a day after that'),
    size: Bytes.describe('bytes; for a folder, those of the files deleted with it'),
    owner: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
  })
  .meta({ id: 'TrashItem' });
export type TrashItem = z.output<typeof TrashItem>;

export const TrashPage = pageOf(TrashItem).meta({ id: 'TrashPage' });
