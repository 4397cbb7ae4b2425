import { z } from 'zod';
import { CLEAR_CACHES as KIND, CLEARED_MAX } from '../store/redis/tagged-cache.ts';
import { job } from '../api/job.ts';
import { processor } from './processor.ts';

/** TaggedCache requests this in the transaction whose cached values Redis could not invalidate. */
export const CLEAR_CACHES = job({
  kind: KIND,
  payload: z.object({ subjects: z.array(z.string().min(1).max(200)).min(1).max(CLEARED_MAX) }),
});

/** Invalidates the tags that a write could not because Redis did not answer: no value that was cached before is served again. */
export const clearCaches = processor({
  job: CLEAR_CACHES,
  create:
    () =>
    async ({ cache }, { subjects }) =>
      cache.clear(subjects),
});
