import { z } from 'zod';
import { job } from '../../api/job.ts';

/** Does what a notice of a platform asks for. */
export const PROCESS_NOTICE = job({
  kind: 'lti.notice',
  payload: z.object({ tool: z.int(), notice: z.string() }),
});

/** Leaves our address for notices (`handler`) with the platform of a deployment. In the queue of requests to LMSs. */
export const REGISTER_HANDLER = job({
  kind: 'lti.notice-handler',
  queue: 'grades',
  payload: z.object({ tool: z.int(), deployment: z.string(), handler: z.string() }),
});
