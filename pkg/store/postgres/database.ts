import pg from 'pg';
import {
  type Model,
  type ModelStatic,
  Sequelize,
  type Transaction,
  type TransactionOptions as SequelizeOptions,
} from 'sequelize';
import type { Logger } from '../../runtime/log.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { isAbandoned, observedClient, types } from './client.ts';
import { attributesOf, type NewOf, type RowOf, type TableDefinition } from './columns.ts';
import { whenFree } from './wait-for-connection.ts';
import { SerializationFailure, sqlState, STALE_PLAN, translateError } from './errors.ts';
import { withEitherPassword } from './next-password.ts';
import { setOrigin } from './origin.ts';
import {
  CONNECT_TIMEOUT_MS,
  type ConnectionOptions,
  DEFAULT_QUERY_TIMEOUT_MS,
  IDLE_CONNECTION_MS,
  quoteIdentifier,
  type Sql,
  type TransactionOptions,
} from './pool.ts';
import { inSavepoint } from './savepoint.ts';
import { statements } from './statements.ts';
import { ModelTable, type Table, TABLE_METHODS } from './table.ts';
import { type Definitions, definitions } from './tables.ts';

export type Tables = { readonly [K in keyof Definitions]: Table<RowOf<Definitions[K]>, NewOf<Definitions[K]>> };

/** Runs statements in a transaction, or each on its own. A function that accepts an Executor works in both. */
export interface Executor extends Tables, Sql {
  /** A hot read as a named prepared statement. One name has one text; name the columns, never `*`. */
  prepared<T>(name: string, sql: string, params?: readonly unknown[]): Promise<T[]>;
}

export interface Tx extends Executor {
  /**
   * Runs `fn` once the transaction has committed, never after a rollback; also if the code that requested it was rolled back to a
   * savepoint. It is awaited; a failure is logged and not thrown.
   */
  afterCommit(fn: () => Promise<void> | void): void;
}

const ACQUIRE_TIMEOUT_MS = 5_000;
const EVICT_EVERY_MS = 1_000;
/** Each deadlock costs its victim Postgres' deadlock_timeout, 1 s. */
const TRANSACTION_ATTEMPTS = 4;
/** Set because Sequelize would otherwise query the server's version; the statements need only the oldest supported one. */
const OLDEST_POSTGRES = '15.0.0';

/**
 * A tenant's database: Sequelize over a pool that holds no connection while idle, and typed tables.
 *
 * A connection costs only the log-in: no time zone, no message level, no scan of pg_type (280,000 rows on a full shard). All
 * methods throw StoreUnavailableError within ~10 s if Postgres does not answer; the pool reconnects when it is back.
 */
export class Database implements Sql {
  /** Runs each statement on its own. */
  readonly tables: Executor;
  readonly #connections: Connections;
  readonly #role: string | undefined;
  readonly #within: Tx | undefined;

  /** `role` and `within` are those of `as` and `within`. */
  constructor(of: ConnectionOptions | Connections, { role, within }: { role?: string | undefined; within?: Tx } = {}) {
    this.#connections = of instanceof Connections ? of : new Connections(of);
    this.#role = role;
    this.#within = within;
    this.tables = within ?? (role === undefined ? this.#connections.executor() : executorOf((fn) => this.transaction(fn)));
  }

  /**
   * Returns the same connections in a role: each transaction switches to that role (SET LOCAL ROLE), and each single statement is
   * a transaction. `prepared` prepares nothing, since roles share connections. `close` closes all connections.
   */
  as(role: string): Database {
    return new Database(this.#connections, { role });
  }

  /**
   * Returns this database as one of its transactions sees it, for services that open their own transactions. Their statements
   * belong to `tx`, and each of their transactions is a savepoint, which is undone if it throws.
   */
  within(tx: Tx): Database {
    return new Database(this.#connections, { role: this.#role, within: tx });
  }

  get isWithin(): boolean {
    return this.#within !== undefined;
  }

  query<T = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<T[]> {
    return this.tables.query(sql, params);
  }

  prepared<T>(name: string, sql: string, params?: readonly unknown[]): Promise<T[]> {
    return this.tables.prepared(name, sql, params);
  }

  /**
   * Commits when `fn` resolves and rolls back when it throws; after a commit, runs the `afterCommit` callbacks.
   * Runs `fn` again after a deadlock or a serialization failure, so `fn` must have no effect outside the transaction.
   */
  async transaction<T>(fn: (tx: Tx) => Promise<T>, { role = this.#role }: Pick<TransactionOptions, 'role'> = {}): Promise<T> {
    const tx = this.#within;
    if (tx) return inSavepoint(tx, () => fn(tx));
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#connections.transaction(fn, role);
      } catch (error) {
        // The other transaction has got its lock by now, so there is nothing to wait for here.
        if (!(error instanceof SerializationFailure) || attempt === TRANSACTION_ATTEMPTS) throw error;
      }
    }
  }

  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

/** Runs each statement in a transaction of its own. */
function executorOf(transaction: <T>(fn: (tx: Tx) => Promise<T>) => Promise<T>): Executor {
  const query: Executor['query'] = (text, params) => transaction((tx) => tx.query(text, params));
  const prepared: Executor['prepared'] = (name, text, params) => transaction((tx) => tx.prepared(name, text, params));
  return statements({ query, prepared }, (name) => {
    const table = (tx: Tx) => tx[name] as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
    const call =
      (method: string) =>
      (...args: readonly unknown[]) =>
        transaction((tx) => table(tx)[method]?.(...args) ?? Promise.resolve());
    return Object.fromEntries(TABLE_METHODS.map((method) => [method, call(method)]));
  }) as Executor;
}

/** The pool of one or more Databases. */
class Connections {
  readonly #sequelize: Sequelize;
  /** By the name of the definition; each is created on first use. */
  readonly #models = new Map<string, ModelStatic<Model>>();
  readonly #log: Logger;
  readonly #closing = new AbortController();
  /** The number of times that a prepared statement went stale. */
  readonly #renewals = new Map<string, number>();

  constructor(options: ConnectionOptions) {
    this.#log = options.log;
    this.#sequelize = connect(options, this.#closing.signal);
  }

  /** Runs statements of the transaction; without one, each on its own. `prepares`: whether `prepared` prepares statements. */
  executor(transaction?: Transaction, prepares = true): Executor {
    const query: Sql['query'] = (text, params = []) => this.#run(transaction, { text, values: [...params] });
    const named: Executor['prepared'] = (name, text, params = []) =>
      this.#run(transaction, { name: this.#nameOf(name), text, values: [...params] });
    const renewed: Executor['prepared'] = (name, text, params) => this.#renewing(name, () => named(name, text, params));
    const prepared: Executor['prepared'] = prepares
      ? transaction
        ? named
        : renewed
      : (_name, text, params) => query(text, params);
    const sql = { query, prepared };
    return statements(sql, (name) => new ModelTable(definitions[name], this.#modelOf(name), sql, transaction)) as Executor;
  }

  /** Makes one attempt. */
  async transaction<T>(fn: (tx: Tx) => Promise<T>, role: string | undefined): Promise<T> {
    const committed: (() => Promise<void> | void)[] = [];
    const result = await this.#committed(role, async (transaction) => {
      const afterCommit = (work: () => Promise<void> | void): void => void committed.push(work);
      return fn(Object.assign(this.executor(transaction, role === undefined), { afterCommit }));
    });
    for (const work of committed) {
      try {
        await work();
      } catch (error) {
        this.#log.error({ err: error }, 'work after a commit failed');
      }
    }
    return result;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sequelize.close();
  }

  #modelOf(name: keyof typeof definitions): ModelStatic<Model> {
    const known = this.#models.get(name);
    if (known) return known;
    const model = define(this.#sequelize, name, definitions[name]);
    this.#models.set(name, model);
    return model;
  }

  async #renewing<T>(name: string, run: () => Promise<T>): Promise<T> {
    const used = this.#nameOf(name);
    try {
      return await run();
    } catch (error) {
      if (sqlState(error) !== STALE_PLAN) throw error;
      // The statement stays stale on every connection that has it, so all of them prepare it again under another name.
      if (this.#nameOf(name) === used) this.#renewals.set(name, (this.#renewals.get(name) ?? 0) + 1);
      return run();
    }
  }

  #nameOf(statement: string): string {
    return `${statement}.${this.#renewals.get(statement) ?? 0}`;
  }

  async #committed<T>(role: string | undefined, fn: (transaction: Transaction) => Promise<T>): Promise<T> {
    let transaction: Transaction | undefined;
    try {
      transaction = await this.#sequelize.transaction({ role } as SequelizeOptions);
      const result = await fn(transaction);
      if (isAbandoned(connectionOf(transaction)))
        throw new StoreUnavailableError('postgres', new Error('the connection was lost before the commit'));
      const ending = transaction;
      transaction = undefined;
      await ending.commit();
      return result;
    } catch (error) {
      // A lost connection has nothing to roll back; Sequelize would try, and write to the console.
      if (transaction && isAbandoned(connectionOf(transaction))) await forceCleanup(transaction);
      else await transaction?.rollback().catch(() => {});
      throw translateError(error);
    }
  }

  /** Runs a statement directly through node-postgres, on the transaction's connection or on one of the same pool. */
  async #run<T>(transaction: Transaction | undefined, statement: pg.QueryConfig): Promise<T[]> {
    const manager = connectionManager(this.#sequelize);
    let acquired: pg.Client | undefined;
    try {
      const client = transaction ? connectionOf(transaction) : (acquired = await manager.getConnection({ type: 'write' }));
      const result = await client.query(statement);
      return result.rows as T[];
    } catch (error) {
      throw translateError(error);
    } finally {
      if (acquired) manager.releaseConnection(acquired);
    }
  }
}

/** `signal` is aborted when the database closes. */
function connect(options: ConnectionOptions, signal: AbortSignal): Sequelize {
  const sequelize = new Sequelize(options.url, {
    dialect: 'postgres',
    dialectModule: { ...pg, types, Client: observedClient(options.observe) },
    databaseVersion: OLDEST_POSTGRES,
    keepDefaultTimezone: true,
    logging: false,
    define: { timestamps: false, freezeTableName: true },
    dialectOptions: {
      clientMinMessages: 'ignore',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: options.queryTimeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS,
      keepAlive: true,
    },
    pool: {
      min: 0,
      max: options.poolSize,
      idle: IDLE_CONNECTION_MS,
      evict: EVICT_EVERY_MS,
      acquire: ACQUIRE_TIMEOUT_MS,
      maxUses: options.connectionUses ?? Infinity,
    },
    retry: { max: 0 },
  } as ConstructorParameters<typeof Sequelize>[1] & object);
  const manager = connectionManager(sequelize);
  // Sequelize scans pg_type on each connect while this map is empty; our parsers need nothing of that.
  manager.nameOidMap = { int8: { oid: 20 } };
  // In the same message as BEGIN: no extra round trip.
  const queries = (sequelize.getQueryInterface() as unknown as { queryGenerator: QueryGenerator }).queryGenerator;
  const start = queries.startTransactionQuery.bind(queries);
  queries.startTransactionQuery = (transaction) => start(transaction) + setOrigin() + setRole(transaction);
  // Below the pool, so that a waiting caller also gets a connection that another statement returns.
  const logIn = manager._connect.bind(manager);
  const { nextPassword } = options;
  let settings: object;
  const open = withEitherPassword(
    (password) => logIn(password === undefined ? settings : { ...settings, password }),
    nextPassword,
  );
  manager._connect = (config) => {
    settings = config;
    return whenFree(open, { limitMs: CONNECT_TIMEOUT_MS, signal });
  };
  return sequelize;
}

/** For `transaction` of Connections, whose `role` Sequelize passes on. */
function setRole({ options: { role } }: RoleTransaction): string {
  return role === undefined ? '' : ` SET LOCAL ROLE ${quoteIdentifier(role)};`;
}

const define = (sequelize: Sequelize, name: string, definition: TableDefinition): ModelStatic<Model> =>
  sequelize.define(name, attributesOf(definition), { tableName: definition.name });

/** Members that Sequelize has and does not declare. */
interface ConnectionManager {
  nameOidMap: Record<string, { oid: number }>;
  _connect(config: object): Promise<pg.Client>;
  getConnection(options: { type: 'read' | 'write' }): Promise<pg.Client>;
  releaseConnection(connection: pg.Client): void;
}

type RoleTransaction = Transaction & { readonly options: Pick<TransactionOptions, 'role'> };

interface QueryGenerator {
  startTransactionQuery(transaction: RoleTransaction): string;
}

const connectionManager = (sequelize: Sequelize): ConnectionManager =>
  (sequelize as unknown as { connectionManager: ConnectionManager }).connectionManager;

const connectionOf = (transaction: Transaction): pg.Client => (transaction as unknown as { connection: pg.Client }).connection;

/** Closes the connection instead of returning it to the pool. */
const forceCleanup = (transaction: Transaction): Promise<void> =>
  (transaction as unknown as { forceCleanup(): Promise<void> }).forceCleanup();
