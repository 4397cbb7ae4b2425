import { grantsTag } from '../access/tags.ts';
import type { Actor } from '../api/actor.ts';
import { requireMatch } from '../api/etag.ts';
import type { Page } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import type { Uuid } from '../api/schemas.ts';
import { peopleConcerned } from '../content/model/access/delegated-grants.sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import { problemOfViolation } from '../api/violations.ts';
import type { TaggedCache } from '../store/redis/tagged-cache.ts';
import type { GroupGrant, GroupGrantQuery } from './group-grants.schema.ts';
import { listGroupGrants } from './group-grants.sql.ts';
import { requireManual } from './groups.policy.ts';
import type { GroupChanges, GroupQuery, GroupView, NewGroup } from './groups.schema.ts';
import { findGroup, listGroups, lockGroup } from './groups.sql.ts';
import { groupEtag, type GroupRow, presentGroup } from './groups.view.ts';

type IfMatch = readonly string[] | '*' | undefined;

/**
 * Groups of people.
 *
 * Invariants:
 * - Administrators see all groups and change those that people made. Others see their own groups and change none.
 * - Names of groups that people made are unique, ignoring case, however many creations and changes race.
 * - The LMS owns the group of a course: nobody changes or deletes it here (`managed`) until the registration is removed.
 * - Deleting a group deletes its grants, and the grants that its members gave by virtue of those. After the commit nobody reads
 *   through them.
 */
export class Groups {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #random: Random;
  readonly #clock: Clock;

  constructor(deps: { db: Database; cache: TaggedCache; random: Random; clock: Clock }) {
    this.#clock = deps.clock;
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#random = deps.random;
  }

  /** Runs one statement. */
  list(actor: Actor, query: GroupQuery): Promise<Page<GroupView>> {
    return listGroups(this.#db, actor, query);
  }

  /** Runs one statement. Throws `not_found`. */
  async get(actor: Actor, id: Uuid): Promise<GroupView> {
    const group = await findGroup(this.#db, actor, id);
    if (!group) throw new Problem('not_found');
    return presentGroup(group);
  }

  /** Lists what is granted to a group. Runs one statement, or two if the page is empty. Throws `not_found`. */
  async grants(actor: Actor, id: Uuid, query: GroupGrantQuery): Promise<Page<GroupGrant>> {
    const found = await listGroupGrants(this.#db, id, this.#clock.now(), query);
    if (found.data.length === 0) await this.get(actor, id);
    return found;
  }

  /** Runs one statement. Throws `name_conflict`. */
  async create(actor: Actor, input: NewGroup): Promise<GroupView> {
    const { name, description = null } = input;
    const row = await orNameConflict(() =>
      this.#db.transaction((tx) => tx.groups.insert({ uuid: this.#random.uuid(), name, description, createdBy: actor.userId })),
    );
    return presentGroup({ ...row, memberCount: 0, isRegistered: false });
  }

  /**
   * Serves PUT and PATCH: an undefined field keeps its value. Runs two statements. Throws `not_found`, `managed`,
   * `precondition_failed`, `name_conflict`.
   */
  async change(id: Uuid, changes: GroupChanges, ifMatch: IfMatch): Promise<GroupView> {
    return this.#db.transaction(async (tx) => {
      const group = await requireChangeable(tx, id, ifMatch, 'change');
      const { name = group.name, description = group.description } = changes;
      if (name === group.name && description === group.description) return presentGroup(group);
      const [row] = await orNameConflict(() => tx.groups.update({ id: group.id }, { name, description }));
      if (!row) throw new Problem('not_found');
      return presentGroup({ ...group, ...row });
    });
  }

  /**
   * Deletes the group with its grants. Runs three statements, and three more if the group has grants. Throws `not_found`,
   * `managed`, `precondition_failed`.
   */
  async remove(id: Uuid, ifMatch: IfMatch): Promise<void> {
    await this.#cache.transaction(this.#db, async (tx) => {
      const group = await requireChangeable(tx, id, ifMatch, 'delete');
      const grants = await tx.query<{ id: number }>('SELECT id FROM permissions WHERE group_id = $1', [group.id]);
      const people = await peopleConcerned(
        tx,
        grants.map((grant) => grant.id),
      );
      await tx.groups.delete({ id: group.id });
      this.#cache.invalidate(tx, ...people.map(grantsTag));
    });
  }
}

/** Returns the row, locked. */
async function requireChangeable(tx: Tx, id: Uuid, ifMatch: IfMatch, to: 'change' | 'delete'): Promise<GroupRow> {
  const group = await lockGroup(tx, id, to);
  if (!group) throw new Problem('not_found');
  requireManual(group);
  requireMatch(ifMatch, groupEtag(group));
  return group;
}

async function orNameConflict<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw problemOfViolation(error, { groups_manual_name_key: ['name_conflict', 'Another group has this name.'] });
  }
}
