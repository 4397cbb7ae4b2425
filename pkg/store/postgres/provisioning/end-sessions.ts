import { quoteIdentifier } from '../pool.ts';
import type { ShardAccess } from './shard-access.ts';
import { tenantRole } from './tenant-role.ts';

/**
 * Ends every session of a tenant, so that no cookie or token opens its data when they are adopted. The role's login must be off
 * already, or a new session may follow. A tenant without a schema has none.
 */
export async function endSessions({ pool }: ShardAccess, slug: string): Promise<void> {
  const table = `${quoteIdentifier(tenantRole(slug))}.sessions`;
  const [schema] = await pool.query<{ isThere: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "isThere"', [table]);
  if (schema?.isThere) await pool.query(`UPDATE ${table} SET ended_at = now() WHERE ended_at IS NULL`);
}
