import { MIB } from '../runtime/bytes.ts';
import type { Sql } from '../store/postgres/pool.ts';

/** The rows behind what a Tenant resource sets: limits that the database holds, and what is used of them. */
export interface TenantSettingsRow {
  readonly storageLimit: number | null;
  readonly storageUsed: number;
  readonly filesLimit: number | null;
  readonly filesUsed: number;
  readonly databaseUsed: number;
  /** The kinds of the configured helper services. */
  readonly helpers: readonly string[];
  readonly administrators: readonly string[];
}

/** The operator measures the tables in the same way (pkg/store/postgres/provisioning/usage.ts), and holds the limit by that. */
const TENANT_SETTINGS = `
  SELECT l.storage AS "storageLimit", u.bytes AS "storageUsed", l.files AS "filesLimit", u.entries AS "filesUsed",
    (SELECT ceil(coalesce(sum(pg_total_relation_size(c.oid)), 0) / ${MIB}.0)::bigint * ${MIB}
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = current_user AND c.relkind IN ('r', 'm')) AS "databaseUsed",
    ARRAY(SELECT kind FROM helpers) AS helpers,
    ARRAY(SELECT provisioned_as FROM users WHERE provisioned_as IS NOT NULL AND NOT is_system ORDER BY id) AS administrators
  FROM (SELECT coalesce(sum(storage_used), 0)::bigint AS bytes, coalesce(sum(entries), 0)::bigint AS entries FROM users) u
  LEFT JOIN carrel.limits_of_tenant() l ON true`;

/** One statement, which adds up the rows of people and of tables, not those of files. */
export async function tenantSettingsOf(sql: Sql): Promise<TenantSettingsRow> {
  const [row] = await sql.query<TenantSettingsRow>(TENANT_SETTINGS);
  if (!row) throw new Error('the settings of the tenant have no row');
  return row;
}
