import { listPage, type Page } from '../../api/paging.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { keyset, nameKey, textKey } from '../../store/postgres/keyset.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { SYNC_ROSTER } from '../../tasks/roster-tasks.ts';
import { TASK_COLUMNS, type TaskRow } from '../../tasks/tasks.sql.ts';
import type { CourseRole } from '../launch/launch-roles.policy.ts';
import type { LaunchMessage } from '../launch/id-token.ts';
import { roleUris } from '../launch/launch-roles.policy.ts';
import type { Profile } from '../launch/profile.ts';
import { MEMBER_SORT_FIELDS, type MemberQuery, type MemberView } from './members.schema.ts';

interface MemberRow {
  readonly subject: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly role: CourseRole;
  readonly isActive: boolean;
  readonly source: 'launch' | 'roster';
  readonly lastLaunchAt: Date | null;
  readonly user: { readonly id: string; readonly name: string | null } | null;
}

const COLUMNS = `m.subject, m.name, m.email, m.roles, m.role, m.is_active AS "isActive", m.source,
  (SELECT l.launched_at FROM lti_launches l WHERE l.platform_id = g.platform_id AND l.user_id = m.subject
    AND l.context_id = g.context_id
    ORDER BY l.id DESC LIMIT 1) AS "lastLaunchAt",
  (SELECT jsonb_build_object('id', u.uuid, 'name', u.display_name) FROM lti_identities i JOIN users u ON u.id = i.user_id
    WHERE i.platform_id = g.platform_id AND i.subject = m.subject) AS user`;

/** People without a name come first. */
const MEMBERS = keyset<MemberRow, (typeof MEMBER_SORT_FIELDS)[number] | 'subject'>({
  keys: {
    name: nameKey(`(coalesce(m.name, ''))`, ({ name }) => name ?? ''),
    subject: textKey('m.subject', ({ subject }) => subject),
  },
  fields: MEMBER_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'subject',
});

const PART = /[\\%_]/g;

/** Takes one statement. */
export const listMembers = (sql: Sql, groupId: number, { role, q, ...query }: MemberQuery): Promise<Page<MemberView>> =>
  listPage(sql, query, {
    keyset: MEMBERS,
    columns: COLUMNS,
    from: 'lti_members m JOIN groups g ON g.id = m.group_id',
    where: (params) => {
      const like = q === undefined ? undefined : params.add(`%${q.replaceAll(PART, String.raw`\$&`)}%`);
      return [
        `m.group_id = ${params.add(groupId)}`,
        ...(role === undefined ? [] : [`m.role = ${params.add(role)}`]),
        ...(like === undefined ? [] : [`(m.name ILIKE ${like} OR m.email ILIKE ${like})`]),
      ];
    },
    present: ({ subject, name, email, roles, role: courseRole, isActive, source, lastLaunchAt, user }) => ({
      lms_user_id: subject,
      user,
      name,
      email,
      roles: [...roles],
      role: courseRole,
      status: isActive ? 'active' : 'inactive',
      source,
      last_launch_at: lastLaunchAt?.toISOString() ?? null,
    }),
  });

/** A person who launches is in the course, whatever an earlier roster said. Values that the LMS does not send stay unchanged. */
const LAUNCHED = `
  INSERT INTO lti_members AS m (group_id, subject, name, email, roles, role, source)
  SELECT g.id, $3, $4, $5, $6, $7, 'launch' FROM groups g WHERE g.platform_id = $1 AND g.context_id = $2
  ON CONFLICT (group_id, subject) DO UPDATE SET name = coalesce(excluded.name, m.name), email = coalesce(excluded.email, m.email),
    roles = excluded.roles, role = excluded.role, source = CASE WHEN m.is_active THEN m.source ELSE 'launch' END,
    is_active = true`;

/** Takes one statement. */
export async function writeLaunchedMember(
  tx: Executor,
  at: { readonly platformId: number; readonly contextId: string; readonly role: CourseRole },
  { subject, roles }: Pick<LaunchMessage, 'subject' | 'roles'>,
  { name = null, email = null }: { readonly [K in keyof Profile]?: Profile[K] | null },
): Promise<void> {
  await tx.query(LAUNCHED, [at.platformId, at.contextId, subject, name, email, roleUris(roles), at.role]);
}

/** Returns this person's queued job that will import the roster. */
export async function findQueuedSync(tx: Sql, userId: number, context: string): Promise<TaskRow | undefined> {
  const [task] = await tx.query<TaskRow>(
    `SELECT ${TASK_COLUMNS} FROM tasks t
     WHERE t.user_id = $1 AND t.kind = $2 AND t.state = 'queued' AND t.arguments ->> 'context' = $3 ORDER BY t.id DESC LIMIT 1`,
    [userId, SYNC_ROSTER.name, context],
  );
  return task;
}
