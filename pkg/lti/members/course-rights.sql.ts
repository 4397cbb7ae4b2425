import type { Role } from '../../api/actor.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { CourseRole } from '../launch/launch-roles.policy.ts';
import type { LockedCourse } from './import-roster.sql.ts';

/* OFFSET 0: as in import-roster.sql.ts. */

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
