import type { JobHandler, Unwritten } from '../../events/processor.ts';
import { EgressError } from '../../net/egress-error.ts';
import type { GuardedClient } from '../../net/client.ts';
import { sleepUnlessAborted } from '../../runtime/abort.ts';
import { backOffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { SealError } from '../../runtime/sealing.ts';
import { inSpan, isTracing, markFailed, parseTraceparent, type Span, type SpanFacts } from '../../runtime/traces.ts';
import type { Database } from '../../store/postgres/database.ts';
import { isError, StoreUnavailableError } from '../../store/unavailable.ts';
import { type PerTenant, slugOf, type TenantSeal } from '../../store/tenant-resources.ts';
import { type Health, healthOf, outcomeOf, type ReplyResult, resultOfEgressError, resultOfReply } from './replies.policy.ts';
import { isWorthRecording, recordHealth } from './receiver-health.ts';
import { ReceiverCache, type OpenReceiver } from './receiver-cache.ts';
import { type Attempt, type Delivery, type DeliveryStore, deliveryPayload } from './delivery-store.ts';
import type { DeliveryMetrics, DeliveryResult } from './delivery-metrics.ts';
import { INTERNAL_BACK_OFF, retryAfterMs, retryDelayMs } from '../../api/retry-schedule.ts';
import { signatureHeaders } from './signature.ts';

/** Only the status of the reply counts. */
const MAX_REPLY_BYTES = 16 * 1024;
/**
 * A failed attempt holds its slot at least this long. Otherwise the whole backlog of a receiver that refuses at once would be
 * tried as fast as the machine can, at the cost of every other tenant.
 */
const FAILURE_MS = 100;

/** The result of an attempt, which is being written. */
interface Tried {
  readonly isSuccess: boolean;
  readonly writing: Promise<DeliveryResult>;
}

interface Sent {
  readonly attempt: Attempt;
  readonly retryAfterMs: number;
  /** Time that the receiver took to answer; undefined if it did not. */
  readonly tookMs?: number;
}

/**
 * Sends deliveries (docs/design/events-and-jobs.md, Webhooks).
 *
 * Invariants:
 * - A delivery is sent only under its lease, and a worker that lost the lease writes nothing about it.
 * - Each attempt carries the same id and bytes. The receiver may get it twice only after a crash, or if its reply came too late.
 * - It ends as delivered (2xx), failed (410, or no attempt is left) or canceled (the webhook is deleted or not active).
 * - The receiver's reply is recorded unchanged; a failure to write it never changes the outcome.
 * - An internal error says nothing about the receiver and is retried like a failed attempt, so that it delays no other delivery.
 *   A secret that cannot be decrypted is not an attempt: the right key may be configured later.
 */
export class DeliveryHandler implements JobHandler<Delivery> {
  readonly store: DeliveryStore;
  readonly #receivers: ReceiverCache;
  readonly #deps: DeliveryHandlerDeps;

  constructor(deps: DeliveryHandlerDeps) {
    this.#receivers = new ReceiverCache(deps);
    this.store = deps.store;
    this.#deps = deps;
  }

  laneOf({ endpoint }: Delivery): string {
    return endpoint;
  }

  async attempt(delivery: Delivery, signal: AbortSignal): Promise<Unwritten | undefined> {
    const { isSuccess, writing } = isTracing()
      ? await inSpan('process delivery', delivering(delivery), (span) => this.#tryOnce(delivery, signal, span))
      : await this.#tryOnce(delivery, signal);
    const written = writing.then((result) => this.#deps.metrics.result(slugOf(delivery.tenant), result));
    if (isSuccess) return { written };
    await written;
    return undefined;
  }

  async #tryOnce(delivery: Delivery, signal: AbortSignal, span?: Span): Promise<Tried> {
    const failed = (writing: Promise<DeliveryResult>): Tried => {
      if (span) markFailed(span, 'undelivered');
      return { isSuccess: false, writing };
    };
    try {
      const receiver = await this.#receivers.of(delivery);
      if (!receiver?.active) return failed(this.#end(delivery, 'canceled', null));
      const body = delivery.payload ?? (await deliveryPayload(this.#deps.db, delivery));
      const sent = body === undefined ? null : await this.#send(delivery, receiver, body, signal);
      if (sent === null) return failed(this.#release(delivery));
      if (sent.attempt.error === null) return { isSuccess: true, writing: this.#writeSent(delivery, receiver, sent) };
      await this.#holdSlot(signal);
      return failed(this.#writeSent(delivery, receiver, sent));
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      await this.#holdSlot(signal);
      return failed(this.#retryInternal(delivery, error));
    }
  }

  async #writeSent(delivery: Delivery, receiver: OpenReceiver, sent: Sent): Promise<DeliveryResult> {
    const result = await this.#conclude(delivery, sent);
    const health = healthOf(sent.attempt);
    if (result === 'lost_lease' || !isWorthRecording(receiver, health, sent.attempt)) return result;
    try {
      await this.#recordHealth(delivery, receiver, health, sent.attempt);
    } catch (error) {
      this.#deps.log.warn({ err: error, tenant: delivery.tenant }, 'could not record the health of a webhook');
    }
    return result;
  }

  async #release(delivery: Delivery): Promise<DeliveryResult> {
    await this.store.release([delivery]);
    return 'lost_lease';
  }

  async #retryInternal(delivery: Delivery, error: unknown): Promise<DeliveryResult> {
    const { clock, random, log } = this.#deps;
    const { tenant, id, endpoint, attempts } = delivery;
    if (error instanceof SealError) {
      log.error({ err: error, tenant, id, endpoint }, 'cannot decrypt webhook secret');
      return this.#retry(delivery, null, backOffMs(INTERNAL_BACK_OFF, attempts, random));
    }
    log.error({ ...originOf(error), tenant, id, endpoint }, 'delivery failed: internal error');
    const attempt = attemptAt(clock.now(), { status_code: null, error: 'internal error' });
    return this.#conclude(delivery, { attempt, retryAfterMs: 0 });
  }

  async #holdSlot(signal: AbortSignal): Promise<void> {
    await sleepUnlessAborted(this.#deps.clock, FAILURE_MS, signal);
  }

  /** Returns null if this program aborted the request, which says nothing about the receiver. */
  async #send(delivery: Delivery, receiver: OpenReceiver, body: string, signal: AbortSignal): Promise<Sent | null> {
    const { client, clock } = this.#deps;
    const at = clock.now();
    const { keys, headers } = await receiver.open();
    const began = clock.monotonic();
    try {
      const reply = await client.request({
        url: receiver.url,
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          ...signatureHeaders({ body, messageId: delivery.messageId, at, keys }),
        },
        body,
        sendsTrace: true,
        signal,
        timeoutMs: this.#deps.timeoutMs,
        maxBytes: MAX_REPLY_BYTES,
        whenTooLarge: 'cut',
      });
      return {
        attempt: attemptAt(at, resultOfReply(reply.status)),
        retryAfterMs: retryAfterMs(reply.headers['retry-after'], clock.now()),
        tookMs: clock.monotonic() - began,
      };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      if (error.code === 'aborted') return null;
      return { attempt: attemptAt(at, resultOfEgressError(error)), retryAfterMs: 0 };
    }
  }

  #conclude(delivery: Delivery, sent: Sent): Promise<DeliveryResult> {
    const { clock, random, metrics, retrySeconds } = this.#deps;
    const { attempt } = sent;
    const delay = retryDelayMs({ sent: delivery.sent + 1, retryAfterMs: sent.retryAfterMs }, retrySeconds, random);
    const outcome = outcomeOf(attempt, delay);
    if (outcome.state === 'delivered')
      metrics.latency(slugOf(delivery.tenant), (clock.now().getTime() - delivery.createdAt.getTime()) / 1000);
    if (outcome.state !== 'retried') return this.#end(delivery, outcome.state, attempt, sent.tookMs);
    return this.#retry(delivery, attempt, outcome.delayMs, sent.tookMs);
  }

  async #retry(delivery: Delivery, attempt: Attempt | null, delayMs: number, tookMs?: number): Promise<DeliveryResult> {
    return (await this.store.retry(delivery, attempt, delayMs, tookMs)) ? 'retried' : 'lost_lease';
  }

  async #end(
    delivery: Delivery,
    state: 'delivered' | 'failed' | 'canceled',
    attempt: Attempt | null,
    tookMs?: number,
  ): Promise<DeliveryResult> {
    return (await this.store.end(delivery, state, attempt, tookMs)) ? state : 'lost_lease';
  }

  async #recordHealth(delivery: Delivery, receiver: OpenReceiver, health: Health, attempt: Attempt): Promise<void> {
    await this.#deps.db.as(delivery.tenant).transaction((tx) => recordHealth(tx, delivery, receiver, health, attempt));
    this.#receivers.invalidate(delivery);
  }
}

const attemptAt = (at: Date, result: ReplyResult): Attempt => ({ at: at.toISOString(), ...result });

/** The span belongs to the request that made the event, however often it is sent. */
const delivering = ({ tenant, messageId, endpoint, sent, traceparent }: Delivery): SpanFacts => ({
  kind: 'consumer',
  parent: parseTraceparent(traceparent) ?? null,
  attributes: {
    'messaging.system': 'carrel',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'deliveries',
    'messaging.message.id': messageId,
    'carrel.tenant': slugOf(tenant),
    'carrel.webhook': endpoint,
    'carrel.attempt': sent + 1,
  },
});

interface DeliveryHandlerDeps {
  readonly store: DeliveryStore;
  /** The database of the store's shard. */
  readonly db: Database;
  readonly client: GuardedClient;
  readonly seals: PerTenant<TenantSeal>;
  /** Longest time that a receiver may take to accept a delivery and answer. */
  readonly timeoutMs: number;
  /** Waits between attempts, in seconds. */
  readonly retrySeconds: readonly number[];
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Returns the kind of an error and its stack without the message: JSON.parse and others quote their input, which may be a secret.
 */
const originOf = (error: unknown): { failure: string; at: string[] } =>
  isError(error)
    ? { failure: error.name, at: (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) }
    : { failure: typeof error, at: [] };
