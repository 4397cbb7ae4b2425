import { grantsTag, userTag } from '../../access/tags.ts';
import { userChanges, userUpdated } from '../../accounts/users/users.events.ts';
import { PROFILES_TAG, USERS_TAG } from '../../accounts/users/users.tags.ts';
import { peopleConcerned } from '../../content/model/access/delegated-grants.sql.ts';
import type { Events } from '../../events/events.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import {
  addWriteGrants,
  type ChangedAccount,
  countMembers,
  deleteMemberships,
  deleteWriteGrants,
  givenThrough,
  lockCourse,
  type LockedCourse,
  lockLeaving,
  type RosterCounts,
  takeOverEntries,
  writeMemberships,
} from './take-over.sql.ts';

export interface TakenOver extends RosterCounts {
  readonly members: number;
}

interface Deps {
  readonly cache: TaggedCache;
  readonly events: Events;
}

/** A roster that was read completely. */
export interface ReadRoster {
  readonly groupId: number;
  /** The task whose entries it consists of. */
  readonly taskId: number;
  /** Start of its reading. */
  readonly readAt: Date;
}

/**
 * Imports a completely read roster: the people in the course, and their accounts' rights from it. Everything happens in `tx`, or
 * nothing.
 *
 * Invariants:
 * - A roster whose reading began before that of the last imported one changes nothing.
 * - A person who is no longer in the course has no rights from it after the commit: neither the group, nor the write grant, nor
 *   grants that they made through the group's.
 * - A roster gives an account no role but `instructor`, and only when its role in the course becomes instructor, so an
 *   administrator may remove it.
 */
export async function takeOver(deps: Deps, tx: Tx, roster: ReadRoster): Promise<TakenOver> {
  const course = await lockCourse(tx, roster.groupId);
  const isOutdated = !course || (course.syncedAt !== null && course.syncedAt >= roster.readAt);
  const counts = isOutdated ? { added: 0, changed: 0, removed: 0 } : await takeOverEntries(tx, course, roster);
  if (!isOutdated) await syncAccounts(deps, tx, course);
  return { ...counts, members: await countMembers(tx, roster.groupId) };
}

async function syncAccounts(deps: Deps, tx: Tx, course: LockedCourse): Promise<void> {
  const { groupId } = course;
  const leaving = await lockLeaving(tx, course);
  const left = leaving.map(({ userId }) => userId);
  const grantees = left.length === 0 ? [] : await peopleConcerned(tx, await givenThrough(tx, groupId, left));
  if (left.length > 0) await deleteMemberships(tx, groupId, left);
  const changed = await writeMemberships(tx, course);
  if (left.length + changed.length === 0) return;
  const [instructors, learners] = [changed.filter(isInstructor), changed.filter((account) => !isInstructor(account))];
  await deleteWriteGrants(tx, course, [...left, ...idsOf(learners)]);
  if (course.folderId !== null) await addWriteGrants(tx, course, idsOf(instructors));
  deps.cache.invalidate(tx, ...[...[...leaving, ...changed].map(({ uuid }) => uuid), ...grantees].map(grantsTag));
  for (const account of instructors) if (!account.roles.includes('instructor')) await makeInstructor(deps, tx, account);
}

const isInstructor = ({ role }: ChangedAccount): boolean => role === 'instructor';
const idsOf = (accounts: readonly ChangedAccount[]): number[] => accounts.map(({ userId }) => userId);

/** Adds the role as a launch with that role does. */
async function makeInstructor({ cache, events }: Deps, tx: Tx, { userId }: ChangedAccount): Promise<void> {
  const before = await tx.users.find({ id: userId }, { lock: 'update' });
  if (!before?.isActive || before.roles.includes('instructor')) return;
  const [after] = await tx.users.update({ id: userId }, { roles: [...before.roles, 'instructor'] });
  if (!after) return;
  await events.emit(tx, 'user.updated', userUpdated(after, userChanges(before, after)));
  cache.invalidate(tx, USERS_TAG, userTag(after.uuid), PROFILES_TAG);
}
