import type { Executor, Tx } from '../../store/postgres/database.ts';
import type { CourseRole } from '../launch/launch-roles.policy.ts';

/** The launch through which a person hands in or reviews. */
export interface LaunchOfHandIn {
  readonly launchId: string;
  readonly toolId: number;
  readonly platformId: number;
  readonly deploymentId: string;
  readonly contextId: string | null;
  readonly resourceLinkId: string | null;
  readonly lineItem: string | null;
  /** Our ids of the person who launched, and of the person whose hand-in they review. */
  readonly userId: number | null;
  readonly forUserId: number | null;
  readonly isReview: boolean;
  /** The actor's current role in the course. */
  readonly courseRole: CourseRole | 'member' | null;
}

const LAUNCH = `
  SELECT l.launch_id AS "launchId", l.tool_id AS "toolId", l.platform_id AS "platformId", l.deployment_id AS "deploymentId",
    l.context_id AS "contextId",
    l.resource_link_id AS "resourceLinkId", l.ags_lineitem_url AS "lineItem", i.user_id AS "userId", o.user_id AS "forUserId",
    l.for_user IS NOT NULL AS "isReview", m.role AS "courseRole"
  FROM lti_launches l
  LEFT JOIN lti_identities i ON i.platform_id = l.platform_id AND i.subject = l.user_id
  LEFT JOIN lti_identities o ON o.platform_id = l.platform_id AND o.subject = l.for_user
  LEFT JOIN groups g ON g.platform_id = l.platform_id AND g.context_id = l.context_id
  LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = $2
  WHERE l.launch_id = $1`;

/** Takes one statement. */
export async function findLaunchOfHandIn(sql: Executor, launchId: string, userId: number): Promise<LaunchOfHandIn | undefined> {
  const [launch] = await sql.prepared<LaunchOfHandIn>('lti-launch-of-hand-in', LAUNCH, [launchId, userId]);
  return launch;
}

export interface HandInRow {
  readonly uuid: string;
  readonly userUuid: string;
  readonly userName: string | null;
  readonly fileUuid: string;
  readonly version: number;
  readonly handedInAt: Date;
  /** Null: the file was deleted or is in the trash, or the version was deleted. */
  readonly fileName: string | null;
}

/**
 * Selects the last hand-in at the launch's link, or at its line item if the LMS names no link.
 */
const LAST = `
  SELECT h.uuid, u.uuid AS "userUuid", u.display_name AS "userName", h.file_uuid AS "fileUuid", h.version,
    h.handed_in_at AS "handedInAt",
    CASE WHEN v.id IS NOT NULL THEN f.name END AS "fileName"
  FROM lti_hand_ins h JOIN users u ON u.id = h.user_id
  LEFT JOIN files f ON f.uuid = h.file_uuid AND f.deleted_at IS NULL
  LEFT JOIN file_versions v ON v.file_id = f.id AND v.version_number = h.version
  WHERE h.user_id = $1 AND h.tool_id = $2 AND h.deployment_id = $3 AND h.context_id = $4
    AND h.platform_id = $7
    AND CASE WHEN $5::text IS NULL THEN h.line_item = $6 ELSE h.resource_link_id = $5 END
  ORDER BY h.id DESC LIMIT 1`;

/** Takes one statement. */
export async function lastHandIn(sql: Executor, userId: number, at: LaunchOfHandIn): Promise<HandInRow | undefined> {
  const values = [userId, at.toolId, at.deploymentId, at.contextId ?? '', at.resourceLinkId, at.lineItem, at.platformId];
  const [row] = await sql.prepared<HandInRow>('lti-last-hand-in', LAST, values);
  return row;
}

export interface NewHandInRow {
  readonly uuid: string;
  readonly userId: number;
  readonly fileUuid: string;
  readonly version: number;
  readonly now: Date;
}

/** Takes one statement. */
export async function insertHandIn(
  tx: Tx,
  at: LaunchOfHandIn,
  { uuid, userId, fileUuid, version, now }: NewHandInRow,
): Promise<void> {
  await tx.query(
    `INSERT INTO lti_hand_ins (uuid, tool_id, platform_id, deployment_id, context_id, resource_link_id, line_item, user_id,
       file_uuid, version, handed_in_at)
     VALUES ($1, $2, $11, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      uuid,
      at.toolId,
      at.deploymentId,
      at.contextId ?? '',
      at.resourceLinkId,
      at.lineItem,
      userId,
      fileUuid,
      version,
      now,
      at.platformId,
    ],
  );
}
