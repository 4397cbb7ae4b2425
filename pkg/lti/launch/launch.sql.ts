import type { SessionOrigin } from '../../access/sessions.ts';
import type { Role } from '../../api/actor.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import type { LaunchMessage } from './id-token.ts';
import { LaunchError } from '../launch-error.ts';
import type { Profile } from './profile.ts';
import { courseRole, roleOf } from './roles.policy.ts';

/** A registration as far as a token is verified against it. */
export interface Registration {
  readonly toolId: number;
  readonly platformId: number;
  readonly issuer: string;
  readonly clientId: string;
  readonly jwksEndpoint: string;
}

/** The rows that a launch refers to: its registration, and the user if an earlier launch created it. */
export interface LaunchContext {
  readonly registration: LaunchRegistration;
  readonly user?: LaunchUser;
  /** Whether `UserSync.sync` would change nothing: the user exists, has the role, and name and e-mail address are as before. */
  readonly isUserUnchanged: boolean;
  /** Whether `CourseSync.sync` would change nothing: the course exists, its title is as before, and the user has the role and its access. */
  readonly isCourseUnchanged: boolean;
}

export interface LaunchRegistration {
  readonly toolId: number;
  readonly platformId: number;
  readonly toolUrl: string;
  readonly issuer: string;
  readonly isActive: boolean;
  /** Whether it still is the one that the token was verified against. */
  readonly isCurrent: boolean;
  /** Whether the registration lists the launch's deployment id. */
  readonly isDeployed: boolean;
}

/** The user that the platform's `sub` was mapped to. */
export interface LaunchUser {
  readonly id: number;
  readonly uuid: string;
  readonly roles: readonly Role[];
  readonly isActive: boolean;
}

/** The course's folder of group `g`: the system folder that is shared with it. */
export const COURSE_FOLDER = `
  SELECT d.id FROM permissions r JOIN folders d ON d.id = r.resource_id
  WHERE r.group_id = g.id AND r.resource_type = 'folder' AND d.is_system AND d.deleted_at IS NULL
  ORDER BY d.id LIMIT 1`;

/** A verified launch, and the session that it opens. */
export interface NewLaunch {
  readonly launchId: string;
  readonly sessionId: string;
  /** SHA-256: a reader of the row can use neither. */
  readonly state: string;
  readonly nonce: string;
  readonly idToken: string;
  readonly message: LaunchMessage;
  readonly profile: Profile;
  readonly from: SessionOrigin;
  readonly launchedAt: Date;
  readonly expiresAt: Date;
}

/** Inserts the launch and its session, or neither: `person` is the user whose they are, locked, or nobody. */
const INSERT = `
  launch AS (
    INSERT INTO lti_launches (
      launch_id, tool_id, platform_id, user_id, context_id, resource_link_id, deployment_id, launch_token, state_token, nonce, roles,
      ags_lineitems_url, ags_lineitem_url, ags_scopes, nrps_url, return_url, platform_url, launched_at, expires_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19 FROM person
    ON CONFLICT DO NOTHING RETURNING launch_id),
  session AS (
    INSERT INTO sessions (id, user_id, launch_id, created_at, last_activity, expires_at, capped_to, ip, user_agent)
    SELECT $20, person.id, launch.launch_id, $18, $18, $19, ARRAY[$21::text], $22, $23 FROM person, launch RETURNING id)`;

function insertValues({ toolId, platformId }: { toolId: number; platformId: number }, launch: NewLaunch): unknown[] {
  const { message } = launch;
  return [
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
    roleOf(message.roles),
    launch.from.ip,
    launch.from.userAgent,
  ];
}

/** FOR SHARE on the user's row (as in Sessions): deactivating the user waits for this statement, or this statement for it. */
const OPEN_UNCHANGED = `
  WITH context AS (
    SELECT p.id AS "platformId", t.tool_url AS "toolUrl", p.issuer, t.is_active AND p.is_active AS "isActive",
      (p.id, p.issuer, t.client_id, p.jwks_endpoint) = ($3, $24, $25, $26) AS "isCurrent",
      EXISTS (SELECT FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id AND d.deployment_id = $7) AS "isDeployed",
      u.id AS "userId", u.uuid AS "userUuid", u.roles AS "userRoles", u.is_active AS "userIsActive",
      coalesce($21 = ANY (u.roles), false) AND i.email_given IS NULL
        AND ($27::text IS NULL OR i.name_said IS NOT DISTINCT FROM $27)
        AND ($28::text IS NULL OR i.email_said IS NOT DISTINCT FROM $28) AS "isUserUnchanged",
      $5::text IS NULL OR coalesce(
        c.id IS NOT NULL AND m.role = $29 AND ($30::text IS NULL OR g.title_said IS NOT DISTINCT FROM $30)
        AND ($29 = 'instructor') = EXISTS (
          SELECT FROM permissions w WHERE w.resource_type = 'folder' AND w.resource_id = c.id AND w.user_id = u.id), false) AS "isCourseUnchanged"
    FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
    LEFT JOIN lti_identities i ON i.platform_id = p.id AND i.subject = $4
    LEFT JOIN users u ON u.id = i.user_id
    LEFT JOIN groups g ON g.platform_id = p.id AND g.context_id = $5
    LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = u.id
    LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
    WHERE t.id = $2),
  person AS (
    SELECT u.id FROM context JOIN users u ON u.id = context."userId"
    WHERE context."isActive" AND "isCurrent" AND "isDeployed" AND "isUserUnchanged" AND "isCourseUnchanged" AND u.is_active FOR SHARE OF u),
  ${INSERT}
  SELECT context.*, EXISTS (SELECT FROM person) AS "isLocked", EXISTS (SELECT FROM session) AS "isOpened" FROM context`;

interface OpenedRow extends Omit<LaunchRegistration, 'toolId'>, Pick<LaunchContext, 'isUserUnchanged' | 'isCourseUnchanged'> {
  readonly userId: number | null;
  readonly userUuid: string;
  readonly userRoles: readonly Role[];
  readonly userIsActive: boolean;
  readonly isLocked: boolean;
  readonly isOpened: boolean;
}

/** `used`: the state or nonce was used before; `inactive`: the user was deactivated. */
export type Outcome = 'opened' | 'used' | 'inactive';

/**
 * Reads the launch's context, and inserts the launch and its session if the registration still is the one that the token was verified against and
 * user and course are unchanged; else `outcome` is undefined. One statement, so that exactly one of several racing posts opens a session.
 * undefined: the registration was deleted. Throws ForeignKeyViolation if it is deleted meanwhile.
 */
export async function openUnchanged(
  sql: Executor,
  registration: Registration,
  launch: NewLaunch,
): Promise<{ context: LaunchContext; outcome: Outcome | undefined } | undefined> {
  const { message, profile } = launch;
  const [row] = await sql.prepared<OpenedRow>('lti-open-unchanged', OPEN_UNCHANGED, [
    ...insertValues(registration, launch),
    registration.issuer,
    registration.clientId,
    registration.jwksEndpoint,
    profile.name ?? null,
    profile.email ?? null,
    courseRole(message.roles),
    message.context?.isTitled ? message.context.title : null,
  ]);
  if (!row) return undefined;
  const { platformId, toolUrl, issuer, isActive, isCurrent, isDeployed, isUserUnchanged, isCourseUnchanged } = row;
  const { userId: id, userUuid: uuid, userRoles: roles, userIsActive } = row;
  const isToOpen = isActive && isCurrent && isDeployed && isUserUnchanged && isCourseUnchanged;
  return {
    context: {
      registration: { toolId: registration.toolId, platformId, toolUrl, issuer, isActive, isCurrent, isDeployed },
      ...(id === null ? {} : { user: { id, uuid, roles, isActive: userIsActive } }),
      isUserUnchanged,
      isCourseUnchanged,
    },
    outcome: isToOpen ? outcomeOf(row) : undefined,
  };
}

const OPEN = `
  WITH person AS (SELECT id FROM users WHERE id = $24 AND is_active FOR SHARE),
  ${INSERT}
  SELECT EXISTS (SELECT FROM person) AS "isLocked", EXISTS (SELECT FROM session) AS "isOpened"`;

/** Inserts the launch and its session, or neither, after user and course were synced. Throws ForeignKeyViolation if the registration was deleted. */
export async function openLaunch(tx: Tx, registration: LaunchRegistration, userId: number, launch: NewLaunch): Promise<Outcome> {
  const [row] = await tx.prepared<Pick<OpenedRow, 'isLocked' | 'isOpened'>>('lti-open', OPEN, [
    ...insertValues(registration, launch),
    userId,
  ]);
  return outcomeOf(row ?? { isLocked: false, isOpened: false });
}

const outcomeOf = ({ isLocked, isOpened }: Pick<OpenedRow, 'isLocked' | 'isOpened'>): Outcome =>
  isLocked ? (isOpened ? 'opened' : 'used') : 'inactive';

const REGISTRATION = `
  SELECT t.id AS "toolId", p.id AS "platformId", p.issuer, t.client_id AS "clientId", p.jwks_endpoint AS "jwksEndpoint"
  FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id WHERE t.id = $1 AND t.is_active AND p.is_active`;

/** undefined: it is inactive, or was deleted. One statement. */
export async function findRegistration(sql: Executor, toolId: number): Promise<Registration | undefined> {
  const [row] = await sql.prepared<Registration>('lti-registration', REGISTRATION, [toolId]);
  return row;
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
