import { z } from 'zod';
import { job } from '../../api/job.ts';

/** Sends a grade (its uuid) to the LMS. In a queue of its own: an LMS may take long to answer. */
export const SUBMIT_GRADE = job({
  kind: 'grades.submit',
  queue: 'grades',
  payload: z.object({ grade: z.uuid() }),
});
