import { type Leased, LeasedRows } from '../../store/postgres/leases.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { Batcher } from '../../runtime/batcher.ts';

/** A row of carrel.deliveries: one event for one endpoint. */
export interface Delivery extends Leased {
  /** The webhook's uuid. */
  readonly endpoint: string;
  readonly createdAt: Date;
  /** Attempts before this one. */
  readonly sent: number;
  /** The event's uuid: the same at every resend. */
  readonly messageId: string;
  /** The exact bytes that are signed and sent. */
  readonly payload: string;
}

type State = 'pending' | 'delivered' | 'failed' | 'canceled';

/** The outcome of an attempt; `waitMs`: until the next one, null for none. */
interface Outcome {
  readonly delivery: Delivery;
  readonly state: State;
  readonly attempt: Attempt | null;
  readonly waitMs: number | null;
}

/** One attempt, as `/webhooks/{id}/deliveries` shows it. */
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

/** The deliveries of one shard. An ended delivery stays with its attempts as long as its event. */
export class DeliveryStore extends LeasedRows<Delivery> {
  readonly #outcomes = new Batcher<Outcome, boolean>((outcomes) => this.#write(outcomes));

  constructor(sql: Sql) {
    super(sql, {
      name: 'carrel.deliveries',
      columns: `w.endpoint, w.created_at AS "createdAt", jsonb_array_length(w.log) AS sent,
        (SELECT e.uuid FROM carrel.events e WHERE e.tenant = w.tenant AND e.id = w.event_id) AS "messageId",
        (SELECT e.payload FROM carrel.events e WHERE e.tenant = w.tenant AND e.id = w.event_id) AS payload`,
    });
  }

  /** False: the lease had passed to another worker. */
  async end(delivery: Delivery, state: 'delivered' | 'failed' | 'canceled', attempt: Attempt | null): Promise<boolean> {
    return this.#outcomes.submit({ delivery, state, attempt, waitMs: null });
  }

  /** The delivery is due again in `waitMs`, by Postgres' clock. An attempt of null leaves the log as it is. False: the lease had passed to another worker. */
  async retry(delivery: Delivery, attempt: Attempt | null, waitMs: number): Promise<boolean> {
    return this.#outcomes.submit({ delivery, state: 'pending', attempt, waitMs });
  }

  async #write(outcomes: readonly Outcome[]): Promise<boolean[]> {
    const rows = await this.sql.query<{ fence: string }>(
      `UPDATE carrel.deliveries w
       SET state = o.state, log = w.log || o.attempts::jsonb, due_at = now() + make_interval(secs => o.wait), ended_at = CASE WHEN o.wait IS NULL THEN now() END,
         leased_until = NULL, fence = NULL
       FROM unnest($1::name[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::float8[]) AS o (tenant, id, fence, state, attempts, wait)
       WHERE w.tenant = o.tenant AND w.id = o.id AND w.fence = o.fence
       RETURNING o.fence`,
      [
        outcomes.map(({ delivery }) => delivery.tenant),
        outcomes.map(({ delivery }) => delivery.id),
        outcomes.map(({ delivery }) => delivery.fence),
        outcomes.map(({ state }) => state),
        outcomes.map(({ attempt }) => JSON.stringify(attempt ? [attempt] : [])),
        outcomes.map(({ waitMs }) => (waitMs === null ? null : waitMs / 1000)),
      ],
    );
    const written = new Set(rows.map(({ fence }) => fence));
    return outcomes.map(({ delivery }) => written.has(delivery.fence));
  }

  async statistics(): Promise<DeliveryStatistics[]> {
    return this.sql.query<DeliveryStatistics>(
      `SELECT count(*) AS due, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds"
       FROM carrel.deliveries WHERE due_at <= now()`,
    );
  }
}
