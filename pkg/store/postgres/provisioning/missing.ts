import { hasFunctions } from '../functions/shared-functions.ts';
import { registryMigrations } from '../migrations/registry/index.ts';
import { shardMigrations } from '../migrations/shard/index.ts';
import { quoteIdentifier, type Sql } from '../pool.ts';

/** What a shard lacks of this release, by name: migrations of its shared schema, and `functions` where they are another's. */
export async function missingInShard(sql: Sql): Promise<string[]> {
  const missing = await missingMigrations(sql, 'carrel', shardMigrations);
  const [table] = await sql.query<{ isThere: boolean }>(`SELECT to_regclass('carrel.schema_functions') IS NOT NULL AS "isThere"`);
  return table?.isThere && (await hasFunctions(sql)) ? missing : [...missing, 'functions'];
}

/** What the registry lacks of this release: names of migrations. */
export const missingInRegistry = (sql: Sql): Promise<string[]> => missingMigrations(sql, 'registry', registryMigrations);

async function missingMigrations(sql: Sql, schema: string, migrations: readonly { readonly name: string }[]): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(`SELECT name FROM ${quoteIdentifier(schema)}.schema_migrations`);
  const applied = new Set(rows.map(({ name }) => name));
  return migrations.map(({ name }) => name).filter((name) => !applied.has(name));
}
