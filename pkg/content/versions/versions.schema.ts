import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Bytes, queryInteger, text, Timestamp, Uuid } from '../../api/schemas.ts';

/** Version numbers are Postgres integers. */
const NUMBER_MAX = 2 ** 31 - 1;
/** Characters. */
export const COMMENT_MAX = 2000;

/** docs/design/records.md, Version. */
export const VersionView = z
  .object({
    id: Uuid,
    file_id: Uuid,
    version_number: z.int().min(1).meta({ example: 1 }),
    size: Bytes,
    checksum: z.string().length(64).meta({
      description: 'SHA-256 of the content, hex',
      example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
    comment: z.string().nullable().meta({ example: 'After review' }),
    created_by: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
    created_at: Timestamp,
    current: z.boolean(),
  })
  .meta({ id: 'Version' });
export type VersionView = z.output<typeof VersionView>;

export const VersionPage = pageOf(VersionView).meta({ id: 'VersionPage' });
export const VERSION_SORT_FIELDS = ['version_number'] as const;
export const VersionQuery = z.object(pageQueryOf(VERSION_SORT_FIELDS));
export type VersionQuery = z.output<typeof VersionQuery>;

export const VersionParams = z.object({ id: Uuid, number: queryInteger(1, NUMBER_MAX).meta({ example: 1 }) });

export const VersionRestoration = z
  .object({ comment: text(0, COMMENT_MAX).optional().meta({ example: 'Back to the first draft' }) })
  .meta({ id: 'VersionRestoration' });
