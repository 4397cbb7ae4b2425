import type { Migration } from '../../../pkg/store/postgres/migrations/migration.ts';
import { quoteIdentifier, type Sql, type SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { catalogOf } from './catalog.ts';

/** A schema at its newest version, with rows in it. */
export interface FilledSchema<Context> {
  readonly pool: SqlPool;
  readonly schema: string;
  readonly migrations: readonly Migration<Context>[];
  readonly context: Context;
  /** Runs first in each transaction, as it does in production. */
  readonly prepare?: (tx: Sql) => Promise<unknown>;
}

type Row = Readonly<Record<string, unknown>>;
type Contents = ReadonlyMap<string, readonly Row[]>;

export interface Step {
  readonly migration: string;
  /** Tables that both versions have and whose rows `down` deleted or changed, in columns that both have. */
  readonly changed: readonly string[];
  /** Rows are not the same after down and up. */
  readonly isLossy: boolean;
  /** Lines of the catalog that differ after down and up, or after a second down. */
  readonly catalog: readonly string[];
}

/**
 * Takes the migrations back from the newest to the oldest, each in a transaction of its own. In between each is applied and taken
 * back again, in a transaction that is rolled back: the rows that go down are never those that an `up` has made.
 */
export async function walkDown<Context>(filled: FilledSchema<Context>): Promise<Step[]> {
  const { pool, schema, migrations, context, prepare } = filled;
  const after = async (tx: Sql, change: Migration<Context>['up']): Promise<State> => {
    await prepare?.(tx);
    await tx.query(change(context));
    return stateOf(tx, schema);
  };
  const steps: Step[] = [];
  let before = await pool.transaction((tx) => stateOf(tx, schema));
  for (const migration of migrations.toReversed()) {
    const lower = await pool.transaction((tx) => after(tx, migration.down));
    const [again, lowest] = await undone(pool, async (tx): Promise<[State, State]> => [
      await after(tx, migration.up),
      await after(tx, migration.down),
    ]);
    steps.push({
      migration: migration.name,
      changed: [...lower.contents.keys()].filter((table) => !sameInCommon(before.contents.get(table), lower.contents.get(table))),
      isLossy: [...before.contents].some(([table, rows]) => textOf(rows) !== textOf(again.contents.get(table))),
      catalog: [...difference(before.catalog, again.catalog), ...difference(lower.catalog, lowest.catalog)],
    });
    before = lower;
  }
  return steps;
}

/** Returns the result of `work`, in a transaction that is rolled back. */
async function undone<T>(pool: SqlPool, work: (tx: Sql) => Promise<T>): Promise<T> {
  let result: { readonly value: T } | undefined;
  const rollback = new Error('rolled back');
  await pool
    .transaction(async (tx) => {
      result = { value: await work(tx) };
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  if (!result) throw new Error('the transaction ended without a result');
  return result.value;
}

/** Tables without a row, and columns, as `table.column`, that are null in every row. */
export async function unfilled(sql: Sql, schema: string): Promise<string[]> {
  const contents = await contentsOf(sql, schema);
  return [...contents].flatMap(([table, rows]) => {
    const [first] = rows;
    if (!first) return [table];
    return Object.keys(first)
      .filter((column) => rows.every((row) => row[column] === null))
      .map((column) => `${table}.${column}`);
  });
}

interface State {
  readonly catalog: readonly string[];
  readonly contents: Contents;
}

/**
 * Returns the catalog and the rows. The catalog gives the full names of what is outside of the search path, whatever the
 * connection begins with.
 */
async function stateOf(sql: Sql, schema: string): Promise<State> {
  await sql.query('SET LOCAL search_path TO pg_catalog');
  return { catalog: await catalogOf(sql, schema), contents: await contentsOf(sql, schema) };
}

async function contentsOf(sql: Sql, schema: string): Promise<Contents> {
  const tables = await sql.query<{ name: string }>(
    `SELECT tablename::text AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'schema_migrations' ORDER BY 1`,
    [schema],
  );
  if (tables.length === 0) return new Map();
  const rows = await sql.query<{ table: string; row: Row | null }>(
    tables
      .map(
        ({ name }, at) =>
          `SELECT '${name}' AS table, to_jsonb(t${at}) AS row FROM ${quoteIdentifier(schema)}.${quoteIdentifier(name)} t${at}`,
      )
      .join(' UNION ALL '),
  );
  return new Map(tables.map(({ name }) => [name, rows.flatMap(({ table, row }) => (table === name && row ? [row] : []))]));
}

function sameInCommon(before: readonly Row[] | undefined, after: readonly Row[] | undefined): boolean {
  if (!before || !after) return false;
  // Without rows afterwards there are no columns to compare, and then there must have been none before.
  if (before.length !== after.length) return false;
  const common = Object.keys(after[0] ?? {}).filter((column) => column in (before[0] ?? {}));
  const project = (rows: readonly Row[]): Row[] =>
    rows.map((row) => Object.fromEntries(common.map((column) => [column, row[column]])));
  return textOf(project(before)) === textOf(project(after));
}

/** Rows in any order, columns in any order: a column that was dropped and added again is the last one. */
const textOf = (rows: readonly Row[] | undefined): string =>
  (rows ?? [])
    .map((row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted()
    .join('\n');

function difference(a: readonly string[], b: readonly string[]): string[] {
  const [inA, inB] = [new Set(a), new Set(b)];
  return [
    ...a.filter((line) => !inB.has(line)).map((line) => `- ${line}`),
    ...b.filter((line) => !inA.has(line)).map((line) => `+ ${line}`),
  ];
}
