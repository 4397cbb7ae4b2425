import type { Events } from '../../events/events.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Group } from '../../store/postgres/tables.ts';
import { grantsTag } from '../../access/tags.ts';
import { FOLDERS_TAG } from '../../content/model/content.tags.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import {
  COURSE_FOLDER,
  formerNamesOfJobs,
  isLarge,
  MOST_FORMER,
  namesOf,
  RENAME_COURSE,
  renameCourseFolder,
} from './course-folder-name.ts';
import { writeLaunchedMember } from '../members/members.sql.ts';
import type { LaunchContext, NewLaunch } from './launch.sql.ts';
import type { SyncedUser } from './user-sync.ts';
import { courseRole, type CourseRole } from './launch-roles.policy.ts';

/**
 * Creates and updates a course (the context of a launch): a group, and a folder of the system user that is shared with the group.
 *
 * Invariants:
 * - A context of a platform is one group with one folder, even if several first launches race.
 * - A changed title renames group and folder, unless they were renamed in Carrel. A job renames a large folder, so that the
 *   launch does not wait for it.
 * - Everyone who launches is a member of the course.
 * - The group has read access. Each instructor has their own write grant, and loses it with the role.
 */
export class CourseSync {
  readonly #cache: TaggedCache;
  readonly #events: Events;
  readonly #jobs: JobRequests;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { cache: TaggedCache; events: Events; jobs: JobRequests; clock: Clock; random: Random }) {
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** Creates or updates group, folder, membership and grant. No statement if nothing changed. `tx` is one of TaggedCache. */
  async sync(tx: Tx, { isCourseUnchanged, isUserUnchanged }: LaunchContext, user: SyncedUser, launch: NewLaunch): Promise<void> {
    const { registration, message, profile } = launch;
    const { context, roles } = message;
    if (!context || (isCourseUnchanged && isUserUnchanged)) return;
    const role = courseRole(roles);
    if (!isCourseUnchanged) await this.#syncCourse(tx, context, user, registration.platformId, role);
    await writeLaunchedMember(tx, { platformId: registration.platformId, contextId: context.id, role }, message, profile);
  }

  async #syncCourse(
    tx: Tx,
    context: NonNullable<NewLaunch['message']['context']>,
    user: SyncedUser,
    platformId: number,
    role: CourseRole,
  ): Promise<void> {
    const system = await tx.users.find({ isSystem: true });
    if (!system) throw new Error('the tenant has no system user');
    const group = await this.#group(tx, platformId, context, system.id);
    await tx.query(
      'INSERT INTO group_members (group_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT (group_id, ' +
        'user_id) DO UPDATE SET role = excluded.role',
      [group.id, user.id, role],
    );
    const folderId = await this.#folder(
      tx,
      group,
      context.isTitled ? context.title : (group.lmsTitle ?? context.title),
      system.id,
    );
    if (context.isTitled && group.lmsTitle !== context.title) await this.#rename(tx, group, folderId, context.title);
    await this.#setWriteGrant(tx, { folderId, userId: user.id, grantedBy: system.id }, writesAs(role));
    this.#cache.invalidate(tx, grantsTag(user.uuid));
  }

  /** Returns the group, created if necessary and locked: racing launches of one course wait for each other. */
  async #group(tx: Tx, platformId: number, { id, title }: { id: string; title: string }, systemId: number): Promise<Group> {
    const key = { platformId, contextId: id };
    await tx.groups.insertIfAbsent({ uuid: this.#random.uuid(), name: title, lmsTitle: title, ...key, createdBy: systemId });
    const group = await tx.groups.find(key, { lock: 'update' });
    if (!group) throw new Error('the group of a course was deleted while it was locked');
    return group;
  }

  /** Renames group and folder to the platform's title, each unless it was renamed in Carrel. */
  async #rename(tx: Tx, { id, uuid, name, lmsTitle }: Group, folderId: number, title: string): Promise<void> {
    await tx.groups.update({ id }, { lmsTitle: title, name: name === lmsTitle ? title : name });
    // Runs before the folder is read: a job that is no longer found has committed its changes.
    const pending = await formerNamesOfJobs(tx, uuid);
    const folder = await tx.folders.find({ id: folderId });
    if (!folder) return;
    const former = [...new Set([...pending, ...namesOf(lmsTitle ?? name, uuid)])].slice(-MOST_FORMER);
    if (pending.length === 0 && !former.includes(folder.name)) return;
    if (pending.length > 0 || (await isLarge(tx, folderId)))
      return this.#jobs.request(tx, RENAME_COURSE, { group: uuid, former });
    const moved = await renameCourseFolder(tx, folder.uuid, { title, group: uuid, former, now: this.#clock.now() });
    if (!moved) return;
    this.#cache.invalidate(tx, FOLDERS_TAG);
    if (moved.deliveries > 0) this.#events.notifyAfterCommit(tx);
  }

  async #folder(tx: Tx, group: Group, title: string, ownerId: number): Promise<number> {
    const [present] = await tx.query<{ id: number }>(
      `SELECT c.id FROM groups g CROSS JOIN LATERAL (${COURSE_FOLDER}) c WHERE g.id = $1`,
      [group.id],
    );
    if (present) return present.id;
    const created = await this.#makeFolder(tx, namesOf(title, group.uuid), ownerId);
    await tx.permissions.insert({
      uuid: this.#random.uuid(),
      resourceType: 'folder',
      resourceId: created,
      groupId: group.id,
      permissionLevel: 'read',
      grantedBy: ownerId,
    });
    const members = await tx.query<{ uuid: string }>(
      'SELECT u.uuid FROM group_members m JOIN users u ON u.id = m.user_id WHERE m.group_id = $1',
      [group.id],
    );
    this.#cache.invalidate(tx, ...members.map(({ uuid }) => grantsTag(uuid)));
    return created;
  }

  async #makeFolder(tx: Tx, [title, distinct]: readonly [string, string], ownerId: number): Promise<number> {
    const row = (name: string) => ({ uuid: this.#random.uuid(), name, path: `/${name}`, ownerId, isSystem: true });
    const folder = (await tx.folders.insertIfAbsent(row(title))) ?? (await tx.folders.insert(row(distinct)));
    return folder.id;
  }

  async #setWriteGrant(tx: Tx, at: { folderId: number; userId: number; grantedBy: number }, writes: boolean): Promise<void> {
    const grant = { resourceType: 'folder', resourceId: at.folderId, userId: at.userId } as const;
    if (!writes) {
      await tx.permissions.delete(grant);
      return;
    }
    const present = await tx.permissions.find(grant);
    if (present) return;
    await tx.permissions.insert({ uuid: this.#random.uuid(), ...grant, permissionLevel: 'write', grantedBy: at.grantedBy });
  }
}

const writesAs = (role: CourseRole): boolean => role === 'instructor';
