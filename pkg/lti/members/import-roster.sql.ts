import type { Sql } from '../../store/postgres/pool.ts';
import { COURSE_FOLDER } from '../launch/course-folder-name.ts';
import { OUTSIDERS } from '../launch/launch-roles.policy.ts';

/** A locked course whose roster is being imported. */
export interface LockedCourse {
  readonly groupId: number;
  readonly platformId: number | null;
  readonly lmsId: string;
  readonly folderId: number | null;
  readonly systemId: number;
  /** Start of reading the roster that was last imported. */
  readonly syncedAt: Date | null;
}

/** How many memberships differ. */
export interface RosterCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** Waits for launches that change the course; they then wait for the end of the transaction. */
export async function lockCourse(tx: Sql, groupId: number): Promise<LockedCourse | undefined> {
  await tx.query('SELECT FROM groups WHERE id = $1 FOR UPDATE', [groupId]);
  const [course] = await tx.query<LockedCourse>(
    `SELECT g.id AS "groupId", g.platform_id AS "platformId", g.context_id AS "lmsId", c.id AS "folderId",
       g.roster_synced_at AS "syncedAt",
       (SELECT u.id FROM users u WHERE u.is_system) AS "systemId"
     FROM groups g LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true WHERE g.id = $1`,
    [groupId],
  );
  return course;
}

/*
 * OFFSET 0 makes Postgres look up each row separately, through an index. The planner's statistics do not yet contain the rows
 * just written: it assumes two or three entries and members, and would compare each of 100,000 with each of the others.
 */

/**
 * If a person has several entries, the active one counts, then the instructor's. Two groups stay in the course without being in
 * the roster: people who launched after its reading began and, while the session of their launch lasts, people who may launch
 * without being in a roster (OUTSIDERS).
 */
const IMPORT = `
  WITH wanted AS (
    SELECT DISTINCT ON (subject) subject, name, email, roles, role, is_active FROM lti_roster_entries WHERE task_id = $2
      ORDER BY subject, is_active DESC, role),
  compared AS (
    SELECT w.*, m.source, coalesce(m.is_active, false) AS was_active,
      (coalesce(w.name, m.name), coalesce(w.email, m.email), w.roles, w.role) IS DISTINCT FROM (m.name, m.email, m.roles,
        m.role::text) AS differs
    FROM wanted w LEFT JOIN LATERAL (
      SELECT m.name, m.email, m.roles, m.role, m.is_active, m.source FROM lti_members m WHERE m.group_id = $1
        AND m.subject = w.subject OFFSET 0) m ON true),
  written AS (
    INSERT INTO lti_members AS m (group_id, subject, name, email, roles, role, is_active, source)
    SELECT $1, subject, name, email, roles, role, is_active, 'roster' FROM compared
    WHERE differs OR is_active <> was_active OR source IS DISTINCT FROM 'roster'
    ON CONFLICT (group_id, subject) DO UPDATE SET name = coalesce(excluded.name, m.name),
      email = coalesce(excluded.email, m.email),
      roles = excluded.roles, role = excluded.role, is_active = excluded.is_active, source = excluded.source),
  gone AS (
    UPDATE lti_members m SET is_active = false
    WHERE m.group_id = $1 AND m.is_active AND NOT EXISTS (SELECT FROM lti_roster_entries e
      WHERE e.task_id = $2 AND e.subject = m.subject OFFSET 0)
      AND NOT EXISTS (
        SELECT FROM lti_launches l WHERE l.platform_id = $3 AND l.user_id = m.subject AND l.context_id = $4
          AND (l.launched_at >= $5 OR m.source = 'launch' AND l.expires_at > $5 AND l.roles && $6::text[])
        OFFSET 0)
    RETURNING 1)
  SELECT (SELECT count(*)::int FROM compared WHERE is_active AND NOT was_active) AS added,
    (SELECT count(*)::int FROM compared WHERE is_active AND was_active AND differs) AS changed,
    (SELECT count(*)::int FROM compared WHERE NOT is_active AND was_active) + (SELECT count(*)::int FROM gone) AS removed`;

/** Writes the people of the course from the entries of the task. `readAt`: the start of their reading. */
export async function importEntries(
  tx: Sql,
  course: LockedCourse,
  { taskId, readAt }: { taskId: number; readAt: Date },
): Promise<RosterCounts> {
  const { groupId, platformId, lmsId } = course;
  const [counts] = await tx.query<RosterCounts>(IMPORT, [groupId, taskId, platformId, lmsId, readAt, OUTSIDERS]);
  await tx.query('UPDATE groups SET roster_synced_at = $2 WHERE id = $1', [groupId, readAt]);
  return counts ?? { added: 0, changed: 0, removed: 0 };
}

export async function countMembers(tx: Sql, groupId: number): Promise<number> {
  const [row] = await tx.query<{ members: number }>(
    'SELECT count(*)::int AS members FROM lti_members WHERE group_id = $1 AND is_active',
    [groupId],
  );
  return row?.members ?? 0;
}
