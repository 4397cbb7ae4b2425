import { quoteIdentifier, type Sql } from './pool.ts';

/** A table whose rows are copied unchanged. */
export interface DataTable {
  readonly name: string;
  /** In the table's order, without generated columns. */
  readonly columns: readonly string[];
  /** The column with a sequence; null if there is none. */
  readonly identity: string | null;
}

const COLUMNS = `array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '') AS columns,
  max(a.attname::text) FILTER (WHERE a.attidentity <> '') AS identity
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind = 'r'`;

/** Returns the tables of a tenant's schema, except the record of its migrations. */
export const tablesOf = (sql: Sql, schema: string): Promise<DataTable[]> =>
  sql.query<DataTable>(
    `SELECT c.relname::text AS name, ${COLUMNS} AND n.nspname = $1 AND c.relname <> 'schema_migrations'
     GROUP BY c.relname ORDER BY c.relname`,
    [schema],
  );

/**
 * Returns the tables that tenants share: those of the schema `carrel` with a column `tenant`, which is not in `columns`. A table
 * comes after those to which it refers.
 */
export async function sharedTables(sql: Sql): Promise<DataTable[]> {
  const tables = await sql.query<DataTable & { refersTo: string[] }>(
    `SELECT c.relname::text AS name, ARRAY(
         SELECT r.relname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid
         WHERE k.conrelid = c.oid AND k.contype = 'f') AS "refersTo", ${COLUMNS}
       AND n.nspname = 'carrel' GROUP BY c.oid, c.relname HAVING bool_or(a.attname = 'tenant') ORDER BY c.relname`,
  );
  const sorted: DataTable[] = [];
  const visit = ({ refersTo, name, columns, identity }: DataTable & { refersTo: string[] }): void => {
    if (sorted.some((done) => done.name === name)) return;
    for (const other of tables) if (other.name !== name && refersTo.includes(other.name)) visit(other);
    sorted.push({ name, identity, columns: columns.filter((column) => column !== 'tenant') });
  };
  tables.forEach(visit);
  return sorted;
}

/** Removes a tenant's rows from the tables that tenants share. */
export async function deleteShared(tx: Sql, role: string): Promise<void> {
  for (const { name } of (await sharedTables(tx)).toReversed())
    await tx.query(`DELETE FROM carrel.${quoteIdentifier(name)} WHERE tenant = $1`, [role]);
}

/** A column of a shared table that holds ids of another shared table's rows. */
interface SharedReference {
  readonly table: string;
  readonly column: string;
  readonly to: string;
}

export const sharedReferences = (sql: Sql): Promise<SharedReference[]> =>
  sql.query<SharedReference>(
    `SELECT c.relname::text AS table, a.attname::text AS column, r.relname::text AS to
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
     CROSS JOIN LATERAL unnest(k.conkey, k.confkey) u (own, other)
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.own
     JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = u.other AND b.attidentity <> ''
     WHERE k.contype = 'f' AND c.relnamespace = 'carrel'::regnamespace AND r.relnamespace = c.relnamespace`,
  );

/**
 * Settings of a transaction that copies: rows have the same text regardless of the database's settings, and a table is read in
 * the order in which it was filled.
 */
export const COPY_SETTINGS = [
  `TimeZone = 'UTC'`,
  `DateStyle = 'ISO'`,
  `IntervalStyle = 'postgres'`,
  `bytea_output = 'hex'`,
  'extra_float_digits = 1',
  'synchronize_seqscans = off',
  'max_parallel_workers_per_gather = 0',
  'statement_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
]
  .map((setting) => `SET LOCAL ${setting};`)
  .join(' ');

export const columnList = (columns: readonly string[]): string => columns.map(quoteIdentifier).join(', ');

/**
 * Disables foreign keys and triggers of a schema while `load` runs, as pg_restore does: rows arrive in any order, and unchanged.
 */
export async function withoutConstraints<T>(tx: Sql, schema: string, load: () => Promise<T>): Promise<T> {
  const of = quoteIdentifier(schema);
  const keys = await tx.query<{ table: string; name: string; definition: string }>(
    `SELECT c.relname::text AS table, k.conname::text AS name, pg_get_constraintdef(k.oid) AS definition
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE k.contype = 'f' AND n.nspname = $1`,
    [schema],
  );
  const tables = (await tablesOf(tx, schema)).map(({ name }) => `${of}.${quoteIdentifier(name)}`);
  for (const { table, name } of keys)
    await tx.query(`ALTER TABLE ${of}.${quoteIdentifier(table)} DROP CONSTRAINT ${quoteIdentifier(name)}`);
  for (const table of tables) await tx.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  const loaded = await load();
  for (const table of tables) await tx.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  for (const { table, name, definition } of keys)
    await tx.query(`ALTER TABLE ${of}.${quoteIdentifier(table)} ADD CONSTRAINT ${quoteIdentifier(name)} ${definition}`);
  return loaded;
}
