import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../../api/actor.ts';
import { listPage, type Page } from '../../api/paging.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantsTag } from '../../access/tags.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { integerKey, keyset } from '../../store/postgres/keyset.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { requireMatch } from '../../api/etag.ts';
import { isOwnedBy } from '../model/access/inherited-access.policy.ts';
import { peopleConcerned, type Source, sourceOf } from '../model/access/delegated-grants.sql.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { type FileRecord, findFile } from '../model/files/files.sql.ts';
import { findFolder, type FolderRecord } from '../model/folders/folders.sql.ts';
import { endOfGrant, keptEnd, requireNotOwnGrant, requireSharing } from './grants.policy.ts';
import {
  GRANT_COLUMNS,
  GRANT_TABLES,
  type Grantee,
  type GrantRow,
  lockGrant,
  lockGrantOf,
  type Resource,
} from '../model/access/grants.sql.ts';
import { grantEtag, presentGrant } from '../model/access/grants.view.ts';
import {
  type GrantChanges,
  type NewGrant,
  GRANT_SORT_FIELDS,
  type GrantQuery,
  type GrantView,
} from '../model/access/grants.schema.ts';

/** The resource of a grant. */
type GrantTarget = (FileRecord | FolderRecord) & { readonly kind: 'file' | 'folder' };

/** Sorting by `id` uses the internal id, which is the order of creation. */
const GRANT_LIST = keyset<GrantRow, (typeof GRANT_SORT_FIELDS)[number]>({
  keys: { id: integerKey('p.id', ({ id }) => id) },
  fields: GRANT_SORT_FIELDS,
  fallback: 'id',
  tieBreaker: 'id',
});

/**
 * Grants on files and folders: level, grantee and expiry.
 *
 * Invariants:
 * - Listing, creating and revoking grants on a resource requires the level admin on it.
 * - A person or group has one grant on a resource; granting again changes it.
 * - If a user is admin through a grant, the grants they give neither exceed nor outlive it, even if it changes later. They cannot
 *   change that grant, nor the grants it depends on, but they may give it up.
 * - Owners of the resource or of a folder above it are not limited. If the owner of a folder grants another user's file in it,
 *   that grant ends when the file leaves the folder.
 */
export class Grants {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #transactions: AuthorizedTransactions;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { db: Database; cache: TaggedCache; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#transactions = authorizedTransactions(deps);
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  async list(actor: Actor, resource: Resource, query: GrantQuery): Promise<Page<GrantView>> {
    const { id } = await requireShared(this.#db.tables, { actor, granted: await actor.permissionSet() }, resource);
    return listPage(this.#db, query, {
      keyset: GRANT_LIST,
      columns: GRANT_COLUMNS,
      from: GRANT_TABLES,
      where: (params) => [`p.resource_type = ${params.add(resource.kind)}`, `p.resource_id = ${params.add(id)}`],
      present: (row) => presentGrant(resource, row),
    });
  }

  /**
   * Grants a level. `created` is false if the grantee already had a grant here, which is then changed. If the input names no end,
   * the grant ends when the actor's own grant ends, or never. Throws `validation_failed` for an unknown grantee and for an end
   * that is in the past or later than the actor's own; `forbidden` for the actor's own grant.
   */
  async grant(actor: Actor, resource: Resource, input: NewGrant): Promise<{ created: boolean; grant: GrantView }> {
    const wanted = this.#end(input.expires_at);
    return this.#transactions.run(actor, async (tx, caller) => {
      const target = await requireShared(tx, caller, resource, true);
      requireNotOwnGrant(actor, target, input.user_id);
      const grantee = await granteeOf(tx, input);
      const key = { resourceType: resource.kind, resourceId: target.id, userId: grantee.userId, groupId: grantee.groupId };
      const present = await tx.permissions.find(key, { lock: 'update' });
      const source = await this.#source(tx, actor, target, present?.id);
      const terms = {
        permissionLevel: input.permission_level,
        expiresAt: endOfGrant(source, wanted),
        grantedBy: actor.userId,
        grantedThrough: source?.id ?? null,
      };
      if (present) this.#cache.invalidate(tx, ...(await peopleConcerned(tx, [present.id])).map(grantsTag));
      const [changed] = present
        ? await tx.permissions.update({ id: present.id }, { ...terms, grantedAt: this.#clock.now() })
        : [];
      const row = changed ?? (await tx.permissions.insert({ uuid: this.#random.uuid(), ...key, ...terms }));
      this.#cache.invalidate(tx, ...grantee.people.map(grantsTag));
      const grant = presentGrant(resource, {
        ...row,
        userId: input.user_id ?? null,
        groupId: input.group_id ?? null,
        level: row.permissionLevel,
        grantedBy: actor.userUuid,
      });
      return { created: changed === undefined, grant };
    });
  }

  /**
   * Changes the level, the end, or both, and makes the actor the giver; the date of the grant stays if nothing changes. An end
   * that is left out stays, but no later than the end of the actor's own grant. Throws `not_found`, `forbidden`,
   * `validation_failed` and `precondition_failed`.
   */
  async change(
    actor: Actor,
    resource: Resource,
    grantId: string,
    { permission_level: level, expires_at: end }: GrantChanges,
    ifMatch: RequestInfo['ifMatch'],
  ): Promise<GrantView> {
    const wanted = this.#end(end);
    return this.#transactions.run(actor, async (tx, caller) => {
      const target = await requireShared(tx, caller, resource, true);
      const grant = await lockGrant(tx, grantId, resource.kind, target.id);
      if (!grant) throw new Problem('not_found');
      requireMatch(ifMatch, grantEtag(grant));
      requireNotOwnGrant(actor, target, grant.userId ?? undefined);
      const source = await this.#source(tx, actor, target, grant.id);
      this.#cache.invalidate(tx, ...(await peopleConcerned(tx, [grant.id])).map(grantsTag));
      const changed = {
        level: level ?? grant.level,
        expiresAt: end === undefined ? keptEnd(source, grant.expiresAt) : endOfGrant(source, wanted),
      };
      const isSame =
        isDeepStrictEqual(changed, { level: grant.level, expiresAt: grant.expiresAt }) && grant.grantedBy === actor.userUuid;
      const terms = { ...changed, grantedAt: isSame ? grant.grantedAt : this.#clock.now() };
      await tx.permissions.update(
        { id: grant.id },
        {
          permissionLevel: terms.level,
          expiresAt: terms.expiresAt,
          grantedAt: terms.grantedAt,
          grantedBy: actor.userId,
          grantedThrough: source?.id ?? null,
        },
      );
      return presentGrant(resource, { ...grant, ...terms, grantedBy: actor.userUuid });
    });
  }

  /**
   * Revokes a grant and the grants that depend on it. Throws `precondition_failed`, and `forbidden` if the actor's own access
   * depends on this grant, unless it was given to the actor alone.
   */
  revoke(actor: Actor, resource: Resource, grantId: string, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    return this.#revoke(actor, resource, (tx, { kind, id }) => lockGrant(tx, grantId, kind, id), ifMatch);
  }

  /** Like `revoke`, but finds the grant by its grantee. */
  revokeOf(actor: Actor, resource: Resource, grantee: Grantee): Promise<void> {
    return this.#revoke(actor, resource, (tx, { kind, id }) => lockGrantOf(tx, grantee, kind, id), undefined);
  }

  async #revoke(
    actor: Actor,
    resource: Resource,
    lock: (tx: Tx, target: GrantTarget) => Promise<GrantRow | null>,
    ifMatch: RequestInfo['ifMatch'],
  ): Promise<void> {
    await this.#transactions.run(actor, async (tx, caller) => {
      const target = await requireShared(tx, caller, resource, true);
      const grant = await lock(tx, target);
      if (!grant) throw new Problem('not_found', 'There is no such grant.');
      requireMatch(ifMatch, grantEtag(grant));
      if (grant.userId !== actor.userUuid) await this.#source(tx, actor, target, grant.id);
      this.#cache.invalidate(tx, ...(await peopleConcerned(tx, [grant.id])).map(grantsTag));
      await tx.permissions.delete({ id: grant.id });
    });
  }

  /**
   * Returns the grant that makes the actor admin, or null if the actor owns the resource. Throws `forbidden` if only the grant
   * `without`, which is to be changed, makes the actor admin.
   */
  async #source(tx: Tx, actor: Actor, target: GrantTarget, without: number | undefined): Promise<Source | null> {
    if (isOwnedBy(target, actor)) return null;
    const source = await sourceOf(tx, actor, target, { now: this.#clock.now(), without });
    if (source) return source;
    if (without === undefined) throw new Problem('forbidden');
    throw new Problem('forbidden', 'Your own access depends on this grant; only another user can change it.');
  }

  /** Throws `validation_failed` for an end in the past. */
  #end(named: string | null | undefined): Date | null {
    const end = named ? new Date(named) : null;
    if (end !== null && end <= this.#clock.now()) throw invalid('expires_at', 'must be in the future');
    return end;
  }
}

/**
 * Returns a live resource on which the actor is admin; `lock` locks it until the end of the transaction. Runs one statement.
 * Throws `not_found`, `forbidden`.
 */
export async function requireShared(sql: Executor, caller: Caller, { kind, uuid }: Resource, lock = false): Promise<GrantTarget> {
  const found = kind === 'file' ? await findFile(sql, uuid, lock) : await findFolder(sql, uuid, lock ? 'update' : undefined);
  if (!found || ('deletedAt' in found && found.deletedAt !== null)) throw new Problem('not_found');
  requireSharing(caller, { ...found, kind });
  return { ...found, kind };
}

/** Returns the grantee of a new grant, with the uuids of all people whom the grant affects. */
async function granteeOf(tx: Tx, input: NewGrant): Promise<{ userId: number | null; groupId: number | null; people: string[] }> {
  if (input.user_id !== undefined) {
    const user = await tx.users.find({ uuid: input.user_id, isSystem: false });
    if (!user) throw invalid('user_id', 'there is no such user');
    return { userId: user.id, groupId: null, people: [user.uuid] };
  }
  const group = await tx.groups.find({ uuid: input.group_id ?? '' });
  if (!group) throw invalid('group_id', 'there is no such group');
  const people = await tx.query<{ uuid: string }>(
    'SELECT u.uuid FROM group_members m JOIN users u ON u.id = m.user_id WHERE m.group_id = $1',
    [group.id],
  );
  return { userId: null, groupId: group.id, people: people.map(({ uuid }) => uuid) };
}
