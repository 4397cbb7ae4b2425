import { Counter, Histogram } from 'prom-client';
import { type JobContext, LostLease, type Processor, processor, TryLater, type WorkerServices } from '../../events/processor.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { retryAfterMs, retryDelayMs } from '../../api/retry-schedule.ts';
import { SealError } from '../../runtime/sealing.ts';
import { serviceClient } from '../services/service-client.ts';
import { type ServiceClient, ServiceTokenError, ServiceTokens } from '../services/service-tokens.ts';
import { SUBMIT_GRADE } from './grades.jobs.ts';
import { SCORE_SCOPE } from './grades.schema.ts';
import { type AttemptOutcome, later, outcomeOf, type ScoreResult } from './replies.policy.ts';
import { postScore } from './post-score.ts';
import {
  findSubmission,
  markFailed,
  markSent,
  markSubmitted,
  noteAttempt,
  renewTimestamp,
  type Submission,
} from './submission.sql.ts';

interface SubmitGradeDeps extends WorkerServices {
  readonly tokens: ServiceTokens;
  /** Waits between attempts, in seconds. */
  readonly retrySeconds: readonly number[];
}

/**
 * Sends a grade to the LMS (docs/design/lti.md). `retrySeconds`: waits between attempts.
 *
 * Invariants:
 * - As long as the LMS may have a grade, every sending carries the same timestamp and bytes, so the LMS counts it once.
 * - A timestamp that the LMS refuses (409) is moved forward, unless a newer grade from Carrel is the reason: no grade is lost
 *   because of the LMS's clock.
 * - `submitted` and its event are one transaction, and there is one event for each grade.
 * - A grade is never sent after the LMS accepted a newer score of the same person and line item.
 */
export const submitGrade = ({ retrySeconds }: { retrySeconds: readonly number[] }): Processor =>
  processor({
    job: SUBMIT_GRADE,
    create: (services) => {
      const deps = { ...services, tokens: new ServiceTokens(services), retrySeconds };
      const metrics = gradeMetrics(deps.metrics);
      return async (context, { grade: uuid }) => {
        const grade = await context.transaction((tx) => findSubmission(tx, uuid));
        if (!grade) return;
        const { sent, outcome } = await attempt(deps, context, grade);
        const result = await conclude(deps, context, sent, outcome);
        metrics.result(result.result);
        if (result.result === 'submitted') metrics.latency((deps.clock.now().getTime() - context.requestedAt.getTime()) / 1000);
        if (result.result === 'retried') throw new TryLater(result.reason, result.delayMs);
      };
    },
  });

/** `sent`: the grade as it was last sent. */
interface Attempt {
  readonly sent: Submission;
  readonly outcome: AttemptOutcome;
}

async function attempt(deps: SubmitGradeDeps, context: JobContext, grade: Submission): Promise<Attempt> {
  const ended = (outcome: AttemptOutcome): Attempt => ({ sent: grade, outcome });
  if (grade.isSuperseded) return ended({ kind: 'failed', reason: 'a newer score was submitted before this one' });
  if (!grade.isActive) return ended(later('the registration of the LMS is not active'));
  try {
    const registration = serviceClient(context.slug, grade, () => deps.seals.of(context.slug));
    const { sent, result } = await send(deps, context, grade, registration);
    if (result.kind === 'outdated') return await sendNewer(deps, context, sent, registration, result.reason);
    return { sent, outcome: outcomeOf(result) };
  } catch (error) {
    if (error instanceof SealError) return ended(later('the private key of the registration cannot be opened'));
    if (!(error instanceof ServiceTokenError)) throw error;
    return ended(
      error.isFinal ? { kind: 'failed', reason: error.message } : { ...later(error.message), retryAfter: error.retryAfter },
    );
  }
}

/** Sends the score again with a later timestamp. The LMS refused the first timestamp, so it does not have this score. */
async function sendNewer(
  deps: SubmitGradeDeps,
  context: JobContext,
  grade: Submission,
  registration: ServiceClient,
  reason: string,
): Promise<Attempt> {
  const renewed = await context.transaction((tx) => renewTimestamp(tx, grade.uuid, context.lease, deps.clock.now()));
  if (renewed === undefined) throw new LostLease();
  if (renewed === 'superseded') return { sent: grade, outcome: { kind: 'failed', reason: `a newer score exists: ${reason}` } };
  if (renewed === 'waits') return { sent: grade, outcome: later(`${reason}; a newer score of this person is about to be sent`) };
  const { sent, result } = await send(deps, context, { ...grade, timestamp: renewed }, registration);
  return { sent, outcome: outcomeOf(result) };
}

/** `sent.sentAt`: the time since which the LMS may have had the score before this sending. */
interface Sending {
  readonly sent: Submission;
  readonly result: ScoreResult;
}

/**
 * Sends once more with a new token if the LMS refused the first one, which may have been revoked early. A score that was refused
 * because of its token did not arrive.
 */
async function send(
  deps: SubmitGradeDeps,
  context: JobContext,
  grade: Submission,
  registration: ServiceClient,
): Promise<Sending> {
  const first = await sendOnce(deps, context, grade, registration);
  return first.result.kind === 'refused' ? sendOnce(deps, context, first.sent, registration, first.sent) : first;
}

async function sendOnce(
  deps: SubmitGradeDeps,
  context: JobContext,
  grade: Submission,
  registration: ServiceClient,
  refused?: Submission,
): Promise<Sending> {
  const token = await deps.tokens.of(registration, SCORE_SCOPE);
  const marked = await context.transaction((tx) => markSent(tx, grade.uuid, context.lease));
  if (!marked) throw new LostLease();
  const sent = refused ?? { ...grade, ...marked };
  const result = await postScore(deps.client, sent, { token, isResend: sent.sentAt !== null, signal: context.signal });
  if (result.kind === 'refused') deps.tokens.drop(registration, SCORE_SCOPE, token);
  return { sent, result };
}

type Conclusion =
  | { readonly result: 'submitted' | 'failed' }
  | { readonly result: 'retried'; readonly reason: string; readonly delayMs: number };

async function conclude(
  deps: SubmitGradeDeps,
  context: JobContext,
  grade: Submission,
  outcome: AttemptOutcome,
): Promise<Conclusion> {
  const { clock, random, retrySeconds } = deps;
  if (outcome.kind === 'submitted') {
    await accept(deps, context, grade, outcome.note);
    return { result: 'submitted' };
  }
  const sent = grade.attempts + 1;
  const wanted = outcome.kind === 'later' ? retryAfterMs(outcome.retryAfter, clock.now()) : 0;
  const delayMs = outcome.kind === 'later' ? retryDelayMs({ sent, retryAfterMs: wanted }, retrySeconds, random) : null;
  if (outcome.kind === 'later' && delayMs !== null) {
    const sentAt = outcome.isUnknown ? (grade.sentAt ?? clock.now()) : grade.sentAt;
    const note = { reason: outcome.reason, sentAt };
    await underLease(context.transaction((tx) => noteAttempt(tx, grade.uuid, context.lease, note)));
    return { result: 'retried', reason: outcome.reason, delayMs };
  }
  const reason = outcome.kind === 'failed' ? outcome.reason : `given up after ${sent} attempts: ${outcome.reason}`;
  await underLease(context.transaction((tx) => markFailed(tx, grade.uuid, context.lease, reason)));
  return { result: 'failed' };
}

async function underLease(written: Promise<boolean>): Promise<void> {
  if (!(await written)) throw new LostLease();
}

/** Records the grade as submitted and emits its event, once. */
async function accept(deps: SubmitGradeDeps, context: JobContext, grade: Submission, note: string | null): Promise<void> {
  const at = deps.clock.now();
  await context.transaction(async (tx) => {
    if (!(await markSubmitted(tx, grade.uuid, at, note))) return;
    const data = {
      id: grade.uuid,
      launch_id: grade.lineItemId === null ? grade.launchId : null,
      user_id: grade.userId,
      score: grade.score,
      score_maximum: grade.scoreMaximum,
      timestamp: grade.timestamp.toISOString(),
      submitted_at: at.toISOString(),
    };
    await deps.events.emit(tx, 'grade.submitted', data);
  });
}

function gradeMetrics(metrics: Metrics) {
  const results = new Counter({
    name: 'carrel_grades_total',
    help: 'Attempts to send a grade to an LMS, by result: submitted, retried, failed',
    labelNames: ['result'],
    registers: [metrics],
  });
  const latency = new Histogram({
    name: 'carrel_grade_latency_seconds',
    help: 'Seconds from the grade to its acceptance by the LMS',
    buckets: [0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400, 259_200],
    registers: [metrics],
  });
  return { result: (result: string) => results.inc({ result }), latency: (seconds: number) => latency.observe(seconds) };
}
