import type { SqlPool } from '../store/postgres/pool.ts';
import { type WorkItem, WorkQueue } from '../store/postgres/work.ts';

/** Which row a job is about. It grants nothing: whoever runs it must first get the lease from Postgres. */
export interface JobTicket {
  readonly shard: string;
  readonly tenant: string;
  readonly id: number;
  readonly attempt: number;
}

export interface KindStatistics {
  readonly kind: string;
  /** Items that are due, leased ones included. */
  readonly due: number;
  readonly oldestSeconds: number;
  readonly dead: number;
}

/**
 * The work of one shard, as jobs use it: the store's queue, and what only jobs do.
 * A dead letter is a row that is due never: it is kept with its error until a person has looked at it.
 */
export class Ledger extends WorkQueue {
  readonly #pool: SqlPool;

  constructor(pool: SqlPool) {
    super(pool);
    this.#pool = pool;
  }

  /** Takes the lease of the attempt that a job is for, with a new fence. Null: it is done, or another attempt has begun. */
  async claim(ticket: JobTicket, leaseSeconds: number): Promise<WorkItem | null> {
    const [item] = await this.#pool.query<WorkItem>(
      `UPDATE carrel.work SET fence = gen_random_uuid(), leased_until = now() + make_interval(secs => $4)
       WHERE tenant = $1 AND id = $2 AND attempts = $3 AND leased_until IS NOT NULL
       RETURNING tenant, id, kind, payload, requested_at AS "requestedAt", attempts, fence`,
      [ticket.tenant, ticket.id, ticket.attempt, leaseSeconds],
    );
    return item ?? null;
  }

  /** Makes it a dead letter. False: the lease had passed to another. */
  async bury(item: WorkItem, error: string): Promise<boolean> {
    const rows = await this.#pool.query(
      `UPDATE carrel.work SET due_at = 'infinity', leased_until = NULL, fence = NULL, last_error = left($4, 1000)
       WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id`,
      [item.tenant, item.id, item.fence, error],
    );
    return rows.length > 0;
  }

  /** Gives back every lease: Redis has forgotten the jobs that they were taken for. */
  async releaseAll(): Promise<void> {
    await this.#pool.query('UPDATE carrel.work SET leased_until = NULL WHERE leased_until > now()');
  }

  async statistics(): Promise<KindStatistics[]> {
    return this.#pool.query<KindStatistics>(
      `SELECT kind, count(*) FILTER (WHERE due_at <= now()) AS due,
         coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE due_at <= now())), 0)::float8 AS "oldestSeconds",
         count(*) FILTER (WHERE due_at = 'infinity') AS dead
       FROM carrel.work GROUP BY kind`,
    );
  }
}
