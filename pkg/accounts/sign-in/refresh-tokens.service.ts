import { sessionTag } from '../../access/tags.ts';
import { longestEnd, renewedEnd, type Sessions } from '../../access/sessions.ts';
import type { Tokens } from '../../access/tokens.ts';
import { ACCESS_TOKEN_SECONDS } from '../../api/lifetimes.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { Session, User } from '../../store/postgres/tables.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { presentUser } from '../users/users.view.ts';
import type { SignedIn } from './sign-in.schema.ts';

/** `refreshUntil` is the expiry of the refresh token. */
export interface FreshSignIn {
  readonly signedIn: SignedIn;
  readonly refreshToken: string;
  readonly refreshUntil: Date;
}

type SessionOfToken = Pick<Session, 'id' | 'userId' | 'launchId' | 'createdAt' | 'expiresAt' | 'endedAt'>;

/** Locks the session before its tokens, in the order in which the deletion of a user locks them. */
const LOCK_SESSION_OF_TOKEN = `
  SELECT s.id, s.user_id AS "userId", s.launch_id AS "launchId", s.created_at AS "createdAt", s.expires_at AS "expiresAt",
    s.ended_at AS "endedAt"
    FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id WHERE t.token_hash = $1 FOR UPDATE OF s`;

/**
 * The tokens by which a person stays signed in (docs/design/api-conventions.md, Sign-in and sessions).
 *
 * Invariants:
 * - A refresh token works once; of racing uses one wins. A second use ends the whole session, access tokens included.
 * - Refreshing extends no session past 90 days after its sign-in.
 * - Only hashes of refresh tokens are stored.
 */
export class RefreshTokens {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #tokens: Tokens;
  readonly #sessions: Sessions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    tokens: Tokens;
    sessions: Sessions;
    clock: Clock;
    random: Random;
    tenantId: string;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#tokens = deps.tokens;
    this.#sessions = deps.sessions;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
  }

  /** Returns the first tokens of a session, or its next ones. */
  async issue(tx: Tx, user: User, sessionId: string, refreshUntil: Date): Promise<FreshSignIn> {
    const refreshToken = this.#random.base64url(32);
    await tx.refreshTokens.insert({
      tokenHash: sha256Hex(refreshToken),
      sessionId,
      createdAt: this.#clock.now(),
      expiresAt: refreshUntil,
    });
    const signedIn: SignedIn = {
      access_token: this.#tokens.issue({ userUuid: user.uuid, sessionId, roles: user.roles }),
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_SECONDS,
      user: presentUser(user, this.#tenantId),
    };
    return { signedIn, refreshToken, refreshUntil };
  }

  /** Throws Problem `invalid_refresh_token`, `session_expired`. */
  async refresh(refreshToken: string): Promise<FreshSignIn> {
    const fresh = await this.#cache.transaction(this.#db, async (tx) => {
      const now = this.#clock.now();
      const [session] = await tx.query<SessionOfToken>(LOCK_SESSION_OF_TOKEN, [sha256Hex(refreshToken)]);
      const [used] = await tx.query(
        `UPDATE refresh_tokens SET used_at = $2
         WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2 RETURNING session_id`,
        [sha256Hex(refreshToken), now],
      );
      if (!used) return this.#whyNot(tx, refreshToken, now); // It does not throw here: the end of a session must be committed.
      // A launch's session has no refresh token. If it had one, refreshing would extend the session beyond what the launch
      // grants.
      if (!session || session.launchId !== null || session.endedAt !== null) return 'invalid_refresh_token';
      if (longestEnd(session) <= now) return 'session_expired';
      if (session.expiresAt <= now) return 'invalid_refresh_token';
      const user = await tx.users.find({ id: session.userId });
      if (!user?.isActive) return 'invalid_refresh_token';
      const until = renewedEnd(session, now);
      await tx.query('UPDATE sessions SET last_activity = $2, expires_at = $3 WHERE id = $1', [session.id, now, until]);
      this.#cache.invalidate(tx, sessionTag(session.id));
      return this.issue(tx, user, session.id, until);
    });
    if (typeof fresh === 'string') throw new Problem(fresh);
    return fresh;
  }

  /** Reusing a token ends its session. A token that expired with the 90 days of its session returns `session_expired`. */
  async #whyNot(tx: Tx, refreshToken: string, now: Date): Promise<'invalid_refresh_token' | 'session_expired'> {
    const token = await tx.refreshTokens.find({ tokenHash: sha256Hex(refreshToken) });
    if (!token) return 'invalid_refresh_token';
    if (token.usedAt !== null) {
      await this.#sessions.end(tx, token.sessionId);
      return 'invalid_refresh_token';
    }
    const session = await tx.sessions.find({ id: token.sessionId });
    return session?.endedAt === null && longestEnd(session) <= now ? 'session_expired' : 'invalid_refresh_token';
  }
}
