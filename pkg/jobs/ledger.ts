import { type WorkItem, WorkQueue } from '../store/postgres/work.ts';

/** Far more than there are processors for. */
const MOST_KINDS = 50;

export interface KindStatistics {
  readonly kind: string;
  /** Items that are due, leased ones included. */
  readonly due: number;
  readonly oldestSeconds: number;
  /** Since the oldest that is not done, nor dead, was asked for; due or not. */
  readonly waitingSeconds: number;
  readonly dead: number;
}

/**
 * The work of one line of a shard, as jobs use it: the store's queue, and what only jobs do.
 * A dead letter is a row that is due never: it is kept with its error until a person has looked at it.
 */
export class Ledger extends WorkQueue {
  /** Makes it a dead letter. False: the lease had passed to another. */
  async bury(item: WorkItem, error: string): Promise<boolean> {
    return this.change(item, `due_at = 'infinity', leased_until = NULL, fence = NULL, last_error = left($4, 1000)`, [error]);
  }

  /** Of all lines, the first MOST_KINDS kinds: those with living work, then those with most dead letters. */
  async statistics(): Promise<KindStatistics[]> {
    return this.sql.query<KindStatistics>(
      `SELECT kind, count(*) FILTER (WHERE due_at <= now()) AS due,
         coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE due_at <= now())), 0)::float8 AS "oldestSeconds",
         coalesce(extract(epoch FROM now() - min(requested_at) FILTER (WHERE due_at < 'infinity')), 0)::float8 AS "waitingSeconds",
         count(*) FILTER (WHERE due_at = 'infinity') AS dead
       FROM carrel.work GROUP BY kind ORDER BY bool_or(due_at < 'infinity') DESC, count(*) DESC LIMIT ${MOST_KINDS}`,
    );
  }
}
