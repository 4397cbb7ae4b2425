import type { Random } from '../../../runtime/random.ts';
import { CLEAR_CACHES, subject } from '../../redis/generation.ts';
import { retryDdl } from '../migrations/migration.ts';
import { quoteIdentifier, type Sql } from '../pool.ts';
import { requestWorkOf } from '../work.ts';
import { tenantRole } from './tenant.ts';
import type { ShardAccess } from './base.ts';

/** What the operator writes into a tenant's schema: its first administrator, and what it reads for the status. */

export interface Administrator {
  readonly email: string;
  /** argon2id */
  readonly passwordHash: string;
  /** Bytes, for an account that is made; left out: the specification's 10 GiB. */
  readonly storageQuota?: number | undefined;
}

/** The administrator's address belongs to an account that the operator did not make for it. */
export class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
}

/**
 * Makes an active administrator with this address and password, or gives the one that the operator made for this address its address, password
 * and rights again and ends its sessions: refresh tokens at the commit, access tokens once the worker has cleared the copies of the sessions
 * (it looks every 2 s). For when the administrator's Secret is new or was changed, not for each reconcile.
 *
 * Invariant: whom the operator did not make it never makes an administrator, whatever address they have (`users.provisioned_as` decides, which
 * no API writes). Throws EmailTakenError.
 */
export async function ensureAdministrator(shard: ShardAccess, slug: string, administrator: Administrator): Promise<void> {
  await inSchema(shard, slug, async (tx) => {
    await requireFreeEmail(tx, administrator.email);
    const changed = (await reinstate(tx, administrator)) ?? (await create(tx, administrator, shard.random));
    if (changed.length > 0) await requestWorkOf(tx, tenantRole(slug), CLEAR_CACHES, { subjects: changed });
  });
}

async function requireFreeEmail(tx: Sql, email: string): Promise<void> {
  const other = await tx.query('SELECT FROM users WHERE lower(email) = lower($1) AND lower(provisioned_as) IS DISTINCT FROM lower($1)', [
    email,
  ]);
  if (other.length > 0) throw new EmailTakenError(email);
}

/** What cached values of the tenant no longer hold; undefined: the operator made nobody for this address. */
async function reinstate(tx: Sql, { email, passwordHash }: Administrator): Promise<string[] | undefined> {
  const [user] = await tx.query<{ id: number; uuid: string }>(
    `UPDATE users SET password_hash = $2, is_active = true,
       email = CASE WHEN lower(email) = lower($1) THEN email ELSE $1 END,
       roles = CASE WHEN 'admin' = ANY (roles) THEN roles ELSE array_append(roles, 'admin') END
     WHERE lower(provisioned_as) = lower($1) AND NOT is_system RETURNING id, uuid`,
    [email, passwordHash],
  );
  if (!user) return undefined;
  const ended = await tx.query<{ id: string }>(
    'UPDATE sessions SET ended_at = now() WHERE user_id = $1 AND ended_at IS NULL RETURNING id',
    [user.id],
  );
  return [subject.users, subject.user(user.uuid), ...ended.map(({ id }) => subject.session(id))];
}

/** The same. In a tenant without people nobody has cached anything. */
async function create(tx: Sql, { email, passwordHash, storageQuota }: Administrator, random: Random): Promise<string[]> {
  const [somebody] = await tx.query('SELECT FROM users WHERE NOT is_system LIMIT 1');
  const quota = storageQuota === undefined ? 'DEFAULT' : '$5';
  await tx.query(
    `INSERT INTO users (uuid, email, provisioned_as, username, display_name, password_hash, roles, storage_quota)
     VALUES ($1, $2, $2, $3, 'Administrator', $4, '{admin}', ${quota})`,
    [random.uuid(), email, await freeUsername(tx, email, random), passwordHash, ...(storageQuota === undefined ? [] : [storageQuota])],
  );
  return somebody ? [subject.users] : [];
}

/** The address's first part where nobody has it, else with a few random digits. */
async function freeUsername(tx: Sql, email: string, random: Random): Promise<string> {
  const wanted = email.split('@')[0]?.slice(0, 90) || 'admin';
  const taken = await tx.query('SELECT FROM users WHERE lower(username) = lower($1)', [wanted]);
  return taken.length === 0 ? wanted : `${wanted}-${random.hex(4)}`;
}

export interface Usage {
  readonly users: number;
  readonly files: number;
  readonly bytes: number;
}

/** People, live files, and the bytes that count against quotas (versions and trash too). */
export async function usageOf(shard: ShardAccess, slug: string): Promise<Usage> {
  const schema = quoteIdentifier(tenantRole(slug));
  const [usage] = await shard.pool.query<Usage>(
    `SELECT (SELECT count(*) FROM ${schema}.users WHERE NOT is_system) AS users,
            (SELECT count(*) FROM ${schema}.files WHERE deleted_at IS NULL) AS files,
            (SELECT coalesce(sum(storage_used), 0) FROM ${schema}.users) AS bytes`,
  );
  return usage ?? { users: 0, files: 0, bytes: 0 };
}

/** One transaction of the operator's in a tenant's schema. */
const inSchema = <T>(shard: ShardAccess, slug: string, fn: (tx: Sql) => Promise<T>): Promise<T> =>
  retryDdl(shard, () =>
    shard.pool.transaction(async (tx) => {
      await tx.query(`SET LOCAL search_path = ${quoteIdentifier(tenantRole(slug))}, ext`);
      return fn(tx);
    }),
  );
