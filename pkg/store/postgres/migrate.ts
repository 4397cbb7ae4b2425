import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Migration } from './migrations/migration.ts';
import { quoteIdentifier, type Sql, type Transactions } from './pool.ts';
import { retryDdl } from './retry-ddl.ts';

/**
 * Applies migrations and takes them back, each with its record in one transaction.
 *
 * Invariants:
 * - A run that is killed at any point leaves whole migrations, and the next run goes on there.
 * - Runs that race take turns by the lock of `prepare`, and each looks again under it what is applied.
 */
export interface MigrationRun<Context> {
  readonly pool: Transactions;
  /** In their order. */
  readonly migrations: readonly Migration<Context>[];
  readonly context: Context;
  /** The schema that holds what has been applied, in its table schema_migrations. */
  readonly schema: string;
  /** Runs first in each migration's transaction: takes the lock that makes a second operator wait. */
  prepare(tx: Sql): Promise<unknown>;
  /** Runs last in it; `version` is the newest that is applied then, null for none. */
  record?(tx: Sql, version: string | null): Promise<unknown>;
  readonly clock: Clock;
  readonly random: Random;
}

/** DDL waits this long for a lock and is then tried again, so that it never makes a queue behind itself for longer. */
export const LOCK_TIMEOUT = '5s';

/** Applies the migrations that are missing, whatever the newest one that is there. */
export async function migrateUp<Context>(run: MigrationRun<Context>): Promise<void> {
  const done = await applied(run.pool, run.schema);
  const [baseline] = run.migrations;
  if (baseline && done.length > 0 && !done.includes(baseline.name))
    throw new Error(
      `the schema ${run.schema} was made by a build before the first release, and has ${done[0]} in place of ${baseline.name}. ` +
        'Recreate the installation; on one machine: make clean, then make up',
    );
  for (const { name, up } of run.migrations.filter((migration) => !done.includes(migration.name)))
    await inTransaction(run, async (tx, table, names) => {
      if (names.includes(name)) return;
      await tx.query(up(run.context));
      await tx.query(`INSERT INTO ${table} (name) VALUES ($1)`, [name]);
    });
}

/** Takes back what is applied, from the newest to `to`; 0: all of it. */
export async function migrateDown<Context>(run: MigrationRun<Context>, to: string | 0): Promise<void> {
  const done = await applied(run.pool, run.schema);
  const there = run.migrations.filter(({ name }) => done.includes(name));
  const from = to === 0 ? 0 : there.findIndex(({ name }) => name === to);
  if (from === -1) throw new Error(`migration ${to} is not applied, so nothing was reverted; name an applied migration`);
  for (const { name, down } of there.slice(from).toReversed())
    await inTransaction(run, async (tx, table, names) => {
      if (!names.includes(name)) return;
      await tx.query(down(run.context));
      await tx.query(`DELETE FROM ${table} WHERE name = $1`, [name]);
    });
}

function inTransaction<Context>(
  run: MigrationRun<Context>,
  change: (tx: Sql, table: string, applied: readonly string[]) => Promise<void>,
): Promise<void> {
  return retryDdl(run, () =>
    run.pool.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      await run.prepare(tx);
      await change(tx, tableOf(run.schema), await applied(tx, run.schema));
      await run.record?.(tx, (await applied(tx, run.schema)).at(-1) ?? null);
    }),
  );
}

const tableOf = (schema: string): string => `${quoteIdentifier(schema)}.schema_migrations`;

const applied = async (sql: Sql, schema: string): Promise<string[]> =>
  (await sql.query<{ name: string }>(`SELECT name FROM ${tableOf(schema)} ORDER BY name`)).map(({ name }) => name);
