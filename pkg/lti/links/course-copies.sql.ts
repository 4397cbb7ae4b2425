import type { Tx } from '../../store/postgres/database.ts';

/**
 * Records which courses are copies of which: members of the copy get the rights of the links that were copied with it
 * (docs/decisions/lti.md, Copies of courses). A copy of a copy is also a copy of the first course.
 */

/**
 * Returns the SQL condition that the course with context `context` of platform `platform` is a copy of course `g`, a group of
 * that platform.
 */
export const isCopyOf = (platform: string, context: string, g: string): string =>
  `EXISTS (SELECT FROM lti_course_copies y WHERE y.platform_id = ${platform} AND y.context_id = ${context}
     AND y.origin_id = ${g}.context_id)`;

const ADOPT = `
  INSERT INTO lti_course_copies (platform_id, context_id, origin_id, adopted_by)
  SELECT g.platform_id, $2::text, g.context_id, $4::bigint FROM groups g
  WHERE g.uuid = $3 AND g.platform_id = $1 AND g.context_id <> $2 AND EXISTS (
    SELECT FROM group_members m JOIN groups t ON t.id = m.group_id
    WHERE m.user_id = $4 AND m.role = 'instructor' AND t.platform_id = $1 AND t.context_id <> $2
      AND (t.id = g.id OR ${isCopyOf('t.platform_id', 't.context_id', 'g')}))
  ON CONFLICT DO NOTHING`;

/**
 * Records a course as a copy of the one that a link was placed in (`origin`, our id), if this instructor also teaches that course
 * or a copy of it. One statement.
 */
export async function adoptCourse(
  tx: Tx,
  { platformId, contextId, origin, userId }: { platformId: number; contextId: string; origin: string; userId: number },
): Promise<void> {
  await tx.query(ADOPT, [platformId, contextId, origin, userId]);
}

const ADOPT_BY_WORD = `
  INSERT INTO lti_course_copies (platform_id, context_id, origin_id)
  SELECT g.platform_id, $2::text, g.context_id FROM groups g
  WHERE g.uuid = $3 AND g.platform_id = $1 AND g.context_id <> $2 AND g.context_id = ANY ($4::text[])
  ON CONFLICT DO NOTHING`;

/**
 * Records the copy if the platform says in the launch which courses this one is a copy of: `history`, by the platform's ids. One
 * statement.
 */
export async function adoptByWord(
  tx: Tx,
  {
    platformId,
    contextId,
    origin,
    history,
  }: { platformId: number; contextId: string; origin: string; history: readonly string[] },
): Promise<void> {
  await tx.query(ADOPT_BY_WORD, [platformId, contextId, origin, history]);
}

/** Copies of the copy that are already known also get its origins: notices may arrive in any order. */
const COPIED = `
  WITH said AS (SELECT unnest($3::text[]) AS id),
  origin AS (SELECT id FROM said UNION SELECT y.origin_id FROM lti_course_copies y JOIN said ON y.platform_id = $1
    AND y.context_id = said.id),
  copy AS (SELECT $2::text AS id UNION SELECT y.context_id FROM lti_course_copies y WHERE y.platform_id = $1 AND y.origin_id = $2)
  INSERT INTO lti_course_copies (platform_id, context_id, origin_id)
  SELECT $1::integer, copy.id, origin.id FROM copy CROSS JOIN origin WHERE copy.id <> origin.id ORDER BY 2, 3
  ON CONFLICT DO NOTHING`;

/**
 * Records the platform's statement that `contextId` is a copy of these courses. Locks the platform, so that each call sees the
 * copies of earlier ones. Two statements.
 */
export async function markCopied(tx: Tx, platformId: number, contextId: string, origins: readonly string[]): Promise<void> {
  await tx.query('SELECT FROM lti_platforms WHERE id = $1 FOR NO KEY UPDATE', [platformId]);
  await tx.query(COPIED, [platformId, contextId, origins]);
}
