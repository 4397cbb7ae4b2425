import type { Sessions } from '../../access/sessions.ts';
import { userTag } from '../../access/tags.ts';
import { PASSWORD_RESET_MS } from '../../api/lifetimes.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import type { Database, Executor } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Passwords } from '../passwords.ts';
import { userUpdated } from '../users/users.events.ts';
import { isNoAddress } from '../users/users.policy.ts';
import { USERS_TAG } from '../users/users.tags.ts';
import type { PasswordReset } from './password-reset.schema.ts';

const REPLACE = `
  INSERT INTO password_resets (user_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (user_id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at,
    expires_at = excluded.expires_at`;

const OWNER = `
  SELECT u.id, u.email FROM password_resets r JOIN users u ON u.id = r.user_id
  WHERE r.token_hash = $1 AND r.expires_at > $2 AND u.is_active`;

/**
 * Resets passwords. An administrator gets a token, and whoever presents it sets the user's password.
 *
 * Invariants:
 * - A token works once and for 24 hours, however many uses race. The user's next token, and any change of their password, end it.
 * - Setting the password ends all sessions of the user.
 * - Only the token's hash is stored. A password is hashed only for a valid token, so no stranger spends the server's CPU.
 */
export class PasswordResets {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #passwords: Passwords;
  readonly #sessions: Sessions;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    passwords: Passwords;
    sessions: Sessions;
    events: Events;
    clock: Clock;
    random: Random;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#passwords = deps.passwords;
    this.#sessions = deps.sessions;
    this.#events = deps.events;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** Runs two statements. Throws `not_found`, and `conflict` for a user who could not sign in with a password. */
  async create(id: Uuid): Promise<PasswordReset> {
    const user = await this.#db.tables.users.find({ uuid: id, isSystem: false });
    if (!user) throw new Problem('not_found');
    if (!user.isActive) throw new Problem('conflict', 'This user is not active and cannot sign in; set is_active first.');
    if (isNoAddress(user.email))
      throw new Problem('conflict', 'This user has no e-mail address to sign in with; set email first.');
    const token = this.#random.base64url(32);
    const now = this.#clock.now();
    const expiresAt = new Date(now.getTime() + PASSWORD_RESET_MS);
    await this.#db.transaction((tx) => tx.query(REPLACE, [user.id, sha256Hex(token), now, expiresAt]));
    return { token, expires_at: expiresAt.toISOString() };
  }

  /**
   * Runs six statements, or one for an invalid token. Throws `invalid_reset_token`, and `validation_failed` for a common
   * password.
   */
  async use(token: string, password: string): Promise<void> {
    await this.#passwords.requireUncommon('new_password', password);
    const tokenHash = sha256Hex(token);
    const owner = await this.#ownerOf(this.#db.tables, tokenHash);
    if (owner === undefined) throw new Problem('invalid_reset_token');
    const passwordHash = await this.#passwords.hash(password);
    await this.#cache.transaction(this.#db, async (tx) => {
      // Locks the user first, as every change of a password does: its trigger deletes the token.
      const user = await tx.users.find({ id: owner, isActive: true }, { lock: 'update' });
      const isUsed = (await this.#ownerOf(tx, tokenHash)) === undefined;
      const [changed] = user && !isUsed ? await tx.users.update({ id: user.id }, { passwordHash }) : [];
      if (!changed) throw new Problem('invalid_reset_token');
      await this.#events.emit(tx, 'user.updated', userUpdated(changed, ['password']));
      await this.#sessions.endAllOf(tx, changed.id);
      this.#cache.invalidate(tx, USERS_TAG, userTag(changed.uuid));
    });
  }

  async #ownerOf(sql: Executor, tokenHash: string): Promise<number | undefined> {
    const [owner] = await sql.query<{ id: number; email: string }>(OWNER, [tokenHash, this.#clock.now()]);
    return owner && !isNoAddress(owner.email) ? owner.id : undefined;
  }
}
