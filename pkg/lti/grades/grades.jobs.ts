import { z } from 'zod';
import { job } from '../../api/job.ts';

/** Sends a grade (its uuid) to the LMS. It has its own queue because an LMS may take long to answer. */
export const SUBMIT_GRADE = job({
  kind: 'grades.submit',
  queue: 'grades',
  payload: z.object({ grade: z.uuid() }),
});
