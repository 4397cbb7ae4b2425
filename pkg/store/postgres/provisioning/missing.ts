import { hasFunctions } from '../functions/shared-functions.ts';
import { registryMigrations } from '../migrations/registry/index.ts';
import { shardMigrations } from '../migrations/shard/index.ts';
import { quoteIdentifier, type Sql } from '../pool.ts';

/**
 * Returns the names of what this release needs and a shard lacks: migrations of its shared schema, and `functions` where they
 * are another release's.
 */
export async function missingInShard(sql: Sql): Promise<string[]> {
  const missing = await missingMigrations(sql, 'carrel', shardMigrations);
  const [table] = await sql.query<{ isThere: boolean }>(`SELECT to_regclass('carrel.schema_functions') IS NOT NULL AS "isThere"`);
  return table?.isThere && (await hasFunctions(sql)) ? missing : [...missing, 'functions'];
}

/** Returns the names of the migrations of this release that the registry lacks. */
export const missingInRegistry = (sql: Sql): Promise<string[]> => missingMigrations(sql, 'registry', registryMigrations);

async function missingMigrations(sql: Sql, schema: string, migrations: readonly { readonly name: string }[]): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(`SELECT name FROM ${quoteIdentifier(schema)}.schema_migrations`);
  const applied = new Set(rows.map(({ name }) => name));
  return migrations.map(({ name }) => name).filter((name) => !applied.has(name));
}
