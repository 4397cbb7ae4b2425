import { deleteShared } from '../data-tables.ts';
import { quoteIdentifier, type Sql } from '../pool.ts';
import { retryDdl } from '../retry-ddl.ts';
import type { ShardAccess } from './shard-access.ts';
import { becomeMember, dropOwned } from './owned-objects.ts';
import { DDL_SETTINGS, tenantRole } from './tenant-role.ts';

/** The shard has data of another tenant under this slug: a move or a restored database has left them there. */
export class OtherTenantsSchema extends Error {
  override readonly name = 'OtherTenantsSchema';

  constructor(role: string, tenantId: string) {
    super(
      `its schema ${role} is that of another tenant, of id ${tenantId}: a move or a restored database has left it ` +
        'there (docs/operate/backup-move-restore.md, Remove what another tenant has left on a shard)',
    );
  }
}

async function isAnothers(sql: Sql, role: string, tenantId: string): Promise<boolean> {
  const rows = await sql.query('SELECT FROM carrel.tenants WHERE role = $1 AND tenant_id <> $2', [role, tenantId]);
  return rows.length > 0;
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

/** Waits until each has ended, up to `waitMs`; 0: not at all. A statement that comes meanwhile fails. */
export const endConnections = (sql: Sql, role: string, waitMs = 5_000): Promise<unknown> =>
  sql.query('SELECT pg_terminate_backend(pid, $2) FROM pg_stat_activity WHERE usename = $1', [role, waitMs]);
