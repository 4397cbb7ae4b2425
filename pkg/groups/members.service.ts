import { grantsTag } from '../access/tags.ts';
import type { Actor } from '../api/actor.ts';
import type { Page } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import type { Uuid } from '../api/schemas.ts';
import { peopleConcerned } from '../content/model/access/delegated-grants.sql.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import { ForeignKeyViolation } from '../store/postgres/errors.ts';
import type { TaggedCache } from '../store/redis/tagged-cache.ts';
import { requireManual } from './groups.policy.ts';
import { findGroup } from './groups.sql.ts';
import type { GroupMember, MemberQuery } from './members.schema.ts';
import { findMembership, GIVEN_THROUGH_GROUP, listMembers } from './members.sql.ts';

/**
 * The members of groups.
 *
 * Invariants:
 * - Members see each other's names. Only callers who may list users see e-mail addresses.
 * - A membership begins and ends with its commit, in caches too. The group's grants, and what the member granted by virtue of
 *   them, begin and end with it.
 * - A grant that races with the end of the granter's membership either comes first, and ends with it, or is refused.
 */
export class Members {
  readonly #db: Database;
  readonly #cache: TaggedCache;

  constructor(deps: { db: Database; cache: TaggedCache }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
  }

  /** Runs one statement, or two if the page is empty. Throws `not_found`. */
  async list(actor: Actor, group: Uuid, query: MemberQuery): Promise<Page<GroupMember>> {
    const found = await listMembers(this.#db, actor, group, query);
    if (found.data.length === 0 && !(await findGroup(this.#db, actor, group))) throw new Problem('not_found');
    return found;
  }

  /** Keeps an existing member. Runs two statements. Throws `not_found`, `managed`. */
  async add(group: Uuid, user: Uuid): Promise<void> {
    try {
      await this.#cache.transaction(this.#db, async (tx) => {
        const membership = await requireMembership(tx, group, user);
        const added = await tx.groupMembers.insertIfAbsent(membership);
        if (added) this.#cache.invalidate(tx, grantsTag(user));
      });
    } catch (error) {
      throw error instanceof ForeignKeyViolation ? new Problem('not_found', 'The user does not exist.', { cause: error }) : error;
    }
  }

  /**
   * Does nothing if the user is not a member. Runs four statements, three more if the member gave grants, two if the user is not
   * a member. Throws `not_found`, `managed`.
   */
  async remove(group: Uuid, user: Uuid): Promise<void> {
    await this.#cache.transaction(this.#db, async (tx) => {
      const membership = await requireMembership(tx, group, user);
      // Waits for a grant that the member is giving (sourceOf locks the row), so that the next statement sees it.
      const member = await tx.groupMembers.find(membership, { lock: 'update' });
      if (!member) return;
      const given = await tx.query<{ id: number }>(GIVEN_THROUGH_GROUP, [membership.groupId, membership.userId]);
      const people = await peopleConcerned(
        tx,
        given.map(({ id }) => id),
      );
      await tx.groupMembers.delete(membership);
      this.#cache.invalidate(tx, ...[user, ...people].map(grantsTag));
    });
  }
}

/** Throws `not_found`, `managed`. */
async function requireMembership(tx: Tx, group: Uuid, user: Uuid): Promise<{ groupId: number; userId: number }> {
  const found = await findMembership(tx, group, user);
  if (!found) throw new Problem('not_found');
  requireManual(found);
  if (found.userId === null) throw new Problem('not_found', 'The user does not exist.');
  return { groupId: found.groupId, userId: found.userId };
}
