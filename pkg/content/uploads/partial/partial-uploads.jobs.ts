import { z } from 'zod';
import { job } from '../../../api/job.ts';

/** Deletes the uploads that have expired, with what of them is in the store. */
export const EXPIRE_UPLOADS = job({ kind: 'uploads.expire', payload: z.object({}) });
