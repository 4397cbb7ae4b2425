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
}

/**
 * Makes this person an active administrator with this password, and ends that person's sessions: refresh tokens at the commit,
 * access tokens once the worker has cleared the copies of the sessions (it looks every 2 s).
 * For when the administrator's Secret is new or was changed, not for each reconcile.
 */
export async function ensureAdministrator(shard: ShardAccess, slug: string, administrator: Administrator): Promise<void> {
  await inSchema(shard, slug, async (tx) => {
    const changed = (await reinstate(tx, administrator)) ?? (await create(tx, administrator, shard.random));
    if (changed.length > 0) await requestWorkOf(tx, tenantRole(slug), CLEAR_CACHES, { subjects: changed });
  });
}

/** What cached values of the tenant no longer hold; undefined: there is no such person. */
async function reinstate(tx: Sql, { email, passwordHash }: Administrator): Promise<string[] | undefined> {
  const [user] = await tx.query<{ id: number; uuid: string }>(
    `UPDATE users SET password_hash = $2, is_active = true,
       roles = CASE WHEN 'admin' = ANY (roles) THEN roles ELSE array_append(roles, 'admin') END
     WHERE lower(email) = lower($1) AND NOT is_system RETURNING id, uuid`,
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
async function create(tx: Sql, { email, passwordHash }: Administrator, random: Random): Promise<string[]> {
  const [somebody] = await tx.query('SELECT FROM users WHERE NOT is_system LIMIT 1');
  await tx.query(
    `INSERT INTO users (uuid, email, username, display_name, password_hash, roles) VALUES ($1, $2, $3, 'Administrator', $4, '{admin}')`,
    [random.uuid(), email, await freeUsername(tx, email, random), passwordHash],
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
