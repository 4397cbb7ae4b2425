import { reasonInWords } from '../../text/reasons.ts';
import { inDigits } from '../../text/language.ts';
import { t } from '../../text/lti.ts';
import type { Grade, Result } from './course-api.ts';

/** Parses a typed score or maximum, with a comma or a point; undefined: the API would not accept it. */
export function scoreOf(typed: string): number | undefined {
  const text = typed.trim().replace(',', '.');
  return /^\d{1,3}(\.\d{1,2})?$/.test(text) ? Number(text) : undefined;
}

/** Maximum of characters, as the API counts them (NewGrade). */
export const COMMENT_MAX = 10_000;

/** Counts code points, not UTF-16 units, as the API does. */
export const isCommentTooLong = (comment: string): boolean =>
  comment.length > COMMENT_MAX && Array.from(comment).length > COMMENT_MAX;

const KEYS = { pending: 'grades.pending', submitted: 'grades.submitted', failed: 'grades.failed' } as const;

export const gradeInWords = ({ score, score_maximum: maximum, status, reason }: Grade): string =>
  t(KEYS[status], { points: pointsInWords(score, maximum), reason: reason === null ? '' : reasonInWords(reason) }).trim();

export const resultInWords = (result: Result | undefined): string =>
  result === undefined || result.result_score === null
    ? t('grades.noScore')
    : pointsInWords(result.result_score, result.result_maximum);

const pointsInWords = (score: number, maximum: number): string =>
  t('grades.points', { score: inDigits(score), maximum: inDigits(maximum) });
