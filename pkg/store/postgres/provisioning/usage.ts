import { quoteIdentifier, type Sql } from '../pool.ts';
import { tenantRole } from './tenant-role.ts';
import { MIB } from '../../../runtime/bytes.ts';

/** $1 the schema. */
const DATABASE_BYTES = `(SELECT ceil(coalesce(sum(pg_total_relation_size(c.oid)), 0) / ${MIB}.0)::bigint * ${MIB} FROM pg_class c
  WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'm'))`;

export interface Usage {
  readonly users: number;
  readonly files: number;
  readonly bytes: number;
  readonly entries: number;
  readonly databaseBytes: number;
}

/**
 * People, live files, the bytes that count against quotas (versions, trash and metadata too), the entries that count, and the
 * bytes of the tables with their indexes in whole MiB, whoever wrote the rows.
 */
export async function usageOf({ pool, slug }: { readonly pool: Sql; readonly slug: string }): Promise<Usage> {
  const role = tenantRole(slug);
  const schema = quoteIdentifier(role);
  const [usage] = await pool.query<Usage>(
    `SELECT (SELECT count(*) FROM ${schema}.users WHERE NOT is_system) AS users,
            (SELECT count(*) FROM ${schema}.files WHERE deleted_at IS NULL) AS files,
            (SELECT coalesce(sum(storage_used), 0) FROM ${schema}.users) AS bytes,
            (SELECT coalesce(sum(entries), 0) FROM ${schema}.users) AS entries,
            ${DATABASE_BYTES} AS "databaseBytes"`,
    [schema],
  );
  return usage ?? { users: 0, files: 0, bytes: 0, entries: 0, databaseBytes: 0 };
}

/** The bytes of the tables with their indexes alone, as `usageOf` has them: some milliseconds, however many rows there are. */
export async function databaseBytesOf({ pool, slug }: { readonly pool: Sql; readonly slug: string }): Promise<number> {
  const [row] = await pool.query<{ bytes: number }>(`SELECT ${DATABASE_BYTES} AS bytes`, [quoteIdentifier(tenantRole(slug))]);
  return row?.bytes ?? 0;
}
