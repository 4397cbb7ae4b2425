import type { Actor, Level } from '../../api/actor.ts';
import { type Page, page, type PageRequest, pageRequest } from '../../api/paging.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { PermissionSets } from '../../identity/permission-sets.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { type GenerationCache, subject } from '../../store/redis/generation.ts';
import { type Granted, levelOn, requireLevel } from '../access/access.policy.ts';
import { type Writes, writesOf } from '../access/writes.ts';
import { findFile } from '../files/file.record.ts';
import { findFolder } from '../folders/folder.record.ts';
import type { NewPermission, PermissionQuery, PermissionView } from './permissions.schema.ts';

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
    const request: PageRequest = pageRequest(query, { fields: ['id'], fallback: 'id', tieBreaker: 'id' });
    const id = await this.#require(this.#db.tables, actor, await this.#permissionSets.of(actor), resource);
    const way = request.sort[0]?.descending ? ['<', 'DESC'] : ['>', 'ASC'];
    const sql = `${GRANTS} AND ($3::bigint IS NULL OR p.id ${way[0]} $3) ORDER BY p.id ${way[1]} LIMIT $4`;
    const rows = await this.#db.query<GrantRow>(sql, [resource.kind, id, request.after?.[0] ?? null, request.limit + 1]);
    return page(
      request,
      rows,
      (row) => present(resource, row),
      (row) => [row.id],
    );
  }

  /** `created` is false when the grantee had a grant here, which is changed. Throws `validation_failed` for an unknown grantee or a past end. */
  async grant(actor: Actor, resource: Resource, input: NewPermission): Promise<{ created: boolean; grant: PermissionView }> {
    const expiresAt = input.expires_at ? new Date(input.expires_at) : null;
    if (expiresAt !== null && expiresAt <= this.#clock.now()) throw invalid('expires_at', 'must be in the future');
    return this.#writes.run(actor, async (tx, granted) => {
      const resourceId = await this.#require(tx, actor, granted, resource, true);
      const grantee = await this.#grantee(tx, input);
      const place = { resourceType: resource.kind, resourceId, userId: grantee.userId, groupId: grantee.groupId };
      const terms = { permissionLevel: input.permission_level, expiresAt, grantedBy: actor.userId };
      const [changed] = await tx.permissions.update(place, { ...terms, grantedAt: this.#clock.now() });
      const row = changed ?? (await tx.permissions.insert({ uuid: this.#random.uuid(), ...place, ...terms }));
      this.#cache.touch(tx, ...grantee.people.map(subject.grants));
      const grant = present(resource, {
        ...row,
        userId: input.user_id ?? null,
        groupId: input.group_id ?? null,
        level: row.permissionLevel,
        grantedBy: actor.userUuid,
      });
      return { created: changed === undefined, grant };
    });
  }

  async revoke(actor: Actor, resource: Resource, permissionId: string): Promise<void> {
    await this.#writes.run(actor, async (tx, granted) => {
      const resourceId = await this.#require(tx, actor, granted, resource, true);
      const grant = await tx.permissions.find({ uuid: permissionId, resourceType: resource.kind, resourceId });
      if (!grant) throw new Problem('not_found');
      await tx.permissions.delete({ id: grant.id });
      this.#cache.touch(tx, ...(await peopleOf(tx, grant)).map(subject.grants));
    });
  }

  /** Internal id of a live resource on which the actor is admin. */
  async #require(sql: Executor, actor: Actor, granted: Granted, { kind, uuid }: Resource, lock = false): Promise<number> {
    const found = kind === 'file' ? await findFile(sql, uuid, lock) : await findFolder(sql, uuid, lock ? 'update' : undefined);
    if (!found || ('deletedAt' in found && found.deletedAt !== null)) throw new Problem('not_found');
    requireLevel(levelOn(kind, actor, found, granted), 'admin');
    return found.id;
  }

  /** Whom a grant is for, and everyone it concerns. */
  async #grantee(tx: Tx, input: NewPermission): Promise<{ userId: number | null; groupId: number | null; people: string[] }> {
    if (input.user_id !== undefined) {
      const user = await tx.users.find({ uuid: input.user_id, isSystem: false });
      if (!user) throw invalid('user_id', 'there is no such user');
      return { userId: user.id, groupId: null, people: [user.uuid] };
    }
    const group = await tx.groups.find({ uuid: input.group_id ?? '' });
    if (!group) throw invalid('group_id', 'there is no such group');
    return { userId: null, groupId: group.id, people: await peopleOf(tx, { userId: null, groupId: group.id }) };
  }
}

/** uuids of all whom a grant concerns. One statement. */
async function peopleOf(tx: Tx, grant: { userId: number | null; groupId: number | null }): Promise<string[]> {
  const rows = await tx.query<{ uuid: string }>(
    'SELECT u.uuid FROM users u WHERE u.id = $1 OR u.id IN (SELECT m.user_id FROM group_members m WHERE m.group_id = $2)',
    [grant.userId, grant.groupId],
  );
  return rows.map(({ uuid }) => uuid);
}

const present = (resource: Resource, row: Omit<GrantRow, 'id'>): PermissionView => ({
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
