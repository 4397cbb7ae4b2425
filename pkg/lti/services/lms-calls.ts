import { isUtf8 } from 'node:buffer';
import { Histogram } from 'prom-client';
import { Problem } from '../../api/problem.ts';
import type { GuardedClient } from '../../net/client.ts';
import { EgressError } from '../../net/egress-error.ts';
import type { EgressReply } from '../../net/exchange.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Random } from '../../runtime/random.ts';
import { isNestedTooDeep } from '../nested.ts';
import { shownAnswer } from './lms-answers.policy.ts';
import { type Asked, late, problemOfError, problemOfRefusal, type Service, unusable } from './lms-problems.policy.ts';
import { type ServiceClient, ServiceTokens } from './service-tokens.ts';

/** Limits of an operation and of each of its requests: the LMS's time, and the bytes of a reply. */
export interface OperationLimits {
  readonly operationMs: number;
  readonly requestMs: number;
  readonly replyBytes: number;
}

/** For requests of a waiting client: proxies give up after a minute. */
const WHILE_CLIENT_WAITS: OperationLimits = { operationMs: 25_000, requestMs: 15_000, replyBytes: 1024 * 1024 };

/** One operation: whom it asks, what for, and until when. */
export interface Operation {
  readonly client: ServiceClient;
  readonly service: Service;
  readonly limits: OperationLimits;
  /** In monotonic milliseconds. */
  readonly until: number;
  /** Aborts when the client has disconnected; a change has no signal. */
  readonly signal?: AbortSignal | undefined;
}

export interface LmsRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly asked: Asked;
  readonly accept?: string;
  readonly type?: string;
  readonly body?: unknown;
}

export interface LmsAnswer {
  /** 200 to 299; always 200 for a GET. */
  readonly status: number;
  readonly headers: EgressReply['headers'];
  /** Parsed JSON; undefined if the body is empty, or after a deletion. */
  readonly body: unknown;
}

/**
 * Requests to services of LMSs. Every failure is a Problem that says what the LMS answered and what can be done about it:
 * `lms_service_missing`, `lms_refused`, `lms_failed`, `lms_unavailable`, `lms_timeout`, `not_found`.
 *
 * Invariants:
 * - A token that the LMS refuses (401, 403) is renewed once; the LMS did not carry out the refused request.
 * - While a client waits, a reply has at most 1 MiB, and an operation takes at most 25 s, not counting the request of a token. No
 *   redirect is followed.
 */
export class LmsCalls {
  readonly #client: GuardedClient;
  readonly #clock: Clock;
  readonly #tokens: ServiceTokens;
  readonly #seconds: Histogram<'service' | 'outcome'>;

  constructor(deps: { client: GuardedClient; clock: Clock; random: Random; metrics: Metrics }) {
    this.#client = deps.client;
    this.#clock = deps.clock;
    this.#tokens = new ServiceTokens(deps);
    this.#seconds = new Histogram({
      name: 'carrel_lms_call_seconds',
      help: 'Requests of services of LMSs, by service and outcome',
      labelNames: ['service', 'outcome'],
      buckets: [0.05, 0.25, 1, 2.5, 5, 10, 25],
      registers: [deps.metrics],
    });
  }

  begin(client: ServiceClient, service: Service, signal?: AbortSignal, limits = WHILE_CLIENT_WAITS): Operation {
    return { client, service, signal, limits, until: this.#clock.monotonic() + limits.operationMs };
  }

  /** Returns the answer of a 2xx. Throws Problem; EgressError `aborted`. */
  async request(operation: Operation, request: LmsRequest): Promise<LmsAnswer> {
    const started = this.#clock.monotonic();
    const end = (outcome: string): void =>
      this.#seconds.observe({ service: operation.service.name, outcome }, (this.#clock.monotonic() - started) / 1000);
    try {
      const answer = await this.#renewing(operation, request);
      end('ok');
      return answer;
    } catch (error) {
      const problem = problemOfError(error, operation.service, { now: this.#clock.now(), isWriting: request.method !== 'GET' });
      end(problem instanceof Problem ? problem.code : problem instanceof EgressError ? problem.code : 'internal');
      throw problem;
    }
  }

  async #renewing(operation: Operation, request: LmsRequest): Promise<LmsAnswer> {
    const { client, service } = operation;
    const token = await this.#tokens.of(client, service.scope);
    const first = await this.#send(operation, request, token);
    if (first.status !== 401 && first.status !== 403) return this.#answerOf(first, operation, request, token);
    this.#tokens.drop(client, service.scope, token);
    const renewed = await this.#tokens.of(client, service.scope);
    return this.#answerOf(await this.#send(operation, request, renewed), operation, request, renewed);
  }

  #send(
    { until, signal, limits }: Operation,
    { method, url, accept, type, body }: LmsRequest,
    token: string,
  ): Promise<EgressReply> {
    const left = until - this.#clock.monotonic();
    if (left <= 0) throw late(false);
    return this.#client.request({
      url,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(accept === undefined ? {} : { accept }),
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      timeoutMs: Math.min(limits.requestMs, left),
      maxBytes: limits.replyBytes,
    });
  }

  #answerOf(reply: EgressReply, { service }: Operation, { method, asked }: LmsRequest, token: string): LmsAnswer {
    const { status, statusText, headers } = reply;
    if (method === 'GET' && status > 200 && status < 300) throw unusable(`it has status ${status}, so it is incomplete`);
    if (status >= 200 && status < 300)
      return { status, headers, body: method === 'DELETE' ? undefined : jsonOf(reply.body, method !== 'GET') };
    const text = reply.body.toString('utf8').replace(/^\uFEFF/, '');
    const refusal = {
      method,
      status,
      words: shownAnswer({ status, statusText, text }, [token]),
      retryAfter: headers['retry-after'],
    };
    throw problemOfRefusal(refusal, service, asked, this.#clock.now());
  }
}

/** RFC 8259 §8.1: JSON is in UTF-8. Another charset would silently change names. */
function jsonOf(body: Buffer, isWriting: boolean): unknown {
  if (!isUtf8(body)) throw unusable('it is not in UTF-8', isWriting);
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') return undefined;
  const value = parsed(text, isWriting);
  if (isNestedTooDeep(value)) throw unusable('it is nested too deeply', isWriting);
  return value;
}

function parsed(text: string, isWriting: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unusable('it is not JSON', isWriting);
  }
}
