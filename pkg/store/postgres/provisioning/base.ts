import type { Random } from '../../../runtime/random.ts';
import { hasFunctions, replaceFunctions } from '../functions/shared-functions.ts';
import { LOCK_TIMEOUT, migrateUp } from '../migrate.ts';
import { shardMigrations } from '../migrations/shard/index.ts';
import { quoteLiteral, type Sql } from '../pool.ts';
import { retryDdl } from '../retry-ddl.ts';
import { passwordVerifier } from './password.ts';
import { REVOKE_PUBLIC_RIGHTS } from './public-rights.ts';
import type { ShardAccess } from './shard-access.ts';
import { ensureWorkerRole, WORKER_ROLE } from './worker-role.ts';

/** The database cannot hold tenants in its present state. The message says what is wrong and what to do. */
export class ShardUnfit extends Error {
  override readonly name = 'ShardUnfit';
}

/** The group role of all tenants: shared objects of a shard need one grant instead of one for each tenant. */
export const TENANT_GROUP = 'carrel_tenant';
const EXTENSIONS = ['pg_trgm', 'unaccent', 'pgcrypto', 'btree_gin', 'ltree'] as const;
const OLDEST_POSTGRES = 150_000;

/**
 * Prepares a database for tenants: extensions in `ext`, no rights for PUBLIC, the schema `carrel`, the group role and the
 * worker's role. Idempotent, also if two operators race. `workerPassword` lets the worker's role log in; without it the
 * role is created and its login is unchanged. Throws ShardUnfit: wrong encoding, a locale without letters beyond ASCII, an old
 * Postgres, one without ICU, or shared tables that another role owns.
 */
export async function ensureShard(shard: ShardAccess, options: { workerPassword?: string } = {}): Promise<void> {
  await checkServer(shard.pool);
  await ensureWorkerRole(shard);
  await retryDdl(shard, () => shard.pool.transaction((tx) => ensureBase(tx, options.workerPassword, shard.random)));
  await checkLocale(shard.pool);
  await ensureOperatorPolicies(shard);
  await migrateUp({ ...shard, migrations: shardMigrations, context: {}, schema: 'carrel', prepare: ensureFunctions });
  if (await hasFunctions(shard.pool)) return;
  await retryDdl(shard, () =>
    shard.pool.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      await ensureFunctions(tx);
    }),
  );
}

/** Functions precede the migration in its transaction, since its triggers, indexes and generated columns refer to them. */
async function ensureFunctions(tx: Sql): Promise<void> {
  await tx.query('LOCK TABLE carrel.schema_migrations IN SHARE ROW EXCLUSIVE MODE');
  await replaceFunctions(tx);
}

/**
 * Row-level security is forced on the tables that tenants share, and their policies name the operator's role. After a restore or
 * a rotation, a new role would see and delete no rows, so each start adds the current role. One statement if nothing is missing.
 * Throws ShardUnfit.
 */
async function ensureOperatorPolicies(shard: ShardAccess): Promise<void> {
  await retryDdl(shard, async () => {
    const missing = await shard.pool.query<{
      table: string;
      policy: string;
      roles: string | null;
      isThere: boolean;
      isOurs: boolean;
    }>(`
      SELECT format('%I.%I', n.nspname, c.relname) AS table, quote_ident(c.relname || '_of_operator') AS policy,
        p.oid IS NOT NULL AS "isThere",
        pg_has_role(c.relowner, 'USAGE') AS "isOurs",
        (SELECT string_agg(quote_ident(r.rolname), ', ') FROM pg_roles r WHERE r.oid = ANY (p.polroles)) AS roles
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = c.relname || '_of_operator'
      WHERE n.nspname = 'carrel' AND c.relkind = 'r' AND c.relforcerowsecurity
        AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = ANY (p.polroles) AND pg_has_role(r.oid, 'USAGE'))`);
    const foreign = missing.find(({ isOurs }) => !isOurs);
    if (foreign)
      throw new ShardUnfit(
        `the operator's role does not own ${foreign.table} and would see none of its rows; grant it the role that does`,
      );
    if (missing.length === 0) return;
    await shard.pool.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = '5s'`);
      for (const { table, policy, roles, isThere } of missing)
        await tx.query(
          isThere
            ? `ALTER POLICY ${policy} ON ${table} TO ${[roles, 'CURRENT_USER'].filter((role) => role !== null).join(', ')}`
            : `CREATE POLICY ${policy} ON ${table} TO CURRENT_USER USING (true) WITH CHECK (true)`,
        );
    });
  });
}

async function checkServer(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ version: number; encoding: string; hasIcu: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
       EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i') AS "hasIcu"`,
  );
  if (!row || row.version < OLDEST_POSTGRES)
    throw new ShardUnfit('the database server is older than PostgreSQL 15; use 15 or newer');
  if (row.encoding !== 'UTF8')
    throw new ShardUnfit(
      `the database is encoded in ${row.encoding}; recreate it with ENCODING 'UTF8' (initdb --encoding=UTF8 --locale=C.UTF-8)`,
    );
  if (!row.hasIcu)
    throw new ShardUnfit(
      'the database server knows no collations of ICU, so names cannot be sorted; use a build of PostgreSQL with ICU',
    );
}

async function checkLocale(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ trigrams: number }>(`SELECT cardinality(ext.show_trgm('ä')) AS trigrams`);
  if (!row?.trigrams)
    throw new ShardUnfit(
      `the database's locale treats only ASCII characters as letters, so search cannot work; recreate it with a UTF-8 ` +
        'locale (initdb --locale=C.UTF-8)',
    );
}

async function ensureBase(tx: Sql, workerPassword: string | undefined, random: Random): Promise<void> {
  await tx.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; SET LOCAL client_min_messages = 'error'`);
  await tx.query(`
    CREATE SCHEMA IF NOT EXISTS ext;
    CREATE SCHEMA IF NOT EXISTS carrel;
    ${EXTENSIONS.map((name) => `CREATE EXTENSION IF NOT EXISTS ${name} SCHEMA ext;`).join('\n')}
    DO $$
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${TENANT_GROUP}') THEN CREATE ROLE ${TENANT_GROUP} NOLOGIN; END IF;
      EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
      EXECUTE format('GRANT CONNECT ON DATABASE %I TO ${TENANT_GROUP}, ${WORKER_ROLE}', current_database());
      -- What a statement finds in no schema that is the operator's own makes the server collect all its memberships: those of all
      -- tenants.
      IF NOT current_setting('is_superuser')::boolean THEN
        EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET search_path = carrel', current_database());
      END IF;
    END $$;
    REVOKE ALL ON SCHEMA public, ext, carrel FROM PUBLIC;
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public, ext, carrel FROM PUBLIC;
    GRANT USAGE ON SCHEMA ext, carrel TO ${TENANT_GROUP}, ${WORKER_ROLE};
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ext TO ${TENANT_GROUP}, ${WORKER_ROLE};
    CREATE TABLE IF NOT EXISTS carrel.schema_migrations (name varchar(255) PRIMARY KEY,
      applied_at timestamptz(3) NOT NULL DEFAULT now());
    CREATE TABLE IF NOT EXISTS carrel.schema_functions (
      is_sole boolean PRIMARY KEY DEFAULT true CHECK (is_sole),
      sha256 varchar(64) NOT NULL,
      replaced_at timestamptz(3) NOT NULL DEFAULT now()
    );
  `);
  await revokePublicRights(tx);
  if (workerPassword !== undefined)
    await tx.query(`ALTER ROLE ${WORKER_ROLE} LOGIN PASSWORD ${quoteLiteral(passwordVerifier(workerPassword, random))}`);
}

async function revokePublicRights(tx: Sql): Promise<void> {
  const [row] = await tx.query<{ superuser: boolean }>(`SELECT current_setting('is_superuser')::boolean AS superuser`);
  if (row?.superuser) await tx.query(REVOKE_PUBLIC_RIGHTS);
}
