import { z } from 'zod';
import { Uuid } from '../../api/schemas.ts';
import { Name } from '../model/names/names.schema.ts';

const ITEMS_MAX = 1_000;
const EXAMPLE = '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11';

const ExportItem = z.strictObject({ type: z.enum(['file', 'folder']), id: Uuid }).meta({ id: 'ExportItem' });

export const NewExport = z
  .strictObject({
    folder_id: Uuid.optional().describe('the top folder of the archive'),
    items: z
      .array(ExportItem)
      .min(1)
      .max(ITEMS_MAX)
      .optional()
      .describe('the top level of the archive; duplicate ids count once'),
    name: Name.optional().meta({
      description: 'the name of the archive without `.zip`; left out, that of the one file or folder in it, or `export`',
      example: 'Reading list',
    }),
  })
  .refine(({ folder_id, items }) => (folder_id === undefined) !== (items === undefined), {
    path: ['folder_id'],
    message: 'give either folder_id or items',
  })
  .meta({ id: 'NewExport', example: { folder_id: EXAMPLE }, oneOf: [{ required: ['folder_id'] }, { required: ['items'] }] });
export type NewExport = z.output<typeof NewExport>;
