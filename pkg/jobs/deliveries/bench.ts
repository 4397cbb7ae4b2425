import { EgressError } from '../../net/egress-error.ts';
import type { GuardedClient } from '../../net/client.ts';
import { backOffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { SealError } from '../../runtime/sealing.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { isError, StoreUnavailableError } from '../../store/unavailable.ts';
import { type PerTenant, slugOf, type TenantSeal } from '../tenants.ts';
import { hasNews, isSuccess, noteHealth } from './endpoint.ts';
import { Endpoints, type OpenEndpoint } from './endpoints.ts';
import type { Attempt, Delivery, DeliveryLedger } from './ledger.ts';
import type { DeliveryMetrics, DeliveryResult } from './metrics.ts';
import { OURS, retryAfterMs, retryDelayMs } from '../retry.policy.ts';
import { signatureHeaders } from './signature.ts';

/** Of the answer only the status counts. */
const MAX_REPLY_BYTES = 16 * 1024;
const GONE = 410;
/**
 * A failure keeps its place in the tenant's window for so long at least: a receiver that refuses at once would else have its whole backlog
 * tried as fast as the machine can, at the cost of everybody's.
 */
const FAILURE_MS = 100;

interface Sent {
  readonly attempt: Attempt;
  readonly retryAfterMs: number;
}

/**
 * Sends deliveries (design: section 7).
 *
 * Invariants:
 * - A delivery is sent only under its lease, and whoever lost the lease writes nothing about it.
 * - Every sending carries the same id and bytes; it may come twice only after a crash, or when the answer came too late.
 * - It ends as delivered (2xx), failed (410, or the schedule is through) or canceled (the endpoint is gone or not active).
 * - What goes wrong on our side says nothing of the receiver, and puts the delivery off as a failure does, so that it holds up no other.
 *   A secret that cannot be opened is no attempt at all: the right key may come later.
 */
export class DeliveryBench {
  readonly ledger: DeliveryLedger;
  readonly wake: () => void;
  readonly #endpoints: Endpoints;
  readonly #deps: DeliveryBenchDeps;

  constructor(deps: DeliveryBenchDeps) {
    this.#endpoints = new Endpoints(deps);
    this.ledger = deps.ledger;
    this.wake = deps.wake;
    this.#deps = deps;
  }

  async attempt(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const result = await this.#deliver(delivery, signal);
    this.#deps.metrics.result(slugOf(delivery.tenant), result);
  }

  async #deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    try {
      return await this.#tryOnce(delivery, signal);
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      return this.#putOff(delivery, error, signal);
    }
  }

  async #tryOnce(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    const endpoint = await this.#endpoints.of(delivery);
    if (!endpoint?.active) return this.#end(delivery, 'canceled', null);
    const sent = await this.#send(delivery, endpoint, signal);
    if (sent === null) {
      await this.ledger.release(delivery);
      return 'lost_lease';
    }
    if (sent.attempt.error !== null) await this.#holdPlace(signal);
    const result = await this.#conclude(delivery, sent);
    if (result !== 'lost_lease') {
      const noted = this.#noteHealth(delivery, endpoint, sent.attempt);
      await noted.catch((error: unknown) =>
        this.#deps.log.warn({ err: error, tenant: delivery.tenant }, 'the health of a webhook was not noted'),
      );
    }
    return result;
  }

  async #putOff(delivery: Delivery, error: unknown, signal: AbortSignal): Promise<DeliveryResult> {
    const { clock, random, log } = this.#deps;
    const { tenant, id, endpoint, attempts } = delivery;
    await this.#holdPlace(signal);
    if (error instanceof SealError) {
      log.error({ err: error, tenant, id, endpoint }, 'what a webhook has sealed cannot be opened');
      return (await this.ledger.retry(delivery, null, backOffMs(OURS, attempts, random))) ? 'retried' : 'lost_lease';
    }
    log.error({ ...placeOf(error), tenant, id, endpoint }, 'a delivery failed by an error of ours');
    const attempt = { at: clock.now().toISOString(), status_code: null, error: 'an error of ours' };
    return this.#conclude(delivery, { attempt, retryAfterMs: 0 });
  }

  async #holdPlace(signal: AbortSignal): Promise<void> {
    await this.#deps.clock.sleep(FAILURE_MS, signal).catch(() => undefined);
  }

  /** Null: it was broken off by us, and says nothing about the receiver. */
  async #send(delivery: Delivery, endpoint: OpenEndpoint, signal: AbortSignal): Promise<Sent | null> {
    const { client, clock } = this.#deps;
    const at = clock.now();
    const { secret, previousSecret, headers } = await endpoint.open();
    try {
      const reply = await client.request({
        url: endpoint.url,
        method: 'POST',
        headers: {
          ...lowerCased(headers),
          'content-type': 'application/json',
          ...signatureHeaders({ body: delivery.payload, messageId: delivery.messageId, at, secret, previousSecret }),
        },
        body: delivery.payload,
        signal,
        timeoutMs: this.#deps.timeoutMs,
        maxBytes: MAX_REPLY_BYTES,
        whenTooLarge: 'cut',
      });
      const error = isSuccess(reply.status) ? null : `the receiver answered ${reply.status}`;
      return {
        attempt: { at: at.toISOString(), status_code: reply.status, error },
        retryAfterMs: retryAfterMs(reply.headers['retry-after'], clock.now()),
      };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      if (error.code === 'aborted') return null;
      const status = error.status ?? null;
      // Only the status counts: a yes whose body broke off is a yes.
      const failure = status !== null && isSuccess(status) ? null : error.message;
      return { attempt: { at: at.toISOString(), status_code: status, error: failure }, retryAfterMs: 0 };
    }
  }

  async #conclude(delivery: Delivery, sent: Sent): Promise<DeliveryResult> {
    const { clock, random, metrics, retrySeconds } = this.#deps;
    const { attempt } = sent;
    if (attempt.error === null) {
      metrics.latency(slugOf(delivery.tenant), (clock.now().getTime() - delivery.createdAt.getTime()) / 1000);
      return this.#end(delivery, 'delivered', attempt);
    }
    const delay = retryDelayMs({ sent: delivery.sent + 1, retryAfterMs: sent.retryAfterMs }, retrySeconds, random);
    if (attempt.status_code === GONE || delay === null) return this.#end(delivery, 'failed', attempt);
    return (await this.ledger.retry(delivery, attempt, delay)) ? 'retried' : 'lost_lease';
  }

  async #end(delivery: Delivery, state: 'delivered' | 'failed' | 'canceled', attempt: Attempt | null): Promise<DeliveryResult> {
    return (await this.ledger.end(delivery, state, attempt)) ? state : 'lost_lease';
  }

  async #noteHealth(delivery: Delivery, endpoint: OpenEndpoint, attempt: Attempt): Promise<void> {
    const health = attempt.error === null ? 'well' : attempt.status_code === GONE ? 'gone' : 'failing';
    if (!hasNews(endpoint, health, attempt)) return;
    await this.#deps.pool.transaction((tx) => noteHealth(tx, delivery, endpoint, health, attempt), { role: delivery.tenant });
    this.#endpoints.forget(delivery);
  }
}

interface DeliveryBenchDeps {
  readonly ledger: DeliveryLedger;
  /** The shard that the ledger is of. */
  readonly pool: SqlPool;
  readonly client: GuardedClient;
  readonly seals: PerTenant<TenantSeal>;
  /** A receiver has so long to take a delivery and answer. */
  readonly timeoutMs: number;
  /** Waits between attempts, in seconds. */
  readonly retrySeconds: readonly number[];
  readonly metrics: DeliveryMetrics;
  wake(): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** What an error is and where it came from. Its message stays away: JSON.parse and others quote what they were given, which may be a secret. */
const placeOf = (error: unknown): { failure: string; at: string[] } =>
  isError(error)
    ? { failure: error.name, at: (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) }
    : { failure: typeof error, at: [] };

/** Names in lower case, so that none of an endpoint's own headers stands beside one of ours. */
const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
