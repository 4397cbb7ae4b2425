import type { Actor } from '../../api/actor.ts';
import { etagOf } from '../../api/etag.ts';
import { listPage, type Page } from '../../api/paging.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { integerKey, keyset, nameKey } from '../../store/postgres/keyset.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { COURSE_FOLDER } from '../launch/course-folder-name.ts';
import type { CourseRole } from '../launch/launch-roles.policy.ts';
import { CONTEXT_SORT_FIELDS, type ContextQuery, type ContextView } from './contexts.schema.ts';
import { type OfferedServices, servicesOf } from './services.policy.ts';

/** A course as the API shows it. */
export interface ContextRow extends OfferedServices {
  readonly groupId: number;
  /** The registration of the last launch; null: there was no launch. */
  readonly toolId: number | null;
  /** The deployment of the same launch. */
  readonly deploymentId: string | null;
  readonly platformId: number | null;
  readonly uuid: string;
  readonly lmsId: string;
  readonly title: string;
  readonly label: string | null;
  readonly registrationId: string | null;
  readonly folder: { readonly id: string; readonly name: string } | null;
  readonly members: number;
  readonly rosterSyncedAt: Date | null;
}

/** A course with the actor's role in it; null: not a member. */
export interface OwnContextRow extends ContextRow {
  readonly courseRole: CourseRole | 'member' | null;
}

/** Columns of a group `g`, its last launch `l` and its folder `d`. Members are counted only for the rows of the chosen page. */
const COLUMNS = `g.id AS "groupId", l.tool_id AS "toolId", l.deployment_id AS "deploymentId", g.platform_id AS "platformId",
  g.uuid, g.context_id AS "lmsId", g.name AS title, l.label, l.registration_id AS "registrationId",
  CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('id', d.uuid, 'name', d.name) END AS folder,
  (SELECT count(*)::int FROM lti_members n WHERE n.group_id = g.id AND n.is_active) AS members,
  g.roster_synced_at AS "rosterSyncedAt",
  coalesce(l.is_active, false) AS "isActive", l.line_items_url AS "lineItemsUrl", l.line_item_url AS "lineItemUrl",
  coalesce(l.scopes, '{}') AS scopes, l.roster_url AS "rosterUrl"`;

const FROM = `groups g
  LEFT JOIN LATERAL (
    SELECT l.context_label AS label, l.tool_id, l.deployment_id, t.uuid AS registration_id, t.is_active AND p.is_active
      AND t.platform_id = p.id AS is_active,
      l.ags_lineitems_url AS line_items_url, l.ags_lineitem_url AS line_item_url, l.ags_scopes AS scopes, l.nrps_url AS roster_url
    FROM lti_launches l JOIN lti_tools t ON t.id = l.tool_id JOIN lti_platforms p ON p.id = l.platform_id
    WHERE l.platform_id = g.platform_id AND l.context_id = g.context_id
      -- A deep linking request says nothing of services, most often.
      AND (l.resource_link_id IS NOT NULL OR l.ags_lineitems_url IS NOT NULL OR l.nrps_url IS NOT NULL)
    ORDER BY l.id DESC LIMIT 1) l ON true
  LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
  LEFT JOIN folders d ON d.id = c.id`;

const CONTEXT = `
  SELECT ${COLUMNS}, (SELECT m.role FROM group_members m WHERE m.group_id = g.id AND m.user_id = $2) AS "courseRole"
  FROM ${FROM} WHERE g.uuid = $1 AND g.context_id IS NOT NULL`;

const CONTEXTS = keyset<ContextRow, (typeof CONTEXT_SORT_FIELDS)[number] | 'id'>({
  keys: { title: nameKey('g.name', ({ title }) => title), id: integerKey('g.id', ({ groupId }) => groupId) },
  fields: CONTEXT_SORT_FIELDS,
  fallback: 'title',
  tieBreaker: 'id',
});

/** Returns all courses for an administrator, otherwise those that the actor teaches. One statement. */
export const listContexts = (sql: Sql, actor: Actor, query: ContextQuery): Promise<Page<ContextView>> =>
  listPage(sql, query, {
    keyset: CONTEXTS,
    columns: COLUMNS,
    from: FROM,
    where: (params) => [
      'g.context_id IS NOT NULL',
      ...(actor.roles.includes('admin')
        ? []
        : [
            `g.id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = ${params.add(actor.userId)}
               AND m.role = 'instructor')`,
          ]),
    ],
    present: presentContext,
  });

/** Takes one statement. */
export async function findContext(sql: Executor, uuid: string, userId: number): Promise<OwnContextRow | undefined> {
  const [row] = await sql.prepared<OwnContextRow>('lti-context', CONTEXT, [uuid, userId]);
  return row;
}

const NEXT_WITH_ROSTER = `
  SELECT ${COLUMNS} FROM ${FROM} WHERE g.context_id IS NOT NULL AND g.id > $1 AND l.is_active AND l.roster_url IS NOT NULL
    ORDER BY g.id LIMIT 1`;

/** Returns the next course, in the order of group ids, whose last launch names a roster address. One statement. */
export async function nextCourseWithRoster(sql: Sql, after: number): Promise<ContextRow | undefined> {
  const [row] = await sql.query<ContextRow>(NEXT_WITH_ROSTER, [after]);
  return row;
}

/** The tag covers everything shown, because a course has no row of its own with a revision. */
export function presentContext(row: ContextRow): ContextView {
  const shown = {
    id: row.uuid,
    lms_id: row.lmsId,
    title: row.title,
    label: row.label,
    registration_id: row.registrationId,
    folder: row.folder,
    group_id: row.uuid,
    members: row.members,
    services: servicesOf(row),
    roster_synced_at: row.rosterSyncedAt?.toISOString() ?? null,
  };
  return { ...shown, etag: etagOf('context', row.uuid, JSON.stringify(shown)) };
}
