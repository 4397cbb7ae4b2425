import type { Grade, Result } from './course-api.ts';

/** A score or its maximum as typed, with a comma or a point; undefined: it is none that the API takes. */
export function scoreOf(typed: string): number | undefined {
  const text = typed.trim().replace(',', '.');
  return /^\d{1,3}(\.\d{1,2})?$/.test(text) ? Number(text) : undefined;
}

export function gradeInWords({ score, score_maximum, status, reason }: Grade): string {
  const points = `${score} of ${score_maximum}`;
  if (status === 'submitted') return `${points}: in the grade book of your LMS`;
  if (status === 'pending') return `${points}: on its way${reason === null ? '' : `. ${reason}`}`;
  return `${points}: not in the grade book. ${reason ?? ''}`.trim();
}

export const resultInWords = (result: Result | undefined): string =>
  result === undefined || result.result_score === null ? 'no score' : `${result.result_score} of ${result.result_maximum}`;
