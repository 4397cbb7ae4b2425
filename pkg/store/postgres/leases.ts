import type { Sql } from './pool.ts';

/** A row that is leased for one attempt. */
export interface Leased {
  /** The role that owns the row, `tenant_<slug>`. */
  readonly tenant: string;
  readonly id: number;
  /** Leases so far, this one included: 1 at the first. */
  readonly attempts: number;
  /** Random; identifies the holder of the lease. */
  readonly fence: string;
}

/** A tenant with due rows without a lease, and the first of these rows. */
export interface DueTenant extends Pick<Leased, 'tenant' | 'id'> {
  /** Leases of that row so far. */
  readonly attempts: number;
}

/** The rows to lease from a tenant. */
export interface LeaseRequest {
  readonly tenant: string;
  /** The most rows to lease. */
  readonly most: number;
  /** Rows of the tenant that this worker already holds. */
  readonly held: number;
  /** Lanes of the tenant whose rows are leased after those of all others. */
  readonly last?: readonly string[];
  /** Lanes of the tenant from which no row is leased. */
  readonly none?: readonly string[];
}

/** The most lanes of one tenant that are read: more than it may have webhooks. */
const LANES_MAX = 100;

/**
 * The worker's side of a table of later work: `tenant`, `id`, `due_at`, `attempts`, `leased_until` and `fence`, with an index on
 * (tenant, due_at, id), preceded by the columns of `only` if there are any. Rows whose `due_at` is null or `infinity` are never
 * due.
 *
 * A table may have `lanes`: a column (uuid) that divides a tenant's rows, with an index on (tenant, that column, due_at, id)
 * where `due_at` is not null. The first due row of each lane then precedes the second of any lane. The planner's statistics of
 * due rows are always old, and both indexes then seem to cost the same. No statement about lanes may use the other index and read
 * a tenant's backlog for each lane. So that index has a predicate of its own, `tenantPredicate`, which holds for all due rows and
 * which only `dueTenants` names.
 *
 * Invariants:
 * - A row is leased to one worker at a time. An expired lease goes to the next worker, and a lease that its worker renews goes to
 *   no other, whatever Redis says.
 * - Only the holder of the newest lease changes the row (the fence decides).
 * - A tenant's backlog belongs to one worker: a worker leases rows of a tenant of which others hold rows only while all together
 *   hold fewer than `perTenant`. Two that lease at the same moment do not see each other: each may hold `perTenant` plus the rows
 *   leased ahead, until they lease again.
 */
export class LeasedRows<Row extends Leased> {
  protected readonly sql: Sql;
  readonly #table: string;
  readonly #statement: string;
  readonly #columns: string;
  readonly #only: string;
  readonly #lanes: string | undefined;
  readonly #tenantPredicate: string;

  /**
   * `columns`: the columns of a Row beyond the lease, of the table as `w`. `only`: the condition on `w` of the rows to lease,
   * default all. `tenantPredicate`: the predicate, on `w`, of the index on (tenant, due_at, id). `statement`: the name under
   * which the lease of these rows is prepared.
   */
  constructor(
    sql: Sql,
    table: { name: string; statement: string; columns: string; only?: string; lanes?: string; tenantPredicate?: string },
  ) {
    this.sql = sql;
    this.#table = table.name;
    this.#statement = table.statement;
    this.#only = table.only ?? 'true';
    this.#lanes = table.lanes;
    this.#tenantPredicate = table.tenantPredicate ?? 'true';
    this.#columns = `w.tenant, w.id, w.attempts, w.fence, ${table.columns}`;
  }

  /**
   * Returns the tenants with rows to lease, those whose rows have waited longest first. Only tenants with due rows are visited:
   * 2,000 with work for tomorrow cost 0.3 ms.
   */
  async dueTenants({ limit, perTenant }: { limit: number; perTenant: number }): Promise<DueTenant[]> {
    const next = (after: string): string => `(
      SELECT w.tenant FROM ${this.#table} w WHERE ${this.#only} AND ${this.#tenantPredicate} ${after} AND ${isDue('w')}
      ORDER BY w.tenant, w.due_at, w.id LIMIT 1)`;
    return this.sql.query<DueTenant>(
      `WITH RECURSIVE tenants AS (
         ${next('')} UNION ALL SELECT ${next('AND w.tenant > t.tenant')} FROM tenants t WHERE t.tenant IS NOT NULL
       )
       SELECT first.tenant, first.id, first.attempts FROM tenants t CROSS JOIN LATERAL (
         ${this.#firstOf('t.tenant', '$2')}
       ) first ORDER BY first.due_at LIMIT $1`,
      [limit, perTenant],
    );
  }

  /**
   * Leases the oldest due rows without a lease of each tenant, each with its own fence. A tenant may occur in `requests` once.
   * Rows that another transaction is writing are skipped.
   *
   * The statement is prepared, since planning it takes as long as leasing some rows. The planner does not look into
   * `(SELECT $1)`, so that it finds a plan for all requests as good as one for these, and keeps it.
   */
  async lease(requests: readonly LeaseRequest[], { perTenant, seconds }: { perTenant: number; seconds: number }): Promise<Row[]> {
    return this.sql.query<Row>(
      `WITH due AS (
         SELECT chosen.tenant, chosen.id
         FROM unnest((SELECT $1::name[]), $2::int[], $3::int[], $6::text[], $7::text[])
           AS request (tenant, most, held, last, none)
         CROSS JOIN LATERAL (
           SELECT oldest.*, count(*) FILTER (WHERE NOT is_free) OVER () - request.held AS others,
             row_number() OVER (PARTITION BY is_free AND is_wanted ORDER BY is_last, turn, due_at, id) AS place
           FROM (
             SELECT oldest.*, row_number() OVER (PARTITION BY lane, is_free ORDER BY due_at, id) AS turn,
               coalesce(lane = ANY (string_to_array(request.last, ',')), false) AS is_last,
               coalesce(lane <> ALL (string_to_array(request.none, ',')), true) AS is_wanted
             FROM (
               SELECT *, ${isFree('all_of')} AS is_free
               FROM (${this.#oldestOf('request.tenant', 'request.most + request.held + $4')}) all_of
             ) oldest
           ) oldest
         ) chosen
         WHERE is_free AND is_wanted AND place <=
           CASE WHEN others <= 0 THEN request.most ELSE least(request.most, $4 - others - request.held) END
       ), taken AS (
         SELECT w.tenant, w.id FROM ${this.#table} w JOIN due USING (tenant, id)
         WHERE ${isFree('w')} AND ${IS_STILL_DUE} FOR UPDATE OF w SKIP LOCKED
       )
       UPDATE ${this.#table} w
       SET leased_until = now() + make_interval(secs => $5), fence = gen_random_uuid(), attempts = w.attempts + 1
       FROM taken WHERE w.tenant = taken.tenant AND w.id = taken.id
       RETURNING ${this.#columns}`,
      [
        requests.map(({ tenant }) => tenant),
        requests.map(({ most }) => most),
        requests.map(({ held }) => held),
        perTenant,
        seconds,
        requests.map(({ last = [] }) => last.join(',')),
        requests.map(({ none = [] }) => none.join(',')),
      ],
      this.#statement,
    );
  }

  /**
   * Selects the first free row. With lanes, `id` and `attempts` are sums over the first row of each lane, which change if any of
   * these changes.
   */
  #firstOf(tenant: string, limit: string): string {
    const free = `FROM (${this.#oldestOf(tenant, limit)}) oldest WHERE ${isFree('oldest')}`;
    if (this.#lanes === undefined) return `SELECT * ${free} ORDER BY due_at, id LIMIT 1`;
    return `SELECT tenant, sum(id)::bigint AS id, sum(attempts)::int AS attempts, min(due_at) AS due_at
      FROM (SELECT DISTINCT ON (lane) tenant, id, attempts, due_at ${free} ORDER BY lane, due_at, id) lanes GROUP BY tenant`;
  }

  /** Selects the first due rows of a tenant; with lanes, those of each lane. */
  #oldestOf(tenant: string, limit: string): string {
    const lane = this.#lanes;
    const rows = (from: string, also: string): string => `
      SELECT w.tenant, w.id, w.attempts, w.due_at, w.leased_until, ${from} AS lane FROM ${this.#table} w
      WHERE ${this.#only} AND w.tenant = ${tenant} ${also} AND ${isDue('w')} ORDER BY w.due_at, w.id LIMIT ${limit}`;
    if (lane === undefined) return rows('NULL::text', '');
    const next = (after: string): string => `
      (SELECT w.${lane} FROM ${this.#table} w WHERE ${this.#only} AND w.tenant = ${tenant} AND w.due_at IS NOT NULL ${after}
       ORDER BY w.${lane}, w.due_at, w.id LIMIT 1)`;
    return `SELECT of_lane.* FROM (
        WITH RECURSIVE lanes AS (
          ${next('')} UNION ALL SELECT ${next(`AND w.${lane} > l.${lane}`)} FROM lanes l WHERE l.${lane} IS NOT NULL
        )
        SELECT ${lane} FROM lanes WHERE ${lane} IS NOT NULL LIMIT ${LANES_MAX}
      ) l CROSS JOIN LATERAL (${rows(`w.${lane}::text`, `AND w.${lane} = l.${lane}`)}) of_lane`;
  }

  /**
   * Extends the leases; results are in the order of `rows`. False: another worker has taken over the lease. SKIP LOCKED: two
   * multi-row statements could otherwise deadlock.
   */
  async extend(rows: readonly Leased[], leaseSeconds: number): Promise<boolean[]> {
    const held = await this.sql.query<{ fence: string }>(
      `WITH held AS (
         SELECT w.tenant, w.id, w.fence FROM unnest($1::name[], $2::bigint[], $3::uuid[]) AS lease (tenant, id, fence)
         JOIN ${this.#table} w USING (tenant, id, fence)
       ), free AS (
         SELECT w.tenant, w.id FROM ${this.#table} w JOIN held USING (tenant, id, fence) FOR UPDATE OF w SKIP LOCKED
       ), kept AS (
         UPDATE ${this.#table} w SET leased_until = now() + make_interval(secs => $4)
         FROM free WHERE w.tenant = free.tenant AND w.id = free.id
       )
       SELECT fence FROM held`,
      [rows.map(({ tenant }) => tenant), rows.map(({ id }) => id), rows.map(({ fence }) => fence), leaseSeconds],
    );
    const fences = new Set(held.map(({ fence }) => fence));
    return rows.map(({ fence }) => fences.has(fence));
  }

  /** Releases leases: the rows are due as before. Leases that another worker has taken over stay. */
  async release(rows: readonly Leased[]): Promise<void> {
    await this.sql.query(
      `UPDATE ${this.#table} w SET leased_until = NULL, fence = NULL
       FROM unnest($1::name[], $2::bigint[], $3::uuid[]) AS lease (tenant, id, fence)
       WHERE w.tenant = lease.tenant AND w.id = lease.id AND w.fence = lease.fence`,
      [rows.map(({ tenant }) => tenant), rows.map(({ id }) => id), rows.map(({ fence }) => fence)],
    );
  }

  /**
   * Sets columns of a row, with parameters from $4 on, if its lease is still held. Returns false if another worker has taken over
   * the lease.
   */
  protected async change(row: Leased, assignments: string, params: readonly unknown[]): Promise<boolean> {
    const sql = `UPDATE ${this.#table} SET ${assignments} WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id`;
    return (await this.sql.query(sql, [row.tenant, row.id, row.fence, ...params])).length > 0;
  }
}

/** Rounded like the column: compared with a plain now(), a row that is due now would be due up to half a millisecond later. */
export const isDue = (row: string): string => `${row}.due_at <= now()::timestamptz(3)`;

/**
 * `isDue` for a row `w` that is found by its key, in a form that no index of due rows serves. A planner that expects few due rows
 * would read those of all tenants and compare each with each.
 */
const IS_STILL_DUE = `coalesce(w.due_at, 'infinity') <= now()::timestamptz(3)`;

const isFree = (row: string): string => `(${row}.leased_until IS NULL OR ${row}.leased_until < now())`;
