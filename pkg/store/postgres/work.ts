import type { Database, Tx } from './database.ts';
import type { Sql, SqlPool } from './pool.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Asks for later work in the tenant's own transaction: it is done if, and only if, the transaction commits.
 * After the commit publish on WAKE_CHANNEL, so that it is taken at once; without it the worker's sweep finds it.
 */
export async function requestWork(tx: Sql, kind: string, payload: Json, dueAt?: Date): Promise<void> {
  await tx.query('INSERT INTO carrel.work (kind, payload, due_at) VALUES ($1, $2, coalesce($3, now()))', [
    kind,
    JSON.stringify(payload),
    dueAt ?? null,
  ]);
}

/** The same of the operator's, for a tenant (its role) whose rows it has changed. */
export async function requestWorkOf(tx: Sql, tenant: string, kind: string, payload: Json): Promise<void> {
  await tx.query('INSERT INTO carrel.work (tenant, kind, payload) VALUES ($1, $2, $3)', [tenant, kind, JSON.stringify(payload)]);
}

export interface WorkItem {
  /** The role that asked, `tenant_<slug>`. */
  readonly tenant: string;
  readonly id: number;
  readonly kind: string;
  readonly payload: Json;
  readonly requestedAt: Date;
  /** This one included: 1 at the first. */
  readonly attempts: number;
  /** Random; whoever holds it holds the lease. */
  readonly fence: string;
}

/**
 * The worker's side of carrel.work.
 *
 * Invariants:
 * - An item is leased to one worker at a time; an expired lease goes to the next.
 * - Only the holder of the newest lease finishes, fails or extends an item (the fence decides).
 * - At most `perTenant` items of a tenant are in flight, those leased already included, so that its backlog never delays another's.
 */
export class WorkQueue {
  readonly #sql: Sql;

  constructor(pool: SqlPool) {
    this.#sql = pool;
  }

  /**
   * What is due and not leased among the oldest `perTenant` items of each tenant, at most `limit` in all; the first of each tenant go before the
   * second of any. Only tenants with something due are visited: 2,000 with work for tomorrow cost 0.3 ms.
   */
  async takeDue(options: { limit: number; perTenant: number; leaseSeconds: number }): Promise<WorkItem[]> {
    return this.#sql.query<WorkItem>(
      `WITH RECURSIVE tenants AS (
         (SELECT tenant FROM carrel.work WHERE due_at <= now() ORDER BY tenant LIMIT 1)
         UNION ALL
         SELECT (SELECT w.tenant FROM carrel.work w WHERE w.tenant > t.tenant AND w.due_at <= now() ORDER BY w.tenant LIMIT 1)
         FROM tenants t WHERE t.tenant IS NOT NULL
       ), window_of AS (
         SELECT due.tenant, due.id, due.due_at, due.place FROM tenants t CROSS JOIN LATERAL (
           SELECT w.tenant, w.id, w.due_at, w.leased_until, row_number() OVER (ORDER BY w.due_at, w.id) AS place FROM carrel.work w
           WHERE w.tenant = t.tenant AND w.due_at <= now()
           ORDER BY w.due_at, w.id LIMIT $2
         ) due WHERE due.leased_until IS NULL OR due.leased_until < now()
       ), taken AS (
         SELECT w.tenant, w.id FROM carrel.work w JOIN (SELECT * FROM window_of ORDER BY place, due_at, id LIMIT $1) o USING (tenant, id)
         WHERE w.leased_until IS NULL OR w.leased_until < now()
         FOR UPDATE OF w SKIP LOCKED
       )
       UPDATE carrel.work w
       SET leased_until = now() + make_interval(secs => $3), fence = gen_random_uuid(), attempts = w.attempts + 1
       FROM taken WHERE w.tenant = taken.tenant AND w.id = taken.id
       RETURNING w.tenant, w.id, w.kind, w.payload, w.requested_at AS "requestedAt", w.attempts, w.fence`,
      [options.limit, options.perTenant, options.leaseSeconds],
    );
  }

  /** Done: the item goes. False: the lease had passed to another. */
  async finish(item: WorkItem): Promise<boolean> {
    return this.#held('DELETE FROM carrel.work WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id', item);
  }

  /** Not done: tried again at `retryAt`. False: the lease had passed to another. */
  async fail(item: WorkItem, outcome: { error: string; retryAt: Date }): Promise<boolean> {
    return this.#held(
      `UPDATE carrel.work SET leased_until = NULL, fence = NULL, due_at = $4, last_error = left($5, 1000)
       WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id`,
      item,
      [outcome.retryAt, outcome.error],
    );
  }

  /** Keeps the lease. False: it had passed to another. */
  async extend(item: WorkItem, leaseSeconds: number): Promise<boolean> {
    return this.#held(
      `UPDATE carrel.work SET leased_until = now() + make_interval(secs => $4) WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id`,
      item,
      [leaseSeconds],
    );
  }

  /** How many items are due, and for how many seconds the oldest has been. */
  async depth(): Promise<{ count: number; oldestSeconds: number }> {
    const [row] = await this.#sql.query<{ count: number; oldestSeconds: number }>(
      `SELECT count(*) AS count, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds" FROM carrel.work WHERE due_at <= now()`,
    );
    return row ?? { count: 0, oldestSeconds: 0 };
  }

  async #held(sql: string, item: WorkItem, more: readonly unknown[] = []): Promise<boolean> {
    return (await this.#sql.query(sql, [item.tenant, item.id, item.fence, ...more])).length > 0;
  }
}

/** One transaction of the worker's as a tenant: it sees that tenant's schema and rows, and nothing else. */
export const asTenant = <T>(db: Database, role: string, fn: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(fn, { role });
