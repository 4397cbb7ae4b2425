import { isTracing } from '../../runtime/traces.ts';
import { isDue, type Leased, LeasedRows } from './leases.ts';
import type { Sql } from './pool.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The queue of jobs that need only our own stores. */
export const DEFAULT_QUEUE = 'work';

/** The queue of all jobs that use a store which a tenant named. */
export const NAMED_STORES_QUEUE = 'stores';

/** A row to insert into carrel.work. */
interface NewJob {
  readonly kind: string;
  readonly payload: Json;
  /** Default DEFAULT_QUEUE. */
  readonly queue?: string;
  /** Default: now. */
  readonly dueAt?: Date;
  /** Inserts nothing if the tenant has a job of this kind with this payload, in any state. */
  readonly unlessPresent?: boolean;
  /**
   * Inserts nothing if the tenant has a job of this kind with this payload that is due later than now and no later than `dueAt`.
   */
  readonly unlessSooner?: boolean;
  /** The role of its tenant, for a program that acts for several; default: the role of the transaction. */
  readonly tenant?: string;
}

/** The tenant's role may not name the column `tenant`. */
const insert = (column: '' | 'tenant, ', value: '' | '$7::text, ', tenant: string): string => `
  INSERT INTO carrel.work (${column}kind, payload, due_at, queue)
  SELECT ${value}$1::text, $2::jsonb, coalesce($3::timestamptz, now()), $4::text
  WHERE NOT (($5::boolean OR $6::boolean) AND EXISTS (
    SELECT FROM carrel.work w WHERE w.tenant = ${tenant} AND w.kind = $1::text AND w.payload = $2::jsonb
      AND ($5::boolean OR (w.due_at > now() AND w.due_at <= $3::timestamptz))))`;
const INSERT = insert('', '', 'current_user');
const INSERT_FOR = insert('tenant, ', '$7::text, ', '$7::text');

/**
 * Inserts a job, which is done if, and only if, the transaction commits. A worker that is notified by WAKE_CHANNEL after the
 * commit takes the job at once; otherwise its sweep finds it. Features request jobs by JobRequests (pkg/events/job-requests.ts).
 */
export async function insertJob(
  tx: Sql,
  { kind, payload, queue = DEFAULT_QUEUE, dueAt, unlessPresent = false, unlessSooner = false, tenant }: NewJob,
): Promise<void> {
  const params = [kind, JSON.stringify(payload), dueAt ?? null, queue, unlessPresent, unlessSooner];
  await (tenant === undefined ? tx.query(INSERT, params) : tx.query(INSERT_FOR, [...params, tenant]));
}

/** For a statement that requests many jobs of a kind: inserts one for each payload (jsonb) that `source` returns. */
export const jobRows = ({ kind, queue }: { readonly kind: string; readonly queue: string }, source: string): string =>
  `INSERT INTO carrel.work (kind, payload, queue) SELECT '${kind}', j.payload, '${queue}' FROM (${source}) AS j (payload)`;

/** A leased row of carrel.work. */
export interface JobRow extends Leased {
  readonly kind: string;
  readonly payload: Json;
  readonly requestedAt: Date;
  /** The traceparent of the span that requested it; read only if tracing is on. */
  readonly traceparent?: string | null;
}

const COLUMNS = 'w.kind, w.payload, w.requested_at AS "requestedAt"';

/** The prefix of the error of a job that a worker has put back; the time (ISO 8601) of the first such attempt follows. */
const NOT_UNDERSTOOD = 'not understood since ';
/**
 * For this time, a worker of another release may exist that understands the job: while releases run side by side, and for a
 * roll-back that is reverted.
 */
const PUT_BACK_FOR = '1 day';

/** Far more than the existing kinds of jobs. */
const MAX_KINDS = 50;

/** A metric by tenant shows at most this many tenants. */
const MAX_TENANTS = 20;

export interface TenantStatistics {
  /** The tenant's role. */
  readonly tenant: string;
  readonly due: number;
  readonly oldestSeconds: number;
}

export interface KindStatistics {
  readonly kind: string;
  /** Jobs that are due, leased ones included. */
  readonly due: number;
  readonly oldestSeconds: number;
  /** The age of the oldest job that is neither done nor dead, due or not. */
  readonly waitingSeconds: number;
  readonly dead: number;
}

/**
 * The jobs of one queue of one shard: leases and outcomes.
 * A dead letter is a row that is never due. It stays with its error until a person deletes it.
 */
export class JobStore extends LeasedRows<JobRow> {
  constructor(pool: Sql, queue = DEFAULT_QUEUE) {
    if (!/^[a-z]{1,30}$/.test(queue)) throw new TypeError(`${queue} cannot be the name of a queue`);
    super(pool, {
      name: 'carrel.work',
      statement: `${queue}-lease`,
      columns: isTracing() ? `${COLUMNS}, w.traceparent` : COLUMNS,
      only: `w.queue = '${queue}'`,
    });
  }

  /** Deletes the finished job. Returns false if another worker has taken over the lease. */
  async finish(job: JobRow): Promise<boolean> {
    const sql = 'DELETE FROM carrel.work WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id';
    return (await this.sql.query(sql, [job.tenant, job.id, job.fence])).length > 0;
  }

  /** Makes the job due again in `waitMs`, by Postgres' clock. Returns false if another worker has taken over the lease. */
  async fail(job: JobRow, outcome: { error: string; waitMs: number }): Promise<boolean> {
    const assignments =
      'leased_until = NULL, fence = NULL, due_at = now() + make_interval(secs => $4), last_error = left($5, 1000)';
    return this.change(job, assignments, [outcome.waitMs / 1000, outcome.error]);
  }

  /**
   * Makes the job due again in `waitMs`, behind those that are already due. Returns false if another worker has taken over the
   * lease.
   */
  async requeue(job: JobRow, waitMs: number): Promise<boolean> {
    const assignments = 'leased_until = NULL, fence = NULL, due_at = now() + make_interval(secs => $4), last_error = NULL';
    return this.change(job, assignments, [waitMs / 1000]);
  }

  /**
   * Moves the job to another queue, where it is due now; this attempt does not count. Returns false if another worker has taken
   * over the lease.
   */
  async move(job: JobRow, queue: string): Promise<boolean> {
    return this.change(job, 'queue = $4, leased_until = NULL, fence = NULL, due_at = now(), attempts = attempts - 1', [queue]);
  }

  /**
   * Puts back a job that this worker cannot do and a worker of another release may be able to do. It is due again in 10 s, later
   * in at most 5 minutes. After PUT_BACK_FOR it becomes a dead letter.
   */
  async putBack(job: JobRow, error: string): Promise<'put_back' | 'dead' | 'lost_lease'> {
    const [row] = await this.sql.query<{ isDead: boolean }>(
      `UPDATE carrel.work w SET leased_until = NULL, fence = NULL,
         last_error = left(
           '${NOT_UNDERSTOOD}' || to_char(since.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': ' || $4, 1000),
         due_at = CASE WHEN since.at <= now() - interval '${PUT_BACK_FOR}' THEN 'infinity'
           ELSE now() + least(interval '5 minutes', greatest(interval '10 seconds', now() - since.at)) END
       FROM carrel.work v CROSS JOIN LATERAL (
         SELECT coalesce(substring(v.last_error FROM '^${NOT_UNDERSTOOD}([0-9TZ:-]{20})')::timestamptz, now()) AS at
       ) since
       WHERE v.tenant = $1 AND v.id = $2 AND v.fence = $3 AND w.tenant = v.tenant AND w.id = v.id AND w.fence = v.fence
       RETURNING w.due_at = 'infinity' AS "isDead"`,
      [job.tenant, job.id, job.fence, error],
    );
    if (!row) return 'lost_lease';
    return row.isDead ? 'dead' : 'put_back';
  }

  /** Covers all queues: the first MAX_KINDS kinds, those whose jobs a worker can do first, then those with the most jobs. */
  async statistics(): Promise<KindStatistics[]> {
    return this.sql.query<KindStatistics>(
      `SELECT kind, count(*) FILTER (WHERE ${isDue('w')}) AS due,
         greatest(extract(epoch FROM now() - min(due_at) FILTER (WHERE ${isDue('w')})), 0)::float8 AS "oldestSeconds",
         coalesce(extract(epoch FROM now() - min(requested_at) FILTER (WHERE due_at < 'infinity')), 0)::float8
           AS "waitingSeconds",
         count(*) FILTER (WHERE due_at = 'infinity') AS dead
       FROM carrel.work w GROUP BY kind
       ORDER BY bool_or(due_at < 'infinity' AND coalesce(last_error, '') NOT LIKE '${NOT_UNDERSTOOD}%') DESC, count(*) DESC
       LIMIT ${MAX_KINDS}`,
    );
  }

  /** Covers the tenants with the most due jobs, in all queues. */
  async tenantStatistics(): Promise<TenantStatistics[]> {
    return this.sql.query<TenantStatistics>(
      `SELECT tenant, count(*)::int AS due, greatest(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds"
       FROM carrel.work w WHERE ${isDue('w')} GROUP BY tenant ORDER BY count(*) DESC, tenant LIMIT ${MAX_TENANTS}`,
    );
  }
}
