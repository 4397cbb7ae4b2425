import type { Actor, Level } from '../../api/actor.ts';
import { type Page, page, type PageRequest, pageRequest } from '../../api/paging.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { PermissionSets } from '../../identity/permission-sets.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { type GenerationCache, subject } from '../../store/redis/generation.ts';
import { type Granted, isOwned, levelOn, requireLevel } from '../access/access.policy.ts';
import { peopleConcerned, type Source, sourceOf } from '../access/grants-through.ts';
import { type Writes, writesOf } from '../access/writes.ts';
import { type FileRecord, findFile } from '../files/file.record.ts';
import { findFolder, type FolderRecord } from '../folders/folder.record.ts';
import { type NewPermission, PERMISSION_SORT_FIELDS, type PermissionQuery, type PermissionView } from './permissions.schema.ts';

/** What is granted on. */
type Thing = (FileRecord | FolderRecord) & { readonly kind: 'file' | 'folder' };

export type Resource = { readonly kind: 'file' | 'folder'; readonly uuid: string };

interface GrantRow {
  readonly id: number;
  readonly uuid: string;
  readonly userId: string | null;
  readonly groupId: string | null;
  readonly level: Level;
  readonly grantedBy: string;
  readonly grantedAt: Date;
  readonly expiresAt: Date | null;
}

const GRANTS = `
  SELECT p.id, p.uuid, u.uuid AS "userId", g.uuid AS "groupId", p.permission_level AS level, b.uuid AS "grantedBy",
    p.granted_at AS "grantedAt", p.expires_at AS "expiresAt"
  FROM permissions p JOIN users b ON b.id = p.granted_by LEFT JOIN users u ON u.id = p.user_id LEFT JOIN groups g ON g.id = p.group_id
  WHERE p.resource_type = $1 AND p.resource_id = $2`;

/**
 * Grants on files and folders: who else may do what there, and until when.
 *
 * Invariants:
 * - Only whoever has the level admin on a resource sees, gives and takes grants on it.
 * - A person or group has one grant on a resource; granting again changes it.
 * - What somebody gives who is admin by a grant neither exceeds nor outlives that grant, whatever becomes of it later; their own grant, and what it
 *   rests on, is not theirs to change, but theirs to give up. Who owns the thing or a folder above it is bound by nothing;
 *   what the latter gives on somebody else's file ends when that leaves their folder.
 */
export class Permissions {
  readonly #db: Database;
  readonly #cache: GenerationCache;
  readonly #permissionSets: PermissionSets;
  readonly #writes: Writes;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { db: Database; cache: GenerationCache; permissionSets: PermissionSets; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#permissionSets = deps.permissionSets;
    this.#writes = writesOf(deps);
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  async list(actor: Actor, resource: Resource, query: PermissionQuery): Promise<Page<PermissionView>> {
    const request: PageRequest = pageRequest(query, { fields: PERMISSION_SORT_FIELDS, fallback: 'id', tieBreaker: 'id' });
    const { id } = await this.#require(this.#db.tables, actor, await this.#permissionSets.of(actor), resource);
    const way = request.sort[0]?.descending ? ['<', 'DESC'] : ['>', 'ASC'];
    const sql = `${GRANTS} AND ($3::bigint IS NULL OR p.id ${way[0]} $3) ORDER BY p.id ${way[1]} LIMIT $4`;
    const rows = await this.#db.query<GrantRow>(sql, [resource.kind, id, request.after?.[0] ?? null, request.limit + 1]);
    return page(
      request,
      rows,
      (row) => view(resource, row),
      (row) => [row.id],
    );
  }

  /**
   * `created` is false when the grantee had a grant here, which is changed. Without an end it has none, or that of the actor's own grant.
   * Throws `validation_failed` for an unknown grantee, and for an end that is past or after the actor's own; `forbidden` for one's own grant.
   */
  async grant(actor: Actor, resource: Resource, input: NewPermission): Promise<{ created: boolean; grant: PermissionView }> {
    const wanted = input.expires_at ? new Date(input.expires_at) : null;
    if (wanted !== null && wanted <= this.#clock.now()) throw invalid('expires_at', 'must be in the future');
    return this.#writes.run(actor, async (tx, granted) => {
      const thing = await this.#require(tx, actor, granted, resource, true);
      if (input.user_id === actor.userUuid && !isOwned(thing, actor))
        throw new Problem('forbidden', 'Your own grant is not yours to change; whoever gave it can.');
      const grantee = await granteeOf(tx, input);
      const place = { resourceType: resource.kind, resourceId: thing.id, userId: grantee.userId, groupId: grantee.groupId };
      const present = await tx.permissions.find(place, { lock: 'update' });
      const source = await this.#source(tx, actor, thing, present?.id);
      const terms = {
        permissionLevel: input.permission_level,
        expiresAt: boundedBy(source, wanted),
        grantedBy: actor.userId,
        grantedThrough: source?.id ?? null,
      };
      if (present) this.#cache.touch(tx, ...(await peopleConcerned(tx, [present.id])).map(subject.grants));
      const [changed] = present ? await tx.permissions.update({ id: present.id }, { ...terms, grantedAt: this.#clock.now() }) : [];
      const row = changed ?? (await tx.permissions.insert({ uuid: this.#random.uuid(), ...place, ...terms }));
      this.#cache.touch(tx, ...grantee.people.map(subject.grants));
      const grant = view(resource, {
        ...row,
        userId: input.user_id ?? null,
        groupId: input.group_id ?? null,
        level: row.permissionLevel,
        grantedBy: actor.userUuid,
      });
      return { created: changed === undefined, grant };
    });
  }

  /** Takes a grant back, and with it what rests on it. Throws `forbidden` where the actor is admin by that very grant and it is not theirs alone. */
  async revoke(actor: Actor, resource: Resource, permissionId: string): Promise<void> {
    await this.#writes.run(actor, async (tx, granted) => {
      const thing = await this.#require(tx, actor, granted, resource, true);
      const grant = await tx.permissions.find(
        { uuid: permissionId, resourceType: resource.kind, resourceId: thing.id },
        { lock: 'update' },
      );
      if (!grant) throw new Problem('not_found');
      if (grant.userId !== actor.userId) await this.#source(tx, actor, thing, grant.id);
      this.#cache.touch(tx, ...(await peopleConcerned(tx, [grant.id])).map(subject.grants));
      await tx.permissions.delete({ id: grant.id });
    });
  }

  /** The grant by which the actor gives and takes; null: the thing is theirs. Throws `forbidden` where that is the grant to be changed. */
  async #source(tx: Tx, actor: Actor, thing: Thing, without: number | undefined): Promise<Source | null> {
    if (isOwned(thing, actor)) return null;
    const source = await sourceOf(tx, actor, thing, { now: this.#clock.now(), without });
    if (source) return source;
    if (without === undefined) throw new Problem('forbidden');
    throw new Problem('forbidden', 'What you may do here rests on this grant; only somebody else can change it.');
  }

  /** A live resource on which the actor is admin. */
  async #require(sql: Executor, actor: Actor, granted: Granted, { kind, uuid }: Resource, lock = false): Promise<Thing> {
    const found = kind === 'file' ? await findFile(sql, uuid, lock) : await findFolder(sql, uuid, lock ? 'update' : undefined);
    if (!found || ('deletedAt' in found && found.deletedAt !== null)) throw new Problem('not_found');
    requireLevel(levelOn(kind, actor, found, granted), 'admin');
    return { ...found, kind };
  }
}

/** When a grant ends that is given by this one of the actor's. Throws `validation_failed` where another end is asked for than it can have. */
function boundedBy(source: Source | null, wanted: Date | null): Date | null {
  if (source === null || source.expiresAt === null) return wanted;
  if (wanted !== null && wanted > source.expiresAt)
    throw invalid('expires_at', `must not be later than ${source.expiresAt.toISOString()}, when what you may do here ends`);
  return wanted ?? source.expiresAt;
}

/** Whom a grant is for, and the uuids of everyone it concerns. */
async function granteeOf(tx: Tx, input: NewPermission): Promise<{ userId: number | null; groupId: number | null; people: string[] }> {
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

const view = (resource: Resource, row: Omit<GrantRow, 'id'>): PermissionView => ({
  id: row.uuid,
  resource_type: resource.kind,
  resource_id: resource.uuid,
  user_id: row.userId,
  group_id: row.groupId,
  permission_level: row.level,
  granted_by: row.grantedBy,
  granted_at: row.grantedAt.toISOString(),
  expires_at: row.expiresAt?.toISOString() ?? null,
});
