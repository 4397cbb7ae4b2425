import { REFUSED_LINGER_MS } from '../size-and-time-limits.ts';
import type { PageProblem } from '../../api/page.ts';
import { Problem } from '../../api/problem.ts';
import { LimitReached, LockTimeout, SerializationFailure, StatementTimeout, TooManyJobs } from '../../store/postgres/errors.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { replyLingering } from '../lingering-close.ts';
import type { Context } from '../request-state.ts';

/** Seconds after which a client may try again when a store is unavailable. */
const RETRY_AFTER_SECONDS = 2;

/** Seconds after which some of a tenant's jobs may be done. */
const JOBS_RETRY_AFTER_SECONDS = 30;

/** Returns the abort reason of a request whose client has left. */
export const clientGone = (): Error => new DOMException('the client closed the connection', 'AbortError');

/** The body of every error (docs/design/api-conventions.md, Errors). */
interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly request_id: string;
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  readonly retry_after?: number;
}

/** Converts any thrown value to a problem of the catalogue. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (
    error instanceof StoreUnavailableError ||
    error instanceof StatementTimeout ||
    error instanceof LockTimeout ||
    error instanceof SerializationFailure
  )
    return new Problem('unavailable', undefined, { retryAfter: RETRY_AFTER_SECONDS, cause: error });
  if (error instanceof TooManyJobs)
    return new Problem('unavailable', error.message, { retryAfter: JOBS_RETRY_AFTER_SECONDS, cause: error });
  if (error instanceof LimitReached) return new Problem('quota_exceeded', error.message, { cause: error });
  return new Problem('internal', undefined, { cause: error });
}

export const errorBody = (problem: Problem | PageProblem, requestId: string): ErrorBody => ({
  error: problem.code,
  message: problem.message,
  request_id: requestId,
  ...(problem instanceof Problem && problem.details !== undefined ? { details: problem.details } : {}),
  ...(problem instanceof Problem && problem.status === 429 ? { retry_after: problem.retryAfter ?? 1 } : {}),
});

/** Writes every failure in one shape. Internal errors are logged with their stack. */
export function writeError(ctx: Context, error: unknown): void {
  if (ctx.res.closed && (error as Error).name === 'AbortError') return;
  const problem = problemOf(error);
  if (problem.code === 'internal') ctx.state.log().error({ err: problem.cause ?? problem }, 'a request failed');
  else if (problem.code === 'unavailable') ctx.state.log().warn({ err: problem.cause }, 'a store is unavailable');
  if (ctx.headerSent) ctx.res.destroy();
  else writeProblem(ctx, problem);
}

function writeProblem(ctx: Context, problem: Problem): void {
  ctx.status = problem.status;
  ctx.set({ 'Cache-Control': 'no-store', ...problem.headers });
  if (problem.retryAfter !== undefined) ctx.set('Retry-After', String(problem.retryAfter));
  if (problem.status === 401) ctx.set('WWW-Authenticate', ctx.get('authorization') ? 'Bearer error="invalid_token"' : 'Bearer');
  ctx.type = 'application/json; charset=utf-8';
  replyLingering(ctx, Buffer.from(JSON.stringify(errorBody(problem, ctx.state.requestId))), REFUSED_LINGER_MS);
}
