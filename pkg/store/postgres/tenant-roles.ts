import type { Sql } from './pool.ts';

const ROLES = `
  SELECT n.nspname AS role FROM pg_namespace n JOIN pg_roles r ON r.rolname = n.nspname
  WHERE starts_with(n.nspname, 'tenant_') AND pg_has_role(r.oid, 'MEMBER')
    AND ($1::text IS NULL OR EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = $1))
  ORDER BY 1`;

/**
 * Returns the tenants of a shard for which `sql` may act, as the names of their roles, which are also the names of their schemas.
 * `having`: only those whose schema is migrated far enough to have this table.
 */
export const tenantRoles = async (sql: Sql, { having }: { having?: string } = {}): Promise<string[]> =>
  (await sql.query<{ role: string }>(ROLES, [having ?? null])).map(({ role }) => role);
