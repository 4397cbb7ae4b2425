import { sessionTag, userTag } from '../access/tags.ts';
import type { Random } from '../runtime/random.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { inTenantSchema, type ShardAccess, tenantRole } from '../store/postgres/provisioning.ts';
import { insertJob } from '../store/postgres/job-store.ts';
import { CLEAR_CACHES } from '../store/redis/tagged-cache.ts';
import { USERS_TAG } from './users/users.tags.ts';

/** A tenant's first administrator, as the operator creates it. */
export interface Administrator {
  readonly email: string;
  /** argon2id */
  readonly passwordHash: string;
  /** Bytes, for a new account; default: 10 GiB (docs/design/records.md, User). */
  readonly storageQuota?: number | undefined;
}

/** The administrator's address belongs to an account that the operator did not make for it. */
export class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
}

/**
 * Creates an active administrator with this address and password. If the operator made an account for this address before, resets
 * that account's address, password and rights, and ends its sessions. Refresh tokens end at the commit. Access tokens end once
 * the worker has cleared the cached sessions (it looks every 2 s). Call it when the administrator's Secret is new or was changed,
 * not at each reconcile.
 *
 * Invariant: a user whom the operator did not create never becomes an administrator, whatever their address
 * (`users.provisioned_as` decides, which no API writes). Throws EmailTakenError.
 */
export async function ensureAdministrator(shard: ShardAccess, slug: string, administrator: Administrator): Promise<void> {
  await inTenantSchema(shard, slug, async (tx) => {
    const present = await lookFor(tx, administrator.email);
    if (present.isOthers) throw new EmailTakenError(administrator.email);
    const tags =
      (present.isOurs ? await reinstate(tx, administrator) : undefined) ??
      (await create(tx, administrator, present, shard.random));
    if (tags.length > 0) await insertJob(tx, { kind: CLEAR_CACHES, payload: { subjects: tags }, tenant: tenantRole(slug) });
  });
}

interface Present {
  /** Another account, which the operator did not make for the address, has it. */
  readonly isOthers: boolean;
  /** The operator has made an account for the address. */
  readonly isOurs: boolean;
  readonly hasUsers: boolean;
  readonly isNameTaken: boolean;
}

async function lookFor(tx: Sql, email: string): Promise<Present> {
  const [present] = (await tx.query<Present>(
    `SELECT EXISTS (SELECT FROM users WHERE lower(email) = lower($1) AND lower(provisioned_as) IS DISTINCT FROM lower($1))
         AS "isOthers",
       EXISTS (SELECT FROM users WHERE lower(provisioned_as) = lower($1) AND NOT is_system) AS "isOurs",
       EXISTS (SELECT FROM users WHERE NOT is_system) AS "hasUsers",
       EXISTS (SELECT FROM users WHERE lower(username) = lower($2)) AS "isNameTaken"`,
    [email, usernameOf(email)],
  )) as [Present];
  return present;
}

/** Returns the local part of the address. */
const usernameOf = (email: string): string => email.split('@')[0]?.slice(0, 90) || 'admin';

/** Returns the cache tags to invalidate, or undefined if the account was deleted meanwhile. */
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
  return [USERS_TAG, userTag(user.uuid), ...ended.map(({ id }) => sessionTag(id))];
}

/** Returns the cache tags to invalidate. A tenant without users has nothing cached. */
async function create(
  tx: Sql,
  { email, passwordHash, storageQuota }: Administrator,
  { hasUsers, isNameTaken }: Present,
  random: Random,
): Promise<string[]> {
  const quota = storageQuota === undefined ? 'DEFAULT' : '$5';
  const username = usernameOf(email) + (isNameTaken ? `-${random.hex(4)}` : '');
  await tx.query(
    `INSERT INTO users (uuid, email, provisioned_as, username, display_name, password_hash, roles, storage_quota)
     VALUES ($1, $2, $2, $3, 'Administrator', $4, '{admin}', ${quota})`,
    [random.uuid(), email, username, passwordHash, ...(storageQuota === undefined ? [] : [storageQuota])],
  );
  return hasUsers ? [USERS_TAG] : [];
}
