import type { Actor } from '../../api/actor.ts';
import { listPage, type Page } from '../../api/paging.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { integerKey, keyset, timeKey } from '../../store/postgres/keyset.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { COURSE_FOLDER } from './course-folder-name.ts';
import { LAUNCH_SORT_FIELDS, type LaunchQuery, type LaunchView } from './launch-view.schema.ts';
import { linkState } from '../links/link-state.sql.ts';
import type { LinkState } from '../links/link-state.ts';
import type { CourseRole } from './launch-roles.policy.ts';

/** A launch `l` with the actor's role in its course. */
export interface LaunchRow {
  readonly id: number;
  readonly launchId: string;
  readonly roles: string[];
  readonly contextId: string | null;
  readonly contextTitle: string | null;
  readonly courseUuid: string | null;
  readonly resourceLinkId: string | null;
  readonly lineItem: string | null;
  readonly scopes: readonly string[];
  readonly returnUrl: string | null;
  readonly launchedAt: Date;
  readonly expiresAt: Date | null;
  readonly userId: number | null;
  readonly userUuid: string | null;
  readonly userName: string | null;
  readonly courseRole: CourseRole | 'member' | null;
  readonly isReview: boolean;
  /** The state of its link for the person who launched. */
  readonly link: LinkState | null;
  readonly folder: { readonly uuid: string; readonly name: string; readonly ownerId: number } | null;
}

const COLUMNS = `l.id, l.launch_id AS "launchId", l.roles, l.context_id AS "contextId", g.name AS "contextTitle",
  g.uuid AS "courseUuid",
  l.resource_link_id AS "resourceLinkId", l.ags_lineitem_url AS "lineItem", l.ags_scopes AS scopes, l.return_url AS "returnUrl",
  l.launched_at AS "launchedAt",
  l.expires_at AS "expiresAt", u.id AS "userId", u.uuid AS "userUuid", u.display_name AS "userName", m.role AS "courseRole",
  CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('uuid', d.uuid, 'name', d.name, 'ownerId', d.owner_id) END AS folder,
    k.state AS link,
  l.for_user IS NOT NULL AS "isReview"`;

/** `me` and `now` are SQL expressions of the actor's id and of the time. */
const from = (me: string, now: string): string => `lti_launches l
  LEFT JOIN lti_identities i ON i.platform_id = l.platform_id AND i.subject = l.user_id
  LEFT JOIN users u ON u.id = i.user_id
  LEFT JOIN groups g ON g.platform_id = l.platform_id AND g.context_id = l.context_id
  LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = ${me}
  LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
  LEFT JOIN folders d ON d.id = c.id
  LEFT JOIN LATERAL (${linkState({ userId: 'u.id', now })}) k ON true`;

const LAUNCH = `SELECT ${COLUMNS} FROM ${from('$2', '$3')} WHERE l.launch_id = $1`;

/** Takes one statement. */
export async function findLaunch(
  sql: Executor,
  launchId: string,
  by: { userId: number; now: Date },
): Promise<LaunchRow | undefined> {
  const [row] = await sql.prepared<LaunchRow>('lti-launch', LAUNCH, [launchId, by.userId, by.now]);
  return row;
}

const LAUNCHES = keyset<LaunchRow, (typeof LAUNCH_SORT_FIELDS)[number] | 'id'>({
  keys: { launched_at: timeKey('l.launched_at', ({ launchedAt }) => launchedAt), id: integerKey('l.id', ({ id }) => id) },
  fields: LAUNCH_SORT_FIELDS,
  fallback: '-launched_at',
  tieBreaker: 'id',
});

/** Returns all launches for an administrator, otherwise those of the courses that the actor teaches. One statement. */
export const listLaunches = (
  sql: Sql,
  { actor, now }: { actor: Actor; now: Date },
  { context_id, user_id, after, before, ...query }: LaunchQuery,
  present: (row: LaunchRow) => LaunchView,
): Promise<Page<LaunchView>> =>
  listPage(sql, query, {
    keyset: LAUNCHES,
    columns: COLUMNS,
    from: from(String(actor.userId), `timestamptz '${now.toISOString()}'`),
    where: (params) => [
      ...(actor.roles.includes('admin') ? [] : [`m.role = 'instructor'`]),
      ...(context_id === undefined ? [] : [`g.uuid = ${params.add(context_id)}`]),
      ...(user_id === undefined ? [] : [`u.uuid = ${params.add(user_id)}`]),
      ...(after === undefined ? [] : [`l.launched_at > ${params.add(after)}`]),
      ...(before === undefined ? [] : [`l.launched_at < ${params.add(before)}`]),
    ],
    present,
  });
