import { z } from 'zod';
import type { Role } from '../api/actor.ts';
import type { Events } from '../events/events.ts';
import { userCreated, userUpdated } from '../identity/users/users.events.ts';
import type { Random } from '../runtime/random.ts';
import type { Tx } from '../store/postgres/database.ts';
import { type GenerationCache, subject } from '../store/redis/generation.ts';
import type { LaunchMessage } from './id-token.ts';
import type { Known } from './launch.record.ts';
import { hashOf } from './login-state.ts';
import { LtiRefusal } from './refusal.ts';
import { roleOf } from './roles.policy.ts';

export interface Person {
  readonly id: number;
  readonly uuid: string;
  readonly roles: readonly Role[];
}

const Email = z.email().max(255);

/**
 * Who a platform's `sub` is here.
 *
 * Invariants:
 * - A person of a platform is one user, however many first launches race.
 * - A launch takes over nobody's account: neither a known e-mail address nor a user name makes two people one.
 * - A launch adds a role, it takes none away and gives no administrator, nor gives back what somebody else has just taken away.
 * - Who is made or changed by a launch is told like anybody: `user.created`, `user.updated`.
 */
export class People {
  readonly #cache: GenerationCache;
  readonly #events: Events;
  readonly #random: Random;
  /** Bytes; undefined: the database's default. */
  readonly #defaultQuota: number | undefined;

  constructor(deps: { cache: GenerationCache; events: Events; random: Random; defaultQuota: number | undefined }) {
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#random = deps.random;
    this.#defaultQuota = deps.defaultQuota;
  }

  /** No statement for a known person with the role. `tx` is one of GenerationCache. Throws LtiRefusal `user_inactive`. */
  async settle(tx: Tx, known: Known, message: LaunchMessage): Promise<Person> {
    const role = roleOf(message.roles);
    const person = personOf(known) ?? (await this.#make(tx, known, message, role));
    return person.roles.includes(role) ? person : this.#give(tx, person, role);
  }

  /** What was looked up before the transaction may be old by now: the row decides. */
  async #give(tx: Tx, { id }: Person, role: Role): Promise<Person> {
    const present = await tx.users.find({ id }, { lock: 'update' });
    if (!present?.isActive) throw new LtiRefusal('user_inactive');
    if (present.roles.includes(role)) return present;
    const [changed] = await tx.users.update({ id }, { roles: [...present.roles, role] });
    if (!changed) throw new Error('a person went while their row was locked');
    await this.#events.emit(tx, 'user.updated', userUpdated(changed, ['roles']));
    this.#cache.touch(tx, subject.users, subject.user(changed.uuid));
    return changed;
  }

  async #make(tx: Tx, { platformId, issuer }: Known, message: LaunchMessage, role: Role): Promise<Person> {
    const hash = hashOf(JSON.stringify([issuer, message.subject])).slice(0, 32);
    const row = {
      uuid: this.#random.uuid(),
      displayName: message.name ?? null,
      roles: [role],
      storageQuota: this.#defaultQuota,
    };
    const noEmail = `${hash}@lti.invalid`;
    const email = Email.safeParse(message.email).data ?? noEmail;
    const username = `lti-${hash}`;
    // Whoever makes the same person at once waits here, and then finds them made.
    let user = await tx.users.insertIfAbsent({ ...row, email, username });
    user ??= await tx.users.insertIfAbsent({ ...row, email: noEmail, username });
    if (!user) {
      const made = await this.#madeMeanwhile(tx, platformId, message.subject);
      if (made) return made;
      // Somebody else has taken these very names.
      const other = `${hash}-${this.#random.hex(4)}`;
      user = await tx.users.insert({ ...row, email: `${other}@lti.invalid`, username: `lti-${other}` });
    }
    await tx.ltiIdentities.insert({ platformId, subject: message.subject, userId: user.id });
    await this.#events.emit(tx, 'user.created', userCreated(user));
    this.#cache.touch(tx, subject.users);
    return user;
  }

  async #madeMeanwhile(tx: Tx, platformId: number, sub: string): Promise<Person | undefined> {
    const identity = await tx.ltiIdentities.find({ platformId, subject: sub });
    const user = identity && (await tx.users.find({ id: identity.userId }));
    if (user && !user.isActive) throw new LtiRefusal('user_inactive');
    return user ?? undefined;
  }
}

function personOf({ userId, userUuid, userRoles, userIsActive }: Known): Person | undefined {
  if (userId === null || userUuid === null) return undefined;
  if (!userIsActive) throw new LtiRefusal('user_inactive');
  return { id: userId, uuid: userUuid, roles: userRoles ?? [] };
}
