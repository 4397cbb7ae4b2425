import { columnList, type DataTable, deleteShared, sharedReferences, sharedTables } from '../store/postgres/data-tables.ts';
import { type CopyingSql, quoteIdentifier, quoteLiteral, type Sql } from '../store/postgres/pool.ts';
import { tenantRole } from '../store/postgres/provisioning.ts';
import { copied, fitting, type LoadedTable, requireColumns } from './load-tables.ts';
import { RepositoryError } from './repository/repository.ts';

/** Readers take ids up to 2^53 − 1 (pkg/store/postgres/client.ts), and the sequence continues after the greatest id. */
const MAX_ID = 2n ** 52n;

const NEW_ID = 'new id';
const copyOf = (table: string): string => quoteIdentifier(`restored ${table}`);

/**
 * Replaces a tenant's rows in the tables that all tenants share. The rows get ids from this shard's sequences, in the order of
 * their former ids, and references follow them. The sequences belong to all tenants, so no backup may decide where they continue.
 * Throws RepositoryError.
 */
export async function restoreShared(tx: CopyingSql, slug: string, tables: readonly LoadedTable[]): Promise<void> {
  const role = tenantRole(slug);
  await deleteShared(tx, role);
  const present = await sharedTables(tx);
  const references = await sharedReferences(tx);
  for (const table of tables) requireColumns(present, table);
  // Follows the tables' own order, so that a row comes after those it refers to.
  for (const { name, identity, columns } of present) {
    const loaded = tables.find((each) => each.name === name) ?? { name, columns: [...columns], rowsOf: () => nothing() };
    await copyInto(tx, loaded, identity);
    const values = loaded.columns.map((column) => {
      const to = references.find((reference) => reference.table === name && reference.column === column)?.to;
      if (to !== undefined) return newIdOf(to, present, column);
      return `l.${quoteIdentifier(column === identity ? NEW_ID : column)}`;
    });
    const target = `carrel.${quoteIdentifier(name)} (tenant, ${columnList(loaded.columns)})`;
    const order = identity === null ? '' : `ORDER BY l.${quoteIdentifier(NEW_ID)}`;
    await fitting(`table ${name}`, () =>
      tx.query(
        `INSERT INTO ${target} OVERRIDING SYSTEM VALUE
         SELECT ${[`${quoteLiteral(role)}::name`, ...values].join(', ')} FROM ${copyOf(name)} l ${order}`,
      ),
    );
  }
  for (const { name } of present) await tx.query(`DROP TABLE ${copyOf(name)}`);
}

async function* nothing(): AsyncGenerator<Buffer> {}

/** Loads through a temporary table: row-level security allows nobody to COPY into the shared one. */
async function copyInto(tx: CopyingSql, table: LoadedTable, identity: string | null): Promise<void> {
  const [copy, columns] = [copyOf(table.name), columnList(table.columns)];
  await tx.query(
    `CREATE TEMP TABLE ${copy} ON COMMIT DROP AS SELECT ${columns} FROM carrel.${quoteIdentifier(table.name)} WITH NO DATA`,
  );
  await copied(table, (rows) => tx.copyIn(`COPY ${copy} (${columns}) FROM STDIN`, rows));
  if (identity === null) return;
  if (!table.columns.includes(identity))
    throw new RepositoryError(`table ${table.name} of the backup lacks its column ${identity}`);
  await requireIds(tx, copy, { name: table.name, identity });
  const id = quoteIdentifier(identity);
  await fitting(`table ${table.name}`, () =>
    tx.query(`ALTER TABLE ${copy} ADD PRIMARY KEY (${id}), ADD COLUMN ${quoteIdentifier(NEW_ID)} bigint`),
  );
  await tx.query(
    `UPDATE ${copy} c SET ${quoteIdentifier(NEW_ID)} = n.value
     FROM (SELECT o.${id}, nextval(pg_get_serial_sequence($1, $2)) AS value
       FROM (SELECT ${id} FROM ${copy} ORDER BY ${id}) o) n WHERE n.${id} = c.${id}`,
    [`carrel.${quoteIdentifier(table.name)}`, identity],
  );
}

/** Returns SQL for the new id; it is null if the row does not exist, and the constraint then refuses it. */
function newIdOf(table: string, present: readonly DataTable[], column: string): string {
  const identity = present.find(({ name }) => name === table)?.identity ?? 'id';
  return `(SELECT r.${quoteIdentifier(NEW_ID)} FROM ${copyOf(table)} r
    WHERE r.${quoteIdentifier(identity)} = l.${quoteIdentifier(column)})`;
}

/** Throws RepositoryError if an id is so large that none could come after it. */
export async function requireIds(
  sql: Sql,
  table: string,
  { name, identity }: Pick<DataTable, 'name' | 'identity'>,
): Promise<void> {
  if (identity === null) return;
  const [found] = await sql.query<{ most: string | null }>(
    `SELECT max(${quoteIdentifier(identity)})::text AS most FROM ${table}`,
  );
  if (BigInt(found?.most ?? 0) > MAX_ID)
    throw new RepositoryError(`table ${name} has a row with the id ${found?.most ?? ''}; ids are at most ${MAX_ID}`);
}
