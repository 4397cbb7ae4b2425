import { quoteIdentifier, type Sql } from '../pool.ts';
import { tenantRole } from './tenant.ts';

export interface Usage {
  readonly users: number;
  readonly files: number;
  readonly bytes: number;
}

/** People, live files, and the bytes that count against quotas (versions and trash too). */
export async function usageOf({ pool, slug }: { readonly pool: Sql; readonly slug: string }): Promise<Usage> {
  const schema = quoteIdentifier(tenantRole(slug));
  const [usage] = await pool.query<Usage>(
    `SELECT (SELECT count(*) FROM ${schema}.users WHERE NOT is_system) AS users,
            (SELECT count(*) FROM ${schema}.files WHERE deleted_at IS NULL) AS files,
            (SELECT coalesce(sum(storage_used), 0) FROM ${schema}.users) AS bytes`,
  );
  return usage ?? { users: 0, files: 0, bytes: 0 };
}
