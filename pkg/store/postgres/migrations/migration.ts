import type { Umzug } from 'umzug';
import { backOffMs } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import { LockTimeout, SerializationFailure, sqlState } from '../errors.ts';
import { quoteIdentifier, type Sql, type Transactions } from '../pool.ts';

/**
 * One ordered change of a schema, with its way back: the statements of each, separated by semicolons. Names sort in the order
 * they run.
 */
export interface Migration<Context> {
  readonly name: string;
  /**
   * What `down` deletes for good, in words; docs/operate/upgrade.md lists it. Left out: after `down` and `up` every row is as it was. The
   * tests of the migrations take both with rows in every table and fail where this is wrong.
   */
  readonly loses?: string;
  up(context: Context): string;
  down(context: Context): string;
}

export interface MigrationRun<Context> {
  readonly pool: Transactions;
  readonly migrations: readonly Migration<Context>[];
  readonly context: Context;
  /** The schema that holds what has been applied, in its table schema_migrations. */
  readonly schema: string;
  /**
   * Runs first in each migration's transaction: sets the search path and takes the row lock that makes a second operator wait.
   */
  prepare(tx: Sql): Promise<unknown>;
  /** Runs last in it; `version` is the newest that is applied then, null for none. */
  record?(tx: Sql, version: string | null): Promise<unknown>;
  readonly clock: Clock;
  readonly random: Random;
}

/** DDL waits this long for a lock and is then tried again, so that it never makes a queue behind itself for longer. */
const LOCK_TIMEOUT = '5s';
const LOCK_ATTEMPTS = 6;
const LOCK_BACK_OFF = { baseMs: 200, maxMs: 5_000, jitter: 0.5 };

/** "duplicate object", "duplicate table", "tuple concurrently updated": two operators did the same thing at once. */
const RACED = new Set(['42710', '42P06', '42P07', 'XX000']);

/**
 * Tries a transaction of DDL again when it did not get a lock, was given up for another, or another operator was doing the same.
 */
export async function retryDdl<T>(
  time: { clock: Clock; random: Random },
  attempt: () => Promise<T>,
  attempts = LOCK_ATTEMPTS,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const again = error instanceof LockTimeout || error instanceof SerializationFailure || isRace(error);
      if (!again || tries >= attempts) throw error;
      await time.clock.sleep(backOffMs(LOCK_BACK_OFF, tries, time.random));
    }
  }
}

/** A unique index of the system catalogs says no only when two of us made the same thing. */
const isRace = (error: unknown): boolean => {
  const table = (error as { table?: string }).table ?? '';
  return RACED.has(sqlState(error) ?? '') || (sqlState(error) === '23505' && table.startsWith('pg_'));
};

/**
 * Applies (or takes back) migrations with umzug, each with its record in one transaction: killed at any point, it goes on where
 * it was.
 * `to` up: the last to apply, all when left out. `to` down: the first to take back, 0 for all.
 */
export async function migrateUp<Context>(run: MigrationRun<Context>): Promise<void> {
  await unwrapped(async () => (await umzug(run)).up());
}

export async function migrateDown<Context>(run: MigrationRun<Context>, to: string | 0): Promise<void> {
  await unwrapped(async () => (await umzug(run)).down({ to }));
}

/** What the migration itself threw, instead of umzug's wrapper. */
async function unwrapped(migrate: () => Promise<unknown>): Promise<void> {
  try {
    await migrate();
  } catch (error) {
    const { MigrationError } = await import('umzug');
    throw error instanceof MigrationError ? (error.cause ?? error) : error;
  }
}

/** umzug brings a command line and 150 files of its own: programs that migrate nothing do without them. */
async function umzug<Context>(run: MigrationRun<Context>): Promise<Umzug<object>> {
  const { Umzug } = await import('umzug');
  const table = `${quoteIdentifier(run.schema)}.schema_migrations`;
  const applied = async (sql: Sql): Promise<string[]> =>
    (await sql.query<{ name: string }>(`SELECT name FROM ${table} ORDER BY name`)).map(({ name }) => name);

  const inTransaction = (
    name: string,
    isWanted: (applied: string[]) => boolean,
    change: (tx: Sql) => Promise<unknown>,
  ): Promise<void> =>
    retryDdl(run, () =>
      run.pool.transaction(async (tx) => {
        await tx.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
        await run.prepare(tx);
        if (!isWanted(await applied(tx))) return;
        await change(tx);
        await run.record?.(tx, (await applied(tx)).at(-1) ?? null);
      }),
    );

  return new Umzug<object>({
    context: {},
    logger: undefined,
    migrations: run.migrations.map(({ name, up, down }) => ({
      name,
      up: () =>
        inTransaction(
          name,
          (done) => !done.includes(name),
          async (tx) => {
            await tx.query(up(run.context));
            await tx.query(`INSERT INTO ${table} (name) VALUES ($1)`, [name]);
          },
        ),
      down: () =>
        inTransaction(
          name,
          (done) => done.includes(name),
          async (tx) => {
            await tx.query(down(run.context));
            await tx.query(`DELETE FROM ${table} WHERE name = $1`, [name]);
          },
        ),
    })),
    // Written inside each migration's own transaction, above.
    storage: { logMigration: async () => {}, unlogMigration: async () => {}, executed: () => applied(run.pool) },
  });
}
