import type { Tx } from '../../store/postgres/database.ts';
import { type RightsDeps, syncRights } from './course-rights.ts';
import { countMembers, importEntries, lockCourse, type RosterCounts } from './import-roster.sql.ts';

export interface ImportedRoster extends RosterCounts {
  readonly members: number;
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
export async function importRoster(deps: RightsDeps, tx: Tx, roster: ReadRoster): Promise<ImportedRoster> {
  const course = await lockCourse(tx, roster.groupId);
  const isOutdated = !course || (course.syncedAt !== null && course.syncedAt >= roster.readAt);
  const counts = isOutdated ? { added: 0, changed: 0, removed: 0 } : await importEntries(tx, course, roster);
  if (!isOutdated) await syncRights(deps, tx, course);
  return { ...counts, members: await countMembers(tx, roster.groupId) };
}
