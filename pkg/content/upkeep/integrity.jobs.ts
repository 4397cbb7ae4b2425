import { z } from 'zod';
import { job } from '../../api/job.ts';

/** Compares a tenant's rows with its objects. */
export const CHECK_INTEGRITY = job({ kind: 'integrity.check', payload: z.object({}) });
