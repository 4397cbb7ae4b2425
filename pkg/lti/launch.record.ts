import type { Role } from '../api/actor.ts';
import type { Executor } from '../store/postgres/database.ts';
import type { CourseRole } from './roles.policy.ts';

/** What is known already of a launch: its registration, the person, the course. Null: not yet. */
export interface Known {
  readonly toolId: number;
  readonly platformId: number;
  readonly clientId: string;
  readonly toolUrl: string;
  readonly issuer: string;
  readonly jwksEndpoint: string;
  readonly isActive: boolean;
  readonly isDeployed: boolean;
  readonly userId: number | null;
  readonly userUuid: string | null;
  readonly userRoles: readonly Role[] | null;
  readonly userIsActive: boolean | null;
  /** What the platform said of the person and of the course last. */
  readonly nameSaid: string | null;
  readonly emailSaid: string | null;
  readonly titleSaid: string | null;
  readonly courseRole: CourseRole | 'member' | null;
  readonly folderId: number | null;
  readonly mayWrite: boolean;
}

/** The course's folder of group `g`: the system folder that is shared with it. */
export const COURSE_FOLDER = `
  SELECT d.id FROM permissions r JOIN folders d ON d.id = r.resource_id
  WHERE r.group_id = g.id AND r.resource_type = 'folder' AND d.is_system AND d.deleted_at IS NULL
  ORDER BY d.id LIMIT 1`;

const KNOWN = `
  SELECT t.id AS "toolId", p.id AS "platformId", t.client_id AS "clientId", t.tool_url AS "toolUrl", p.issuer, p.jwks_endpoint AS "jwksEndpoint",
    t.is_active AND p.is_active AS "isActive",
    EXISTS (SELECT FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id AND d.deployment_id = $2) AS "isDeployed",
    u.id AS "userId", u.uuid AS "userUuid", u.roles AS "userRoles", u.is_active AS "userIsActive",
    i.name_said AS "nameSaid", i.email_said AS "emailSaid", g.title_said AS "titleSaid", m.role AS "courseRole", c.id AS "folderId",
    EXISTS (SELECT FROM permissions w WHERE w.resource_type = 'folder' AND w.resource_id = c.id AND w.user_id = u.id) AS "mayWrite"
  FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  LEFT JOIN lti_identities i ON i.platform_id = p.id AND i.subject = $3
  LEFT JOIN users u ON u.id = i.user_id
  LEFT JOIN groups g ON g.platform_id = p.id AND g.context_id = $4
  LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = u.id
  LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
  WHERE t.id = $1`;

/** One statement. */
export async function findKnown(
  sql: Executor,
  toolId: number,
  { deploymentId, subject, contextId }: { deploymentId: string; subject: string; contextId: string },
): Promise<Known | undefined> {
  const [row] = await sql.prepared<Known>('lti-known', KNOWN, [toolId, deploymentId, subject, contextId]);
  return row;
}
