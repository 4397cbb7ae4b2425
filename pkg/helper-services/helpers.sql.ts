import type { Sql } from '../store/postgres/pool.ts';
import type { TenantSeal } from '../store/tenant-resources.ts';
import type { Helper, HelperKind } from './helper.ts';
import { openToken } from './token-seal.ts';

/** A row of `helpers`; the token is sealed. */
export interface HelperRow {
  readonly kind: HelperKind;
  readonly url: string;
  readonly token: string | null;
}

/**
 * Returns the helpers of a tenant, by kind. One statement: a change by the operator takes effect with the next call, in all
 * programs.
 */
export async function helpersOf(sql: Pick<Sql, 'query'>, seal: TenantSeal): Promise<ReadonlyMap<HelperKind, Helper>> {
  const rows = await sql.query<HelperRow>('SELECT kind, url, token FROM helpers');
  return new Map(
    rows.map((row) => [row.kind, { ...row, token: row.token === null ? null : openToken(seal, row.kind, row.token) }]),
  );
}
