import { type Leased, LeasedRows } from '../../store/postgres/leases.ts';
import type { Sql } from '../../store/postgres/pool.ts';

/** A row of carrel.deliveries: one event for one endpoint. */
export interface Delivery extends Leased {
  readonly eventId: number;
  /** The webhook's uuid. */
  readonly endpoint: string;
  readonly createdAt: Date;
  /** How often it was sent before. */
  readonly sent: number;
}

/** One sending, as `/webhooks/{id}/deliveries` shows it. */
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

/** Deleted at once, so that no statement takes long. */
const FORGOTTEN_AT_ONCE = 1_000;

/** The deliveries of one shard. An ended one is kept with its attempts as long as its event. */
export class DeliveryLedger extends LeasedRows<Delivery> {
  constructor(sql: Sql) {
    super(sql, {
      name: 'carrel.deliveries',
      columns: 'w.event_id AS "eventId", w.endpoint, w.created_at AS "createdAt", jsonb_array_length(w.log) AS sent',
    });
  }

  /** False: the lease had passed to another. */
  async end(delivery: Delivery, state: 'delivered' | 'failed' | 'canceled', attempt: Attempt | null): Promise<boolean> {
    const assignments = `state = $4, log = log || $5::jsonb, ended_at = now(), due_at = NULL, leased_until = NULL, fence = NULL`;
    return this.change(delivery, assignments, [state, JSON.stringify(attempt ? [attempt] : [])]);
  }

  /** False: the lease had passed to another. */
  async retry(delivery: Delivery, attempt: Attempt, dueAt: Date): Promise<boolean> {
    const assignments = `log = log || $4::jsonb, due_at = $5, leased_until = NULL, fence = NULL`;
    return this.change(delivery, assignments, [JSON.stringify([attempt]), dueAt]);
  }

  async statistics(): Promise<DeliveryStatistics[]> {
    return this.sql.query<DeliveryStatistics>(
      `SELECT count(*) AS due, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds"
       FROM carrel.deliveries WHERE due_at <= now()`,
    );
  }

  /** Deletes events older than `days`, with their deliveries. */
  async forget(days: number): Promise<void> {
    for (;;) {
      const gone = await this.sql.query(
        `DELETE FROM carrel.events WHERE (tenant, id) IN (
           SELECT tenant, id FROM carrel.events WHERE created_at < now() - make_interval(days => $1) ORDER BY created_at LIMIT $2
         ) RETURNING id`,
        [days, FORGOTTEN_AT_ONCE],
      );
      if (gone.length < FORGOTTEN_AT_ONCE) return;
    }
  }
}
