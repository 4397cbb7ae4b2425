import { z } from 'zod';
import { Bytes } from '../../api/schemas.ts';

/** A person's storage. `storage_used` counts every version and the metadata of every file, including the trash. */
export const UsageView = z
  .object({
    storage_quota: Bytes,
    storage_used: Bytes,
    files: z.int().min(0).meta({ description: 'files outside of the trash', example: 120 }),
    trashed_files: z.int().min(0).meta({ example: 3 }),
    versions_bytes: Bytes.describe('older versions of files outside of the trash'),
    trash_bytes: Bytes.describe('all versions of files in the trash'),
    metadata_bytes: Bytes.describe('metadata of all files, each entry in whole KiB'),
  })
  .meta({ id: 'Usage' });
export type UsageView = z.output<typeof UsageView>;
