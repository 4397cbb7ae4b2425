import { createHash } from 'node:crypto';
import type { Random } from '../../../runtime/random.ts';
import { migrateDown, migrateUp, type MigrationRun, retryDdl } from '../migrations/migration.ts';
import { tenantMigrations } from '../migrations/tenant/index.ts';
import type { TenantContext } from '../migrations/tenant/migration.ts';
import { deleteShared } from '../data-tables.ts';
import { sqlState } from '../errors.ts';
import { quoteIdentifier, quoteLiteral, type Sql } from '../pool.ts';
import { type ShardAccess, TENANT_GROUP, WORKER_ROLE } from './base.ts';
import { releaseJobs } from './held-jobs.ts';
import { areSame, type DatabaseAccessLevel, type TenantLimits, writeLimits } from './limits.ts';
import { BECOME_MEMBER_OF_NEW, becomeMember, dropOwned, IS_MEMBER } from './owned-objects.ts';
import { passwordVerifier } from './password.ts';

/**
 * A tenant's schema and login role on a shard, both named `tenant_<slug>`.
 *
 * Invariants:
 * - The role owns nothing: the schema and all in it are the operator's, the role has rights to rows.
 * - Every step is one transaction under a lock on the tenant's row in carrel.tenants: two operators take turns, and a killed one
 *   leaves no partial state.
 * - When nothing changed, ensureTenantDatabase is one statement that writes nothing.
 */
export interface TenantDatabase {
  readonly slug: string;
  /** A decimal string. */
  readonly tenantId: string;
  readonly password: string;
  /** How many connections the role may hold (docs/design/tenancy-and-isolation.md); 0: none. */
  readonly connections: number;
  /** Called before a change: while it returns true the role stays as it is, so that terminating pods can finish. */
  readonly isInUse?: () => Promise<boolean>;
  /** Left out: they stay as they are. */
  readonly limits?: TenantLimits;
  /** Left out: `write`. */
  readonly access?: DatabaseAccessLevel;
}

export const tenantRole = (slug: string): string => `tenant_${slug}`;

export const LATEST_VERSION = tenantMigrations.at(-1)?.name ?? '';

/** Of a transaction that changes a schema or role: it waits no longer for a lock, and what is there already is no warning. */
const DDL_SETTINGS = `SET LOCAL lock_timeout = '5s'; SET LOCAL client_min_messages = 'error'`;

const ROLE_SETTINGS: Readonly<Record<string, string>> = {
  search_path: '"$user", ext',
  statement_timeout: `'8s'`,
  lock_timeout: `'5s'`,
  idle_in_transaction_session_timeout: `'30s'`,
};
/** Only a superuser, or a role that was granted it, may set this one for others. */
const TEMP_FILE_LIMIT = `'1GB'`;

export interface EnsuredDatabase {
  readonly changed: boolean;
  /** The role stays as it is until its pods have ended. */
  readonly isPutOff?: boolean;
  /** The migration of the highest name that is applied; null: none. */
  readonly schemaVersion: string | null;
  /**
   * Every migration of this release is applied. Compared by name one by one, so that the order in which releases got their
   * migrations does not matter.
   */
  readonly isMigrated: boolean;
}

/** The shard has data of another tenant under this slug: a move or a restored database has left them there. */
export class OtherTenantsSchema extends Error {
  override readonly name = 'OtherTenantsSchema';

  constructor(role: string, tenantId: string) {
    super(
      `its schema ${role} is that of another tenant, of id ${tenantId}: a move or a restored database has left it there (docs/operate/backup-move-restore.md, Remove what another tenant has left on a shard)`,
    );
  }
}

async function isAnothers(sql: Sql, role: string, tenantId: string): Promise<boolean> {
  const rows = await sql.query('SELECT FROM carrel.tenants WHERE role = $1 AND tenant_id <> $2', [role, tenantId]);
  return rows.length > 0;
}

/**
 * Creates or repairs schema and role, and gives the role its access. Does not migrate. Throws OtherTenantsSchema: nobody gets the
 * data of a former tenant.
 */
export async function ensureTenantDatabase(shard: ShardAccess, tenant: TenantDatabase): Promise<EnsuredDatabase> {
  const role = tenantRole(tenant.slug);
  const fingerprint = fingerprintOf(tenant);
  const present = await inspect(shard.pool, role);
  if (present) requireSameTenant(role, tenant, present.tenantId);
  if (present && tenant.limits && !areSame(present, tenant.limits)) await writeLimits(shard.pool, role, tenant.limits);
  const state = { schemaVersion: present?.schemaVersion ?? null, isMigrated: isMigrated(present?.applied ?? null) };
  const { access = 'write' } = tenant;
  const isSame =
    present?.fingerprint === fingerprint && present.limit === Math.trunc(tenant.connections) && present.access === access;
  if (isSame && present.intact) return { changed: false, ...state };
  if (present?.intact && present.access === access && (await tenant.isInUse?.()))
    return { changed: false, isPutOff: true, ...state };
  await retryDdl(shard, () =>
    shard.pool.transaction(async (tx) => {
      await tx.query(DDL_SETTINGS);
      await tx.query(`INSERT INTO carrel.tenants (role, tenant_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
        role,
        tenant.tenantId,
      ]);
      const [locked] = await tx.query<{ tenantId: string }>(
        `SELECT tenant_id::text AS "tenantId" FROM carrel.tenants WHERE role = $1 FOR UPDATE`,
        [role],
      );
      if (locked) requireSameTenant(role, tenant, locked.tenantId);
      if (tenant.limits) await writeLimits(tx, role, tenant.limits);
      await makeRole(tx, role, tenant, shard.random);
      await tx.query(`UPDATE carrel.tenants SET fingerprint = $2 WHERE role = $1`, [role, fingerprint]);
    }),
  );
  // Open sessions keep what the role might do when they began.
  if (present?.access && present.access !== access) await endConnections(shard.pool, role);
  return { changed: true, ...state };
}

function requireSameTenant(role: string, { tenantId }: TenantDatabase, found: string): void {
  if (found !== tenantId) throw new OtherTenantsSchema(role, found);
}

const isMigrated = (applied: readonly string[] | null): boolean => tenantMigrations.every(({ name }) => applied?.includes(name));

/**
 * The setting of a role that may only read: while its rows are copied to another shard (read-only.ts), or beyond
 * `spec.limits.database`.
 */
export const READ_ONLY_SETTING = 'default_transaction_read_only';

/** A change of this file's own rules must reach every tenant: count up. */
const RULES = 3;

/**
 * The password is generated, 32 random bytes: its hash discloses nothing. The table is readable by the operator only all the
 * same.
 */
const fingerprintOf = (tenant: TenantDatabase): string =>
  createHash('sha256')
    .update(JSON.stringify([RULES, tenant.tenantId, tenant.password, tenant.connections, ROLE_SETTINGS, TEMP_FILE_LIMIT]))
    .digest('hex');

interface Present {
  readonly tenantId: string;
  readonly fingerprint: string | null;
  readonly schemaVersion: string | null;
  /** Names of the migrations that are applied. */
  readonly applied: readonly string[] | null;
  /** What the role may hold now. */
  readonly limit: number | null;
  readonly storageLimit: number | null;
  readonly filesLimit: number | null;
  /** Null: there is no role. */
  readonly access: DatabaseAccessLevel | null;
  /** Schema, role, memberships and settings are as they were made, whatever its access. */
  readonly intact: boolean | null;
}

/** SQLSTATE undefined_table. */
const UNDEFINED_TABLE = '42P01';

/** One statement; two where the schema is missing. */
async function inspect(sql: Sql, role: string): Promise<Present | undefined> {
  const applied = `(SELECT array_agg(m.name::text) FROM ${quoteIdentifier(role)}.schema_migrations m)`;
  return inspectWith(sql, role, applied).catch((error: unknown) => {
    if (sqlState(error) !== UNDEFINED_TABLE) throw error;
    return inspectWith(sql, role, 'NULL::text[]');
  });
}

async function inspectWith(sql: Sql, role: string, applied: string): Promise<Present | undefined> {
  const [row] = await sql.query<Present>(
    `SELECT t.tenant_id::text AS "tenantId", t.fingerprint, t.schema_version AS "schemaVersion", ${applied} AS applied, r.rolconnlimit AS "limit",
       t.storage_limit AS "storageLimit", t.files_limit AS "filesLimit",
       CASE WHEN r.oid IS NULL THEN NULL WHEN NOT r.rolcanlogin THEN 'none' WHEN '${READ_ONLY_SETTING}=on' = ANY (r.rolconfig) THEN 'read' ELSE 'write' END AS access,
       n.oid IS NOT NULL AND NOT r.rolsuper AND NOT r.rolcreaterole AND NOT r.rolcreatedb AND NOT r.rolbypassrls
       AND cardinality(r.rolconfig) >= ${Object.keys(ROLE_SETTINGS).length}
       AND EXISTS (SELECT FROM pg_auth_members m WHERE m.roleid = r.oid AND m.member = (SELECT oid FROM pg_roles WHERE rolname = '${WORKER_ROLE}'))
       AND EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid AND m.roleid = (SELECT oid FROM pg_roles WHERE rolname = '${TENANT_GROUP}'))
       AND ${IS_MEMBER}
       AS intact
     FROM carrel.tenants t
     LEFT JOIN pg_roles r ON r.rolname = t.role
     LEFT JOIN pg_namespace n ON n.nspname = t.role
     WHERE t.role = $1`,
    [role],
  );
  return row;
}

async function makeRole(tx: Sql, role: string, tenant: TenantDatabase, random: Random): Promise<void> {
  const name = quoteIdentifier(role);
  const { access = 'write' } = tenant;
  const [server] = await tx.query<{ present: boolean; memberOptions: boolean; tempFiles: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS present,
       current_setting('server_version_num')::int >= 160000 AS "memberOptions",
       has_parameter_privilege('temp_file_limit', 'SET') AS "tempFiles"`,
    [role],
  );
  // The attributes that a role must not have are off from its making; an operator that is no superuser may not even name them.
  const options = `${access === 'none' ? 'NOLOGIN' : 'LOGIN'} INHERIT PASSWORD ${quoteLiteral(passwordVerifier(tenant.password, random))} CONNECTION LIMIT ${Math.trunc(tenant.connections)}`;
  if (server?.present) await tx.query(`ALTER ROLE ${name} ${options}`);
  else await tx.query(`${server?.memberOptions ? BECOME_MEMBER_OF_NEW : ''} CREATE ROLE ${name} ${options}`);
  if (server?.present || !server?.memberOptions) await becomeMember(tx, role);
  const settings = { ...ROLE_SETTINGS, ...(server?.tempFiles ? { temp_file_limit: TEMP_FILE_LIMIT } : {}) };
  const [worker, group] = server?.memberOptions ? [' WITH INHERIT FALSE, SET TRUE', ' WITH INHERIT TRUE, SET FALSE'] : ['', ''];
  await releaseJobs(tx, role);
  await tx.query(`
    ${server?.present ? `ALTER ROLE ${name} RESET ${READ_ONLY_SETTING};` : ''}
    ${access === 'write' ? '' : `ALTER ROLE ${name} SET ${READ_ONLY_SETTING} = on;`}
    ${Object.entries(settings)
      .map(([setting, value]) => `ALTER ROLE ${name} SET ${setting} = ${value};`)
      .join('\n')}
    GRANT ${name} TO ${WORKER_ROLE}${worker};
    GRANT ${TENANT_GROUP} TO ${name}${group};
  `);
  await makeSchema(tx, role);
}

/** The role's schema with its record of migrations, and what the role may do there by itself. */
async function makeSchema(tx: Sql, role: string): Promise<void> {
  const name = quoteIdentifier(role);
  await tx.query(`
    CREATE SCHEMA IF NOT EXISTS ${name};
    GRANT USAGE ON SCHEMA ${name} TO ${name};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${name};
    CREATE TABLE IF NOT EXISTS ${name}.schema_migrations (name varchar(255) PRIMARY KEY, applied_at timestamptz(3) NOT NULL DEFAULT now());
    REVOKE INSERT, UPDATE, DELETE ON ${name}.schema_migrations FROM ${name};
  `);
}

/**
 * What each tenant's role may hold, by tenant id. Who may hold more than `most`, or without a bound, may hold `most` from now on.
 */
export async function boundConnections(shard: ShardAccess, most: number): Promise<Map<string, number>> {
  const roles = await shard.pool.query<{ role: string; tenantId: string; limit: number }>(
    `SELECT t.role, t.tenant_id::text AS "tenantId", r.rolconnlimit AS "limit" FROM carrel.tenants t JOIN pg_roles r ON r.rolname = t.role`,
  );
  const isBounded = ({ limit }: { limit: number }): boolean => limit >= 0 && limit <= most;
  for (const { role } of roles.filter((each) => !isBounded(each)))
    await retryDdl(shard, () => shard.pool.query(`ALTER ROLE ${quoteIdentifier(role)} CONNECTION LIMIT ${Math.trunc(most)}`));
  return new Map(roles.map((each) => [each.tenantId, isBounded(each) ? each.limit : most]));
}

/** Applies the missing migrations, to a schema without any all at once. Returns the version reached. */
export async function migrateTenant(shard: ShardAccess, tenant: Pick<TenantDatabase, 'slug' | 'tenantId'>): Promise<string> {
  if (!(await migrateNew(shard, tenant))) await migrateUp(migrationRun(shard, tenant));
  return LATEST_VERSION;
}

/**
 * In one transaction and one text: nobody uses the schema yet, and a commit and half a dozen statements for each migration would
 * take more time than what they make. False: some are applied, and nothing was done.
 */
async function migrateNew(shard: ShardAccess, { slug, tenantId }: Pick<TenantDatabase, 'slug' | 'tenantId'>): Promise<boolean> {
  const role = tenantRole(slug);
  return retryDdl(shard, () =>
    shard.pool.transaction(async (tx) => {
      const [some] = await tx.query(`
        ${DDL_SETTINGS}; SET LOCAL search_path = ${quoteIdentifier(role)}, ext;
        SELECT FROM carrel.tenants WHERE role = ${quoteLiteral(role)} FOR UPDATE;
        SELECT FROM schema_migrations LIMIT 1
      `);
      if (some) return false;
      await migrateAll(tx, { role, tenantId }, tenantMigrations);
      await recordVersion(tx, role, LATEST_VERSION);
      return true;
    }),
  );
}

/** The search path is at the schema. */
async function migrateAll(tx: Sql, context: TenantContext, migrations: typeof tenantMigrations): Promise<void> {
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
  { slug, tenantId }: Pick<TenantDatabase, 'slug' | 'tenantId'>,
  names: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const role = tenantRole(slug);
  const unknown = names.filter((name) => !tenantMigrations.some((migration) => migration.name === name));
  if (unknown.length > 0) throw new UnknownMigrations(unknown);
  const migrate = (isWanted: (name: string) => boolean): Promise<void> =>
    migrateAll(
      tx,
      { role, tenantId },
      tenantMigrations.filter(({ name }) => isWanted(name)),
    );
  await tx.query(`${DDL_SETTINGS}; SET LOCAL statement_timeout = 0`);
  await tx.query('SELECT FROM carrel.tenants WHERE role = $1 FOR UPDATE', [role]);
  await tx.query(`DROP SCHEMA IF EXISTS ${quoteIdentifier(role)} CASCADE`);
  await makeSchema(tx, role);
  await tx.query(`SET LOCAL search_path = ${quoteIdentifier(role)}, ext`);
  await migrate((name) => names.includes(name));
  await fill();
  await migrate((name) => !names.includes(name));
  await recordVersion(tx, role, LATEST_VERSION);
}

/** Migrations that this release does not have: the data are of a later one. */
export class UnknownMigrations extends Error {
  override readonly name = 'UnknownMigrations';

  constructor(names: readonly string[]) {
    super(
      `the data have migrations that this release does not know: ${names.join(', ')}. Use the release that made them, or a later one`,
    );
  }
}

/** Takes back every migration from `to` on (0: all of them). Gives the version left, null for none. */
export async function rollbackTenant(
  shard: ShardAccess,
  tenant: Pick<TenantDatabase, 'slug' | 'tenantId'>,
  to: string | 0,
): Promise<string | null> {
  await migrateDown(migrationRun(shard, tenant), to);
  return schemaVersion(shard, tenant.slug);
}

function migrationRun(
  shard: ShardAccess,
  { slug, tenantId }: Pick<TenantDatabase, 'slug' | 'tenantId'>,
): MigrationRun<TenantContext> {
  const role = tenantRole(slug);
  return {
    ...shard,
    migrations: tenantMigrations,
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

/** One transaction of the operator's in a tenant's schema; it is retried once after a lock time-out or the like. */
export function inTenantSchema<T>(shard: ShardAccess, slug: string, fn: (tx: Sql) => Promise<T>): Promise<T> {
  const attempt = () =>
    shard.pool.transaction(async (tx) => {
      await tx.query(`SET LOCAL search_path = ${quoteIdentifier(tenantRole(slug))}, ext`);
      return fn(tx);
    });
  return retryDdl(shard, attempt, ROW_ATTEMPTS);
}

/** Disables the role's login and ends its connections; the data stay. */
export async function disableLogin(shard: ShardAccess, slug: string): Promise<void> {
  const role = tenantRole(slug);
  await retryDdl(shard, () =>
    shard.pool.transaction(async (tx) => {
      const [row] = await tx.query<{ login: boolean }>(`SELECT rolcanlogin AS login FROM pg_roles WHERE rolname = $1`, [role]);
      if (!row?.login) return;
      await tx.query(`ALTER ROLE ${quoteIdentifier(role)} NOLOGIN`);
      await becomeMember(tx, role);
    }),
  );
  await endConnections(shard.pool, role);
}

/**
 * Drops schema, role and work of a tenant, and whatever the role came to own. Idempotent; after a crash it continues where it
 * was. False when `budgetMs` was over first: call it again. `attempts` at locks that others hold; left out: as often as for a
 * migration. With `tenantId`, what another tenant has left under this slug stays.
 */
export async function dropTenant(
  shard: ShardAccess,
  slug: string,
  options: { readonly tenantId?: string; readonly budgetMs?: number; readonly attempts?: number } = {},
): Promise<boolean> {
  const role = tenantRole(slug);
  if (options.tenantId !== undefined && (await isAnothers(shard.pool, role, options.tenantId))) return true;
  await disableLogin(shard, slug);
  if (!(await dropOwned(shard, role, { budgetMs: options.budgetMs ?? Infinity }))) return false;
  const drop = () =>
    shard.pool.transaction(async (tx) => {
      await tx.query(DDL_SETTINGS);
      await tx.query('SELECT FROM carrel.tenants WHERE role = $1 FOR UPDATE', [role]);
      await tx.query(`DROP SCHEMA IF EXISTS ${quoteIdentifier(role)} CASCADE`);
      await deleteShared(tx, role);
      const [present] = await tx.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
      if (present) await tx.query(`DROP OWNED BY ${quoteIdentifier(role)}; DROP ROLE ${quoteIdentifier(role)}`);
      await tx.query('DELETE FROM carrel.tenants WHERE role = $1', [role]);
    });
  await retryDdl(shard, drop, options.attempts);
  return true;
}

export const endConnections = (sql: Sql, role: string): Promise<unknown> =>
  sql.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1', [role]);
