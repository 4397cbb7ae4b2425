import { renameFolder } from '../../content/folders/rename.sql.ts';
import { nameFrom } from '../../content/names/names.policy.ts';
import type { Random } from '../../runtime/random.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { unlessTaken } from '../../store/postgres/savepoint.ts';
import type { Group } from '../../store/postgres/tables.ts';
import { grantsTag } from '../../access/tags.ts';
import { FOLDERS_TAG } from '../../content/content.tags.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { LaunchMessage } from './id-token.ts';
import { COURSE_FOLDER, type Known } from './launch.sql.ts';
import type { Person } from './people.ts';
import { courseRole, type CourseRole } from './roles.policy.ts';

/** Room for the uuid that tells two courses of one title apart. */
const TITLE_MAX_CHARACTERS = 200;

/**
 * A course (the context of a launch) is a group and a folder of the system user, which is shared with the group.
 *
 * Invariants:
 * - A context of a platform is one group with one folder, however many first launches race.
 * - Another title than the platform said last time renames both, unless they are called otherwise here meanwhile.
 * - The group reads; each instructor has a grant of their own that writes, and loses it with the role.
 */
export class Courses {
  readonly #cache: TaggedCache;
  readonly #random: Random;

  constructor(deps: { cache: TaggedCache; random: Random }) {
    this.#cache = deps.cache;
    this.#random = deps.random;
  }

  /** Whether the course is as the platform says, and the person in it. */
  stands(known: Known, { context, roles }: LaunchMessage): boolean {
    if (!context) return true;
    const role = courseRole(roles);
    const isRenamed = context.isTitled && known.titleSaid !== context.title;
    return known.folderId !== null && known.courseRole === role && known.mayWrite === writesAs(role) && !isRenamed;
  }

  /** Makes or changes what does not stand; no statement where all does. `tx` is one of TaggedCache. */
  async settle(tx: Tx, known: Known, person: Person, message: LaunchMessage): Promise<void> {
    const { context, roles } = message;
    if (!context || this.stands(known, message)) return;
    const role = courseRole(roles);
    const system = await tx.users.find({ isSystem: true });
    if (!system) throw new Error('the tenant has no system user');
    const group = await this.#group(tx, known.platformId, context, system.id);
    await tx.query(
      'INSERT INTO group_members (group_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT (group_id, user_id) DO UPDATE SET role = excluded.role',
      [group.id, person.id, role],
    );
    const folderId = await this.#folder(tx, group, context.isTitled ? context.title : (group.titleSaid ?? context.title), system.id);
    if (context.isTitled && group.titleSaid !== context.title) await this.#rename(tx, group, folderId, context.title);
    await this.#setWriting(tx, { folderId, userId: person.id, grantedBy: system.id }, writesAs(role));
    this.#cache.invalidate(tx, grantsTag(person.uuid));
  }

  /** The group's row, locked: whoever settles the same course at once waits. */
  async #group(tx: Tx, platformId: number, { id, title }: { id: string; title: string }, systemId: number): Promise<Group> {
    const place = { platformId, contextId: id };
    await tx.groups.insertIfAbsent({ uuid: this.#random.uuid(), name: title, titleSaid: title, ...place, createdBy: systemId });
    const group = await tx.groups.find(place, { lock: 'update' });
    if (!group) throw new Error('the group of a course went while it was locked');
    return group;
  }

  /** Group and folder are called as the platform says now, unless somebody here has called them otherwise. */
  async #rename(tx: Tx, { id, uuid, name, titleSaid }: Group, folderId: number, title: string): Promise<void> {
    await tx.groups.update({ id }, { titleSaid: title, name: name === titleSaid ? title : name });
    const folder = await tx.folders.find({ id: folderId });
    const [before, wanted] = [namesOf(titleSaid ?? name, uuid), namesOf(title, uuid)];
    if (!folder || !before.includes(folder.name) || wanted.includes(folder.name)) return;
    for (const candidate of wanted) {
      const isTaken = !(await unlessTaken(tx, async () => (await renameFolder(tx, folderId, candidate), true)));
      if (isTaken) continue;
      this.#cache.invalidate(tx, FOLDERS_TAG);
      return;
    }
  }

  async #folder(tx: Tx, group: Group, title: string, ownerId: number): Promise<number> {
    const [standing] = await tx.query<{ id: number }>(`SELECT c.id FROM groups g CROSS JOIN LATERAL (${COURSE_FOLDER}) c WHERE g.id = $1`, [
      group.id,
    ]);
    if (standing) return standing.id;
    const made = await this.#makeFolder(tx, namesOf(title, group.uuid), ownerId);
    await tx.permissions.insert({
      uuid: this.#random.uuid(),
      resourceType: 'folder',
      resourceId: made,
      groupId: group.id,
      permissionLevel: 'read',
      grantedBy: ownerId,
    });
    const members = await tx.query<{ uuid: string }>(
      'SELECT u.uuid FROM group_members m JOIN users u ON u.id = m.user_id WHERE m.group_id = $1',
      [group.id],
    );
    this.#cache.invalidate(tx, ...members.map(({ uuid }) => grantsTag(uuid)));
    return made;
  }

  async #makeFolder(tx: Tx, [title, distinct]: readonly [string, string], ownerId: number): Promise<number> {
    const row = (name: string) => ({ uuid: this.#random.uuid(), name, path: `/${name}`, ownerId, isSystem: true });
    const folder = (await tx.folders.insertIfAbsent(row(title))) ?? (await tx.folders.insert(row(distinct)));
    return folder.id;
  }

  async #setWriting(tx: Tx, at: { folderId: number; userId: number; grantedBy: number }, writes: boolean): Promise<void> {
    const place = { resourceType: 'folder', resourceId: at.folderId, userId: at.userId } as const;
    if (!writes) {
      await tx.permissions.delete(place);
      return;
    }
    const standing = await tx.permissions.find(place);
    if (standing) return;
    await tx.permissions.insert({ uuid: this.#random.uuid(), ...place, permissionLevel: 'write', grantedBy: at.grantedBy });
  }
}

const writesAs = (role: CourseRole): boolean => role === 'instructor';

/** Two courses may have one title: then the second's folder carries the id of its group. */
const namesOf = (title: string, groupUuid: string): readonly [string, string] => {
  const name = folderName(title);
  return [name, `${name} (${groupUuid})`];
};

/** A title as the name of a folder (pkg/content/names): what a name cannot hold is replaced. */
export const folderName = (title: string): string => nameFrom(title, TITLE_MAX_CHARACTERS) ?? 'Course';
