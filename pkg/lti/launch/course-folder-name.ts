import { z } from 'zod';
import { job } from '../../api/job.ts';
import { renameFolder, type RenamingSql } from '../../content/folders/rename-folder.ts';
import type { Moved } from '../../content/folders/move.sql.ts';
import { nameFrom } from '../../content/model/names/names.policy.ts';
import type { Sql } from '../../store/postgres/pool.ts';

/** Leaves space in a folder's name for the group's uuid, which distinguishes two courses with the same title. */
const TITLE_MAX_CHARACTERS = 200;
/** A launch renames at most this many folders and files below a course's folder, which takes about 100 ms; a job renames more. */
const RENAMED_AT_ONCE = 1_000;

/**
 * Renames the folder of a course to its title. `former`: its possible former names; a folder with another name was renamed in
 * Carrel.
 */
export const RENAME_COURSE = job({
  kind: 'course.rename',
  payload: z.object({ group: z.uuid(), former: z.array(z.string().max(300)) }),
});
/** Bounds the former names if an LMS keeps changing titles while a job waits. */
export const MOST_FORMER = 200;

/** The course's folder of group `g`: the system folder that is shared with it. */
export const COURSE_FOLDER = `
  SELECT d.id FROM permissions r JOIN folders d ON d.id = r.resource_id
  WHERE r.group_id = g.id AND r.resource_type = 'folder' AND d.is_system AND d.deleted_at IS NULL
  ORDER BY d.id LIMIT 1`;

/** Two courses may have the same title: then the name of the second course's folder includes the id of its group. */
export const namesOf = (title: string, groupUuid: string): readonly [string, string] => {
  const name = folderName(title);
  return [name, `${name} (${groupUuid})`];
};

/** Returns a title as the name of a folder (pkg/content/model/names), with invalid characters replaced. */
export const folderName = (title: string): string => nameFrom(title, TITLE_MAX_CHARACTERS) ?? 'Course';

/** Renames the folder of a course to its title, if it has one of the `former` names. Returns undefined if it keeps its name. */
export const renameCourseFolder = (
  sql: RenamingSql,
  folder: string,
  { title, group, former, now }: { title: string; group: string; former: readonly string[]; now: Date },
): Promise<Moved | undefined> => {
  const names = namesOf(title, group);
  return renameFolder(sql, folder, { names, isWanted: (name) => former.includes(name) && !names.includes(name), now });
};

/** Returns the names that the course's folder had when its unfinished rename jobs were requested. */
export async function formerNamesOfJobs(sql: Pick<Sql, 'query'>, group: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT DISTINCT n.name FROM carrel.work w CROSS JOIN jsonb_array_elements_text(w.payload -> 'former') n (name)
     WHERE w.queue = $1 AND w.tenant = current_user AND w.kind = $2 AND w.payload ->> 'group' = $3`,
    [RENAME_COURSE.queue, RENAME_COURSE.kind, group],
  );
  return rows.map(({ name }) => name);
}

/**
 * Returns whether a folder has too many folders and files below it for a launch to wait for their renaming. Reads no more of them
 * than the limit.
 */
export async function isLarge(sql: Pick<Sql, 'query'>, folderId: number): Promise<boolean> {
  const [row] = await sql.query<{ isLarge: boolean }>(
    `WITH below AS MATERIALIZED (
       SELECT b.id FROM folders d JOIN folders b ON b.ancestry <@ d.ancestry WHERE d.id = $1 LIMIT $2 + 1)
     SELECT (SELECT count(*) FROM below) > $2
       OR (SELECT count(*) FROM (SELECT FROM below JOIN files f ON f.folder_id = below.id LIMIT $2 + 1) f) > $2 AS "isLarge"`,
    [folderId, RENAMED_AT_ONCE],
  );
  return row?.isLarge === true;
}
