import { processor } from '../../events/processor.ts';
import { FOLDERS_TAG } from '../../content/model/content.tags.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { COURSE_FOLDER, RENAME_COURSE, renameCourseFolder } from './course-folder-name.ts';

interface Course {
  readonly title: string;
  readonly folder: string;
}

/**
 * Renames the folder of a course that is too large for a launch. One transaction: readers see all the former names and paths
 * until it commits, then all the new ones; an upload into the course waits for its end. Each live file below emits an event
 * file.updated.
 *
 * The job reads the title when it begins, so each of several jobs uses the title of its time, in whatever order they run.
 */
export const renameCourse = processor({
  job: RENAME_COURSE,
  create:
    ({ clock, events }) =>
    async ({ transaction, cache }, { group, former }) =>
      transaction(async (tx) => {
        const course = await findCourse(tx, group);
        if (!course) return;
        const { title, folder } = course;
        const renamed = await renameCourseFolder(tx, folder, { title, group, former, now: clock.now() });
        if (!renamed) return;
        cache.invalidate(tx, FOLDERS_TAG);
        if (renamed.deliveries > 0) events.notifyAfterCommit(tx);
      }),
});

async function findCourse(tx: Sql, group: string): Promise<Course | undefined> {
  const [course] = await tx.query<Course>(
    `SELECT coalesce(g.lms_title, g.name) AS title, (SELECT d.uuid FROM folders d WHERE d.id = c.id) AS folder
     FROM groups g CROSS JOIN LATERAL (${COURSE_FOLDER}) c WHERE g.uuid = $1`,
    [group],
  );
  return course;
}
