import { type Actor, capped, LAUNCH_ROLES, type Permission, permissionsOf, type Role } from '../api/actor.ts';
import { Problem } from '../api/problem.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import { type CacheEntry, type CacheLookup, type GenerationCache, subject } from '../store/redis/generation.ts';
import type { AccessClaims } from './tokens.ts';

/** The copy in Redis, sliding (specification: Cached data, User session). */
export const SESSION_COPY_TTL_SECONDS = 3600;
/** A session that is not refreshed for so long is over: the lifetime of a refresh token (design: Sign-in). */
export const SESSION_MS = 30 * 86_400_000;
/** However often it is refreshed, a session is over for good after so long. */
const SESSION_LONGEST_MS = 90 * 86_400_000;

export const longestEnd = ({ createdAt }: { readonly createdAt: Date }): Date => new Date(createdAt.getTime() + SESSION_LONGEST_MS);
/** When a session ends that is renewed now. */
export const renewedEnd = (session: { readonly createdAt: Date }, now: Date): Date =>
  new Date(Math.min(now.getTime() + SESSION_MS, longestEnd(session).getTime()));

/** The copy's fields: those of the specification (last_activity stands beside it in Redis), and what else a request needs. */
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

/** The lock is one of the row itself: that of the foreign key lets a new password or a deactivation pass. */
const OPEN = `
  INSERT INTO sessions (id, user_id, created_at, last_activity, expires_at)
  SELECT $1, u.id, $3, $3, $4 FROM users u WHERE u.id = $2 AND u.is_active AND u.password_hash = $5 FOR SHARE
  RETURNING id`;

/** Whose session which one is: the claims of a token, and also an actor. */
type SessionOf = Pick<AccessClaims, 'userUuid' | 'sessionId'>;

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
 * - A session that ended, expired, or whose user was deactivated or deleted lets nobody in, whatever its access tokens say.
 * - Whoever is deactivated, deleted or given another password while they sign in gets no session by what held before.
 * - Nothing renews a session past 90 days after its beginning.
 * - A launch's session has the rights that its account and its launch both give, and never `admin`.
 * - A warm request asks no SQL; a miss costs one statement.
 */
export class Sessions {
  readonly #db: Database;
  readonly #cache: GenerationCache;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;

  constructor(deps: { db: Database; cache: GenerationCache; clock: Clock; random: Random; tenantId: string }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
  }

  entry(claims: SessionOf): CacheEntry {
    return {
      key: `session:${claims.userUuid}:${claims.sessionId}`,
      restsOn: [subject.user(claims.userUuid), subject.session(claims.sessionId)],
      slideSeconds: SESSION_COPY_TTL_SECONDS,
    };
  }

  /** Who asks with these claims. Throws Problem `unauthenticated` when the session is over. */
  async actor(claims: SessionOf, lookup: CacheLookup): Promise<Actor> {
    const copy = copyIn(lookup) ?? (await this.#load(claims, lookup));
    if (!copy || new Date(copy.expires_at) <= this.#clock.now()) throw new Problem('unauthenticated');
    return {
      userId: copy.user_id,
      userUuid: claims.userUuid,
      email: copy.email,
      roles: copy.roles,
      permissions: new Set(copy.permissions),
      sessionId: claims.sessionId,
      tenantId: copy.tenant_id,
      ...(copy.launch_id === null ? {} : { launchId: copy.launch_id }),
    };
  }

  /**
   * The id; undefined: whose it would be is gone or inactive by now, or has another password than the one that was verified.
   * One statement, which waits for whoever changes the user: they end the sessions that they see, or this one sees what they changed.
   */
  async create(tx: Tx, of: { readonly userId: number; readonly passwordHash: string | null }): Promise<string | undefined> {
    const now = this.#clock.now();
    const expiresAt = new Date(now.getTime() + SESSION_MS);
    const [session] = await tx.query<{ id: string }>(OPEN, [this.#random.uuid(), of.userId, now, expiresAt, of.passwordHash]);
    return session?.id;
  }

  /** Ends one session, its refresh and access tokens with it. `tx` is one of GenerationCache. */
  async end(tx: Tx, sessionId: string): Promise<void> {
    await tx.query('UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL', [sessionId, this.#clock.now()]);
    this.#cache.touch(tx, subject.session(sessionId));
  }

  /** Ends all sessions of a user but one, if any. `tx` is one of GenerationCache. */
  async endAllOf(tx: Tx, userId: number, except: string | null = null): Promise<void> {
    const ended = await tx.query<{ id: string }>(
      'UPDATE sessions SET ended_at = $2 WHERE user_id = $1 AND ended_at IS NULL AND id IS DISTINCT FROM $3::uuid RETURNING id',
      [userId, this.#clock.now(), except],
    );
    this.#cache.touch(tx, ...ended.map(({ id }) => subject.session(id)));
  }

  async #load(claims: SessionOf, lookup: CacheLookup): Promise<Copy | undefined> {
    const [row] = await this.#db.prepared<SessionRow>(
      'session-of-token',
      `SELECT u.id AS "userId", u.email, u.roles, s.created_at AS "createdAt", s.expires_at AS "expiresAt", s.launch_id AS "launchId",
              s.capped_to AS "cappedTo"
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
    await lookup.keep(JSON.stringify(copy), SESSION_COPY_TTL_SECONDS);
    return copy;
  }
}

/** A server of the release before may have kept a launch's session with the role `admin`. */
function copyIn({ value }: CacheLookup): Copy | undefined {
  const copy = value === undefined ? undefined : (JSON.parse(value) as Copy);
  return copy && copy.launch_id !== null && copy.roles.includes('admin') ? undefined : copy;
}

/** A server of the release before wrote no cap: of such a launch only `admin` is known not to hold. */
function rightsOf({ roles, launchId, cappedTo }: SessionRow): { roles: Role[]; permissions: ReadonlySet<Permission> } {
  if (launchId === null) return { roles: [...roles], permissions: permissionsOf(roles) };
  return capped(roles, cappedTo ?? LAUNCH_ROLES);
}
