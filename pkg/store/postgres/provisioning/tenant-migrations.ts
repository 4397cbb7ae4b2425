import { type MigrationRun, migrateDown, migrateUp } from '../migrate.ts';
import { tenantMigrations } from '../migrations/tenant/index.ts';
import type { TenantContext, TenantMigration } from '../migrations/tenant/migration.ts';
import { quoteIdentifier, quoteLiteral, type Sql } from '../pool.ts';
import { retryDdl } from '../retry-ddl.ts';
import type { ShardAccess } from './shard-access.ts';
import { DDL_SETTINGS, tenantRole } from './tenant-role.ts';

export const LATEST_VERSION = tenantMigrations.at(-1)?.name ?? '';

interface Tenant {
  readonly slug: string;
  readonly tenantId: string;
}

/** Every migration of this release is among those that are applied. */
export const isMigrated = (applied: readonly string[] | null): boolean =>
  tenantMigrations.every(({ name }) => applied?.includes(name));

/** The role's schema with its record of migrations, and what the role may do there by itself. */
export async function makeSchema(tx: Sql, role: string): Promise<void> {
  const name = quoteIdentifier(role);
  await tx.query(`
    CREATE SCHEMA IF NOT EXISTS ${name};
    GRANT USAGE ON SCHEMA ${name} TO ${name};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${name};
    CREATE TABLE IF NOT EXISTS ${name}.schema_migrations (name varchar(255) PRIMARY KEY,
      applied_at timestamptz(3) NOT NULL DEFAULT now());
    REVOKE INSERT, UPDATE, DELETE ON ${name}.schema_migrations FROM ${name};
  `);
}

/**
 * Applies the missing migrations, to a schema without any all at once. Returns the version reached. `migrations`, here and below:
 * those of this release, unless a test has others.
 */
export async function migrateTenant(shard: ShardAccess, tenant: Tenant, migrations = tenantMigrations): Promise<string> {
  if (!(await migrateNew(shard, tenant, migrations))) await migrateUp(migrationRun(shard, tenant, migrations));
  return newest(migrations);
}

const newest = (migrations: readonly TenantMigration[]): string => migrations.at(-1)?.name ?? '';

/**
 * In one transaction and one text: nobody uses the schema yet, and a commit and half a dozen statements for each migration would
 * take more time than what they make. False: some are applied, and nothing was done.
 */
async function migrateNew(
  shard: ShardAccess,
  { slug, tenantId }: Tenant,
  migrations: readonly TenantMigration[],
): Promise<boolean> {
  const role = tenantRole(slug);
  return retryDdl(shard, () =>
    shard.pool.transaction(async (tx) => {
      const [some] = await tx.query(`
        ${DDL_SETTINGS}; SET LOCAL search_path = ${quoteIdentifier(role)}, ext;
        SELECT FROM carrel.tenants WHERE role = ${quoteLiteral(role)} FOR UPDATE;
        SELECT FROM schema_migrations LIMIT 1
      `);
      if (some) return false;
      await migrateAll(tx, { role, tenantId }, migrations);
      await recordVersion(tx, role, newest(migrations));
      return true;
    }),
  );
}

/** The search path is at the schema. */
async function migrateAll(tx: Sql, context: TenantContext, migrations: readonly TenantMigration[]): Promise<void> {
  if (migrations.length === 0) return;
  const names = migrations.map(({ name }) => `(${quoteLiteral(name)})`);
  const records = `INSERT INTO schema_migrations (name) VALUES ${names.join(', ')}`;
  await tx.query([...migrations.map(({ up }) => up(context)), records].join('\n;\n'));
}

const recordVersion = (tx: Sql, role: string, version: string | null): Promise<unknown> =>
  tx.query('UPDATE carrel.tenants SET schema_version = $2 WHERE role = $1', [role, version]);

/**
 * Replaces a tenant's schema by a new one, all in the caller's transaction: with the migrations of these names, then `fill`, then
 * all others. The search path is the schema's from then on. Throws UnknownMigrations.
 */
export async function replaceSchema(
  tx: Sql,
  { slug, tenantId }: Tenant,
  names: readonly string[],
  fill: () => Promise<void>,
  migrations = tenantMigrations,
): Promise<void> {
  const role = tenantRole(slug);
  const unknown = names.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length > 0) throw new UnknownMigrations(unknown);
  const migrate = (isWanted: (name: string) => boolean): Promise<void> =>
    migrateAll(
      tx,
      { role, tenantId },
      migrations.filter(({ name }) => isWanted(name)),
    );
  await tx.query(`${DDL_SETTINGS}; SET LOCAL statement_timeout = 0`);
  await tx.query('SELECT FROM carrel.tenants WHERE role = $1 FOR UPDATE', [role]);
  await tx.query(`DROP SCHEMA IF EXISTS ${quoteIdentifier(role)} CASCADE`);
  await makeSchema(tx, role);
  await tx.query(`SET LOCAL search_path = ${quoteIdentifier(role)}, ext`);
  await migrate((name) => names.includes(name));
  await fill();
  await migrate((name) => !names.includes(name));
  await recordVersion(tx, role, newest(migrations));
}

/** Migrations that this release does not have: the data are of a later one. */
export class UnknownMigrations extends Error {
  override readonly name = 'UnknownMigrations';

  constructor(names: readonly string[]) {
    super(
      `the data have migrations that this release does not know: ${names.join(', ')}. Use the release that made ` +
        'them, or a later one',
    );
  }
}

/** Takes back every migration from `to` on (0: all of them). Gives the version left, null for none. */
export async function rollbackTenant(
  shard: ShardAccess,
  tenant: Tenant,
  to: string | 0,
  migrations = tenantMigrations,
): Promise<string | null> {
  await migrateDown(migrationRun(shard, tenant, migrations), to);
  return schemaVersion(shard, tenant.slug);
}

function migrationRun(
  shard: ShardAccess,
  { slug, tenantId }: Tenant,
  migrations: readonly TenantMigration[],
): MigrationRun<TenantContext> {
  const role = tenantRole(slug);
  return {
    ...shard,
    migrations,
    context: { role, tenantId },
    schema: role,
    prepare: async (tx) => {
      await tx.query(`SET LOCAL search_path = ${quoteIdentifier(role)}, ext; SET LOCAL client_min_messages = 'error'`);
      await tx.query('SELECT FROM carrel.tenants WHERE role = $1 FOR UPDATE', [role]);
    },
    record: (tx, version) => recordVersion(tx, role, version),
  };
}

/** Name of the newest migration that is applied; null: none, or no such tenant here. */
export async function schemaVersion(shard: ShardAccess, slug: string): Promise<string | null> {
  const [row] = await shard.pool.query<{ version: string | null }>(
    'SELECT schema_version AS version FROM carrel.tenants WHERE role = $1',
    [tenantRole(slug)],
  );
  return row?.version ?? null;
}

/** A tenant may hold locks on its own tables, again and again: who waits for them must not keep others waiting. */
const ROW_ATTEMPTS = 2;

/** Runs one transaction of the operator in a tenant's schema, and retries it once after a lock time-out or the like. */
export function inTenantSchema<T>(shard: ShardAccess, slug: string, fn: (tx: Sql) => Promise<T>): Promise<T> {
  const attempt = () =>
    shard.pool.transaction(async (tx) => {
      await tx.query(`SET LOCAL search_path = ${quoteIdentifier(tenantRole(slug))}, ext`);
      return fn(tx);
    });
  return retryDdl(shard, attempt, ROW_ATTEMPTS);
}
