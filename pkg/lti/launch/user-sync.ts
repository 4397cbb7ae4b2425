import type { Role } from '../../api/actor.ts';
import type { Events } from '../../events/events.ts';
import { userChanges, userCreated, userUpdated } from '../../accounts/users/users.events.ts';
import type { Random } from '../../runtime/random.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { userTag } from '../../access/tags.ts';
import { PROFILES_TAG, USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { LaunchMessage } from './id-token.ts';
import type { LaunchContext, NewLaunch, Registration } from './launch.sql.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { LaunchError } from '../launch-error.ts';
import { type Profile, profileIn } from './profile.ts';
import { roleOf } from './launch-roles.policy.ts';

export interface SyncedUser {
  readonly id: number;
  readonly uuid: string;
  readonly roles: readonly Role[];
}

/** Returns the claim if it differs from the previous launch's. A missing claim is no change: an LMS may stop sending it. */
const changedClaim = (claim: string | undefined, before: string | null): string | undefined =>
  claim === before ? undefined : claim;

/**
 * The account's address until an administrator sets one: under `.invalid` (RFC 2606), so no mailbox has it and no sign-in finds
 * it.
 */
const placeholderAddress = (name: string): string => `${name}@lti.invalid`;

/**
 * Creates and updates the user that a platform's `sub` maps to.
 *
 * Invariants:
 * - A `sub` of a platform is one user, even if several first launches race.
 * - A launch takes over no account: it never matches an existing user by e-mail address or user name.
 * - A launch adds a role. It removes none, never adds `admin`, and does not restore a role that somebody else has just removed.
 * - The LMS's e-mail address is not verified: it becomes `contact_email`, never the account's own address. A changed one replaces
 *   it.
 * - A changed name replaces the user's name, unless the user was renamed in Carrel.
 * - A launch emits `user.created` and `user.updated`, as REST does.
 */
export class UserSync {
  readonly #cache: TaggedCache;
  readonly #events: Events;
  readonly #random: Random;
  /** Bytes; undefined: the database's default. */
  readonly #defaultQuota: number | undefined;

  constructor(deps: { cache: TaggedCache; events: Events; random: Random; defaultQuota: number | undefined }) {
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#random = deps.random;
    this.#defaultQuota = deps.defaultQuota;
  }

  /**
   * Creates the user, or updates roles, name and contact address. `tx` is one of TaggedCache. Throws LaunchError `user_inactive`.
   */
  async sync(tx: Tx, context: LaunchContext, { registration, message }: NewLaunch): Promise<SyncedUser> {
    const role = roleOf(message.roles);
    const { platformId } = registration;
    const present = activeUser(context);
    const user = present ?? (await this.#create(tx, registration, message, role));
    if (!present && user.roles.includes(role)) return user;
    return this.#update(tx, user, role, { platformId, subject: message.subject }, profileIn(message));
  }

  /** The locked row decides, because the launch context was read before the transaction. */
  async #update(
    tx: Tx,
    { id }: SyncedUser,
    role: Role,
    identity: { platformId: number; subject: string },
    profile: Profile,
  ): Promise<SyncedUser> {
    const present = await tx.users.find({ id }, { lock: 'update' });
    if (!present?.isActive) throw new LaunchError('user_inactive');
    const before = (await tx.ltiIdentities.find(identity)) ?? { lmsName: null, lmsEmail: null };
    const name = present.displayName === before.lmsName ? changedClaim(profile.name, before.lmsName) : undefined;
    const contact = changedClaim(profile.email, before.lmsEmail);
    const changes = {
      ...(present.roles.includes(role) ? {} : { roles: [...present.roles, role] }),
      ...(name === undefined ? {} : { displayName: name }),
      ...(contact === undefined ? {} : { contactEmail: contact }),
    };
    const [changed] = Object.keys(changes).length === 0 ? [present] : await tx.users.update({ id }, changes);
    if (!changed) throw new Error('a user was deleted while their row was locked');
    await tx.ltiIdentities.update(identity, {
      lmsName: profile.name ?? before.lmsName,
      lmsEmail: profile.email ?? before.lmsEmail,
    });
    const changedFields = userChanges(present, changed);
    if (changedFields.length === 0) return changed;
    await this.#events.emit(tx, 'user.updated', userUpdated(changed, changedFields));
    this.#cache.invalidate(tx, USERS_TAG, userTag(changed.uuid), PROFILES_TAG);
    return changed;
  }

  async #create(tx: Tx, { platformId, issuer }: Registration, message: LaunchMessage, role: Role): Promise<SyncedUser> {
    const hash = sha256Hex(JSON.stringify([issuer, message.subject])).slice(0, 32);
    const profile = profileIn(message);
    const row = {
      uuid: this.#random.uuid(),
      displayName: message.name ?? null,
      contactEmail: profile.email ?? null,
      roles: [role],
      storageQuota: this.#defaultQuota,
    };
    // A racing first launch of the same `sub` waits for this insert, and then finds the user.
    let user = await tx.users.insertIfAbsent({ ...row, email: placeholderAddress(hash), username: `lti-${hash}` });
    if (!user) {
      const created = await this.#createdMeanwhile(tx, platformId, message.subject);
      if (created) return created;
      // Another account has this user name or address.
      const other = `${hash}-${this.#random.hex(4)}`;
      user = await tx.users.insert({ ...row, email: placeholderAddress(other), username: `lti-${other}` });
    }
    await tx.ltiIdentities.insert({
      platformId,
      subject: message.subject,
      userId: user.id,
      lmsName: profile.name ?? null,
      lmsEmail: profile.email ?? null,
    });
    await this.#events.emit(tx, 'user.created', userCreated(user));
    this.#cache.invalidate(tx, USERS_TAG);
    return user;
  }

  async #createdMeanwhile(tx: Tx, platformId: number, sub: string): Promise<SyncedUser | undefined> {
    const identity = await tx.ltiIdentities.find({ platformId, subject: sub });
    const user = identity && (await tx.users.find({ id: identity.userId }));
    if (user && !user.isActive) throw new LaunchError('user_inactive');
    return user ?? undefined;
  }
}

function activeUser({ user }: LaunchContext): LaunchContext['user'] {
  if (user && !user.isActive) throw new LaunchError('user_inactive');
  return user;
}
