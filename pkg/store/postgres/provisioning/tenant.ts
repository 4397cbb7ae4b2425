import { createHash } from 'node:crypto';
import type { Random } from '../../../runtime/random.ts';
import { sqlState } from '../errors.ts';
import { quoteIdentifier, quoteLiteral, type Sql } from '../pool.ts';
import { retryDdl } from '../retry-ddl.ts';
import { TENANT_GROUP } from './base.ts';
import { endConnections, OtherTenantsSchema } from './drop-tenant.ts';
import { releaseJobs } from './held-jobs.ts';
import { areSame, type DatabaseAccessLevel, type TenantLimits, writeLimits } from './limits.ts';
import { BECOME_MEMBER_OF_NEW, becomeMember, IS_MEMBER } from './owned-objects.ts';
import { passwordVerifier } from './password.ts';
import { isMigrated, makeSchema } from './tenant-migrations.ts';
import type { ShardAccess } from './shard-access.ts';
import { ROLE_SETTINGS, TEMP_FILE_LIMIT } from './tenant-role-settings.ts';
import { DDL_SETTINGS, READ_ONLY_SETTING, tenantRole } from './tenant-role.ts';
import { WORKER_ROLE } from './worker-role.ts';

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

interface EnsuredDatabase {
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
  /** The number of connections that the role may hold now. */
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

/** Takes one statement; two where the schema is missing. */
async function inspect(sql: Sql, role: string): Promise<Present | undefined> {
  const applied = `(SELECT array_agg(m.name::text) FROM ${quoteIdentifier(role)}.schema_migrations m)`;
  return inspectWith(sql, role, applied).catch((error: unknown) => {
    if (sqlState(error) !== UNDEFINED_TABLE) throw error;
    return inspectWith(sql, role, 'NULL::text[]');
  });
}

async function inspectWith(sql: Sql, role: string, applied: string): Promise<Present | undefined> {
  const [row] = await sql.query<Present>(
    `SELECT t.tenant_id::text AS "tenantId", t.fingerprint, t.schema_version AS "schemaVersion", ${applied} AS applied,
       r.rolconnlimit AS "limit",
       t.storage_limit AS "storageLimit", t.files_limit AS "filesLimit",
       CASE WHEN r.oid IS NULL THEN NULL WHEN NOT r.rolcanlogin THEN 'none'
         WHEN '${READ_ONLY_SETTING}=on' = ANY (r.rolconfig) THEN 'read' ELSE 'write' END AS access,
       n.oid IS NOT NULL AND NOT r.rolsuper AND NOT r.rolcreaterole AND NOT r.rolcreatedb AND NOT r.rolbypassrls
       AND cardinality(r.rolconfig) >= ${Object.keys(ROLE_SETTINGS).length}
       AND EXISTS (SELECT FROM pg_auth_members m WHERE m.roleid = r.oid
         AND m.member = (SELECT oid FROM pg_roles WHERE rolname = '${WORKER_ROLE}'))
       AND EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid
         AND m.roleid = (SELECT oid FROM pg_roles WHERE rolname = '${TENANT_GROUP}'))
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
  const options =
    `${access === 'none' ? 'NOLOGIN' : 'LOGIN'} INHERIT ` +
    `PASSWORD ${quoteLiteral(passwordVerifier(tenant.password, random))} ` +
    `CONNECTION LIMIT ${Math.trunc(tenant.connections)}`;
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

/**
 * Returns how many connections each tenant's role may hold, by tenant id. Lowers roles without a bound, or with a higher one,
 * to `most`.
 */
export async function boundConnections(shard: ShardAccess, most: number): Promise<Map<string, number>> {
  const roles = await shard.pool.query<{ role: string; tenantId: string; limit: number }>(
    `SELECT t.role, t.tenant_id::text AS "tenantId", r.rolconnlimit AS "limit" FROM carrel.tenants t
     JOIN pg_roles r ON r.rolname = t.role`,
  );
  const isBounded = ({ limit }: { limit: number }): boolean => limit >= 0 && limit <= most;
  for (const { role } of roles.filter((each) => !isBounded(each)))
    await retryDdl(shard, () => shard.pool.query(`ALTER ROLE ${quoteIdentifier(role)} CONNECTION LIMIT ${Math.trunc(most)}`));
  return new Map(roles.map((each) => [each.tenantId, isBounded(each) ? each.limit : most]));
}
