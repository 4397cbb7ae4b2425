import { endSpan, markFailed, parseTraceparent, startSpan, within } from '../../runtime/traces.ts';
import type { Context, Handler } from '../request-state.ts';
import { NO_ROUTE } from './observe.ts';

/**
 * Records a request as a span, named by method and route, never by its path, which may hold a token. The client's `traceparent`
 * determines only the parent: the server itself decides whether to sample it, and `tracestate` is not read.
 */
export const traced =
  (next: Handler): Handler =>
  (ctx) => {
    const parent = parseTraceparent(ctx.get('traceparent')) ?? null;
    const span = startSpan(ctx.method, { kind: 'server', parent, attributes: { 'http.request.method': ctx.method } });
    if (!span) return next(ctx);
    ctx.state.span = span;
    ctx.res.once('close', () => {
      const { route } = ctx.state;
      if (route !== NO_ROUTE) {
        span.updateName(`${ctx.method} ${route}`);
        span.setAttribute('http.route', route);
      }
      if (ctx.res.headersSent) span.setAttribute('http.response.status_code', ctx.res.statusCode);
      const failure = failureOf(ctx);
      if (failure !== undefined) markFailed(span, failure);
      endSpan(span);
    });
    return within(span, () => next(ctx));
  };

/** A 4xx refusal is not a failure of the server (semantic conventions, HTTP server). */
function failureOf({ res }: Context): string | undefined {
  if (!res.writableFinished) return 'aborted';
  return res.statusCode >= 500 ? String(res.statusCode) : undefined;
}
