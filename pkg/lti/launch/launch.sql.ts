import type { Role } from '../../api/actor.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import type { LaunchMessage } from './id-token.ts';
import { LaunchError } from '../launch-error.ts';
import { type CourseRole, roleOf } from './roles.policy.ts';

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
  /** Whether a server of the release before made the account's address of what the LMS sent. */
  readonly isEmailGiven: boolean;
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
    i.name_said AS "nameSaid", i.email_said AS "emailSaid", i.email_given IS NOT NULL AS "isEmailGiven", g.title_said AS "titleSaid", m.role AS "courseRole", c.id AS "folderId",
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

/** A launch that holds, and the session that it opens. */
export interface NewLaunch {
  readonly launchId: string;
  readonly sessionId: string;
  /** Hashes: whoever reads the row can use neither. */
  readonly state: string;
  readonly nonce: string;
  readonly idToken: string;
  readonly message: LaunchMessage;
  readonly launchedAt: Date;
  readonly expiresAt: Date;
}

/** The lock is one of the row itself (as in Sessions): whoever deactivates the person waits, or has been waited for. */
const OPEN = `
  WITH person AS (SELECT id FROM users WHERE id = $1 AND is_active FOR SHARE),
  launch AS (
    INSERT INTO lti_launches (
      launch_id, tool_id, platform_id, user_id, context_id, resource_link_id, deployment_id, launch_token, state_token, nonce, roles,
      ags_lineitems_url, ags_lineitem_url, ags_scopes, nrps_url, return_url, platform_url, launched_at, expires_at)
    SELECT $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20 FROM person
    ON CONFLICT DO NOTHING RETURNING launch_id),
  session AS (
    INSERT INTO sessions (id, user_id, launch_id, created_at, last_activity, expires_at, capped_to)
    SELECT $21, person.id, launch.launch_id, $19, $19, $20, $22 FROM person, launch RETURNING id)
  SELECT EXISTS (SELECT FROM person) AS "isActive", EXISTS (SELECT FROM session) AS "isOpened"`;

/**
 * Writes launch and session, or neither: where the state or nonce was used before, or the person is not active any more. One statement,
 * so that of posts that race one decides, and the others find it used. Throws ForeignKeyViolation where the registration has gone.
 */
export async function openLaunch(sql: Executor, known: Known, userId: number, launch: NewLaunch): Promise<'opened' | 'used' | 'inactive'> {
  const { message } = launch;
  const [outcome] = await sql.prepared<{ isActive: boolean; isOpened: boolean }>('lti-open', OPEN, [
    userId,
    launch.launchId,
    known.toolId,
    known.platformId,
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
  ]);
  if (!outcome?.isActive) return 'inactive';
  return outcome.isOpened ? 'opened' : 'used';
}

/**
 * Before anything is made or changed for a launch: its registration stays until the end of the transaction, and a response that is posted
 * again is refused without work. Two that race may both pass; of them `openLaunch` decides. Throws LaunchError `registration_inactive`, `launch_used`.
 */
export async function requireUnused(tx: Tx, { toolId }: Known, { state }: NewLaunch): Promise<void> {
  const [registration] = await tx.query<{ isUsed: boolean }>(
    `SELECT EXISTS (SELECT FROM lti_launches l WHERE l.state_token = $2) AS "isUsed"
     FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id WHERE t.id = $1 FOR KEY SHARE OF t, p`,
    [toolId, state],
  );
  if (!registration) throw new LaunchError('registration_inactive');
  if (registration.isUsed) throw new LaunchError('launch_used');
}
