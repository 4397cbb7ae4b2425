import { z } from 'zod';
import { job } from '../../api/job.ts';

/** Carries out a platform's notice. */
export const PROCESS_NOTICE = job({
  kind: 'lti.notice',
  payload: z.object({ tool: z.int(), notice: z.string() }),
});

/** Registers our address for notices (`handler`) with the platform of a deployment. Uses the queue of requests to LMSs. */
export const REGISTER_HANDLER = job({
  kind: 'lti.notice-handler',
  queue: 'grades',
  payload: z.object({ tool: z.int(), deployment: z.string(), handler: z.string() }),
});
