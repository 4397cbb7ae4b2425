import { processor } from '../../api/processor.ts';
import { clearCaches, withoutPreparing } from '../../content/trash/empty-trash.processor.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { WAKE_CHANNEL } from '../../store/redis/redis.ts';
import { COURSE_FOLDER, RENAME_COURSE, renameCourseFolder } from './course-folder.ts';

interface Course {
  readonly title: string;
  readonly folder: string;
}

/**
 * Renames the folder of a course that is too large for a launch. One transaction: whoever reads meanwhile finds the former name and the former paths,
 * and then all of the new ones; an upload into the course waits for its end. Each live file below is an event file.updated.
 *
 * The title is read when the job begins, so of several jobs each gives the folder the title of its time, whichever comes first.
 */
export const renameCourse = processor({
  job: RENAME_COURSE,
  create:
    ({ clock }) =>
    async ({ transaction, redis }, { group, former }) => {
      const moved = await transaction(async (tx) => {
        const course = await findCourse(tx, group);
        if (!course) return undefined;
        const renamed = await renameCourseFolder(withoutPreparing(tx), course.folder, {
          title: course.title,
          group,
          former,
          now: clock.now(),
        });
        if (renamed) await clearCaches(tx);
        return renamed;
      });
      if (moved && moved.deliveries > 0) await redis.publish(WAKE_CHANNEL, '').catch(() => undefined);
    },
});

async function findCourse(tx: Sql, group: string): Promise<Course | undefined> {
  const [course] = await tx.query<Course>(
    `SELECT coalesce(g.title_said, g.name) AS title, (SELECT d.uuid FROM folders d WHERE d.id = c.id) AS folder
     FROM groups g CROSS JOIN LATERAL (${COURSE_FOLDER}) c WHERE g.uuid = $1`,
    [group],
  );
  return course;
}
