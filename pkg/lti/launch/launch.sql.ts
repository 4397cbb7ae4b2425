import type { SessionOrigin } from '../../access/sessions.ts';
import type { Role } from '../../api/actor.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import type { LaunchMessage } from './id-token.ts';
import { LaunchError } from '../launch-error.ts';
import { type CourseRole, roleOf } from './roles.policy.ts';

/** The rows that a launch refers to: its registration, and the user and the course if an earlier launch created them. */
export interface LaunchContext {
  readonly registration: LaunchRegistration;
  readonly user?: LaunchUser;
  readonly course?: LaunchCourse;
}

export interface LaunchRegistration {
  readonly toolId: number;
  readonly platformId: number;
  readonly clientId: string;
  readonly toolUrl: string;
  readonly issuer: string;
  readonly jwksEndpoint: string;
  readonly isActive: boolean;
  /** Whether the registration lists the launch's deployment id. */
  readonly isDeployed: boolean;
}

/** The user that the platform's `sub` was mapped to. */
export interface LaunchUser {
  readonly id: number;
  readonly uuid: string;
  readonly roles: readonly Role[];
  readonly isActive: boolean;
  /** Name and e-mail address in the previous launch's id_token. */
  readonly platformName: string | null;
  readonly platformEmail: string | null;
  /** Whether the previous release stored the LMS's address as the account's own. */
  readonly hasPlatformAddress: boolean;
}

/** The group of the launch's context, and what the user may do in it. */
export interface LaunchCourse {
  /** The title in the previous launch's id_token. */
  readonly platformTitle: string | null;
  /** Null: the user is not a member. */
  readonly role: CourseRole | 'member' | null;
  /** Null: the folder was deleted. */
  readonly folderId: number | null;
  readonly mayWrite: boolean;
}

interface LaunchContextRow extends LaunchRegistration {
  readonly userId: number | null;
  readonly userUuid: string;
  readonly userRoles: readonly Role[];
  readonly userIsActive: boolean;
  readonly platformName: string | null;
  readonly platformEmail: string | null;
  readonly hasPlatformAddress: boolean;
  readonly groupId: number | null;
  readonly platformTitle: string | null;
  readonly courseRole: CourseRole | 'member' | null;
  readonly folderId: number | null;
  readonly mayWrite: boolean;
}

/** The course's folder of group `g`: the system folder that is shared with it. */
export const COURSE_FOLDER = `
  SELECT d.id FROM permissions r JOIN folders d ON d.id = r.resource_id
  WHERE r.group_id = g.id AND r.resource_type = 'folder' AND d.is_system AND d.deleted_at IS NULL
  ORDER BY d.id LIMIT 1`;

const LAUNCH_CONTEXT = `
  SELECT t.id AS "toolId", p.id AS "platformId", t.client_id AS "clientId", t.tool_url AS "toolUrl", p.issuer, p.jwks_endpoint AS "jwksEndpoint",
    t.is_active AND p.is_active AS "isActive",
    EXISTS (SELECT FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id AND d.deployment_id = $2) AS "isDeployed",
    u.id AS "userId", u.uuid AS "userUuid", u.roles AS "userRoles", u.is_active AS "userIsActive",
    i.name_said AS "platformName", i.email_said AS "platformEmail", i.email_given IS NOT NULL AS "hasPlatformAddress",
    g.id AS "groupId", g.title_said AS "platformTitle", m.role AS "courseRole", c.id AS "folderId",
    EXISTS (SELECT FROM permissions w WHERE w.resource_type = 'folder' AND w.resource_id = c.id AND w.user_id = u.id) AS "mayWrite"
  FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  LEFT JOIN lti_identities i ON i.platform_id = p.id AND i.subject = $3
  LEFT JOIN users u ON u.id = i.user_id
  LEFT JOIN groups g ON g.platform_id = p.id AND g.context_id = $4
  LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = u.id
  LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
  WHERE t.id = $1`;

/** One statement. undefined: the registration was deleted. */
export async function findLaunchContext(
  sql: Executor,
  toolId: number,
  { deploymentId, subject, contextId }: { deploymentId: string; subject: string; contextId: string },
): Promise<LaunchContext | undefined> {
  const values = [toolId, deploymentId, subject, contextId];
  const [row] = await sql.prepared<LaunchContextRow>('lti-launch-context', LAUNCH_CONTEXT, values);
  return row && { registration: row, ...userOf(row), ...courseOf(row) };
}

function userOf(row: LaunchContextRow): Pick<LaunchContext, 'user'> {
  if (row.userId === null) return {};
  const { userId: id, userUuid: uuid, userRoles: roles, userIsActive: isActive, platformName, platformEmail, hasPlatformAddress } = row;
  return { user: { id, uuid, roles, isActive, platformName, platformEmail, hasPlatformAddress } };
}

function courseOf({ groupId, platformTitle, courseRole: role, folderId, mayWrite }: LaunchContextRow): Pick<LaunchContext, 'course'> {
  return groupId === null ? {} : { course: { platformTitle, role, folderId, mayWrite } };
}

/** A verified launch, and the session that it opens. */
export interface NewLaunch {
  readonly launchId: string;
  readonly sessionId: string;
  /** SHA-256: a reader of the row can use neither. */
  readonly state: string;
  readonly nonce: string;
  readonly idToken: string;
  readonly message: LaunchMessage;
  readonly from: SessionOrigin;
  readonly launchedAt: Date;
  readonly expiresAt: Date;
}

/** FOR SHARE on the user's row (as in Sessions): deactivating the user waits for this statement, or this statement for it. */
const OPEN = `
  WITH person AS (SELECT id FROM users WHERE id = $1 AND is_active FOR SHARE),
  launch AS (
    INSERT INTO lti_launches (
      launch_id, tool_id, platform_id, user_id, context_id, resource_link_id, deployment_id, launch_token, state_token, nonce, roles,
      ags_lineitems_url, ags_lineitem_url, ags_scopes, nrps_url, return_url, platform_url, launched_at, expires_at)
    SELECT $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20 FROM person
    ON CONFLICT DO NOTHING RETURNING launch_id),
  session AS (
    INSERT INTO sessions (id, user_id, launch_id, created_at, last_activity, expires_at, capped_to, ip, user_agent)
    SELECT $21, person.id, launch.launch_id, $19, $19, $20, $22, $23, $24 FROM person, launch RETURNING id)
  SELECT EXISTS (SELECT FROM person) AS "isActive", EXISTS (SELECT FROM session) AS "isOpened"`;

/**
 * Inserts the launch and its session, or neither: `used` if the state or nonce was used before, `inactive` if the user was deactivated. One
 * statement, so that exactly one of several racing posts opens a session. Throws ForeignKeyViolation if the registration was deleted.
 */
export async function openLaunch(
  sql: Executor,
  { toolId, platformId }: LaunchRegistration,
  userId: number,
  launch: NewLaunch,
): Promise<'opened' | 'used' | 'inactive'> {
  const { message } = launch;
  const [outcome] = await sql.prepared<{ isActive: boolean; isOpened: boolean }>('lti-open', OPEN, [
    userId,
    launch.launchId,
    toolId,
    platformId,
    message.subject,
    message.context?.id ?? null,
    message.resourceLinkId,
    message.deploymentId,
    launch.idToken,
    launch.state,
    launch.nonce,
    message.roles,
    message.ags?.lineitems ?? null,
    message.ags?.lineitem ?? null,
    message.ags?.scopes ?? [],
    message.nrpsUrl ?? null,
    message.returnUrl ?? null,
    message.platformUrl ?? null,
    launch.launchedAt,
    launch.expiresAt,
    launch.sessionId,
    [roleOf(message.roles)],
    launch.from.ip,
    launch.from.userAgent,
  ]);
  if (!outcome?.isActive) return 'inactive';
  return outcome.isOpened ? 'opened' : 'used';
}

/**
 * Locks the registration until the end of the transaction, so that it cannot be deleted meanwhile, and refuses a response that was posted before.
 * Two racing posts may both pass; `openLaunch` then decides. Throws LaunchError `registration_inactive`, `launch_used`.
 */
export async function requireUnused(tx: Tx, { toolId }: LaunchRegistration, { state }: NewLaunch): Promise<void> {
  const [registration] = await tx.query<{ isUsed: boolean }>(
    `SELECT EXISTS (SELECT FROM lti_launches l WHERE l.state_token = $2) AS "isUsed"
     FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id WHERE t.id = $1 FOR KEY SHARE OF t, p`,
    [toolId, state],
  );
  if (!registration) throw new LaunchError('registration_inactive');
  if (registration.isUsed) throw new LaunchError('launch_used');
}
