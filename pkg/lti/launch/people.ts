import { z } from 'zod';
import type { Role } from '../../api/actor.ts';
import type { Events } from '../../events/events.ts';
import { userChanges, userCreated, userUpdated } from '../../accounts/users/users.events.ts';
import type { Random } from '../../runtime/random.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { User } from '../../store/postgres/tables.ts';
import { userTag } from '../../access/tags.ts';
import { PROFILES_TAG, USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { LaunchMessage } from './id-token.ts';
import type { Known } from './launch.sql.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { LaunchError } from '../launch-error.ts';
import { roleOf } from './roles.policy.ts';

export interface Person {
  readonly id: number;
  readonly uuid: string;
  readonly roles: readonly Role[];
}

/** What the platform says of a person, as far as it can be taken. */
interface Said {
  readonly name: string | undefined;
  readonly email: string | undefined;
}

const Email = z.email().max(255);

const saidIn = ({ name, email }: LaunchMessage): Said => ({ name, email: Email.safeParse(email).data });

/** Nothing is no other: an LMS may keep to itself what it said before. */
const another = (said: string | undefined, before: string | null): string | undefined => (said === before ? undefined : said);

/** The account's address until an administrator sets one: nobody has it (RFC 2606), so nobody is found by it. */
const noAddress = (name: string): string => `${name}@lti.invalid`;

/**
 * Who a platform's `sub` is here.
 *
 * Invariants:
 * - A person of a platform is one user, however many first launches race.
 * - A launch takes over nobody's account: neither a known e-mail address nor a user name makes two people one.
 * - A launch adds a role, it takes none away and gives no administrator, nor gives back what somebody else has just taken away.
 * - What an LMS says of an address nobody has proved: it becomes `contact_email` and never the account's own, so nobody is taken for somebody
 *   else by it. Another one than last time is taken over.
 * - Another name than the platform said last time is taken over, unless the present one is not the platform's any more.
 * - Who is made or changed by a launch is told like anybody: `user.created`, `user.updated`.
 */
export class People {
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

  /** A known person with the role, of whom the platform says nothing new. Throws LaunchError `user_inactive`. */
  standing(known: Known, message: LaunchMessage): Person | undefined {
    const person = personOf(known);
    const said = saidIn(message);
    const isNews = known.isEmailGiven || (another(said.name, known.nameSaid) ?? another(said.email, known.emailSaid)) !== undefined;
    return person?.roles.includes(roleOf(message.roles)) && !isNews ? person : undefined;
  }

  /** Makes or changes whoever does not stand. `tx` is one of TaggedCache. Throws LaunchError `user_inactive`. */
  async settle(tx: Tx, known: Known, message: LaunchMessage): Promise<Person> {
    const role = roleOf(message.roles);
    const present = personOf(known);
    const person = present ?? (await this.#make(tx, known, message, role));
    if (!present && person.roles.includes(role)) return person;
    return this.#change(tx, person, role, { platformId: known.platformId, subject: message.subject }, saidIn(message));
  }

  /** What was looked up before the transaction may be old by now: the rows decide. */
  async #change(tx: Tx, { id }: Person, role: Role, place: { platformId: number; subject: string }, said: Said): Promise<Person> {
    const present = await tx.users.find({ id }, { lock: 'update' });
    if (!present?.isActive) throw new LaunchError('user_inactive');
    const before = (await tx.ltiIdentities.find(place)) ?? { nameSaid: null, emailSaid: null, emailGiven: null };
    const name = present.displayName === before.nameSaid ? another(said.name, before.nameSaid) : undefined;
    const contact = another(said.email, before.emailSaid);
    const changes = {
      ...(present.roles.includes(role) ? {} : { roles: [...present.roles, role] }),
      ...(name === undefined ? {} : { displayName: name }),
      ...givenBack(present, before.emailGiven),
      ...(contact === undefined ? {} : { contactEmail: contact }),
    };
    const [changed] = Object.keys(changes).length === 0 ? [present] : await tx.users.update({ id }, changes);
    if (!changed) throw new Error('a person went while their row was locked');
    await tx.ltiIdentities.update(place, {
      nameSaid: said.name ?? before.nameSaid,
      emailSaid: said.email ?? before.emailSaid,
      emailGiven: null,
    });
    const told = userChanges(present, changed);
    if (told.length === 0) return changed;
    await this.#events.emit(tx, 'user.updated', userUpdated(changed, told));
    this.#cache.invalidate(tx, USERS_TAG, userTag(changed.uuid), PROFILES_TAG);
    return changed;
  }

  async #make(tx: Tx, { platformId, issuer }: Known, message: LaunchMessage, role: Role): Promise<Person> {
    const hash = sha256Hex(JSON.stringify([issuer, message.subject])).slice(0, 32);
    const said = saidIn(message);
    const row = {
      uuid: this.#random.uuid(),
      displayName: message.name ?? null,
      contactEmail: said.email ?? null,
      roles: [role],
      storageQuota: this.#defaultQuota,
    };
    // Whoever makes the same person at once waits here, and then finds them made.
    let user = await tx.users.insertIfAbsent({ ...row, email: noAddress(hash), username: `lti-${hash}` });
    if (!user) {
      const made = await this.#madeMeanwhile(tx, platformId, message.subject);
      if (made) return made;
      // Somebody else has taken these very names.
      const other = `${hash}-${this.#random.hex(4)}`;
      user = await tx.users.insert({ ...row, email: noAddress(other), username: `lti-${other}` });
    }
    await tx.ltiIdentities.insert({
      platformId,
      subject: message.subject,
      userId: user.id,
      nameSaid: said.name ?? null,
      emailSaid: said.email ?? null,
    });
    await this.#events.emit(tx, 'user.created', userCreated(user));
    this.#cache.invalidate(tx, USERS_TAG);
    return user;
  }

  async #madeMeanwhile(tx: Tx, platformId: number, sub: string): Promise<Person | undefined> {
    const identity = await tx.ltiIdentities.find({ platformId, subject: sub });
    const user = identity && (await tx.users.find({ id: identity.userId }));
    if (user && !user.isActive) throw new LaunchError('user_inactive');
    return user ?? undefined;
  }
}

function personOf({ userId, userUuid, userRoles, userIsActive }: Known): Person | undefined {
  if (userId === null || userUuid === null) return undefined;
  if (!userIsActive) throw new LaunchError('user_inactive');
  return { id: userId, uuid: userUuid, roles: userRoles ?? [] };
}

/** An address that a server of the release before made the account's: back to none, unless the account has a password to sign in with by it. */
function givenBack(user: User, given: string | null): { email?: string; contactEmail?: string } {
  if (given === null || user.email !== given || user.passwordHash !== null || given.endsWith('@lti.invalid')) return {};
  return { email: noAddress(user.uuid.replaceAll('-', '')), ...(user.contactEmail === null ? { contactEmail: given } : {}) };
}
