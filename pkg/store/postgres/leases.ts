import type { Sql } from './pool.ts';

/** A row that is leased for one attempt. */
export interface Leased {
  /** The role whose row it is, `tenant_<slug>`. */
  readonly tenant: string;
  readonly id: number;
  /** Leases so far, this one included: 1 at the first. */
  readonly attempts: number;
  /** Random; whoever holds it holds the lease. */
  readonly fence: string;
}

/** A row that is leased for dispatch: the lease has no fence yet, so no worker holds it. */
export type Unclaimed<Row extends Leased = Leased> = Omit<Row, 'fence'> & { readonly fence: null };

/** Names a lease in a job. It grants nothing: the runner must first claim the lease. */
export type LeaseRef = Pick<Leased, 'tenant' | 'id'> & { readonly attempt: number };

/**
 * The worker's side of a table of later work: `tenant`, `id`, `due_at`, `attempts`, `leased_until` and `fence`, with an index on (tenant, due_at, id),
 * behind the columns of `only` where there are such.
 * Rows whose `due_at` is null or `infinity` are never due.
 *
 * Invariants:
 * - A row is leased to one worker at a time; an expired lease goes to the next, and a lease that its worker renews goes to nobody, whatever Redis says.
 * - Only the holder of the newest lease changes it (the fence decides).
 * - At most `perTenant` rows of a tenant are in flight, those leased already included, so that its backlog never delays another's.
 */
export class LeasedRows<Row extends Leased, Claimed extends Row = Row> {
  protected readonly sql: Sql;
  readonly #table: string;
  readonly #columns: string;
  readonly #claimedColumns: string;
  readonly #only: string;

  /**
   * `columns`: what a Row has beyond the lease, of the table as `w`; `claimed`: what it has more once it is claimed;
   * `only`: the condition on `w` of the rows that are meant, default all.
   */
  constructor(sql: Sql, table: { name: string; columns: string; claimed?: string; only?: string }) {
    this.sql = sql;
    this.#table = table.name;
    this.#only = table.only ?? 'true';
    this.#columns = `w.tenant, w.id, w.attempts, w.fence, ${table.columns}`;
    this.#claimedColumns = table.claimed === undefined ? this.#columns : `${this.#columns}, ${table.claimed}`;
  }

  /**
   * What is due and not leased among the oldest `perTenant` rows of each tenant, at most `limit` in all; the first of each tenant go before the
   * second of any. Only tenants with something due are visited: 2,000 with work for tomorrow cost 0.3 ms.
   */
  async leaseDue(options: { limit: number; perTenant: number; leaseSeconds: number }): Promise<Unclaimed<Row>[]> {
    return this.sql.query<Unclaimed<Row>>(
      `WITH RECURSIVE tenants AS (
         (SELECT w.tenant FROM ${this.#table} w WHERE ${this.#only} AND w.due_at <= now() ORDER BY w.tenant, w.due_at, w.id LIMIT 1)
         UNION ALL
         SELECT (SELECT w.tenant FROM ${this.#table} w WHERE ${this.#only} AND w.tenant > t.tenant AND w.due_at <= now() ORDER BY w.tenant, w.due_at, w.id LIMIT 1)
         FROM tenants t WHERE t.tenant IS NOT NULL
       ), window_of AS (
         SELECT due.tenant, due.id, due.due_at, due.place FROM tenants t CROSS JOIN LATERAL (
           SELECT w.tenant, w.id, w.due_at, w.leased_until, row_number() OVER (ORDER BY w.due_at, w.id) AS place FROM ${this.#table} w
           WHERE ${this.#only} AND w.tenant = t.tenant AND w.due_at <= now()
           ORDER BY w.due_at, w.id LIMIT $2
         ) due WHERE due.leased_until IS NULL OR due.leased_until < now()
       ), taken AS (
         SELECT w.tenant, w.id FROM ${this.#table} w JOIN (SELECT * FROM window_of ORDER BY place, due_at, id LIMIT $1) o USING (tenant, id)
         WHERE w.leased_until IS NULL OR w.leased_until < now()
         FOR UPDATE OF w SKIP LOCKED
       )
       UPDATE ${this.#table} w
       SET leased_until = now() + make_interval(secs => $3), fence = NULL, attempts = w.attempts + 1
       FROM taken WHERE w.tenant = taken.tenant AND w.id = taken.id
       RETURNING ${this.#columns}`,
      [options.limit, options.perTenant, options.leaseSeconds],
    );
  }

  /**
   * Claims the leases of exactly these attempts, with fences; in the order of `leases`. Null: the row is done, another attempt has begun,
   * or a living worker holds this one (BullMQ may think it stalled).
   */
  async claim(leases: readonly LeaseRef[], leaseSeconds: number): Promise<(Claimed | null)[]> {
    const rows = await this.sql.query<Claimed>(
      `UPDATE ${this.#table} w SET fence = gen_random_uuid(), leased_until = now() + make_interval(secs => $4)
       FROM unnest($1::name[], $2::bigint[], $3::int[]) AS lease (tenant, id, attempt)
       WHERE w.tenant = lease.tenant AND w.id = lease.id AND w.attempts = lease.attempt
         AND w.leased_until IS NOT NULL AND (w.fence IS NULL OR w.leased_until < now())
       RETURNING ${this.#claimedColumns}`,
      [leases.map(({ tenant }) => tenant), leases.map(({ id }) => id), leases.map(({ attempt }) => attempt), leaseSeconds],
    );
    const claimed = new Map(rows.map((row) => [`${row.tenant} ${row.id}`, row]));
    return leases.map(({ tenant, id, attempt }) => {
      const row = claimed.get(`${tenant} ${id}`);
      if (row?.attempts !== attempt) return null;
      claimed.delete(`${tenant} ${id}`); // of two jobs about one lease only one has it
      return row;
    });
  }

  /**
   * Extends the leases; in the order of `rows`. False: the lease had passed to another worker. SKIP LOCKED: two multi-row statements could otherwise
   * deadlock.
   */
  async extend(rows: readonly Leased[], leaseSeconds: number): Promise<boolean[]> {
    const held = await this.sql.query<{ fence: string }>(
      `WITH held AS (
         SELECT w.tenant, w.id, w.fence FROM unnest($1::name[], $2::bigint[], $3::uuid[]) AS lease (tenant, id, fence)
         JOIN ${this.#table} w USING (tenant, id, fence)
       ), free AS (
         SELECT w.tenant, w.id FROM ${this.#table} w JOIN held USING (tenant, id, fence) FOR UPDATE OF w SKIP LOCKED
       ), kept AS (
         UPDATE ${this.#table} w SET leased_until = now() + make_interval(secs => $4) FROM free WHERE w.tenant = free.tenant AND w.id = free.id
       )
       SELECT fence FROM held`,
      [rows.map(({ tenant }) => tenant), rows.map(({ id }) => id), rows.map(({ fence }) => fence), leaseSeconds],
    );
    const fences = new Set(held.map(({ fence }) => fence));
    return rows.map(({ fence }) => fences.has(fence));
  }

  /** Releases the lease: the row is due as before. False: the lease had passed to another worker. */
  async release({ tenant, id, attempts, fence }: Leased | Unclaimed): Promise<boolean> {
    const sql = `UPDATE ${this.#table} SET leased_until = NULL, fence = NULL
      WHERE tenant = $1 AND id = $2 AND attempts = $3 AND fence IS NOT DISTINCT FROM $4::uuid RETURNING id`;
    return (await this.sql.query(sql, [tenant, id, attempts, fence])).length > 0;
  }

  /** Releases unclaimed leases: Redis has lost the jobs that they were for. Leases that workers hold stay. */
  async releaseUnclaimed(): Promise<void> {
    await this.sql.query(
      `UPDATE ${this.#table} w SET leased_until = NULL WHERE ${this.#only} AND w.leased_until > now() AND w.fence IS NULL`,
    );
  }

  /** Sets columns of a row, parameters from $4 on, where its lease is still held. False: the lease had passed to another worker. */
  protected async change(row: Leased, assignments: string, params: readonly unknown[]): Promise<boolean> {
    const sql = `UPDATE ${this.#table} SET ${assignments} WHERE tenant = $1 AND id = $2 AND fence = $3 RETURNING id`;
    return (await this.sql.query(sql, [row.tenant, row.id, row.fence, ...params])).length > 0;
  }
}
