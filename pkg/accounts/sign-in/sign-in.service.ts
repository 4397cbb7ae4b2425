import { SESSION_MS } from '../../api/lifetimes.ts';
import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database, Executor } from '../../store/postgres/database.ts';
import { originParameter } from '../../store/postgres/origin.ts';
import type { User } from '../../store/postgres/tables.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Passwords } from '../passwords.ts';
import type { SessionOrigin, Sessions } from '../../access/sessions.ts';
import { USER_COLUMNS } from '../users/users.sql.ts';
import { type LoginThrottle, signInAttempt } from './login-throttle.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { FreshSignIn, RefreshTokens } from './refresh-tokens.service.ts';

/** Writes to the audit log with one statement, whether the person exists or not. The throttle bounds how often. */
const noteRefused = (sql: Executor, email: string): Promise<unknown> =>
  sql.query('SELECT carrel.audit_refused_sign_in($1, $2)', [email, originParameter()]);

/**
 * Signing in and signing out (docs/design/api-conventions.md, Sign-in and sessions). RefreshTokens says who stays signed in.
 *
 * Invariant: a wrong password, an unknown person and a deactivated one get the same reply, after the same time.
 */
export class SignIn {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #refreshTokens: RefreshTokens;
  readonly #passwords: Passwords;
  readonly #loginThrottle: LoginThrottle;
  readonly #browsers: KnownBrowsers;
  readonly #sessions: Sessions;
  readonly #clock: Clock;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    refreshTokens: RefreshTokens;
    passwords: Passwords;
    loginThrottle: LoginThrottle;
    browsers: KnownBrowsers;
    sessions: Sessions;
    clock: Clock;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#refreshTokens = deps.refreshTokens;
    this.#passwords = deps.passwords;
    this.#loginThrottle = deps.loginThrottle;
    this.#browsers = deps.browsers;
    this.#sessions = deps.sessions;
    this.#clock = deps.clock;
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
      return this.#refreshTokens.issue(tx, user, sessionId, new Date(this.#clock.now().getTime() + SESSION_MS));
    });
    return { ...fresh, known: this.#browsers.remember(known, email, user.passwordHash) };
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
}
