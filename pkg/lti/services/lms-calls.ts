import { Histogram } from 'prom-client';
import { Problem } from '../../api/problem.ts';
import type { GuardedClient } from '../../net/client.ts';
import { EgressError } from '../../net/egress-error.ts';
import type { EgressReply } from '../../net/exchange.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Random } from '../../runtime/random.ts';
import { shownAnswer } from './lms-answers.policy.ts';
import { type Asked, late, problemOfError, problemOfRefusal, type Service, unusable } from './lms-problems.policy.ts';
import { type ServiceClient, ServiceTokens } from './service-tokens.ts';

/** Of a whole operation, however many requests it takes: a client waits, and proxies give up after a minute. */
const OPERATION_MS = 25_000;
const REQUEST_MS = 15_000;
const REPLY_BYTES_MAX = 1024 * 1024;

/** One operation of a client: whom it asks, what for, and until when. */
export interface Operation {
  readonly client: ServiceClient;
  readonly service: Service;
  /** In monotonic milliseconds. */
  readonly until: number;
  /** Given up when the client has gone; a change is not. */
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
  readonly headers: EgressReply['headers'];
  /** Of its JSON; undefined where the body is empty. */
  readonly body: unknown;
}

/**
 * Requests of services of LMSs that a client waits for. Every failure is a Problem that says what the LMS said and what can be done about it:
 * `lms_service_missing`, `lms_refused`, `lms_failed`, `lms_unavailable`, `lms_timeout`, `not_found`.
 *
 * Invariants:
 * - A token that the LMS refuses (401, 403) is renewed once; what was refused for its token was not done.
 * - A reply is at most 1 MiB, an operation takes at most 25 s beside the request of a token, and no redirect is followed.
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
      help: 'Requests of services of LMSs that clients wait for, by service and outcome',
      labelNames: ['service', 'outcome'],
      buckets: [0.05, 0.25, 1, 2.5, 5, 10, 25],
      registers: [deps.metrics],
    });
  }

  begin(client: ServiceClient, service: Service, signal?: AbortSignal): Operation {
    return { client, service, signal, until: this.#clock.monotonic() + OPERATION_MS };
  }

  /** The answer of a 2xx. Throws Problem; EgressError `aborted`. */
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

  #send({ until, signal }: Operation, { method, url, accept, type, body }: LmsRequest, token: string): Promise<EgressReply> {
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
      timeoutMs: Math.min(REQUEST_MS, left),
      maxBytes: REPLY_BYTES_MAX,
    });
  }

  #answerOf(reply: EgressReply, { service }: Operation, { method, asked }: LmsRequest, token: string): LmsAnswer {
    const { status, statusText, headers } = reply;
    const text = reply.body.toString('utf8').replace(/^\uFEFF/, '');
    if (status >= 200 && status < 300) return { headers, body: jsonOf(text) };
    const refusal = { method, status, words: shownAnswer({ status, statusText, text }, [token]), retryAfter: headers['retry-after'] };
    throw problemOfRefusal(refusal, service, asked, this.#clock.now());
  }
}

function jsonOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw unusable('it is no JSON');
  }
}
