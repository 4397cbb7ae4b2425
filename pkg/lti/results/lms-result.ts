import { membersOf, numberOf, textOf, timeOf } from '../line-items/lms-line-item.ts';
import { unusable } from '../services/lms-problems.policy.ts';

export const RESULTS = 'application/vnd.ims.lis.v2.resultcontainer+json';

/** AGS 2.0 §3.3.4: the maximum of a result that names none. */
const MAXIMUM_DEFAULT = 1;

/** A result as the LMS sent it. */
export interface LmsResult {
  readonly userId: string;
  readonly score: number | null;
  readonly maximum: number;
  readonly comment: string | null;
  /** Not in the standard; Moodle sends it. */
  readonly scoredAt: string | null;
}

/** Throws Problem `lms_failed`. */
export function resultOf(body: unknown): LmsResult {
  const members = membersOf(body);
  const userId = textOf(members?.['userId']);
  if (!members || userId === null) throw unusable('a result names no person');
  return {
    userId,
    score: numberOf(members['resultScore']),
    maximum: numberOf(members['resultMaximum']) ?? MAXIMUM_DEFAULT,
    comment: textOf(members['comment']),
    scoredAt: timeOf(members['timestamp']),
  };
}
