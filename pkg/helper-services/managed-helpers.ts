/** The operator's side of the table `helpers`, with a role that writes every tenant's schema. */
import { SealError } from '../runtime/sealing.ts';
import { quoteIdentifier } from '../store/postgres/pool.ts';
import { tenantRole } from '../store/postgres/provisioning.ts';
import type { TenantRows, TenantSchema } from '../store/postgres/tenant-schema.ts';
import type { HelperRow } from './helpers.sql.ts';
import type { Helper } from './helper.ts';
import { openToken, sealToken } from './token-seal.ts';

const tableOf = ({ slug }: TenantSchema): string => `${quoteIdentifier(tenantRole(slug))}.helpers`;

/** Gives the tenant exactly these helpers. One statement if it already has them, otherwise two. */
export async function syncHelpers(rows: TenantRows, wanted: readonly Helper[]): Promise<void> {
  const table = tableOf(rows);
  const present = await rows.pool.query<HelperRow>(`SELECT kind, url, token FROM ${table}`);
  const isSame = present.length === wanted.length && wanted.every((helper) => present.some((row) => says(rows, row, helper)));
  if (isSame) return;
  const sealed = wanted.map(({ kind, url, token }) => ({
    kind,
    url,
    token: token === null ? null : sealToken(rows, kind, token),
  }));
  await rows.pool.query(
    `WITH wanted AS (SELECT w.kind, w.url, w.token FROM jsonb_to_recordset($1::jsonb) AS w (kind text, url text, token text)),
       gone AS (DELETE FROM ${table} WHERE kind NOT IN (SELECT kind FROM wanted))
     INSERT INTO ${table} (kind, url, token) SELECT kind, url, token FROM wanted
     ON CONFLICT (kind) DO UPDATE SET url = excluded.url, token = excluded.token`,
    [JSON.stringify(sealed)],
  );
}

/** Returns whether the row matches the helper. A token that no key opens is written again. */
function says(rows: TenantRows, row: HelperRow, { kind, url, token }: Helper): boolean {
  if (row.kind !== kind || row.url !== url || (row.token === null) !== (token === null)) return false;
  try {
    return row.token === null || openToken(rows, kind, row.token) === token;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
