import { SESSION_COPY_TTL_SECONDS, SESSION_LONGEST_MS, SESSION_MS } from '../api/lifetimes.ts';
import type { Actor, Permission, PermissionSet, Role } from '../api/actor.ts';
import { capped, permissionsOf } from '../api/role-permissions.ts';
import { Problem } from '../api/problem.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import { sessionTag, userTag } from './tags.ts';
import { DecodedValues } from '../store/redis/decoded-values.ts';
import { type CacheEntry, type CacheLookup, NO_CACHE, type TaggedCache } from '../store/redis/tagged-cache.ts';
import type { PermissionSets } from './permission-sets.ts';
import type { AccessClaims } from './tokens.ts';

export const longestEnd = ({ createdAt }: { readonly createdAt: Date }): Date =>
  new Date(createdAt.getTime() + SESSION_LONGEST_MS);
/** Returns the end of a session that is renewed now. */
export const renewedEnd = (session: { readonly createdAt: Date }, now: Date): Date =>
  new Date(Math.min(now.getTime() + SESSION_MS, longestEnd(session).getTime()));

/**
 * The copy of a session in Redis (docs/design/api-conventions.md, Sign-in and sessions); `last_activity` is a field beside it.
 */
interface Copy {
  readonly user_id: number;
  readonly email: string;
  readonly roles: readonly Role[];
  readonly permissions: readonly Permission[];
  readonly tenant_id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly launch_id: string | null;
}

interface DecodedCopy extends Copy {
  readonly rights: ReadonlySet<Permission>;
  readonly expiresAt: Date;
}

/** The statement locks the row itself: the lock of the foreign key lets a new password or a deactivation pass. */
const OPEN = `
  INSERT INTO sessions (id, user_id, created_at, last_activity, expires_at, ip, user_agent)
  SELECT $1, u.id, $3, $3, $4, $6, $7 FROM users u WHERE u.id = $2 AND u.is_active AND u.password_hash = $5 FOR SHARE
  RETURNING id`;

/** The origin of a session, for its owner to recognize it. */
export interface SessionOrigin {
  readonly ip: string | null;
  readonly userAgent: string | null;
}

const USER_AGENT_MAX_CHARACTERS = 500;

/** `address` is the address by which requests are counted; `unknown` if the connection had none. */
export const sessionOrigin = (address: string, userAgent: string | undefined): SessionOrigin => ({
  ip: address === 'unknown' ? null : address,
  userAgent: userAgent === undefined ? null : Array.from(userAgent).slice(0, USER_AGENT_MAX_CHARACTERS).join(''),
});

/** A session and its user, from the claims of a token, a download link, or an actor. */
type SessionOf = Pick<AccessClaims, 'userUuid' | 'sessionId'> & { readonly launchId?: string | undefined };

interface SessionRow {
  readonly userId: number;
  readonly email: string;
  readonly roles: readonly Role[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly launchId: string | null;
  readonly cappedTo: readonly Role[] | null;
}

/**
 * Sessions are rows; Redis holds a copy of each that is in use.
 *
 * Invariants:
 * - A session that ended or expired authenticates no request, even with a valid access token. Neither does a session of a
 *   deactivated or deleted user.
 * - A user who is deactivated, deleted or given another password during a sign-in gets no session from it.
 * - Nothing renews a session past 90 days after its beginning.
 * - A launch's session has the rights that its account and its launch both grant, and never `admin`.
 * - A warm request runs no SQL; a miss costs one statement.
 */
export class Sessions {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #permissionSets: PermissionSets;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;
  readonly #copies = new DecodedValues((text) => decoded(JSON.parse(text) as Copy));

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    permissionSets: PermissionSets;
    clock: Clock;
    random: Random;
    tenantId: string;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#permissionSets = deps.permissionSets;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
  }

  /** Returns the cache entries that `authenticate` needs: the session's copy and the user's permission set. */
  entries({ userUuid, sessionId, launchId }: SessionOf): readonly [session: CacheEntry, permissionSet: CacheEntry] {
    return [
      {
        key: `session:${userUuid}:${sessionId}`,
        tags: [userTag(userUuid), sessionTag(sessionId)],
        slideSeconds: SESSION_COPY_TTL_SECONDS,
      },
      this.#permissionSets.entry({ userUuid, launchId }),
    ];
  }

  /**
   * Returns the caller with the current roles and rights. `found` are look-ups of `entries`; without them this makes them in one
   * round trip. One SQL statement if the session's copy is not cached. Throws Problem `unauthenticated` if the session is over.
   */
  async authenticate(of: SessionOf, found?: readonly CacheLookup[]): Promise<Actor> {
    const [session = NO_CACHE, permissions] = found ?? (await this.#cache.lookups(this.entries(of)));
    const cached = session.value === undefined ? undefined : this.#copies.of(of.sessionId, session.value);
    const copy = cached ?? (await this.#load(of, session));
    if (!copy || copy.expiresAt <= this.#clock.now()) throw new Problem('unauthenticated');
    const launchId = copy.launch_id ?? undefined;
    const person = {
      userId: copy.user_id,
      userUuid: of.userUuid,
      email: copy.email,
      roles: copy.roles,
      permissions: copy.rights,
      sessionId: of.sessionId,
      tenantId: copy.tenant_id,
      ...(launchId === undefined ? {} : { launchId }),
    };
    // A download link does not name the launch of its session, so the looked-up set is that of the user's other sessions.
    const looked = launchId === of.launchId ? permissions : undefined;
    let set: Promise<PermissionSet> | undefined;
    return { ...person, permissionSet: () => (set ??= this.#permissionSets.load(person, looked)) };
  }

  /**
   * Returns the session's id. Returns undefined if the user was deleted or deactivated, or no longer has the password that was
   * verified. One statement, which waits for a concurrent change of the user: either the change ends this session, or this
   * statement sees the change.
   */
  async create(
    tx: Tx,
    of: { readonly userId: number; readonly passwordHash: string | null },
    from: SessionOrigin,
  ): Promise<string | undefined> {
    const now = this.#clock.now();
    const expiresAt = new Date(now.getTime() + SESSION_MS);
    const values = [this.#random.uuid(), of.userId, now, expiresAt, of.passwordHash, from.ip, from.userAgent];
    const [session] = await tx.query<{ id: string }>(OPEN, values);
    return session?.id;
  }

  /** Ends one session, and with it its refresh and access tokens. `tx` is a transaction of TaggedCache. */
  async end(tx: Tx, sessionId: string): Promise<void> {
    await tx.query('UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL', [sessionId, this.#clock.now()]);
    this.#cache.invalidate(tx, sessionTag(sessionId));
  }

  /** Ends all sessions of a user, except one if given. `tx` is a transaction of TaggedCache. */
  async endAllOf(tx: Tx, userId: number, except: string | null = null): Promise<void> {
    const ended = await tx.query<{ id: string }>(
      'UPDATE sessions SET ended_at = $2 WHERE user_id = $1 AND ended_at IS NULL AND id IS DISTINCT FROM $3::uuid RETURNING id',
      [userId, this.#clock.now(), except],
    );
    this.#cache.invalidate(tx, ...ended.map(({ id }) => sessionTag(id)));
  }

  async #load(claims: SessionOf, lookup: CacheLookup): Promise<DecodedCopy | undefined> {
    const [row] = await this.#db.prepared<SessionRow>(
      'session-of-token',
      `SELECT u.id AS "userId", u.email, u.roles, s.created_at AS "createdAt", s.expires_at AS "expiresAt",
              s.launch_id AS "launchId", s.capped_to AS "cappedTo"
         FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE s.id = $1 AND u.uuid = $2 AND s.ended_at IS NULL AND u.is_active`,
      [claims.sessionId, claims.userUuid],
    );
    if (!row) return undefined;
    const { roles, permissions } = rightsOf(row);
    const copy: Copy = {
      user_id: row.userId,
      email: row.email,
      roles,
      permissions: [...permissions],
      tenant_id: this.#tenantId,
      created_at: row.createdAt.toISOString(),
      expires_at: new Date(Math.min(row.expiresAt.getTime(), longestEnd(row).getTime())).toISOString(),
      launch_id: row.launchId,
    };
    await lookup.put(JSON.stringify(copy), SESSION_COPY_TTL_SECONDS);
    return decoded(copy);
  }
}

const decoded = (copy: Copy): DecodedCopy => ({
  ...copy,
  rights: new Set(copy.permissions),
  expiresAt: new Date(copy.expires_at),
});

function rightsOf({ roles, launchId, cappedTo }: SessionRow): { roles: Role[]; permissions: ReadonlySet<Permission> } {
  if (launchId === null) return { roles: [...roles], permissions: permissionsOf(roles) };
  return capped(roles, cappedTo ?? []);
}
