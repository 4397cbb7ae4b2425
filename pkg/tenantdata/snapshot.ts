import { columnList, COPY_SETTINGS, type DataTable, sharedTables, tablesOf } from '../store/postgres/data-tables.ts';
import { quoteIdentifier, quoteLiteral, type Sql, type SqlPool } from '../store/postgres/pool.ts';
import { tenantRole } from '../store/postgres/provisioning.ts';
import { type BackedUpTable, type Manifest, names } from './manifest.ts';
import { OBJECT_LIST } from './object-list.ts';
import { storePacked } from './packed.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';

export type Snapshot = Pick<Manifest, 'takenAt' | 'migrations' | 'sharedMigrations' | 'tables' | 'objects'>;

/** Selects a tenant's rows of a table that all tenants share. */
export const sharedRows = ({ name, columns }: Pick<DataTable, 'name' | 'columns'>, role: string): string =>
  `SELECT ${columnList(columns)} FROM carrel.${quoteIdentifier(name)} WHERE tenant = ${quoteLiteral(role)}`;

export const migrationsIn = async (sql: Sql, schema: string): Promise<string[]> =>
  (await sql.query<{ name: string }>(`SELECT name FROM ${quoteIdentifier(schema)}.schema_migrations ORDER BY name`)).map(
    ({ name }) => name,
  );

/**
 * Writes all rows of a tenant as of one moment, and the list of its objects. It uses one transaction, which takes no lock that
 * anybody waits for. `pool` is the pool of the tenant's shard, without a time limit for statements.
 */
export async function takeSnapshot(from: {
  pool: SqlPool;
  slug: string;
  repository: Repository;
  stamp: string;
}): Promise<Snapshot> {
  const { pool, slug, repository, stamp } = from;
  const role = tenantRole(slug);
  return pool.copying(
    async (tx) => {
      await tx.query(`${COPY_SETTINGS} SET LOCAL search_path = ${quoteIdentifier(role)}, ext`);
      const [schema] = await tx.query<{ isThere: boolean }>(`SELECT to_regclass('schema_migrations') IS NOT NULL AS "isThere"`);
      if (!schema?.isThere) throw new RepositoryError(`${slug} has no schema yet, so there is nothing to back up`);
      const [moment] = await tx.query<{ at: Date }>('SELECT now() AS at');
      const [migrations, sharedMigrations] = [await migrationsIn(tx, role), await migrationsIn(tx, 'carrel')];
      const store = async (name: string, statement: string) => storePacked(repository, name, await tx.copyOut(statement));
      const tables: BackedUpTable[] = [];
      const write = async (of: BackedUpTable['of'], table: DataTable, rows: string): Promise<void> => {
        const written = await store(names(slug).table(stamp, { of, name: table.name }), `COPY (${rows}) TO STDOUT`);
        tables.push({ of, name: table.name, columns: [...table.columns], ...written });
      };
      for (const table of await tablesOf(tx, role))
        await write('tenant', table, `SELECT ${columnList(table.columns)} FROM ${quoteIdentifier(table.name)}`);
      for (const table of await sharedTables(tx)) await write('shared', table, sharedRows(table, role));
      const { sha256 } = await store(names(slug).list(stamp), OBJECT_LIST);
      const [sum] = await tx.query<{ count: number; bytes: number }>(
        `SELECT count(*)::int AS count, coalesce(sum(size), 0)::bigint AS bytes FROM (
           SELECT blob_name, max(size) AS size FROM file_versions GROUP BY blob_name
           UNION ALL SELECT key, size FROM partial_upload_segments
           UNION ALL SELECT key, size FROM exports) o`,
      );
      return {
        takenAt: (moment?.at ?? new Date(0)).toISOString(),
        migrations,
        sharedMigrations,
        tables,
        objects: { count: sum?.count ?? 0, bytes: sum?.bytes ?? 0, sha256 },
      };
    },
    { isolation: 'repeatable read' },
  );
}

/**
 * Returns the last value of a table's sequence; 0 if it has none or does not exist. Sequences ignore snapshots, so it may be
 * ahead of the rows.
 */
export async function lastOf(sql: Sql, role: string, { name, identity }: DataTable): Promise<string> {
  if (identity === null) return '0';
  const [row] = await sql.query<{ last: string }>(
    `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0)::text AS last`,
    [`${quoteIdentifier(role)}.${quoteIdentifier(name)}`, identity],
  );
  return row?.last ?? '0';
}
