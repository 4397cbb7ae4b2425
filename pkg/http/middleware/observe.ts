import { Histogram } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Random } from '../../runtime/random.ts';
import { traceFields } from '../../runtime/traces.ts';
import type { RequestCounts } from '../request-counts.ts';
import type { Context } from '../request-state.ts';
import { ASSETS } from '../web-bundle.ts';
import { clientAddress, networkOf } from './client-address.ts';

/** A request id from the client must match this; any other is replaced. */
const REQUEST_ID = /^[A-Za-z0-9._-]{8,128}$/;

/** One label for all paths without an endpoint, so that a scanner creates no metrics. */
export const NO_ROUTE = '(none)';

/** Methods with a label of their own; Node accepts 34, and no endpoint has the others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER_METHODS = 'other';

/**
 * Statuses with a label of their own: another server, or an owner's quota, is the cause, so no alert counts them as our failures.
 */
const CAUSED_BY_OTHERS: ReadonlySet<number> = new Set([502, 504, 507]);
const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const statusLabel = (status: number): string =>
  CAUSED_BY_OTHERS.has(status) ? String(status) : (CLASSES[Math.floor(status / 100) - 1] ?? '5xx');

interface ObserverDeps {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly requests: Pick<RequestCounts, 'count'>;
}

/** The client left before the reply began; nginx uses this number. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Assigns an id, address and logger to each request; measures rate, errors and duration by route; logs one line when the request
 * ends. What was answered counts in `requests`, but for files of the pages.
 */
export function observer(deps: ObserverDeps): (ctx: Context) => void {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the reply',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [deps.metrics],
  });

  // The fields below hold no secrets: searching them would cost more than the rest of the line.
  const requests = deps.log.child({}, { redact: [] });

  const durations = new Map<string, { observe(seconds: number): void }>();
  const durationOf = (method: string, route: string, status: string): { observe(seconds: number): void } => {
    const key = `${method} ${route} ${status}`;
    let child = durations.get(key);
    if (!child) durations.set(key, (child = duration.labels({ method, route, status })));
    return child;
  };

  return (ctx) => {
    const started = deps.clock.monotonic();
    const given = ctx.get('x-request-id');
    ctx.state.requestId = REQUEST_ID.test(given) ? given : deps.random.uuid();
    ctx.state.address = clientAddress(ctx);
    ctx.state.network = networkOf(ctx.state.address);
    ctx.state.route = NO_ROUTE;
    ctx.state.log = () => deps.log.child({ request_id: ctx.state.requestId });
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);

    ctx.res.once('close', () => {
      const ms = deps.clock.monotonic() - started;
      const status = ctx.res.headersSent ? ctx.res.statusCode : CLIENT_CLOSED_REQUEST;
      if (ctx.res.headersSent && ctx.state.route !== ASSETS) deps.requests.count(status);
      durationOf(METHODS.has(ctx.method) ? ctx.method : OTHER_METHODS, ctx.state.route, statusLabel(status)).observe(ms / 1000);
      const line = {
        request_id: ctx.state.requestId,
        method: ctx.method,
        route: ctx.state.route,
        status,
        ms: Math.round(ms * 10) / 10,
        ip: ctx.state.address,
        ...(ctx.state.userUuid === undefined ? {} : { user: ctx.state.userUuid }),
        ...(ctx.res.writableFinished ? {} : { aborted: true }),
      };
      requests.info(ctx.state.span ? { ...line, ...traceFields(ctx.state.span) } : line, 'request');
    });
  };
}
