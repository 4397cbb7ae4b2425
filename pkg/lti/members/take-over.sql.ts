import type { Role } from '../../api/actor.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { COURSE_FOLDER } from '../launch/course-folder.ts';
import { OUTSIDERS } from '../launch/launch-roles.policy.ts';
import type { CourseRole } from '../launch/launch-roles.policy.ts';

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
const TAKE_OVER = `
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
export async function takeOverEntries(
  tx: Sql,
  course: LockedCourse,
  { taskId, readAt }: { taskId: number; readAt: Date },
): Promise<RosterCounts> {
  const { groupId, platformId, lmsId } = course;
  const [counts] = await tx.query<RosterCounts>(TAKE_OVER, [groupId, taskId, platformId, lmsId, readAt, OUTSIDERS]);
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

/** Accounts of people who are in the course, with the highest role of their identities there. */
const PEOPLE = `
  SELECT i.user_id, min(m.role) AS role
  FROM lti_members m CROSS JOIN LATERAL (SELECT i.user_id FROM lti_identities i WHERE i.platform_id = $2
    AND i.subject = m.subject OFFSET 0) i
  WHERE m.group_id = $1 AND m.is_active GROUP BY i.user_id`;

/** An account whose membership in the group of a course changes. */
export interface ChangedAccount {
  readonly userId: number;
  readonly uuid: string;
  readonly roles: readonly Role[];
  readonly role: CourseRole;
}

/**
 * Returns accounts that are in the group but no longer in the course, and locks their memberships. Members without an account at
 * this LMS are not affected.
 */
export const lockLeaving = (tx: Sql, { groupId, platformId }: LockedCourse): Promise<Pick<ChangedAccount, 'userId' | 'uuid'>[]> =>
  tx.query(
    `SELECT g.user_id AS "userId", u.uuid FROM group_members g JOIN users u ON u.id = g.user_id
     WHERE g.group_id = $1 AND EXISTS (SELECT FROM lti_identities i WHERE i.platform_id = $2 AND i.user_id = g.user_id OFFSET 0)
       AND g.user_id NOT IN (SELECT p.user_id FROM (${PEOPLE}) p)
     ORDER BY g.user_id FOR UPDATE OF g`,
    [groupId, platformId],
  );

/** Returns grants that these members made through the group's grant. */
export const givenThrough = async (tx: Sql, groupId: number, userIds: readonly number[]): Promise<number[]> =>
  (
    await tx.query<{ id: number }>(
      'SELECT p.id FROM permissions p JOIN permissions s ON s.id = p.granted_through WHERE s.group_id = $1 AND p.granted_by ' +
        '= ANY ($2::bigint[])',
      [groupId, userIds],
    )
  ).map(({ id }) => id);

export const deleteMemberships = (tx: Sql, groupId: number, userIds: readonly number[]): Promise<unknown> =>
  tx.query('DELETE FROM group_members WHERE group_id = $1 AND user_id = ANY ($2::bigint[])', [groupId, userIds]);

/** Adds accounts of people in the course to its group. Returns those that were not in it, or had another role there. */
export const writeMemberships = (tx: Sql, { groupId, platformId }: LockedCourse): Promise<ChangedAccount[]> =>
  tx.query<ChangedAccount>(
    `WITH written AS (
       INSERT INTO group_members AS g (group_id, user_id, role) SELECT $1, p.user_id, p.role FROM (${PEOPLE}) p ORDER BY p.user_id
       ON CONFLICT (group_id, user_id) DO UPDATE SET role = excluded.role WHERE g.role <> excluded.role RETURNING user_id, role)
     SELECT u.id AS "userId", u.uuid, u.roles, w.role FROM written w JOIN users u ON u.id = w.user_id ORDER BY u.id`,
    [groupId, platformId],
  );

/** Deletes the accounts' right from the course beyond the group: the system's write grant. */
export const deleteWriteGrants = (tx: Sql, { folderId, systemId }: LockedCourse, userIds: readonly number[]): Promise<unknown> =>
  tx.query(
    `DELETE FROM permissions WHERE resource_type = 'folder' AND resource_id = $1 AND granted_by = $2
       AND user_id = ANY ($3::bigint[])`,
    [folderId, systemId, userIds],
  );

/** Skips accounts with their own grant on the folder. */
export const addWriteGrants = (tx: Sql, { folderId, systemId }: LockedCourse, userIds: readonly number[]): Promise<unknown> =>
  tx.query(
    `INSERT INTO permissions (uuid, resource_type, resource_id, user_id, permission_level, granted_by)
     SELECT gen_random_uuid(), 'folder', $1, u.id, 'write', $2 FROM unnest($3::bigint[]) AS u (id)
     WHERE NOT EXISTS (SELECT FROM permissions p WHERE p.resource_type = 'folder' AND p.resource_id = $1 AND p.user_id = u.id)`,
    [folderId, systemId, userIds],
  );
