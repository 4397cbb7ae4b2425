import { z } from 'zod';
import { Timestamp, Uuid } from '../../api/schemas.ts';

export const NewHandIn = z.object({ file_id: Uuid.describe('a file of your own; its current version is handed in') });

export const HandInView = z
  .object({
    id: Uuid,
    user: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }).nullable() }).describe('who handed it in'),
    file: z.object({ id: Uuid, name: z.string().meta({ example: 'essay.pdf' }) }),
    version: z.int().meta({ example: 3 }),
    handed_in_at: Timestamp,
    download_url: z
      .url()
      .meta({ example: 'https://files.example.org/api/v1/tickets/dGlja2V0' })
      .describe('downloads that version, for a minute'),
  })
  .meta({ id: 'LtiHandIn' });
export type HandInView = z.output<typeof HandInView>;
