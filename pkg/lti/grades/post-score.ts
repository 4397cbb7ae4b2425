import type { GuardedClient } from '../../net/client.ts';
import { EgressError } from '../../net/egress-error.ts';
import { addressBelow } from '../services/address-below.ts';
import { shownAnswer } from '../services/lms-answers.policy.ts';
import { type ScoreResult, resultOfReply, resultOfEgressError } from './replies.policy.ts';

/** A score with the values of its row. */
export interface Score {
  /** The line item's address. */
  readonly lineItem: string;
  readonly userId: string;
  readonly score: number;
  readonly scoreMaximum: number;
  readonly comment: string | null;
  readonly timestamp: Date;
}

const MEDIA_TYPE = 'application/vnd.ims.lis.v1.score+json';
const TIMEOUT_MS = 15_000;
const REPLY_BYTES_MAX = 16 * 1024;

export const scoresAddress = (lineItem: string): string => addressBelow(lineItem, 'scores');

/** The body of docs/design/lti.md, Grades. The same row always has the same bytes. */
export const scoreBody = (score: Score): string =>
  JSON.stringify({
    timestamp: score.timestamp.toISOString(),
    scoreGiven: score.score,
    scoreMaximum: score.scoreMaximum,
    ...(score.comment === null ? {} : { comment: score.comment }),
    activityProgress: 'Completed',
    gradingProgress: 'FullyGraded',
    userId: score.userId,
  });

/** Sends a score to the LMS, within 15 s. Throws only EgressError `aborted`. */
export async function postScore(
  client: GuardedClient,
  score: Score,
  { token, isResend, signal }: { token: string; isResend: boolean; signal: AbortSignal },
): Promise<ScoreResult> {
  try {
    const { status, statusText, headers, body } = await client.request({
      url: scoresAddress(score.lineItem),
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': MEDIA_TYPE, accept: 'application/json' },
      body: scoreBody(score),
      signal,
      timeoutMs: TIMEOUT_MS,
      maxBytes: REPLY_BYTES_MAX,
      whenTooLarge: 'cut',
    });
    const text = shownAnswer({ status, statusText, text: body.toString('utf8') }, [token]);
    return resultOfReply(status, { isResend, text, retryAfter: headers['retry-after'] });
  } catch (error) {
    if (!(error instanceof EgressError) || error.code === 'aborted') throw error;
    return resultOfEgressError(error, isResend);
  }
}
