import { columnList, type DataTable, sharedTables, tablesOf, withoutConstraints } from '../store/postgres/data-tables.ts';
import { sqlState } from '../store/postgres/errors.ts';
import { type CopyingSql, quoteIdentifier, quoteLiteral, type Sql } from '../store/postgres/pool.ts';
import { tenantRole } from '../store/postgres/provisioning.ts';
import type { BackedUpTable } from './manifest.ts';
import { measured } from './measured.ts';
import { RepositoryError } from './repository/repository.ts';

export interface LoadedTable extends Pick<BackedUpTable, 'name' | 'columns'> {
  /** The expected rows; undefined if unknown. */
  readonly expected?: Pick<BackedUpTable, 'rows' | 'sha256'>;
  /** The last value of the table's sequence where the tenant's rows were or are, so that no value is used twice. */
  readonly last?: string;
  /** Returns the rows in the text format of COPY, from the first one again at each call. */
  rowsOf(): AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>;
}

/** The rows of a table after loading. */
export interface Loaded extends Pick<BackedUpTable, 'rows' | 'sha256'> {
  readonly table: LoadedTable;
}

/**
 * Fills the tables of a tenant's schema, whatever they contain, and makes Postgres analyze them. On its own it would do so a
 * minute later or more; until then a list of 10,000 folders takes 13 times as long. Throws RepositoryError if rows differ from
 * those that were written.
 */
export async function loadTables(tx: CopyingSql, slug: string, tables: readonly LoadedTable[]): Promise<Loaded[]> {
  const schema = tenantRole(slug);
  const present = await tablesOf(tx, schema);
  const all = await withoutConstraints(tx, schema, async () => {
    const loaded: Loaded[] = [];
    if (present.length > 0) await tx.query(`TRUNCATE ${columnList(present.map(({ name }) => name))}`);
    for (const table of tables) {
      const { identity } = requireColumns(present, table);
      const name = quoteIdentifier(table.name);
      loaded.push(await copied(table, (rows) => tx.copyIn(`COPY ${name} (${columnList(table.columns)}) FROM STDIN`, rows)));
      if (identity !== null) await goOnAfter(tx, name, identity, table.last ?? '0');
    }
    return loaded;
  });
  if (present.length > 0) await tx.query(`ANALYZE ${columnList(present.map(({ name }) => name))}`);
  return all;
}

/** Sets the sequence of the tenant's own table to continue after its rows, and after `last`. */
async function goOnAfter(tx: Sql, table: string, column: string, last: string): Promise<void> {
  await tx.query(
    `SELECT setval(pg_get_serial_sequence($1, $2)::regclass, most)::text FROM (
       SELECT greatest($3::bigint, (SELECT max(${quoteIdentifier(column)}) FROM ${table})) AS most) m WHERE most > 0`,
    [table, column, last],
  );
}

/** Adds a tenant's rows of another shard to the tables that all tenants share. Existing rows stay as they are. */
export async function addShared(tx: CopyingSql, slug: string, tables: readonly LoadedTable[]): Promise<void> {
  const role = tenantRole(slug);
  const present = await sharedTables(tx);
  const byName = new Map(tables.map((table) => [table.name, table]));
  // Follows the tables' own order, so that a row comes after those it refers to.
  for (const { name } of present) {
    const table = byName.get(name);
    if (!table || table.expected?.rows === 0) continue;
    const { identity } = requireColumns(present, table);
    await insertShared(tx, role, table, identity);
  }
}

/** Loads through a temporary table: row-level security allows nobody to COPY into the shared one. */
async function insertShared(tx: CopyingSql, role: string, table: LoadedTable, identity: string | null): Promise<void> {
  const [target, columns] = [`carrel.${quoteIdentifier(table.name)}`, columnList(table.columns)];
  await tx.query(`CREATE TEMP TABLE loaded ON COMMIT DROP AS SELECT ${columns} FROM ${target} WITH NO DATA`);
  await copied(table, (rows) => tx.copyIn(`COPY loaded (${columns}) FROM STDIN`, rows));
  if (identity !== null) await passSequence(tx, target, identity);
  await tx.query(
    `INSERT INTO ${target} (tenant, ${columns}) OVERRIDING SYSTEM VALUE
     SELECT ${quoteLiteral(role)}::name, ${columns} FROM loaded ON CONFLICT DO NOTHING`,
  );
  await tx.query('DROP TABLE loaded');
}

/**
 * Moves the sequence here past numbers that come from another shard. Changing the sequence keeps others from using it until the
 * commit.
 */
async function passSequence(tx: Sql, table: string, column: string): Promise<void> {
  const [row] = await tx.query<{ sequence: string; most: string | null; isBehind: boolean }>(
    `SELECT pg_get_serial_sequence($1, $2) AS sequence, (SELECT max(${quoteIdentifier(column)})::text FROM loaded) AS most,
       coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0)
         < (SELECT max(${quoteIdentifier(column)}) FROM loaded) AS "isBehind"`,
    [table, column],
  );
  if (!row?.isBehind) return;
  await tx.query(`ALTER SEQUENCE ${row.sequence} CACHE 1`);
  await tx.query(`SELECT setval($1::regclass, greatest($2::bigint, coalesce(pg_sequence_last_value($1::regclass), 0)))`, [
    row.sequence,
    row.most,
  ]);
}

export async function copied(table: LoadedTable, copy: (rows: AsyncIterable<Buffer>) => Promise<number>): Promise<Loaded> {
  const { stream, result } = measured(await table.rowsOf());
  const rows = await fitting(`table ${table.name}`, () => copy(stream as AsyncIterable<Buffer>));
  const { sha256 } = result();
  if (table.expected && (rows !== table.expected.rows || sha256 !== table.expected.sha256))
    throw new RepositoryError(`the rows of table ${table.name} differ from those that were written: the backup is damaged`);
  return { table, rows, sha256 };
}

/** SQLSTATE classes 22, 23 and 54: a value that its column cannot have, a constraint, more than Postgres can hold. */
const UNFIT = /^(2[23]|54)/;

/** Throws RepositoryError if rows from elsewhere do not fit their tables. */
export async function fitting<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RepositoryError || !UNFIT.test(sqlState(error) ?? '')) throw error;
    throw new RepositoryError(`${what} cannot be restored: ${(error as Error).message}`, { cause: error });
  }
}

/** Throws RepositoryError: a table or column that this release no longer has would lose its rows unnoticed. */
export function requireColumns(present: readonly DataTable[], { name, columns }: LoadedTable): DataTable {
  const table = present.find((each) => each.name === name);
  const missing = columns.filter((column) => !table?.columns.includes(column));
  if (!table || missing.length > 0)
    throw new RepositoryError(
      `this release has no ${[name, ...missing.map((column) => `${name}.${column}`)].join(', ')} to restore into`,
    );
  return table;
}
