import { WebhookSeal, type SealedColumn } from '../webhooks/sealing.ts';
import type { HelperKind } from '../helper-services/helper.ts';
import { openToken, sealToken } from '../helper-services/token-seal.ts';
import { linkKeyAssociatedData } from '../lti/links/target-keys.ts';
import { privateKeyAssociatedData } from '../lti/private-key.ts';
import type { Random } from '../runtime/random.ts';
import { SealError, type Sealer, type SealingKey, tenantSealer } from '../runtime/sealing.ts';
import { quoteIdentifier, type Sql } from '../store/postgres/pool.ts';
import { tenantRole } from '../store/postgres/provisioning.ts';
import type { RegisteredTenant } from '../store/postgres/registry.ts';

interface Resealed {
  /** Values that are now sealed with the first key. */
  readonly resealed: number;
  /** Values that were already sealed with it; counted where all values are looked at. */
  readonly unchanged: number;
  /** Values that no key opens: removing a key loses nothing of them. A tenant's role can write such values. */
  readonly unopenable: number;
}

interface Seal {
  readonly tenantId: string;
  /** Seals with the tenant's data keys. */
  readonly sealer: Sealer;
}

export interface TenantSeal extends Seal {
  readonly slug: string;
  /** Id of the first key: values that it sealed stay as they are. Undefined: everything is sealed again. */
  readonly keyId: string | undefined;
  /** Opens the values if the tenant had another id. */
  readonly former?: Seal;
}

/** Seals with the first platform key's data key of the tenant's generation. */
export function sealOf(
  { tenantId, slug, credentials }: Pick<RegisteredTenant, 'tenantId' | 'slug' | 'credentials'>,
  platformKeys: readonly SealingKey[],
  random: Random,
): TenantSeal {
  const sealer = tenantSealer(platformKeys, tenantId, random, credentials.data?.generation);
  return { tenantId, slug, sealer, keyId: sealer.keyId };
}

/**
 * A column of a tenant's schema that holds sealed values; `reference` is the column of the row that their associated data name.
 */
interface Column {
  readonly table: string;
  readonly column: string;
  readonly reference: string;
  readonly open: (of: Seal, reference: string, sealed: string) => string;
  readonly seal: (of: Seal, reference: string, plain: string) => string;
}

const webhookColumn = (column: SealedColumn): Column => ({
  table: 'webhooks',
  column,
  reference: 'x.uuid::text',
  open: (of, reference, sealed) => new WebhookSeal(of).open(reference, column, sealed),
  seal: (of, reference, plain) => new WebhookSeal(of).seal(reference, column, plain),
});

const keyColumn = (table: string, reference: string): Column => ({
  table,
  column: 'private_key',
  reference,
  open: ({ sealer, tenantId }, managedRef, sealed) => sealer.open(sealed, privateKeyAssociatedData(tenantId, managedRef)),
  seal: ({ sealer, tenantId }, managedRef, plain) => sealer.seal(plain, privateKeyAssociatedData(tenantId, managedRef)),
});

const helperColumn: Column = {
  table: 'helpers',
  column: 'token',
  reference: 'x.kind',
  open: (of, kind, sealed) => openToken(of, kind as HelperKind, sealed),
  seal: (of, kind, plain) => sealToken(of, kind as HelperKind, plain),
};

const linkKeyColumn: Column = {
  table: 'lti_link_keys',
  column: 'secret',
  reference: 'x.id',
  open: ({ sealer, tenantId }, id, sealed) => sealer.open(sealed, linkKeyAssociatedData(tenantId, id)),
  seal: ({ sealer, tenantId }, id, plain) => sealer.seal(plain, linkKeyAssociatedData(tenantId, id)),
};

/**
 * The columns to seal again. Other values sealed with a data key live for minutes (logins, download links) or a day (replies to
 * requests with an Idempotency-Key).
 */
const COLUMNS: readonly Column[] = [
  webhookColumn('secret'),
  webhookColumn('previous_secret'),
  webhookColumn('headers'),
  helperColumn,
  keyColumn('lti_tools', `coalesce(x.managed_ref, '')`),
  keyColumn('lti_tool_keys', `coalesce((SELECT t.managed_ref FROM %schema%.lti_tools t WHERE t.id = x.tool_id), '')`),
  linkKeyColumn,
];

/** Some 200 rows; a sealed value has at most 64 KiB. */
const BLOCKS_A_STATEMENT = 4;

interface ResealLimits {
  readonly signal?: AbortSignal;
  /** Ends after resealing this many values; another call does the rest. Default: all. */
  readonly most?: number;
}

/**
 * Seals values of an older key again in one tenant's schema. Each value is exchanged separately, and only if nobody has written a
 * newer one, so it may be stopped and run twice at once. It ignores rows added after the end that a table has when it begins, so
 * it ends whatever the tenant's role writes meanwhile.
 */
export async function resealTenant(sql: Sql, of: TenantSeal, { signal, most = Infinity }: ResealLimits = {}): Promise<Resealed> {
  let found: Resealed = { resealed: 0, unchanged: 0, unopenable: 0 };
  const present = await columnsOf(sql, of.slug);
  for (const column of COLUMNS.filter(({ table, column }) => present.has(`${table}.${column}`))) {
    const limits = { most: most - found.resealed, ...(signal ? { signal } : {}) };
    const { resealed, unchanged, unopenable } = await resealColumn(sql, of, column, limits);
    found = {
      resealed: found.resealed + resealed,
      unchanged: found.unchanged + unchanged,
      unopenable: found.unopenable + unopenable,
    };
  }
  return found;
}

/** Retained data may have a schema of an earlier release. */
async function columnsOf(sql: Sql, slug: string): Promise<Set<string>> {
  const rows = await sql.query<{ name: string }>(
    `SELECT c.relname || '.' || a.attname AS name FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
     JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped WHERE n.nspname = $1 AND c.relname = ANY ($2)`,
    [tenantRole(slug), COLUMNS.map(({ table }) => table)],
  );
  return new Set(rows.map(({ name }) => name));
}

async function resealColumn(
  sql: Sql,
  of: TenantSeal,
  { table, column, ...sealed }: Column,
  { signal, most = Infinity }: ResealLimits,
): Promise<Resealed> {
  const name = `${quoteIdentifier(tenantRole(of.slug))}.${table}`;
  const reference = sealed.reference.replace('%schema%', quoteIdentifier(tenantRole(of.slug)));
  let [resealed, unchanged, unopenable] = [0, 0, 0];
  const blocks = await blocksOf(sql, name);
  for (let block = 0; block < blocks && resealed < most; block += BLOCKS_A_STATEMENT) {
    signal?.throwIfAborted();
    const rows = await sql.query<{ at: string; reference: string; value: string }>(
      `SELECT x.ctid::text AS at, ${reference} AS reference, x.${column} AS value FROM ${name} x
       WHERE x.ctid >= $1::tid AND x.ctid < $2::tid AND split_part(x.${column}, '.', 2) IS DISTINCT FROM $3
         AND x.${column} IS NOT NULL`,
      [`(${block},0)`, `(${Math.min(block + BLOCKS_A_STATEMENT, blocks)},0)`, of.keyId ?? null],
    );
    for (const row of rows) {
      const value = resealedValue(of, sealed, row);
      if (value === undefined) unopenable += 1;
      else if (value === row.value) unchanged += 1;
      else {
        // Writes no entry to the audit log: the secret itself does not change.
        await sql.query(
          `UPDATE ${name} SET ${column} = $3
           WHERE ctid = $1::tid AND ${column} = $2 AND set_config('carrel.resealing', 'on', true) = 'on'`,
          [row.at, row.value, value],
        );
        resealed += 1;
      }
    }
  }
  return { resealed, unchanged, unopenable };
}

async function blocksOf(sql: Sql, table: string): Promise<number> {
  const [row] = await sql.query<{ blocks: string }>(
    `SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint AS blocks`,
    [table],
  );
  return Number(row?.blocks ?? 0);
}

function resealedValue(
  of: TenantSeal,
  { open, seal }: Pick<Column, 'open' | 'seal'>,
  { reference, value }: { reference: string; value: string },
): string | undefined {
  try {
    if (of.former && !of.sealer.isStale(value) && isOpenedBy(of, open, reference, value)) return value;
    return seal(of, reference, open(of.former ?? of, reference, value));
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

function isOpenedBy(of: Seal, open: Column['open'], reference: string, value: string): boolean {
  try {
    open(of, reference, value);
    return true;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
