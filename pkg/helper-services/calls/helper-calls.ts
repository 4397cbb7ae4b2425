import { Readable } from 'node:stream';
import { Histogram } from 'prom-client';
import { Problem } from '../../api/problem.ts';
import type { GuardedClient } from '../../net/client.ts';
import type { StreamedReply } from '../../net/streamed-exchange.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Helper } from '../helper.ts';
import { type BreakerLimits, Breakers } from './breakers.ts';
import { multipart, type SentFile } from './multipart-body.ts';
import { checkedPdf } from './pdf-reply.ts';
import { problemOfError, problemOfStatus, rejected, type Translation, translationOf } from './replies.policy.ts';
import { MINUTE_MS } from '../../runtime/time.ts';
import { MIB } from '../../runtime/bytes.ts';

export interface HelperLimits {
  /** Limit of a translation of text, for which a client waits: less than the minute after which proxies give up. */
  readonly textMs: number;
  /** How long a helper may neither receive nor send any byte of a PDF. */
  readonly silenceMs: number;
  /** Limit of a PDF, from the call to the end of the reply. */
  readonly pdfMs: number;
  readonly breaker: Partial<BreakerLimits>;
}

export const HELPER_LIMITS: HelperLimits = { textMs: 55_000, silenceMs: 60_000, pdfMs: 10 * MINUTE_MS, breaker: {} };

const TEXT_REPLY_BYTES_MAX = 4 * MIB;
const REFUSAL_BYTES_MAX = 4 * 1024;

export interface Conversion {
  readonly path: '/optimize' | '/translate';
  readonly fields: Readonly<Record<string, string>>;
  readonly file: SentFile;
  /** Maximum of the reply's body: one byte more is rejected. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Requests to the helper services of tenants, each behind the breaker of its tenant and helper. They throw `helper_unavailable`,
 * which another attempt may avoid; `helper_rejected`, which it would meet again; and `validation_failed` with a translator's own
 * message. An abort is EgressError `aborted`.
 */
export class HelperCalls {
  readonly #client: GuardedClient;
  readonly #clock: Clock;
  readonly #limits: HelperLimits;
  readonly #seconds: Histogram<'helper' | 'outcome'>;
  readonly breakers: Breakers;

  constructor(deps: { client: GuardedClient; clock: Clock; metrics: Metrics; limits?: Partial<HelperLimits> }) {
    this.#client = deps.client;
    this.#clock = deps.clock;
    this.#limits = { ...HELPER_LIMITS, ...deps.limits };
    this.breakers = new Breakers({ ...deps, limits: this.#limits.breaker });
    this.#seconds = new Histogram({
      name: 'carrel_helper_call_seconds',
      help: 'Requests to helper services of tenants, by helper and outcome',
      labelNames: ['helper', 'outcome'],
      buckets: [0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 180, 600],
      registers: [deps.metrics],
    });
  }

  /** Translates a text. `source` null: the helper detects the language. */
  translate(
    tenant: string,
    helper: Helper,
    { text, source, target }: { text: string; source: string | null; target: string },
    signal: AbortSignal,
  ): Promise<Translation> {
    return this.#call(tenant, helper, async () => {
      const { status, headers, body } = await this.#client.request({
        url: addressOf(helper, '/translate'),
        method: 'POST',
        headers: { ...identity(tenant, helper), 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ text, target_language: target, source_language: source ?? 'auto' }),
        maxBytes: TEXT_REPLY_BYTES_MAX,
        timeoutMs: this.#limits.textMs,
        signal,
        sendsTrace: true,
      });
      if (status === 200) return translationOf(headers['content-type'], body);
      throw problemOfStatus(
        helper.kind,
        { status, retryAfter: headers['retry-after'], text: body.subarray(0, REFUSAL_BYTES_MAX).toString('utf8') },
        helper.token,
      );
    });
  }

  /**
   * Converts a PDF; both directions stream. `receive` reads the reply's PDF, which fails if it turns out not to be a PDF. An
   * error of `receive` itself is thrown unchanged and does not count against the helper.
   */
  convert<T>(tenant: string, helper: Helper, conversion: Conversion, receive: (pdf: Readable) => Promise<T>): Promise<T> {
    return this.#call(tenant, helper, async () => {
      const { fields, file, maxBytes, signal, path } = conversion;
      const { contentType, contentLength, body } = multipart(fields, file);
      const reply = await this.#client.stream({
        url: addressOf(helper, path),
        headers: { ...identity(tenant, helper), 'content-type': contentType, accept: 'application/pdf, application/json;q=0.5' },
        body,
        contentLength,
        maxBytes,
        silenceMs: this.#limits.silenceMs,
        timeoutMs: this.#limits.pdfMs,
        signal,
        sendsTrace: true,
      });
      try {
        return await this.#receive(helper, reply, receive);
      } finally {
        reply.body.destroy();
      }
    });
  }

  async #receive<T>(
    helper: Helper,
    { status, headers, body }: StreamedReply,
    receive: (pdf: Readable) => Promise<T>,
  ): Promise<T> {
    if (status !== 200) {
      const text = await beginningOf(body, REFUSAL_BYTES_MAX);
      throw problemOfStatus(helper.kind, { status, retryAfter: headers['retry-after'], text }, helper.token);
    }
    if (!/^application\/pdf\s*(;|$)/i.test(headers['content-type'] ?? ''))
      throw rejected(helper.kind, 'answered with something other than a PDF');
    let failure: unknown;
    const pdf = Readable.from(
      checkedPdf(helper.kind, body, (error) => (failure = error)),
      { objectMode: false },
    );
    try {
      return await receive(pdf);
    } catch (error) {
      // A consumer of a stream may wrap the error by which the stream failed.
      throw failure ?? error;
    } finally {
      pdf.destroy();
    }
  }

  async #call<T>(tenant: string, { kind }: Helper, call: () => Promise<T>): Promise<T> {
    const started = this.#clock.monotonic();
    const end = (outcome: string): void =>
      this.#seconds.observe({ helper: kind, outcome }, (this.#clock.monotonic() - started) / 1000);
    let isAsked = false;
    try {
      const result = await this.breakers.run(tenant, kind, async () => {
        isAsked = true;
        return call().catch((error: unknown) => {
          throw problemOfError(kind, error);
        });
      });
      end('ok');
      return result;
    } catch (error) {
      end(isAsked ? outcomeOf(error) : 'breaker_open');
      throw error;
    }
  }
}

const OUTCOMES: Readonly<Record<string, string>> = {
  helper_unavailable: 'unavailable',
  helper_rejected: 'rejected',
  validation_failed: 'refused',
};
const outcomeOf = (error: unknown): string => (error instanceof Problem ? (OUTCOMES[error.code] ?? 'ours') : 'ours');

/** `url` may end with a slash. */
export const addressOf = ({ url }: Helper, path: string): string => url.replace(/\/+$/, '') + path;

/** A helper that serves several tenants gives them turns by their numbers. */
const identity = (tenant: string, helper: Helper): Record<string, string> => ({
  ...authorization(helper),
  'x-carrel-tenant': tenant,
});

export const authorization = ({ token }: Helper): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

/** Returns the beginning of a text; the rest is not read. */
async function beginningOf(body: Readable, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= most) break;
    }
  } catch {
    // The status is informative enough.
  }
  return Buffer.concat(chunks).subarray(0, most).toString('utf8');
}
