import { ApiProblem } from '../api/problem.ts';
import { isEnglish } from '../text/language.ts';
import { en } from '../text/problems.en.ts';
import { type Key, t } from '../text/problems.ts';

/** Codes for which our own words say more than the server's sentence, which is for those who write programs. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'invalid_reset_token',
  'not_found',
  'rate_limit_exceeded',
  'too_many_attempts',
  'precondition_failed',
  'idempotency_key_reused',
  'internal',
]);

/** Returns what a problem means and what to do. The server's own sentence is English. */
export function problemText(problem: ApiProblem): string {
  const { code, message, retryAfter } = problem;
  const ofField = problem.ofOnlyField();
  if (ofField !== undefined) return ofField;
  const key = `problem.${code}`;
  const isKnown = Object.hasOwn(en, key);
  if (message !== '' && isEnglish() && !OWN_WORDS.has(code)) return message;
  return isKnown ? t(key as Key, { seconds: retryAfter ?? 1 }) : message || t('problem.unknown');
}

/** Returns what an error means that is part of an answer: of an item of a job, for example. */
export const errorText = ({ code, message }: { readonly code: string; readonly message: string }): string =>
  problemText(new ApiProblem({ status: 0, code, message }));
