import { retryDdl } from '../retry-ddl.ts';
import { quoteIdentifier, quoteLiteral, type Sql, type SqlPool } from '../pool.ts';
import type { ShardAccess } from './shard-access.ts';

/**
 * Deleting one takes a lock of its own, of which a transaction may hold some ten thousand, so that "all at once" could fail for
 * ever. Of a batch that is cut off nothing is lost but its time.
 */
const LARGE_OBJECTS_A_STATEMENT = 1_000;

/**
 * An expression: the current user is a member of the role `r`, as becomeMember makes it. Not pg_has_role, which after any change
 * of any membership collects all roles again of which the operator is a member: all tenants. Up to PostgreSQL 15 a membership has
 * no option.
 */
export const IS_MEMBER = `(current_setting('is_superuser')::boolean OR EXISTS (
  SELECT FROM pg_auth_members m WHERE m.roleid = r.oid AND m.member = (SELECT oid FROM pg_roles WHERE rolname = current_user)
  AND coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true)
))`;

/** From PostgreSQL 16 on: who makes a role in this transaction is a member of it, as becomeMember makes it. */
export const BECOME_MEMBER_OF_NEW = `SET LOCAL createrole_self_grant = 'inherit';`;

/**
 * Makes the present role a member of `role`: a role that is no superuser may delete another's objects, see its statements and
 * end its connections only as a member of it.
 */
export const becomeMember = (tx: Sql, role: string): Promise<unknown> =>
  tx.query(`
    DO $$
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = ${quoteLiteral(role)} AND ${IS_MEMBER}) THEN
        EXECUTE format('GRANT %I TO CURRENT_USER'
          || CASE WHEN current_setting('server_version_num')::int >= 160000 THEN ' WITH INHERIT TRUE, SET FALSE' ELSE '' END,
          ${quoteLiteral(role)});
      END IF;
    END $$;
  `);

/**
 * Deletes what a role came to own although it should own nothing: large objects, default privileges, whatever a database offers
 * to PUBLIC, in the shard and in every other database of its server. The role's login must be off. False when `budgetMs` was over
 * first: call it again.
 */
export async function dropOwned(shard: ShardAccess, role: string, { budgetMs }: { budgetMs: number }): Promise<boolean> {
  const deadline = shard.clock.monotonic() + budgetMs;
  const isTime = (): boolean => shard.clock.monotonic() < deadline;
  const [present] = await shard.pool.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
  if (!present) return true;
  await shard.pool.transaction((tx) => becomeMember(tx, role));
  for (const database of await otherDatabases(shard.pool, role)) {
    const pool = shard.pool.to(database);
    try {
      if (!(await unlinkLargeObjects(pool, role, isTime))) return false;
      await retryDdl(shard, () => pool.query(`DROP OWNED BY ${quoteIdentifier(role)}`));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`the role ${role} owns something in database ${database}, which the operator cannot delete there: ${why}`, {
        cause: error,
      });
    } finally {
      await pool.close();
    }
  }
  return unlinkLargeObjects(shard.pool, role, isTime);
}

/** Databases other than the shard in which the role owns or may do something. */
async function otherDatabases(sql: Sql, role: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT DISTINCT d.datname AS name FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid
     WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = (SELECT oid FROM pg_roles WHERE rolname = $1)
       AND d.datname <> current_database()
     ORDER BY name`,
    [role],
  );
  return rows.map(({ name }) => name);
}

async function unlinkLargeObjects(pool: SqlPool, role: string, isTime: () => boolean): Promise<boolean> {
  for (;;) {
    const [row] = await pool.query<{ unlinked: number }>(
      `SELECT count(lo_unlink(oid)) AS unlinked FROM (
         SELECT oid FROM pg_largeobject_metadata WHERE lomowner = (SELECT oid FROM pg_roles WHERE rolname = $1) LIMIT $2)
           AS owned`,
      [role, LARGE_OBJECTS_A_STATEMENT],
    );
    if ((row?.unlinked ?? 0) < LARGE_OBJECTS_A_STATEMENT) return true;
    if (!isTime()) return false;
  }
}
