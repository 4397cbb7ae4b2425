import { Batcher } from '../../runtime/batcher.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isTracing } from '../../runtime/traces.ts';
import { LockTimeout, SerializationFailure, StatementTimeout } from '../../store/postgres/errors.ts';
import { isDue, type Leased, LeasedRows } from '../../store/postgres/leases.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { countAttempts } from '../statistics/count.sql.ts';
import { bucketOf } from '../statistics/latency.ts';

/** A row of carrel.deliveries: one event for one endpoint. */
export interface Delivery extends Leased {
  /** The webhook's uuid. */
  readonly endpoint: string;
  readonly createdAt: Date;
  /** Attempts before this one. */
  readonly sent: number;
  /** The event's uuid: the same at every resend. */
  readonly messageId: string;
  /** The exact bytes that are signed and sent. Null if longer than MAX_LEASED_BYTES; `deliveryPayload` reads those. */
  readonly payload: string | null;
  /** The span that made the event; read if traces are on. */
  readonly traceparent?: string | null;
}

const TRACEPARENT =
  ', (SELECT e.traceparent FROM carrel.events e WHERE e.tenant = w.tenant AND e.id = w.event_id) AS traceparent';

type State = 'pending' | 'delivered' | 'failed' | 'canceled';

/** The outcome of an attempt; `waitMs` is the time until the next one, null for none. */
interface Outcome {
  readonly delivery: Delivery;
  readonly state: State;
  readonly attempt: Attempt | null;
  readonly waitMs: number | null;
  /** Time that the receiver took to answer. */
  readonly tookMs: number | undefined;
}

/** The state of a row: still under the outcome's lease, written with the outcome, or leased by another worker. */
type Found = 'leased' | 'written' | 'lost';

/** An attempt, as `/webhooks/{id}/deliveries` shows it. */
export interface Attempt {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly status_code: number | null;
  readonly error: string | null;
}

export interface DeliveryStatistics {
  /** Deliveries that are due, leased ones included. */
  readonly due: number;
  readonly oldestSeconds: number;
}

/**
 * A leased row carries no more of its payload than this, so that rows which wait for a slot stay small. A larger payload (256 KiB
 * at most) is read when its attempt begins.
 */
const MAX_LEASED_BYTES = 8 * 1024;

/** An outcome that Postgres refused is written again after this time, for up to RETRIED_FOR_MS while Postgres does not answer. */
const RETRY_MS = 50;
const RETRIED_FOR_MS = 10_000;
/** Shorter than the time-out of a query, so that the store knows whether the outcome is written. */
const LOCK_TIMEOUT = '2s';
const LOOK_FOR_STATISTICS_MS = 60_000;
/** Outcomes that wait for a locked row at once, each on a connection of its own; others look again after RETRY_MS. */
const MOST_WAITING = 2;

/**
 * The deliveries of one shard. An ended delivery stays with its attempts as long as its event.
 *
 * Invariant: the outcome of an attempt is written unchanged, however often writing fails. A receiver that acknowledged a delivery
 * does not get it again because a connection was lost, or because somebody locked a row for less than its lease. If Postgres does
 * not answer for RETRIED_FOR_MS, `end` and `retry` throw.
 */
export class DeliveryStore extends LeasedRows<Delivery> {
  readonly #outcomes = new Batcher<Outcome, boolean>((outcomes) => this.#write(outcomes, 'SKIP LOCKED'));
  readonly #looks = new Batcher<Outcome, Found>((outcomes) => this.#find(outcomes));
  readonly #clock: Clock;
  #waiting = 0;
  /** The statistics need a migration that the operator may not have run yet when its worker is already running. */
  #counts = false;
  #looksAgainAt = 0;

  constructor(sql: Sql, clock: Clock) {
    super(sql, {
      name: 'carrel.deliveries',
      statement: 'deliveries-lease',
      lanes: 'endpoint',
      tenantPredicate: `w.state = 'pending'`,
      columns: `w.endpoint, w.created_at AS "createdAt", jsonb_array_length(w.log) AS sent,
        (SELECT e.uuid FROM carrel.events e WHERE e.tenant = w.tenant AND e.id = w.event_id) AS "messageId",
        (SELECT CASE WHEN octet_length(e.payload) <= ${MAX_LEASED_BYTES} THEN e.payload END
         FROM carrel.events e WHERE e.tenant = w.tenant AND e.id = w.event_id) AS payload${isTracing() ? TRACEPARENT : ''}`,
    });
    this.#clock = clock;
  }

  /** Returns false if the lease had passed to another worker. */
  end(
    delivery: Delivery,
    state: 'delivered' | 'failed' | 'canceled',
    attempt: Attempt | null,
    tookMs?: number,
  ): Promise<boolean> {
    return this.#record({ delivery, state, attempt, waitMs: null, tookMs });
  }

  /**
   * Makes the delivery due again in `waitMs`, by Postgres' clock. If `attempt` is null, the log stays as it is. Returns false if
   * the lease had passed to another worker.
   */
  retry(delivery: Delivery, attempt: Attempt | null, waitMs: number, tookMs?: number): Promise<boolean> {
    return this.#record({ delivery, state: 'pending', attempt, waitMs, tookMs });
  }

  async #record(outcome: Outcome): Promise<boolean> {
    let unavailableSince: number | undefined;
    for (;;) {
      try {
        if (await this.#outcomes.submit(outcome)) return true;
        const found = await this.#looks.submit(outcome);
        if (found !== 'leased') return found === 'written';
        unavailableSince = undefined;
        if (this.#waiting < MOST_WAITING && (await this.#writeOnceUnlocked(outcome))) return true;
      } catch (error) {
        const now = this.#clock.monotonic();
        unavailableSince = error instanceof StoreUnavailableError ? (unavailableSince ?? now) : undefined;
        if (unavailableSince === undefined ? !isUnwritten(error) : now >= unavailableSince + RETRIED_FOR_MS) throw error;
      }
      await this.#clock.sleep(RETRY_MS);
    }
  }

  /** Waits for the row in a statement of its own, so that no outcome waits for another's row, and before anybody can lease it. */
  async #writeOnceUnlocked(outcome: Outcome): Promise<boolean> {
    this.#waiting += 1;
    try {
      for (;;) {
        try {
          return (await this.#write([outcome], ''))[0] === true;
        } catch (error) {
          if (!(error instanceof LockTimeout)) throw error;
        }
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * Finds the state of rows that an outcome was not written to. An outcome whose reply was lost is recognised by its attempt,
   * which nobody else can have made. Without an attempt, its state and the number of the lease identify it.
   */
  async #find(outcomes: readonly Outcome[]): Promise<Found[]> {
    const rows = await this.sql.query<{ fence: string; found: Found }>(
      `SELECT o.fence, CASE
         WHEN w.fence = o.fence THEN 'leased'
         WHEN o.attempt IS NOT NULL AND w.log -> o.sent = o.attempt::jsonb THEN 'written'
         WHEN o.attempt IS NULL AND w.fence IS NULL AND w.attempts = o.leases AND w.state = o.state THEN 'written'
         ELSE 'lost' END AS found
       FROM unnest($1::name[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::int[], $7::int[])
         AS o (tenant, id, fence, state, attempt, sent, leases)
       JOIN carrel.deliveries w USING (tenant, id)`,
      [
        outcomes.map(({ delivery }) => delivery.tenant),
        outcomes.map(({ delivery }) => delivery.id),
        outcomes.map(({ delivery }) => delivery.fence),
        outcomes.map(({ state }) => state),
        outcomes.map(({ attempt }) => attempt && JSON.stringify(attempt)),
        outcomes.map(({ delivery }) => delivery.sent),
        outcomes.map(({ delivery }) => delivery.attempts),
      ],
    );
    const found = new Map(rows.map((row) => [row.fence, row.found]));
    return outcomes.map(({ delivery }) => found.get(delivery.fence) ?? 'lost');
  }

  async #countsAttempts(): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (this.#counts || now < this.#looksAgainAt) return this.#counts;
    const [row] = await this.sql.query<{ isThere: boolean }>(
      `SELECT to_regclass('carrel.delivery_statistics') IS NOT NULL AS "isThere"`,
    );
    this.#looksAgainAt = now + LOOK_FOR_STATISTICS_MS;
    return (this.#counts = row?.isThere === true);
  }

  /** Returns false for a row that is locked, or whose lease has passed to another worker. */
  async #write(outcomes: readonly Outcome[], locked: 'SKIP LOCKED' | ''): Promise<boolean[]> {
    const counts = await this.#countsAttempts();
    const rows = await this.sql.query<{ fence: string }>(
      `WITH bound AS MATERIALIZED (
         SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true)
       ), free AS (
         SELECT w.tenant, w.id, o.fence, o.state, o.attempts, o.wait, o.bucket
         FROM bound, unnest($1::name[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::float8[], $7::int[])
           AS o (tenant, id, fence, state, attempts, wait, bucket)
         JOIN carrel.deliveries w USING (tenant, id, fence) FOR UPDATE OF w ${locked}
       ), written AS (
       UPDATE carrel.deliveries w
       SET state = o.state, log = w.log || o.attempts::jsonb, due_at = now() + make_interval(secs => o.wait),
         ended_at = CASE WHEN o.wait IS NULL THEN now() END,
         leased_until = NULL, fence = NULL
       FROM free o WHERE w.tenant = o.tenant AND w.id = o.id
       RETURNING o.fence, w.tenant, w.endpoint, o.attempts <> '[]' AS is_sent, o.state <> 'delivered' AS is_failed, o.bucket
       ) ${counts ? `, ${countAttempts('written')}` : ''} SELECT fence FROM written`,
      [
        outcomes.map(({ delivery }) => delivery.tenant),
        outcomes.map(({ delivery }) => delivery.id),
        outcomes.map(({ delivery }) => delivery.fence),
        outcomes.map(({ state }) => state),
        outcomes.map(({ attempt }) => JSON.stringify(attempt ? [attempt] : [])),
        outcomes.map(({ waitMs }) => (waitMs === null ? null : waitMs / 1000)),
        outcomes.map(({ tookMs }) => (tookMs === undefined ? null : bucketOf(tookMs))),
      ],
      `deliveries-outcomes${locked === '' ? '-alone' : ''}${counts ? '' : '-uncounted'}`,
    );
    const written = new Set(rows.map(({ fence }) => fence));
    return outcomes.map(({ delivery }) => written.has(delivery.fence));
  }

  async statistics(): Promise<DeliveryStatistics[]> {
    return this.sql.query<DeliveryStatistics>(
      `SELECT count(*) AS due, greatest(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds"
       FROM carrel.deliveries w WHERE ${isDue('w')}`,
    );
  }
}

/** Postgres refused the statement for the sake of another, so it had no effect. */
const isUnwritten = (error: unknown): boolean =>
  error instanceof LockTimeout || error instanceof StatementTimeout || error instanceof SerializationFailure;

/**
 * Reads the payload of a delivery that was leased without it. Returns undefined if the event and its deliveries have been
 * deleted. `sql` is not the lease pool, whose statements must not wait for hundreds of large payloads.
 */
export async function deliveryPayload(sql: Sql, { tenant, id }: Delivery): Promise<string | undefined> {
  const [event] = await sql.query<{ payload: string }>(
    `SELECT e.payload FROM carrel.deliveries w JOIN carrel.events e ON e.tenant = w.tenant AND e.id = w.event_id
     WHERE w.tenant = $1 AND w.id = $2`,
    [tenant, id],
  );
  return event?.payload;
}
