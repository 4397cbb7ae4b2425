import { sha256Hex } from '../../runtime/sha256.ts';
import { ACCESS_TOKEN_SECONDS, SESSION_MS } from '../../api/lifetimes.ts';
import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { originParameter } from '../../store/postgres/origin.ts';
import type { Session, User } from '../../store/postgres/tables.ts';
import { sessionTag } from '../../access/tags.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Passwords } from '../passwords.ts';
import { longestEnd, renewedEnd, type SessionOrigin, type Sessions } from '../../access/sessions.ts';
import type { Tokens } from '../../access/tokens.ts';
import { USER_COLUMNS } from '../users/users.sql.ts';
import { presentUser } from '../users/users.view.ts';
import { type LoginThrottle, signInAttempt } from './login-throttle.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { SignedIn } from './sign-in.schema.ts';

/** `refreshUntil` is the expiry of the refresh token. */
export interface FreshSignIn {
  readonly signedIn: SignedIn;
  readonly refreshToken: string;
  readonly refreshUntil: Date;
}

/** Writes to the audit log with one statement, whether the person exists or not. The throttle bounds how often. */
const noteRefused = (sql: Executor, email: string): Promise<unknown> =>
  sql.query('SELECT carrel.audit_refused_sign_in($1, $2)', [email, originParameter()]);

type SessionOfToken = Pick<Session, 'id' | 'userId' | 'launchId' | 'createdAt' | 'expiresAt' | 'endedAt'>;

/** Locks the session before its tokens, in the order in which the deletion of a user locks them. */
const LOCK_SESSION_OF_TOKEN = `
  SELECT s.id, s.user_id AS "userId", s.launch_id AS "launchId", s.created_at AS "createdAt", s.expires_at AS "expiresAt",
    s.ended_at AS "endedAt"
    FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id WHERE t.token_hash = $1 FOR UPDATE OF s`;

/**
 * Signing in, staying signed in, signing out (docs/design/api-conventions.md, Sign-in and sessions).
 *
 * Invariants:
 * - A wrong password, an unknown person and a deactivated one get the same reply, after the same time.
 * - A refresh token works once; of racing uses one wins. A second use ends the whole session, access tokens included.
 * - Refreshing extends no session past 90 days after its sign-in.
 * - Only hashes of refresh tokens are stored.
 */
export class SignIn {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #tokens: Tokens;
  readonly #passwords: Passwords;
  readonly #loginThrottle: LoginThrottle;
  readonly #browsers: KnownBrowsers;
  readonly #sessions: Sessions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    tokens: Tokens;
    passwords: Passwords;
    loginThrottle: LoginThrottle;
    browsers: KnownBrowsers;
    sessions: Sessions;
    clock: Clock;
    random: Random;
    tenantId: string;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#tokens = deps.tokens;
    this.#passwords = deps.passwords;
    this.#loginThrottle = deps.loginThrottle;
    this.#browsers = deps.browsers;
    this.#sessions = deps.sessions;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
  }

  /**
   * `known` is the browser's cookie of people who signed in with it. Throws Problem `invalid_credentials` or `too_many_attempts`.
   */
  async login(
    email: string,
    password: string,
    from: {
      readonly network: string;
      readonly known: string | undefined;
      readonly origin: SessionOrigin;
      readonly signal: AbortSignal;
    },
  ): Promise<FreshSignIn & { readonly known: string }> {
    const { network, known, signal } = from;
    const claim = this.#browsers.find(known, email);
    // Only for a person whom the cookie names: for everybody else the statement would run before the limits apply.
    const named = claim && (await this.#findByEmail(email));
    const browser = named && claim.isOf(named.passwordHash) ? claim.id : undefined;
    const user = await this.#loginThrottle.guard(signInAttempt({ email, network, browser, signal }), async () => {
      const found = claim ? named : await this.#findByEmail(email);
      const right = await this.#passwords.verify(found?.passwordHash ?? null, password);
      return right ? found : undefined;
    });
    if (!user) {
      await noteRefused(this.#db.tables, email);
      throw new Problem('invalid_credentials');
    }
    const fresh = await this.#db.transaction(async (tx) => {
      const sessionId = await this.#sessions.create(tx, { userId: user.id, passwordHash: user.passwordHash }, from.origin);
      if (sessionId === undefined) throw new Problem('invalid_credentials');
      return this.#issue(tx, user, sessionId, new Date(this.#clock.now().getTime() + SESSION_MS));
    });
    return { ...fresh, known: this.#browsers.remember(known, email, user.passwordHash) };
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
      return this.#issue(tx, user, session.id, until);
    });
    if (typeof fresh === 'string') throw new Problem(fresh);
    return fresh;
  }

  async logout(actor: Actor): Promise<void> {
    await this.#cache.transaction(this.#db, (tx) => this.#sessions.end(tx, actor.sessionId));
  }

  /**
   * Runs one statement, whether the person exists or not. A second statement for existing people would show in the response time.
   */
  async #findByEmail(email: string): Promise<User | undefined> {
    const [user] = await this.#db.prepared<User>(
      'user-by-email',
      `SELECT ${USER_COLUMNS} FROM users WHERE lower(email) = lower($1) AND is_active AND NOT is_system`,
      [email],
    );
    return user;
  }

  async #issue(tx: Tx, user: User, sessionId: string, refreshUntil: Date): Promise<FreshSignIn> {
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
