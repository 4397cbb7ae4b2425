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

/** A roster that was read whole. */
export interface ReadRoster {
  readonly groupId: number;
  /** Of the task whose entries it is. */
  readonly taskId: number;
  /** When its reading began. */
  readonly readAt: Date;
}

/**
 * Takes over a roster that was read whole: who is in the course, and what of it their accounts have. All of it in `tx`, or
 * nothing.
 *
 * Invariants:
 * - A roster whose reading began before that of the one taken over last changes nothing.
 * - Whoever is in the course no more has nothing by it from the commit on: neither the group, nor the grant to write, nor what
 *   they granted by the group's.
 * - An account gets no role but `instructor` by a roster, and that only when its role in the course becomes that: so an
 *   administrator may take it away.
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

/** As a launch in that role does. */
async function makeInstructor({ cache, events }: Deps, tx: Tx, { userId }: ChangedAccount): Promise<void> {
  const before = await tx.users.find({ id: userId }, { lock: 'update' });
  if (!before?.isActive || before.roles.includes('instructor')) return;
  const [after] = await tx.users.update({ id: userId }, { roles: [...before.roles, 'instructor'] });
  if (!after) return;
  await events.emit(tx, 'user.updated', userUpdated(after, userChanges(before, after)));
  cache.invalidate(tx, USERS_TAG, userTag(after.uuid), PROFILES_TAG);
}
