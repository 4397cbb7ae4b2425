import { migrateUp } from '../migrate.ts';
import { registryMigrations } from '../migrations/registry/index.ts';
import type { Transactions } from '../pool.ts';
import { retryDdl } from '../retry-ddl.ts';
import type { ShardAccess } from './shard-access.ts';
import { WORKER_ROLE } from './worker-role.ts';

/** Makes or migrates the registry's schema. After ensureShard, whose roles it grants to. */
export async function ensureRegistrySchema(shard: Omit<ShardAccess, 'pool'> & { readonly pool: Transactions }): Promise<void> {
  await retryDdl(shard, () =>
    shard.pool.transaction((tx) =>
      tx.query(`
        SET LOCAL client_min_messages = 'error';
        CREATE SCHEMA IF NOT EXISTS registry;
        REVOKE ALL ON SCHEMA registry FROM PUBLIC;
        GRANT USAGE ON SCHEMA registry TO ${WORKER_ROLE};
        CREATE TABLE IF NOT EXISTS registry.schema_migrations (name varchar(255) PRIMARY KEY,
          applied_at timestamptz(3) NOT NULL DEFAULT now());
      `),
    ),
  );
  await migrateUp({
    ...shard,
    migrations: registryMigrations,
    context: {},
    schema: 'registry',
    prepare: (tx) => tx.query('LOCK TABLE registry.schema_migrations IN SHARE ROW EXCLUSIVE MODE'),
  });
}
