import type { Counter, Histogram } from 'prom-client';
import { Agent, type Dispatcher, request } from 'undici';
import { systemClock, type Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { CredentialSource, type KubeAccess, sameTls, type Tls } from './credentials.ts';
import { type ApiStatus, KubeError } from './errors.ts';
import { counter, histogram, SECONDS_BUCKETS } from './metrics.ts';

export type Query = Record<string, string | number | boolean | undefined>;

interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/apis/apps/v1/…`, already escaped. */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** For the whole of one attempt, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

interface KubeStream {
  readonly body: AsyncIterable<Buffer>;
  /** Ends the stream at once. */
  abort(): void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** The API server closes idle connections after 90 s (the default of Go's server); this end closes first. */
const KEEP_ALIVE_MS = 45_000;
/** Streams hold a connection each, so this bounds watched kinds plus calls in flight. */
const MAX_CONNECTIONS = 128;
/** A 429 is obeyed this many times, waiting at most this long each time; then it is passed to the caller. */
const MAX_THROTTLED_TRIES = 5;
const MAX_RETRY_AFTER_MS = 10_000;

/**
 * The connection to one API server, shared by all callers.
 *
 * - It waits for `Retry-After` of a 429, bounded in number and time; every other failure is passed to the caller, as a KubeError.
 * - A GET whose connection broke before an answer is tried once more: an idle connection may have been closed meanwhile.
 * - On a 401 it reads the credentials again and tries once more.
 */
export class KubeClient {
  readonly #base: URL;
  readonly #credentials: CredentialSource;
  readonly #clock: Clock;
  readonly #userAgent: string;
  readonly #timeoutMs: number;
  readonly #requests: Counter<'code' | 'method' | 'host'>;
  readonly #durations: Histogram<'verb' | 'host'>;
  #agent: { tls: Tls; dispatcher: Agent } | undefined;

  /** Throws if the KubeConfig names no cluster. */
  constructor(options: {
    kubeConfig: KubeAccess;
    metrics: Metrics;
    clock?: Clock;
    userAgent?: string;
    /** For one attempt of an ordinary request; default 30,000. */
    requestTimeoutMs?: number;
  }) {
    const cluster = options.kubeConfig.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig has no current cluster');
    this.#base = new URL(cluster.server);
    this.#clock = options.clock ?? systemClock;
    this.#credentials = new CredentialSource(options.kubeConfig, this.#clock);
    this.#userAgent = options.userAgent ?? 'kube-controller';
    this.#timeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#requests = counter(
      options.metrics,
      'rest_client_requests_total',
      'Calls to the API server by status, method and host.',
      ['code', 'method', 'host'],
    );
    this.#durations = histogram(
      options.metrics,
      'rest_client_request_duration_seconds',
      'Time of a call to the API server.',
      ['verb', 'host'],
      SECONDS_BUCKETS,
    );
  }

  /** Returns the reply's JSON. Throws KubeError, or the signal's reason if it is aborted. */
  async request<T>(call: KubeRequest): Promise<T> {
    let broken = 0;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#requestOnce<T>(call);
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        if (error.status === 429 && tries < MAX_THROTTLED_TRIES) await this.#clock.sleep(retryAfterMs(error, 1_000), call.signal);
        else if (error.reason === 'Unreachable' && call.method === 'GET' && broken++ === 0) continue;
        else throw error;
      }
    }
  }

  /**
   * Opens a stream; resolves when the headers have arrived. A silence of `idleMs` ends it with an error, as does anything but a
   * clean end. Throws KubeError if the server refuses.
   */
  async stream(call: KubeRequest & { idleMs: number }): Promise<KubeStream> {
    const aborter = new AbortController();
    const signal = call.signal ? AbortSignal.any([call.signal, aborter.signal]) : aborter.signal;
    const response = await this.#send({ ...call, signal }, { headersTimeout: this.#timeoutMs, bodyTimeout: call.idleMs });
    if (response.statusCode !== 200) throw await this.#refusal(call, response);
    // An aborted body emits an error event even without a reader.
    response.body.on('error', () => undefined);
    return { body: response.body, abort: () => aborter.abort() };
  }

  /** Closes all connections; running requests fail. */
  async close(): Promise<void> {
    const agent = this.#agent?.dispatcher;
    this.#agent = undefined;
    await agent?.destroy();
  }

  async #requestOnce<T>(call: KubeRequest): Promise<T> {
    const timeoutMs = call.timeoutMs ?? this.#timeoutMs;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    const stop = this.#durations.startTimer({ verb: call.method, host: this.#base.host });
    try {
      const response = await this.#send({ ...call, signal }, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
      if (response.statusCode >= 300) throw await this.#refusal(call, response);
      return (await response.body.json()) as T;
    } catch (error) {
      if (error instanceof KubeError) throw error;
      if (call.signal?.aborted) throw call.signal.reason;
      throw noAnswer(call, error);
    } finally {
      stop();
    }
  }

  async #send(call: KubeRequest, timeouts: { headersTimeout: number; bodyTimeout: number }): Promise<Dispatcher.ResponseData> {
    for (let tries = 1; ; tries++) {
      const credentials = await this.#credentials.get();
      const dispatcher = this.#agentFor(credentials.tls);
      const response = await this.#count(
        call,
        request(this.#url(call), {
          dispatcher,
          method: call.method,
          headers: { ...credentials.headers, ...this.#headers(call) },
          body: call.body === undefined ? null : JSON.stringify(call.body),
          signal: call.signal ?? null,
          ...timeouts,
        }),
      );
      if (response.statusCode !== 401 || tries > 1) return response;
      this.#credentials.discard();
      await response.body.dump();
    }
  }

  async #count(call: KubeRequest, sending: Promise<Dispatcher.ResponseData>): Promise<Dispatcher.ResponseData> {
    const labels = { method: call.method, host: this.#base.host };
    try {
      const response = await sending;
      this.#requests.inc({ ...labels, code: String(response.statusCode) });
      return response;
    } catch (error) {
      this.#requests.inc({ ...labels, code: '<error>' });
      throw call.signal?.aborted ? call.signal.reason : noAnswer(call, error);
    }
  }

  async #refusal(call: KubeRequest, response: Dispatcher.ResponseData): Promise<KubeError> {
    const text = await response.body.text().catch(() => '');
    const status = parseStatus(text) ?? { message: text.slice(0, 200) || `the API server answered ${response.statusCode}` };
    const seconds = Number(response.headers['retry-after']);
    if (Number.isFinite(seconds)) status.details = { ...status.details, retryAfterSeconds: seconds };
    return KubeError.fromStatus(response.statusCode, { ...status, code: response.statusCode }, `${call.method} ${call.path}`);
  }

  #url(call: KubeRequest): URL {
    const url = new URL(this.#base);
    url.pathname = `${this.#base.pathname.replace(/\/$/, '')}${call.path}`;
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
    }
    return url;
  }

  #headers(call: KubeRequest): Record<string, string> {
    return {
      accept: call.accept ?? 'application/json',
      'user-agent': this.#userAgent,
      ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
    };
  }

  /** One agent, until the client certificate or the CA changes; the old agent lets its calls end. */
  #agentFor(tls: Tls): Agent {
    if (this.#agent && sameTls(this.#agent.tls, tls)) return this.#agent.dispatcher;
    void this.#agent?.dispatcher.close();
    const dispatcher = new Agent({
      connect: { ...tls, timeout: CONNECT_TIMEOUT_MS },
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      // undici's HTTP/2 throws a reset of the shared session where it cannot be caught, and one lost session would end all
      // watches.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
    this.#agent = { tls, dispatcher };
    return dispatcher;
  }
}

/** Returns the wait that a refusal requests (`Retry-After`), in milliseconds, at most 10 s; `otherwise` if it requests none. */
export function retryAfterMs(error: KubeError, otherwise: number): number {
  const seconds = error.details?.retryAfterSeconds;
  return seconds === undefined ? otherwise : Math.min(Math.max(seconds * 1000, 0), MAX_RETRY_AFTER_MS);
}

const TIMEOUTS = new Set(['TimeoutError', 'HeadersTimeoutError', 'BodyTimeoutError', 'ConnectTimeoutError']);

function noAnswer(call: KubeRequest, error: unknown): KubeError {
  const { name = '', message = String(error) } = error as Partial<Error>;
  const reason = TIMEOUTS.has(name) ? 'Timeout' : 'Unreachable';
  return new KubeError(0, reason, `${call.method} ${call.path}: ${message}`, { cause: error });
}

function parseStatus(text: string): ApiStatus | undefined {
  try {
    const value = JSON.parse(text) as ApiStatus | null;
    return value?.kind === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}
