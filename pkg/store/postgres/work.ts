import type { Database, Tx } from './database.ts';
import { type Leased, LeasedRows } from './leases.ts';
import type { Sql } from './pool.ts';

/** Which runners do it: `work` what needs only our own stores, `grades` what waits for an LMS and must not hold up the former. */
export type WorkLine = 'work' | 'grades';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Asks for later work in the tenant's own transaction: it is done if, and only if, the transaction commits.
 * After the commit publish on WAKE_CHANNEL, so that it is taken at once; without it the worker's sweep finds it.
 */
export async function requestWork(tx: Sql, kind: string, payload: Json, dueAt?: Date, line: WorkLine = 'work'): Promise<void> {
  await tx.query('INSERT INTO carrel.work (kind, payload, due_at, line) VALUES ($1, $2, coalesce($3, now()), $4)', [
    kind,
    JSON.stringify(payload),
    dueAt ?? null,
    line,
  ]);
}

/** The same of the operator's, for a tenant (its role) whose rows it has changed. */
export async function requestWorkOf(tx: Sql, tenant: string, kind: string, payload: Json): Promise<void> {
  await tx.query('INSERT INTO carrel.work (tenant, kind, payload) VALUES ($1, $2, $3)', [tenant, kind, JSON.stringify(payload)]);
}

export interface WorkItem extends Leased {
  readonly kind: string;
  readonly payload: Json;
  readonly requestedAt: Date;
}

/** The worker's side of one line of carrel.work. */
export class WorkQueue extends LeasedRows<WorkItem> {
  constructor(pool: Sql, line: WorkLine = 'work') {
    super(pool, { name: 'carrel.work', columns: 'w.kind, w.payload, w.requested_at AS "requestedAt"', only: `w.line = '${line}'` });
  }

  /** Done: the item goes. False: the lease had passed to another. */
  async finish(item: WorkItem): Promise<boolean> {
    const sql = 'DELETE FROM carrel.work WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id';
    return (await this.sql.query(sql, [item.tenant, item.id, item.fence])).length > 0;
  }

  /** Not done: tried again in `waitMs`, by Postgres' clock. False: the lease had passed to another. */
  async fail(item: WorkItem, outcome: { error: string; waitMs: number }): Promise<boolean> {
    const assignments = 'leased_until = NULL, fence = NULL, due_at = now() + make_interval(secs => $4), last_error = left($5, 1000)';
    return this.change(item, assignments, [outcome.waitMs / 1000, outcome.error]);
  }

  /** How many items are due, and for how many seconds the oldest has been. */
  async depth(): Promise<{ count: number; oldestSeconds: number }> {
    const [row] = await this.sql.query<{ count: number; oldestSeconds: number }>(
      `SELECT count(*) AS count, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds" FROM carrel.work WHERE due_at <= now()`,
    );
    return row ?? { count: 0, oldestSeconds: 0 };
  }
}

/** One transaction of the worker's as a tenant: it sees that tenant's schema and rows, and nothing else. */
export const asTenant = <T>(db: Database, role: string, fn: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(fn, { role });
