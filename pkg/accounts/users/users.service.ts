import type { Actor } from '../../api/actor.ts';
import { requireMatch } from '../../api/etag.ts';
import type { Page } from '../../api/paging.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Events } from '../../events/events.ts';
import type { Offboarding, UserRef } from '../../feature/offboarding.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { problemOfViolation } from '../../api/violations.ts';
import type { User } from '../../store/postgres/tables.ts';
import { grantsTag, userTag } from '../../access/tags.ts';
import { PROFILES_TAG, USERS_TAG } from './users.tags.ts';
import type { SlidingLogLimiter } from '../../store/redis/sliding-log-limiter.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Passwords } from '../passwords.ts';
import type { Sessions } from '../../access/sessions.ts';
import { type LoginThrottle, ownPasswordAttempt } from '../sign-in/login-throttle.ts';
import { isNoAddress, mayRemoveAdministrator, maySee, refusedFields, removesAdministrator } from './users.policy.ts';
import { userChanges, userCreated, userUpdated } from './users.events.ts';
import { listUsers } from './users.sql.ts';
import type { NewUser, UserChanges, UserQuery, UserView } from './users.schema.ts';
import { presentUser, userEtag } from './users.view.ts';

type IfMatch = readonly string[] | '*' | undefined;

/** User names that a person who may not list users may try in a day. */
const NAMES_A_DAY = 10;

/**
 * The people of a tenant.
 *
 * Invariants:
 * - E-mail addresses and user names are unique, ignoring case, however many creations race.
 * - The tenant always has an active administrator: the last one can be neither deleted, deactivated nor stripped of the role.
 * - New roles and a new e-mail address apply from the next request on. A user who is deactivated, deleted or given a new password
 *   has no session left (except the one in which they changed their own password).
 * - No caller sees or changes the system user.
 * - People who are not administrators learn whether a user name is taken only by changing their own name, NAMES_A_DAY times a
 *   day.
 */
export class Users {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #passwords: Passwords;
  readonly #sessions: Sessions;
  readonly #loginThrottle: LoginThrottle;
  readonly #rateLimiter: SlidingLogLimiter;
  readonly #offboarding: Offboarding;
  readonly #events: Events;
  readonly #random: Random;
  readonly #tenantId: string;
  readonly #defaultQuota: number | undefined;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    passwords: Passwords;
    sessions: Sessions;
    loginThrottle: LoginThrottle;
    rateLimiter: SlidingLogLimiter;
    offboarding: Offboarding;
    events: Events;
    random: Random;
    tenantId: string;
    /** Bytes; undefined: 10 GiB. */
    defaultQuota: number | undefined;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#passwords = deps.passwords;
    this.#sessions = deps.sessions;
    this.#loginThrottle = deps.loginThrottle;
    this.#rateLimiter = deps.rateLimiter;
    this.#offboarding = deps.offboarding;
    this.#events = deps.events;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
    this.#defaultQuota = deps.defaultQuota;
  }

  list(query: UserQuery): Promise<Page<UserView>> {
    return listUsers(this.#db, query, this.#tenantId);
  }

  async get(actor: Actor, id: Uuid): Promise<UserView> {
    const user = maySee(actor, id) ? await this.#db.tables.users.find({ uuid: id, isSystem: false }) : null;
    if (!user) throw new Problem('not_found');
    return presentUser(user, this.#tenantId);
  }

  async create(input: NewUser): Promise<UserView> {
    const passwordHash = input.password === undefined ? null : await this.#hashOfNew('password', input.password);
    return this.#cache.transaction(this.#db, async (tx) => {
      const user = await conflictsAsProblems(() =>
        tx.users.insert({
          uuid: this.#random.uuid(),
          email: input.email,
          username: input.username,
          displayName: input.display_name ?? null,
          passwordHash,
          roles: input.roles,
          storageQuota: input.storage_quota ?? this.#defaultQuota,
        }),
      );
      await this.#events.emit(tx, 'user.created', userCreated(user));
      this.#cache.invalidate(tx, USERS_TAG);
      return presentUser(user, this.#tenantId);
    });
  }

  /** Serves PUT and PATCH: undefined fields keep their values. Throws `rate_limit_exceeded` for too many user names. */
  async change(actor: Actor, id: Uuid, changes: UserChanges, ifMatch: IfMatch): Promise<UserView> {
    if (!maySee(actor, id)) throw new Problem('not_found');
    const refused = refusedFields(actor, changes);
    if (refused.length > 0) throw new Problem('forbidden', `Only an administrator may change ${refused.join(', ')}.`);
    if (changes.username !== undefined && !actor.permissions.has('read:users')) await this.#countName(actor, changes.username);
    const passwordHash = changes.password === undefined ? undefined : await this.#hashOfNew('password', changes.password);
    return this.#cache.transaction(this.#db, async (tx) => {
      const administrators = mayRemoveAdministrator(changes) ? await lockAdministrators(tx) : [];
      const user = await this.#require(tx, id, ifMatch);
      if (removesAdministrator(user, changes)) requireAnother(administrators, user);
      if (passwordHash !== undefined && isNoAddress(changes.email ?? user.email))
        throw invalid('password', 'needs an e-mail address to sign in with; set email too');
      const changed = (await conflictsAsProblems(() =>
        tx.users.change(
          user,
          given({
            email: changes.email,
            username: changes.username,
            displayName: changes.display_name,
            roles: changes.roles,
            storageQuota: changes.storage_quota,
            isActive: changes.is_active,
            passwordHash,
          }),
        ),
      )) as User;
      const changedFields = userChanges(user, changed);
      if (changedFields.length > 0) await this.#events.emit(tx, 'user.updated', userUpdated(changed, changedFields));
      if (changes.is_active === false) await this.#sessions.endAllOf(tx, user.id);
      else if (passwordHash !== undefined)
        await this.#sessions.endAllOf(tx, user.id, actor.userId === user.id ? actor.sessionId : null);
      this.#cache.invalidate(tx, USERS_TAG, userTag(user.uuid), PROFILES_TAG);
      return presentUser(changed, this.#tenantId);
    });
  }

  /** Changes the caller's own password. Asks for the current one, as often as sign-in allows, and ends all other sessions. */
  async changePassword(actor: Actor, present: string, wanted: string, signal: AbortSignal): Promise<void> {
    await this.#passwords.requireUncommon('new_password', wanted);
    const user = await this.#db.tables.users.find({ id: actor.userId });
    const right = await this.#loginThrottle.guard(ownPasswordAttempt(actor.userUuid, signal), async () =>
      (await this.#passwords.verify(user?.passwordHash ?? null, present)) ? true : undefined,
    );
    if (!user || !right) throw wrongPassword();
    const passwordHash = await this.#passwords.hash(wanted);
    await this.#cache.transaction(this.#db, async (tx) => {
      // The password may have changed meanwhile, or the user may have been deleted.
      const [changed] = await tx.users.update({ id: user.id, isActive: true, passwordHash: user.passwordHash }, { passwordHash });
      if (!changed) throw wrongPassword();
      await this.#events.emit(tx, 'user.updated', userUpdated(changed, ['password']));
      await this.#sessions.endAllOf(tx, user.id, actor.sessionId);
      this.#cache.invalidate(tx, USERS_TAG, userTag(user.uuid));
    });
  }

  /** Deletes the user with their files (docs/design/records.md, File), or transfers the files to `transferTo` first. */
  async remove(id: Uuid, transferTo: Uuid | undefined, ifMatch: IfMatch): Promise<void> {
    if (transferTo === id) throw invalid('transfer_to', 'must not be the user who is deleted');
    await this.#cache.transaction(this.#db, async (tx) => {
      const administrators = await lockAdministrators(tx);
      const user = await this.#require(tx, id, ifMatch);
      if (user.roles.includes('admin') && user.isActive) requireAnother(administrators, user);
      const newOwner = transferTo === undefined ? undefined : await requireNewOwner(tx, transferTo);
      const systemUser = await tx.users.find({ isSystem: true });
      if (!systemUser) throw new Error('the tenant has no system user');
      await this.#sessions.endAllOf(tx, user.id);
      await this.#offboarding.run(tx, { id: user.id, uuid: user.uuid, newOwner, systemUser });
      await tx.groups.update({ createdBy: user.id }, { createdBy: systemUser.id });
      await tx.users.delete({ id: user.id });
      this.#cache.invalidate(tx, USERS_TAG, userTag(user.uuid), grantsTag(user.uuid), PROFILES_TAG);
    });
  }

  /** Ends all sessions of a user except the caller's own. Two statements. Throws `not_found`. */
  async endSessions(actor: Actor, id: Uuid): Promise<void> {
    await this.#cache.transaction(this.#db, async (tx) => {
      const user = await this.#require(tx, id, undefined);
      await this.#sessions.endAllOf(tx, user.id, user.id === actor.userId ? actor.sessionId : null);
    });
  }

  /** Counts each name that is tried, since every answer shows whether an account has it. The caller's own name does not count. */
  async #countName(actor: Actor, wanted: string): Promise<void> {
    const user = await this.#db.tables.users.find({ id: actor.userId });
    if (user?.username === wanted) return;
    const limit = { key: `names:${actor.userUuid}`, max: NAMES_A_DAY, windowSeconds: 86_400 };
    const { allowed, tightest } = await this.#rateLimiter.take([limit]);
    if (!allowed)
      throw new Problem('rate_limit_exceeded', `You may try at most ${NAMES_A_DAY} user names a day.`, {
        retryAfter: Math.ceil(tightest.waitMs / 1000),
      });
  }

  async #hashOfNew(field: string, password: string): Promise<string> {
    await this.#passwords.requireUncommon(field, password);
    return this.#passwords.hash(password);
  }

  /** Returns the row, locked. */
  async #require(tx: Tx, id: Uuid, ifMatch: IfMatch): Promise<User> {
    const user = await tx.users.find({ uuid: id, isSystem: false }, { lock: 'update' });
    if (!user) throw new Problem('not_found');
    requireMatch(ifMatch, userEtag(user));
    return user;
  }
}

const wrongPassword = (): Problem => new Problem('invalid_credentials', 'The current password is wrong.');

/** Returns the fields that are not undefined. */
const given = <T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/**
 * Returns the ids of the active administrators, locked in one order, so that two who resign at once see each other. Call it
 * before locking any other user: otherwise two administrators who remove each other's role would deadlock.
 */
async function lockAdministrators(tx: Tx): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `SELECT id FROM users WHERE 'admin' = ANY (roles) AND is_active AND NOT is_system ORDER BY id FOR UPDATE`,
  );
  return rows.map(({ id }) => id);
}

/** Returns the row, which cannot be deleted before the end of the transaction. */
async function requireNewOwner(tx: Tx, id: Uuid): Promise<UserRef> {
  const newOwner = await tx.users.find({ uuid: id, isSystem: false }, { lock: 'share' });
  if (!newOwner) throw invalid('transfer_to', 'must be a user of this tenant');
  return newOwner;
}

function requireAnother(administrators: readonly number[], user: User): void {
  if (!administrators.some((id) => id !== user.id))
    throw new Problem('conflict', 'This is the last administrator. Give another user the role admin first.');
}

const TAKEN = {
  users_email_key: ['conflict', 'Another user has this e-mail address.'],
  users_username_key: ['conflict', 'Another user has this user name.'],
} as const;

async function conflictsAsProblems<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw problemOfViolation(error, TAKEN);
  }
}
