import type { EgressError, EgressErrorCode } from '../../net/egress-error.ts';
import { answerText, isFinalEgress, mayPass } from '../services/lms-answers.policy.ts';

/** The result of an attempt to send a score to the LMS. */
export type ScoreResult =
  /** The LMS has the score. `note`: a remark for people. */
  | { readonly kind: 'submitted'; readonly note: string | null }
  /** The LMS will never accept the score. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The LMS has a score of that second or a later one, but not this one. */
  | { readonly kind: 'outdated'; readonly reason: string }
  /** The token was refused. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The LMS may accept it later. `isUnknown`: the LMS may already have accepted it. */
  | { readonly kind: 'later'; readonly reason: string; readonly isUnknown: boolean; readonly retryAfter: string | undefined };

/** The grade after the attempt: submitted, failed for good, or to be sent again later. */
export type AttemptOutcome = Extract<ScoreResult, { kind: 'submitted' | 'failed' | 'later' }>;

/** Errors that occur before any part of the request is sent. */
const UNSENT = new Set<EgressErrorCode>(['dns_failed', 'connect_failed', 'connect_timeout', 'tls_failed']);

/**
 * Returns the result of an answer (docs/design/lti.md, Grades; AGS 2.0 §3.4.9). `isResend`: the LMS may already have this score,
 * so a 409 (its timestamp is not newer) only confirms it. On a first sending, a 409 refuses the timestamp. `text`: see
 * shownAnswer.
 */
export function resultOfReply(
  status: number,
  reply: { isResend: boolean; text: string; retryAfter: string | undefined },
): ScoreResult {
  const answered = answerText(status, reply.text);
  if (status === 204) return { kind: 'submitted', note: 'the LMS answered 204: it may have kept a newer score' };
  if (status >= 200 && status < 300) return { kind: 'submitted', note: null };
  if (status === 409 && reply.isResend) return { kind: 'submitted', note: 'the LMS already had it' };
  if (status === 409) return { kind: 'outdated', reason: answered };
  if (status === 401 || status === 403) return { kind: 'refused', reason: answered };
  if (mayPass(status))
    return { kind: 'later', reason: answered, isUnknown: status >= 500 || status === 408, retryAfter: reply.retryAfter };
  return { kind: 'failed', reason: answered };
}

/** Returns the result if the answer was missing or incomplete. */
export function resultOfEgressError(error: EgressError, isResend: boolean): ScoreResult {
  const { status } = error;
  // Only the status counts: a 2xx with an incomplete body is a success.
  if (status !== undefined && (status < 300 || status >= 400))
    return resultOfReply(status, { isResend, text: '', retryAfter: undefined });
  if (isFinalEgress(error)) return { kind: 'failed', reason: error.message };
  return { kind: 'later', reason: error.message, isUnknown: !UNSENT.has(error.code), retryAfter: undefined };
}

/** The score has not reached the LMS; it is sent again. */
export const later = (reason: string) => ({ kind: 'later', reason, isUnknown: false, retryAfter: undefined }) as const;

/**
 * An outdated timestamp or a refused token does not make a grade fail: the score is sent again, with a later timestamp or another
 * token.
 */
export function outcomeOf(result: ScoreResult): AttemptOutcome {
  if (result.kind === 'outdated') return later(`${result.reason}; it is sent again with a later timestamp`);
  return result.kind === 'refused' ? later(result.reason) : result;
}
