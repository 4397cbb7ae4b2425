import { z } from 'zod';
import { job } from '../../../api/job.ts';

/**
 * Deletes old versions for ever: of each file those beyond the `keep` newest, and those that were replaced `days` ago or earlier.
 * Null: no limit.
 */
export const EXPIRE_VERSIONS = job({
  kind: 'versions.expire',
  payload: z.object({ keep: z.int().min(1).nullable(), days: z.int().min(1).nullable() }),
});
