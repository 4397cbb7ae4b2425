import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import type { Logger } from '../../runtime/log.ts';
import { abandon, isAbandoned, observedClient, type ObserveStatement, types } from './client.ts';
import { sqlState, STALE_PLAN, translateError } from './errors.ts';
import { quoteIdentifier } from './quoting.ts';

export { quoteIdentifier, quoteLiteral } from './quoting.ts';

/**
 * Runs statements: a pool (each on its own) or a transaction. Parameters are $1, $2 …; rows have the statement's column names as
 * keys. A SqlPool prepares a statement that has a `name`; one name has one text.
 */
export interface Sql {
  query<T = Record<string, unknown>>(sql: string, params?: readonly unknown[], name?: string): Promise<T[]>;
}

export interface ConnectionOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly poolSize: number;
  /** For a Database: the password that the role is about to get, or already has, while it is rotated. */
  readonly nextPassword?: string | undefined;
  /**
   * The number of statements and transactions after which a connection ends. Default: USES_OF_A_CONNECTION in a SqlPool, and
   * unlimited in a Database.
   */
  readonly connectionUses?: number;
  readonly log: Logger;
  readonly observe?: ObserveStatement;
  /** An answer that takes longer counts as none; a little more than the role's statement_timeout. */
  readonly queryTimeoutMs?: number;
}

interface SqlPoolOptions extends ConnectionOptions {
  /**
   * Both are settings of the connection, for statements that set none of their own. Default: those of the role. A pooler in
   * between would refuse them.
   */
  readonly lockTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /**
   * Called when a channel is notified to which a connection of the pool listens (LISTEN). That connection is closed neither while
   * idle nor after many uses.
   */
  readonly onNotification?: () => void;
}

export const CONNECT_TIMEOUT_MS = 4_000;
export const IDLE_CONNECTION_MS = 10_000;
export const DEFAULT_QUERY_TIMEOUT_MS = 9_000;
/**
 * A connection that serves many tenants ends after this number of statements and transactions. Postgres keeps the plans of each
 * tenant's functions as long as the connection lasts, and checks all of them whenever a table changes (docs/decisions/stores.md).
 */
export const USES_OF_A_CONNECTION = 200;
/** Plans of prepared statements are made again after this time: a table of work grows faster than its statistics change. */
const PLANS_MS = 1_000;

/** A transaction that also moves rows as a stream, in the text format of COPY. Each stream ends before the next statement. */
export interface CopyingSql extends Sql {
  /** `COPY … TO STDOUT`. */
  copyOut(statement: string): Promise<Readable>;
  /** `COPY … FROM STDIN`; returns the number of rows. */
  copyIn(statement: string, rows: AsyncIterable<Buffer>): Promise<number>;
}

export interface TransactionOptions {
  /** One snapshot for all statements; the first one that reads takes it. */
  readonly isolation?: 'repeatable read';
  /** Switches to this role for the transaction only (SET LOCAL ROLE); `"$user"` in search_path follows it. */
  readonly role?: string;
}

/** Runs single statements and transactions: a pool or a Database. */
export interface Transactions extends Sql {
  transaction<T>(fn: (tx: Sql) => Promise<T>): Promise<T>;
}

/**
 * Plain node-postgres, for programs that work across tenants (operator, worker, carrel). It holds no connection while idle, nor
 * for more than its uses, unless it listens. So nothing may be set for a session. Throws StoreUnavailableError and the errors of
 * errors.ts.
 */
export class SqlPool implements Transactions {
  readonly #pool: pg.Pool;
  readonly #options: SqlPoolOptions;
  /** Each with the time from which the plans of its prepared statements are too old. */
  readonly #clients = new Map<pg.PoolClient, { replansAt: number }>();

  constructor(options: SqlPoolOptions) {
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.poolSize,
      ...(options.onNotification
        ? { idleTimeoutMillis: 0 }
        : { idleTimeoutMillis: IDLE_CONNECTION_MS, maxUses: options.connectionUses ?? USES_OF_A_CONNECTION }),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: options.queryTimeoutMs ?? 60_000,
      ...(options.lockTimeoutMs === undefined ? {} : { lock_timeout: options.lockTimeoutMs }),
      ...(options.statementTimeoutMs === undefined ? {} : { statement_timeout: options.statementTimeoutMs }),
      types,
      Client: observedClient(options.observe),
    });
    this.#pool.on('connect', (client) => {
      if (options.onNotification) client.on('notification', options.onNotification);
      this.#clients.set(client, { replansAt: performance.now() + PLANS_MS });
    });
    this.#pool.on('remove', (client) => this.#clients.delete(client));
    this.#pool.on('error', (error) => options.log.warn({ err: error }, 'an idle Postgres connection was lost'));
  }

  /** Returns a pool of one connection, as the same user, to another database of the same server; the caller closes it. */
  to(database: string): SqlPool {
    const url = new URL(this.#options.url);
    url.pathname = `/${encodeURIComponent(database)}`;
    return new SqlPool({ ...this.#options, url: url.href, poolSize: 1 });
  }

  async query<T = Record<string, unknown>>(sql: string, params: readonly unknown[] = [], name?: string): Promise<T[]> {
    let client: pg.PoolClient | undefined;
    let broken: Error | undefined;
    try {
      client = await this.#connect();
      if (name === undefined) return await run<T>(client, sql, params);
      await this.#discardOldPlans(client);
      return (await client.query({ name, text: sql, values: [...params] })).rows as T[];
    } catch (error) {
      const isStale = sqlState(error) === STALE_PLAN;
      // A statement that the server refuses costs no connection, unlike with pg.Pool's own `query`.
      if (isStale || !isRefusal(error)) broken = error as Error;
      if (!isStale || name === undefined) throw translateError(error);
    } finally {
      client?.release(broken);
    }
    // The plan stays stale on each connection that has it, and each of them is closed when it is found.
    return this.query(sql, params);
  }

  async #discardOldPlans(client: pg.PoolClient): Promise<void> {
    const plans = this.#clients.get(client);
    const now = performance.now();
    if (plans === undefined || now < plans.replansAt) return;
    plans.replansAt = now + PLANS_MS;
    await client.query('DISCARD PLANS');
  }

  /** Commits when `fn` resolves, rolls back when it throws. */
  transaction<T>(fn: (tx: Sql) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.copying(fn, options);
  }

  /**
   * A transaction that also moves rows as a stream. The pool's `queryTimeoutMs` bounds each stream as a whole; 0 means no limit.
   */
  async copying<T>(fn: (tx: CopyingSql) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    let client: pg.PoolClient | undefined;
    let broken: Error | undefined;
    try {
      client = await this.#connect();
      await client.query(options.isolation === undefined ? 'BEGIN' : 'BEGIN ISOLATION LEVEL REPEATABLE READ');
      const connection = client;
      if (options.role !== undefined) await client.query(`SET LOCAL ROLE ${quoteIdentifier(options.role)}`);
      const result = await fn(statementsOn(connection));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client?.query('ROLLBACK').catch((failure: Error) => (broken = failure));
      throw translateError(error);
    } finally {
      client?.release(broken);
    }
  }

  /** An abandoned client stays in the pool until the end of its connection is reported. */
  async #connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#pool.connect();
      if (!isAbandoned(client)) return client;
      client.release(true);
    }
  }

  /**
   * Closes all open connections at once; statements that wait for an answer on them fail. Later statements get new connections.
   */
  abandon(): void {
    for (const client of this.#clients.keys()) abandon(client);
  }

  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

const statementsOn = (client: pg.PoolClient): CopyingSql => ({
  query: (sql, params = []) => run(client, sql, params),
  copyOut: async (statement) => {
    const { to } = await import('pg-copy-streams');
    return client.query(to(statement));
  },
  copyIn: async (statement, rows) => {
    const { from } = await import('pg-copy-streams');
    const into = client.query(from(statement));
    await pipeline(rows, into);
    return into.rowCount;
  },
});

/** The server refused the statement and accepts the next one; after FATAL, or in a message in another language, it may not. */
const isRefusal = (error: unknown): boolean => error instanceof pg.DatabaseError && error.severity === 'ERROR';

/** A string of several statements is sent without parameters and returns the last one's rows. */
async function run<T>(target: pg.PoolClient, sql: string, params: readonly unknown[]): Promise<T[]> {
  const result = await (params.length === 0 ? target.query(sql) : target.query(sql, [...params]));
  const last = Array.isArray(result) ? (result as pg.QueryResult[]).at(-1) : result;
  return (last?.rows ?? []) as T[];
}
