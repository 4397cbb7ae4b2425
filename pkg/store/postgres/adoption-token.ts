import { sha256Hex } from '../../runtime/sha256.ts';
import type { Random } from '../../runtime/random.ts';
import type { Owner, TenantState } from './registered-tenant.ts';
import type { Sql } from './pool.ts';

const TOKEN_BYTES = 32;
export const ADOPTION_TOKEN_HOURS = 24;
/**
 * The wait after a wrong token: 5 s, doubled with each further one, at most 5 minutes; an hour without a wrong token resets it.
 */
const FIRST_WAIT_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 300;

/** There is nothing to adopt: no tenant has the slug (`state` undefined), or its data belong to a resource. */
export class NotRetained extends Error {
  override readonly name = 'NotRetained';
  readonly state: TenantState | undefined;
  constructor(slug: string, state: TenantState | undefined) {
    super(state === undefined ? `no tenant has the slug ${slug}` : `tenant ${slug} is ${state}, not retained`);
    this.state = state;
  }
}

/** A resource presented a wrong token. Until `retryAt` no other token is compared; one that `wasCompared` stays wrong. */
export class AdoptionRefused extends Error {
  override readonly name = 'AdoptionRefused';
  /** The number of different wrong tokens that the resource presented. */
  readonly failures: number;
  readonly retryAt: Date;
  readonly wasCompared: boolean;
  constructor(slug: string, { failures, retryAt, wasCompared }: { failures: number; retryAt: Date; wasCompared: boolean }) {
    super(`wrong adoption tokens for ${slug}: ${failures}`);
    this.failures = failures;
    this.retryAt = retryAt;
    this.wasCompared = wasCompared;
  }
}

/**
 * Returns a token that lets another resource adopt the retained data of this slug: 32 random bytes in base64url, valid for 24
 * hours and for one use. It replaces an earlier one. Only its hash is stored. FOR UPDATE: the state must not change before the
 * token is stored. Throws NotRetained.
 */
export async function newAdoptionToken(sql: Sql, slug: string, random: Random): Promise<{ token: string; expiresAt: Date }> {
  const token = random.base64url(TOKEN_BYTES);
  const [made] = await sql.query<{ expiresAt: Date }>(
    `INSERT INTO registry.adoption_tokens (tenant_id, token_hash, expires_at)
     SELECT id, $2, now() + $3 * interval '1 hour' FROM registry.tenants WHERE slug = $1 AND state = 'retained' FOR UPDATE
     ON CONFLICT (tenant_id) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at
     RETURNING expires_at AS "expiresAt"`,
    [slug, sha256Hex(token), ADOPTION_TOKEN_HOURS],
  );
  if (made) return { token, expiresAt: made.expiresAt };
  const [tenant] = await sql.query<{ state: TenantState }>('SELECT state FROM registry.tenants WHERE slug = $1', [slug]);
  throw new NotRetained(slug, tenant?.state);
}

interface Failure {
  readonly tokenHash: string;
  readonly failures: number;
  readonly retryAt: Date;
  readonly isWaiting: boolean;
}

/**
 * Returns the reason to refuse the token without comparing it: it was wrong before, or the resource has to wait. Returns
 * undefined if it must be compared. Takes no lock.
 */
export async function refusedBefore(
  sql: Sql,
  { tenantId, slug }: { readonly tenantId: string; readonly slug: string },
  owner: Owner,
  token: string,
): Promise<AdoptionRefused | undefined> {
  const [before] = await sql.query<Failure>(
    `SELECT token_hash AS "tokenHash", failures, retry_at AS "retryAt", retry_at > now() AS "isWaiting"
       FROM registry.adoption_failures
     WHERE tenant_id = $1 AND namespace_uid = $2 AND name = $3`,
    [tenantId, owner.namespaceUid, owner.name],
  );
  if (!before) return undefined;
  const wasCompared = before.tokenHash === sha256Hex(token);
  return wasCompared || before.isWaiting ? new AdoptionRefused(slug, { ...before, wasCompared }) : undefined;
}

/**
 * Uses up the token, under the lock on the tenant's row. Returns the refusal, or undefined if the token was right.
 * The same wrong token counts once, however often it is presented, so that a resource at rest writes nothing.
 */
export async function useAdoptionToken(
  tx: Sql,
  tenant: { readonly tenantId: string; readonly slug: string },
  owner: Owner,
  token: string,
): Promise<AdoptionRefused | undefined> {
  const { tenantId, slug } = tenant;
  const hash = sha256Hex(token);
  const refused = await refusedBefore(tx, tenant, owner, token);
  if (refused) return refused;
  const spent = await tx.query(
    'DELETE FROM registry.adoption_tokens WHERE tenant_id = $1 AND token_hash = $2 AND expires_at > now() RETURNING tenant_id',
    [tenantId, hash],
  );
  if (spent.length > 0) return undefined;
  return new AdoptionRefused(slug, { ...(await countFailure(tx, tenantId, owner, hash)), wasCompared: true });
}

async function countFailure(tx: Sql, tenantId: string, owner: Owner, hash: string): Promise<{ failures: number; retryAt: Date }> {
  await tx.query(`DELETE FROM registry.adoption_failures WHERE failed_at < now() - interval '1 hour'`);
  const [failure] = await tx.query<{ failures: number; retryAt: Date }>(
    `INSERT INTO registry.adoption_failures AS f (tenant_id, namespace_uid, name, token_hash, failures, retry_at)
     VALUES ($1, $2, $3, $4, 1, now() + $5 * interval '1 second')
     ON CONFLICT (tenant_id, namespace_uid, name) DO UPDATE
       SET token_hash = excluded.token_hash, failures = f.failures + 1, failed_at = now(),
       retry_at = now() + least($5 * 2 ^ least(f.failures, 10), $6) * interval '1 second'
     RETURNING failures, retry_at AS "retryAt"`,
    [tenantId, owner.namespaceUid, owner.name, hash, FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS],
  );
  return failure ?? { failures: 1, retryAt: new Date(0) };
}

/** Invalidates earlier tokens: they were made for the data's former owner. */
export async function dropAdoptionTokens(tx: Sql, tenantId: string): Promise<void> {
  await tx.query(
    `WITH tokens AS (DELETE FROM registry.adoption_tokens WHERE tenant_id = $1)
     DELETE FROM registry.adoption_failures WHERE tenant_id = $1`,
    [tenantId],
  );
}
