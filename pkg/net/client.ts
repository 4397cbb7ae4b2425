import type { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { inSpan, markFailed, type Span, type SpanFacts, traceparentOf } from '../runtime/traces.ts';
import { Agent } from '../runtime/undici.ts';
import { guardedConnector, type OpenSocket } from './guarded-connector.ts';
import { EgressError, egressErrorOf } from './egress-error.ts';
import { type EgressReply, Exchange } from './exchange.ts';
import { StreamedExchange, type StreamedReply } from './streamed-exchange.ts';
import { type AllowedRange, literalPrivateAddress } from './private-address.ts';
import type { Resolve } from './resolve.ts';

type EgressMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface EgressRequest {
  /** http or https, any port, no user name or password. */
  readonly url: string;
  /** Default GET. */
  readonly method?: EgressMethod;
  /**
   * Names in any case. Names that frame the message or name its receiver (`host`, `connection`, `content-length`, …) are refused.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sends the request's trace to the peer (W3C `traceparent`) if the request is traced; default false. */
  readonly sendsTrace?: boolean;
  readonly signal?: AbortSignal;
  /** Limit of the reply's body on the wire, in bytes. */
  readonly maxBytes?: number;
  /**
   * The handling of a longer body: `refuse` (default) throws `reply_too_large`; `cut` returns its first `maxBytes` and ends the
   * connection.
   */
  readonly whenTooLarge?: 'refuse' | 'cut';
  /** From the call to the reply's last header, in milliseconds. Default: the client's limit, or `timeoutMs` if that is longer. */
  readonly firstByteMs?: number;
  /** From the call to the end of the reply, in milliseconds. */
  readonly timeoutMs?: number;
}

/** A POST whose two bodies stream. */
export interface StreamedRequest extends Pick<EgressRequest, 'url' | 'headers' | 'sendsTrace' | 'signal'> {
  /** Read as fast as the peer accepts it, and not at all without a connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The body's length in bytes, which the peer learns beforehand. */
  readonly contentLength: number;
  /** Limit of the reply's body, in bytes; a longer one fails with `reply_too_large`. */
  readonly maxBytes: number;
  /** The longest time in which the peer may accept nothing and send nothing, in milliseconds. */
  readonly silenceMs: number;
  /** From the call to the end of the reply, in milliseconds. */
  readonly timeoutMs: number;
}

interface EgressLimits {
  /** Name resolution, connection and TLS together. */
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly maxHeaderBytes: number;
  readonly connectionsPerOrigin: number;
}

const EGRESS_LIMITS: EgressLimits = {
  connectMs: 5_000,
  firstByteMs: 15_000,
  timeoutMs: 20_000,
  maxBytes: 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
  connectionsPerOrigin: 8,
};

export interface GuardedClientOptions {
  /** Private ranges that may be reached (`parseAllowedRanges`). */
  readonly allow: readonly AllowedRange[];
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly limits?: Partial<EgressLimits>;
  /**
   * Default: plain http only to hosts whose addresses all lie in `allow`. `anywhere` is for addresses that a tenant's operator
   * chose.
   */
  readonly plainHttp?: 'allowed-ranges' | 'anywhere';
  /** Certificate authorities trusted beside Node's own, in PEM. */
  readonly ca?: readonly string[];
  readonly resolve?: Resolve;
  readonly openSocket?: OpenSocket;
}

export interface GuardedClient {
  /** Throws EgressError for every failure of the address, the network or the peer. */
  request(request: EgressRequest): Promise<EgressReply>;
  /**
   * Sends a request whose bodies may have any size. Resolves when the reply's headers have arrived. The reply's body then fails
   * with an EgressError, or with the error that the source of the request's body throws.
   */
  stream(request: StreamedRequest): Promise<StreamedReply>;
  /** Waits for running requests (each within its own time-out), then closes all connections. Later requests are `aborted`. */
  close(): Promise<void>;
}

/** An idle connection is closed soon, since its address was checked when it was opened. */
const KEEP_ALIVE_MS = 10_000;
const KEEP_ALIVE_MAX_MS = 30_000;

const STATUS_TEXT_MAX = 1_000;

/** The most URLs whose target is cached, and the longest such URL. */
const TARGETS_MAX = 1_000;
const TARGET_URL_MAX = 2_048;
/**
 * Headers of the connection (RFC 9110 §7.6.1) and of the framing, and `host`, which would also choose the requested certificate.
 */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|keep-alive|te|trailer|expect|http2-settings|proxy-.*)$/;

/**
 * The HTTP client for every address that comes from a tenant, an LMS or a file (docs/design/events-and-jobs.md). The URL's host,
 * every address that it resolves to and the connected peer must be public, or lie in `allow`. The client follows no redirects,
 * uses no proxy of the environment, no decompression and no HTTP/2, and bounds time and size. Metric:
 * `egress_requests_total{outcome}`, the reply's class (`2xx`) or the error's code.
 */
export function guardedClient(options: GuardedClientOptions): GuardedClient {
  const limits = { ...EGRESS_LIMITS, ...options.limits };
  const agent = agentOf(options, limits);
  const targets = new Targets(options.allow);
  const bounds = { clock: options.clock, limits };
  const outcomes = outcomeCounter(options.metrics);
  const outcomeOf = (error: unknown): string => (error instanceof EgressError ? error.code : 'internal_error');
  let closed: Promise<void> | undefined;
  return {
    async request(request) {
      try {
        const method = request.method ?? 'GET';
        const facts: SpanFacts = { kind: 'client', attributes: { 'http.request.method': method } };
        const reply = await inSpan(method, facts, (span) => send(agent, targets, bounds, request, span));
        outcomes.inc({ outcome: classOf(reply) });
        return reply;
      } catch (error) {
        outcomes.inc({ outcome: outcomeOf(error) });
        throw error;
      }
    },
    async stream(request) {
      const facts: SpanFacts = { kind: 'client', attributes: { 'http.request.method': 'POST' } };
      const { reply, over } = await inSpan('POST', facts, (span) =>
        sendStream(agent, targets, options.clock, request, span),
      ).catch((error: unknown) => {
        outcomes.inc({ outcome: outcomeOf(error) });
        throw error;
      });
      void over.then((failure) => outcomes.inc({ outcome: failure ? outcomeOf(failure) : classOf(reply) }));
      return reply;
    },
    close: () => (closed ??= agent.close()),
  };
}

function agentOf(options: GuardedClientOptions, limits: EgressLimits): Dispatcher {
  const { allow, clock, resolve, openSocket, ca, plainHttp } = options;
  const connect = guardedConnector({
    allow,
    clock,
    resolve,
    openSocket,
    ca,
    connectMs: limits.connectMs,
    plainHttpAnywhere: plainHttp === 'anywhere',
  });
  return new Agent({
    connect,
    connections: limits.connectionsPerOrigin,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: limits.maxHeaderBytes,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    headersTimeout: 0, // `send` measures the time: undici's own timers are accurate to half a second only
    bodyTimeout: 0,
  });
}

function outcomeCounter(metrics: Metrics): Counter<'outcome'> {
  const name = 'egress_requests_total';
  const help = 'Requests to external addresses, by class of reply or error code';
  const existing = metrics.getSingleMetric(name) as Counter<'outcome'> | undefined;
  return existing ?? new Counter({ name, help, labelNames: ['outcome'], registers: [metrics] });
}

const classOf = ({ status }: { readonly status: number }): string => `${Math.floor(status / 100)}xx`;

interface Bounds {
  readonly clock: Clock;
  readonly limits: EgressLimits;
}

/** The destination of a request, once its URL is checked. */
interface Target {
  readonly origin: string;
  readonly host: string;
  readonly path: string;
}

async function send(
  agent: Dispatcher,
  targets: Targets,
  { clock, limits }: Bounds,
  request: EgressRequest,
  span: Span | undefined,
): Promise<EgressReply> {
  const { origin, host, path } = targets.of(request.url);
  const headers = headersOf(request, span);
  span?.setAttribute('server.address', host);
  const timeoutMs = request.timeoutMs ?? limits.timeoutMs;
  const firstByteMs = request.firstByteMs ?? Math.max(limits.firstByteMs, request.timeoutMs ?? 0);

  const maxBytes = request.maxBytes ?? limits.maxBytes;
  const exchange = new Exchange({
    maxBytes,
    whenTooLarge: request.whenTooLarge ?? 'refuse',
    isAnnounced: request.method !== 'HEAD',
    tooLarge: () => new EgressError('reply_too_large', `${host} sent a reply of more than ${maxBytes} bytes`),
  });
  const late = (ms: number, what: string): void =>
    exchange.fail(new EgressError('timeout', `${host} did not ${what} within ${ms} ms`));
  const isOver = clock.schedule(timeoutMs, () => late(timeoutMs, 'finish its reply'));
  const hasBegun =
    firstByteMs < timeoutMs
      ? clock.schedule(firstByteMs, () => exchange.status === undefined && late(firstByteMs, 'begin to reply'))
      : undefined;
  const giveUp = (): void =>
    exchange.fail(new EgressError('aborted', `the request to ${host} was cancelled`, { cause: request.signal?.reason }));
  request.signal?.addEventListener('abort', giveUp);
  try {
    const { method = 'GET', body = null } = request;
    if (request.signal?.aborted === true) giveUp();
    else agent.dispatch({ origin, path, method, headers, body }, exchange);
    const reply = await exchange.reply;
    span?.setAttribute('http.response.status_code', reply.status);
    if (span && reply.status >= 400) markFailed(span, String(reply.status));
    return { ...reply, statusText: reply.statusText.slice(0, STATUS_TEXT_MAX) };
  } catch (error) {
    throw egressErrorOf(error, host, exchange.status);
  } finally {
    request.signal?.removeEventListener('abort', giveUp);
    isOver();
    hasBegun?.();
  }
}

async function sendStream(
  agent: Dispatcher,
  targets: Targets,
  clock: Clock,
  request: StreamedRequest,
  span: Span | undefined,
): Promise<{ reply: StreamedReply; over: Promise<Error | undefined> }> {
  const { origin, host, path } = targets.of(request.url);
  const { maxBytes, silenceMs, timeoutMs, signal } = request;
  const headers = { ...headersOf(request, span), 'content-length': String(request.contentLength) };
  span?.setAttribute('server.address', host);
  const exchange = new StreamedExchange({
    clock,
    maxBytes,
    silenceMs,
    tooLarge: () => new EgressError('reply_too_large', `${host} sent a reply of more than ${maxBytes} bytes`),
    silent: () => new EgressError('timeout', `${host} was silent for ${silenceMs} ms`),
    errorOf: (error, status) => egressErrorOf(error, host, status) as Error,
  });
  const isOver = clock.schedule(timeoutMs, () =>
    exchange.fail(new EgressError('timeout', `${host} did not finish its reply within ${timeoutMs} ms`)),
  );
  const giveUp = (): void =>
    exchange.fail(new EgressError('aborted', `the request to ${host} was cancelled`, { cause: signal?.reason }));
  signal?.addEventListener('abort', giveUp);
  void exchange.over.then(() => {
    isOver();
    signal?.removeEventListener('abort', giveUp);
  });
  if (signal?.aborted === true) giveUp();
  // undici accepts any async iterable; its types name only Node's streams.
  else
    agent.dispatch({ origin, path, method: 'POST', headers, body: exchange.sent(request.body) as unknown as Readable }, exchange);
  const reply = await exchange.reply;
  span?.setAttribute('http.response.status_code', reply.status);
  if (span && reply.status >= 400) markFailed(span, String(reply.status));
  return { reply, over: exchange.over };
}

function headersOf(
  { headers = {}, sendsTrace }: Pick<EgressRequest, 'headers' | 'sendsTrace'>,
  span: Span | undefined,
): Record<string, string> {
  const checked = checkedHeaders(headers);
  const traceparent = span && sendsTrace === true ? traceparentOf(span) : null;
  return traceparent === null ? checked : { ...checked, traceparent };
}

/**
 * Targets of recently used URLs: a webhook's URL is checked once, not at each delivery. The addresses of a name are checked
 * whenever it is dialled.
 */
class Targets {
  readonly #allow: readonly AllowedRange[];
  readonly #checked = new LRUCache<string, Target>({ max: TARGETS_MAX });

  constructor(allow: readonly AllowedRange[]) {
    this.#allow = allow;
  }

  /** Throws EgressError `url_refused` or `address_refused`. */
  of(text: string): Target {
    const checked = this.#checked.get(text);
    if (checked) return checked;
    const { origin, hostname, pathname, search } = checkedUrl(text, this.#allow);
    const target = { origin, host: hostname, path: pathname + search };
    if (text.length <= TARGET_URL_MAX) this.#checked.set(text, target);
    return target;
  }
}

function checkedUrl(text: string, allow: readonly AllowedRange[]): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new EgressError('url_refused', 'the address is not an http or https URL');
  if (url.username !== '' || url.password !== '') {
    throw new EgressError('url_refused', `the address at ${url.hostname} contains a user name or password`);
  }
  if (literalPrivateAddress(url.href, allow) !== undefined) {
    throw new EgressError('address_refused', `${url.hostname} leads to a private address`);
  }
  return url;
}

function checkedHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'Carrel', 'accept-encoding': 'identity' };
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (OWN_HEADERS.test(lower)) throw new EgressError('request_refused', `the header ${lower} must not be set by the caller`);
    headers[lower] = value;
  }
  return headers;
}
