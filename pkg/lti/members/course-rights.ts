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
  deleteMemberships,
  deleteWriteGrants,
  givenThrough,
  lockLeaving,
  writeMemberships,
} from './course-rights.sql.ts';
import type { LockedCourse } from './import-roster.sql.ts';

export interface RightsDeps {
  readonly cache: TaggedCache;
  readonly events: Events;
}

/**
 * Gives the accounts of a course's people the rights from it, and takes them from those who left: the group, the write grant, and
 * grants that they made through the group's.
 */
export async function syncRights(deps: RightsDeps, tx: Tx, course: LockedCourse): Promise<void> {
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
async function makeInstructor({ cache, events }: RightsDeps, tx: Tx, { userId }: ChangedAccount): Promise<void> {
  const before = await tx.users.find({ id: userId }, { lock: 'update' });
  if (!before?.isActive || before.roles.includes('instructor')) return;
  const [after] = await tx.users.update({ id: userId }, { roles: [...before.roles, 'instructor'] });
  if (!after) return;
  await events.emit(tx, 'user.updated', userUpdated(after, userChanges(before, after)));
  cache.invalidate(tx, USERS_TAG, userTag(after.uuid), PROFILES_TAG);
}
