import type { LaunchGrants } from '../../access/permission-sets.ts';
import { ancestorsOf } from '../../content/model/files/files.sql.ts';
import { makerIsAdmin, MAKER_MAY_SHARE } from '../../content/sharing/shares.sql.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { COURSE_FOLDER } from '../launch/course-folder-name.ts';
import { isCopyOf } from './course-copies.sql.ts';
import { problemOfLink } from './link-problems.policy.ts';
import type { LinkState } from './link-state.ts';

/** Whether `s.created_by` teaches course `g`, and file `f` in folder `d` is below the course's folder. */
const MAKER_TEACHES = `(
  EXISTS (SELECT FROM group_members m WHERE m.group_id = g.id AND m.user_id = s.created_by AND m.role = 'instructor')
  AND (${COURSE_FOLDER}) = ANY (string_to_array(ltree2text(d.ancestry), '.')::bigint[]))`;

/**
 * Returns a query for the link of launch `l` for the user of the parameter `userId`, as JSON. It has no row if the launch has no
 * recorded link.
 */
export const linkState = ({ userId, now }: { readonly userId: string; readonly now: string }): string => `
  SELECT jsonb_build_object(
    'title', k.title, 'isPlaced', k.target IS NOT NULL,
    'fault', CASE WHEN k.fault IS NULL AND k.target IS NOT NULL AND k.key_id IS NULL THEN 'target_key_unknown' ELSE k.fault END,
    'isOfCourse', coalesce(g.platform_id = l.platform_id
      AND (g.context_id = l.context_id OR ${isCopyOf('l.platform_id', 'l.context_id', 'g')}), false),
    'isMember', EXISTS (
      SELECT FROM groups h JOIN group_members m ON m.group_id = h.id
      WHERE h.platform_id = l.platform_id AND h.context_id = l.context_id AND m.user_id = ${userId}),
    'file', CASE WHEN f.id IS NOT NULL THEN jsonb_build_object('uuid', f.uuid, 'name', f.name, 'ownerId', f.owner_id,
      'isTrashed', f.deleted_at IS NOT NULL, 'ancestors', ${ancestorsOf('d')}) END,
    'isMakerActive', coalesce(c.is_active AND NOT c.is_system, false),
    'canMakerShare', coalesce(${MAKER_MAY_SHARE} AND (${makerIsAdmin(now)} OR ${MAKER_TEACHES}), false)) AS state
  FROM lti_resource_links k
  LEFT JOIN files f ON f.uuid = k.file_uuid LEFT JOIN folders d ON d.id = f.folder_id
  LEFT JOIN users c ON c.uuid = k.maker_uuid CROSS JOIN LATERAL (SELECT c.id AS created_by) s
  LEFT JOIN groups g ON g.uuid = k.course_uuid
  WHERE k.tool_id = l.tool_id AND k.deployment_id = l.deployment_id AND k.context_id = coalesce(l.context_id, '')
    AND k.resource_link_id = l.resource_link_id`;

const STATE = `
  SELECT k.state FROM lti_launches l CROSS JOIN LATERAL (${linkState({ userId: '$2', now: '$3' })}) k WHERE l.launch_id = $1`;

/** Returns the rights that the link of a launch gives the person now, in addition to their own grants. One statement. */
export async function grantsOfLaunch(
  sql: Pick<Executor, 'prepared'>,
  launchId: string,
  userId: number,
  now: Date,
): Promise<LaunchGrants> {
  const [row] = await sql.prepared<{ state: LinkState }>('lti-link-state', STATE, [launchId, userId, now]);
  if (!row?.state.isPlaced) return { entries: [], mayChange: false };
  const { file } = row.state;
  return { entries: file && problemOfLink(row.state) === undefined ? [`read:file/${file.uuid}`] : [], mayChange: true };
}
