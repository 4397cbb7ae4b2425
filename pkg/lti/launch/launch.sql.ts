import type { SessionOrigin } from '../../access/sessions.ts';
import type { Role } from '../../api/actor.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import type { LaunchMessage } from './id-token.ts';
import { LaunchError } from '../launch-error.ts';
import type { Profile } from './profile.ts';
import { isCopyOf } from '../links/course-copies.sql.ts';
import { isHandlerAsked } from '../notices/handlers.sql.ts';
import { COURSE_FOLDER } from './course-folder-name.ts';
import type { DeploymentPolicy } from '../registrations/deployment-requests.sql.ts';
import { isRosterOld } from '../members/roster-age.sql.ts';
import { courseRole, roleOf } from './launch-roles.policy.ts';

/** The values of a registration that a token is verified against. */
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
  /** Whether `UserSync.sync` would change nothing: the user exists, has the role, and name and e-mail address are unchanged. */
  readonly isUserUnchanged: boolean;
  /**
   * Whether `CourseSync.sync` would change nothing: the course exists, its title is unchanged, and the user has the role and its
   * access.
   */
  readonly isCourseUnchanged: boolean;
  /**
   * Whether `LinkSync.sync` would change nothing: the link is recorded with this title and target, and its course is not a copy
   * that is yet unknown.
   */
  readonly isLinkUnchanged: boolean;
  /** Whether the platform sends no notices, or `HandlerRequests` has already asked it to use our address for them. */
  readonly isHandlerAsked: boolean;
  /** Whether the course's roster was imported more than a day ago and the launch names its address. */
  readonly isRosterOld: boolean;
}

/** The properties of a launch's registration that the opening statement returns. */
export interface LaunchRegistration {
  readonly toolUrl: string;
  readonly isActive: boolean;
  /** Whether it is still the registration that the token was verified against. */
  readonly isCurrent: boolean;
  /** Whether the launch's deployment may launch: the registration lists it, or an administrator has admitted it. */
  readonly isDeployed: boolean;
  /** The policy for a deployment that may not launch. */
  readonly deploymentPolicy: DeploymentPolicy;
}

/** The user that the platform's `sub` was mapped to. */
export interface LaunchUser {
  readonly id: number;
  readonly uuid: string;
  readonly roles: readonly Role[];
  readonly isActive: boolean;
}

/** A verified launch, and the session that it opens. */
export interface NewLaunch {
  /** The registration that the token was verified against. */
  readonly registration: Registration;
  readonly launchId: string;
  readonly sessionId: string;
  /** SHA-256 hashes: a reader of the row can use neither. */
  readonly state: string;
  readonly nonce: string;
  readonly idToken: string;
  readonly message: LaunchMessage;
  readonly profile: Profile;
  readonly from: SessionOrigin;
  /** Id of the request that posted the launch, for the audit log. */
  readonly requestId: string | null;
  readonly launchedAt: Date;
  readonly expiresAt: Date;
}

/** Declares the columns of `recordOf`. */
const LAUNCH = `
  SELECT * FROM json_to_recordset($1) AS l (
    launch_id text, session_id uuid, tool_id int, platform_id int, issuer text, client_id text, jwks_endpoint text, subject text,
    context_id text,
    context_label text, resource_link_id text, deployment_id text, launch_token text, state_token text, nonce text, roles text[],
    ags_lineitems_url text,
    ags_lineitem_url text, ags_scopes text[], nrps_url text, return_url text, platform_url text, launched_at timestamptz,
    expires_at timestamptz,
    role text, course_role text, title text, link_title text, link_target text, for_user text, notices_url text,
    course_history text[], name text, email text, ip text, user_agent text, request_id text)`;

function recordOf({ registration, message, profile, ...launch }: NewLaunch): Readonly<Record<string, unknown>> {
  return {
    launch_id: launch.launchId,
    session_id: launch.sessionId,
    tool_id: registration.toolId,
    platform_id: registration.platformId,
    issuer: registration.issuer,
    client_id: registration.clientId,
    jwks_endpoint: registration.jwksEndpoint,
    subject: message.subject,
    context_id: message.context?.id,
    context_label: message.context?.label,
    resource_link_id: message.resourceLinkId,
    deployment_id: message.deploymentId,
    launch_token: launch.idToken,
    state_token: launch.state,
    nonce: launch.nonce,
    roles: message.roles,
    ags_lineitems_url: message.ags?.lineitems,
    ags_lineitem_url: message.ags?.lineitem,
    ags_scopes: message.ags?.scopes ?? [],
    nrps_url: message.nrpsUrl,
    return_url: message.returnUrl,
    platform_url: message.platformUrl,
    launched_at: launch.launchedAt,
    expires_at: launch.expiresAt,
    role: roleOf(message.roles),
    course_role: courseRole(message.roles),
    title: message.context?.isTitled ? message.context.title : undefined,
    link_title: message.link.title,
    link_target: message.link.target,
    for_user: message.forUser,
    notices_url: message.noticesUrl,
    course_history: message.courseHistory,
    name: profile.name,
    email: profile.email,
    ip: launch.from.ip,
    user_agent: launch.from.userAgent,
    request_id: launch.requestId,
  };
}

/**
 * Inserts launch and session for each row of `person` (a launch with its locked user), or neither. Sorts by state, since two
 * calls could otherwise deadlock.
 */
const INSERT = `
  inserted AS (
    INSERT INTO lti_launches (
      launch_id, tool_id, platform_id, user_id, context_id, context_label, resource_link_id, deployment_id, launch_token,
      state_token, nonce, roles,
      ags_lineitems_url, ags_lineitem_url, ags_scopes, nrps_url, return_url, platform_url, for_user, launched_at, expires_at)
    SELECT launch_id, tool_id, platform_id, subject, context_id, context_label, resource_link_id, deployment_id, launch_token,
      state_token, nonce, roles,
      ags_lineitems_url, ags_lineitem_url, ags_scopes, nrps_url, return_url, platform_url, for_user, launched_at, expires_at
    FROM person ORDER BY state_token ON CONFLICT DO NOTHING RETURNING launch_id),
  session AS (
    INSERT INTO sessions (id, user_id, launch_id, created_at, last_activity, expires_at, capped_to, ip, user_agent)
    SELECT session_id, user_id, launch_id, launched_at, launched_at, expires_at, ARRAY[role], ip, user_agent
    FROM person JOIN inserted USING (launch_id)
    -- Once, before the triggers that write the audit log.
    WHERE (SELECT set_config('carrel.origins', (SELECT json_object_agg(session_id, json_build_object('request', request_id))::text
      FROM person), true)) IS NOT NULL
    RETURNING launch_id)`;

/**
 * FOR SHARE on the user's row (as in Sessions): deactivating the user waits for this statement, or this statement for it. OFFSET
 * 0 makes Postgres look up each launch separately, through indexes: otherwise it estimates a hundred launches for the array and
 * would read whole tables.
 */
const openUnchangedText = (ofLocked: '' | 'SKIP LOCKED'): string => `
  WITH launch AS (${LAUNCH}),
  context AS (
    SELECT * FROM launch l CROSS JOIN LATERAL (
      SELECT t.tool_url, t.deployment_policy, t.is_active AND p.is_active AS is_active,
        (p.id, p.issuer, t.client_id, p.jwks_endpoint) = (l.platform_id, l.issuer, l.client_id, l.jwks_endpoint) AS is_current,
        EXISTS (
          SELECT FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id
            AND d.deployment_id = l.deployment_id) AS is_deployed,
        u.id AS user_id, u.uuid AS user_uuid, u.roles AS user_roles, u.is_active AS user_is_active,
        coalesce(l.role = ANY (u.roles), false)
          AND (l.name IS NULL OR i.lms_name IS NOT DISTINCT FROM l.name)
          AND (l.email IS NULL OR i.lms_email IS NOT DISTINCT FROM l.email) AS is_user_unchanged,
        l.context_id IS NULL OR coalesce(
          c.id IS NOT NULL AND m.role = l.course_role AND (l.title IS NULL OR g.lms_title IS NOT DISTINCT FROM l.title)
          AND (l.course_role = 'instructor') = EXISTS (
            SELECT FROM permissions w WHERE w.resource_type = 'folder' AND w.resource_id = c.id AND w.user_id = u.id),
              false) AS is_course_unchanged,
        l.resource_link_id IS NULL OR l.for_user IS NOT NULL OR coalesce(
          k.id IS NOT NULL AND (l.link_title IS NULL OR k.title IS NOT DISTINCT FROM l.link_title)
            AND k.target IS NOT DISTINCT FROM l.link_target
          AND (k.course_uuid IS NULL OR k.course_uuid = g.uuid OR NOT EXISTS (
            SELECT FROM groups o WHERE o.uuid = k.course_uuid
              AND (l.course_role = 'instructor' OR o.context_id = ANY (l.course_history))
              AND NOT ${isCopyOf('p.id', 'l.context_id', 'o')})), false) AS is_link_unchanged,
        l.notices_url IS NULL
          OR ${isHandlerAsked({ tool: 't.id', deployment: 'l.deployment_id', url: 'l.notices_url' })} AS is_handler_asked,
        l.nrps_url IS NOT NULL AND ${isRosterOld('l.launched_at')} AS is_roster_old
      FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
      LEFT JOIN lti_identities i ON i.platform_id = p.id AND i.subject = l.subject
      LEFT JOIN users u ON u.id = i.user_id
      LEFT JOIN groups g ON g.platform_id = p.id AND g.context_id = l.context_id
      LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = u.id
      LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
      LEFT JOIN lti_resource_links k ON k.tool_id = t.id AND k.deployment_id = l.deployment_id
        AND k.context_id = coalesce(l.context_id, '')
        AND k.resource_link_id = l.resource_link_id
      WHERE t.id = l.tool_id OFFSET 0) found),
  person AS (
    SELECT context.* FROM context JOIN users u ON u.id = context.user_id
    WHERE context.is_active AND is_current AND is_deployed AND is_user_unchanged AND is_course_unchanged AND is_link_unchanged
      AND is_handler_asked
      AND u.is_active
    FOR SHARE OF u ${ofLocked}),
  ${INSERT}
  SELECT launch_id AS "launchId", tool_url AS "toolUrl", is_active AS "isActive", is_current AS "isCurrent",
    is_deployed AS "isDeployed",
    deployment_policy AS "deploymentPolicy", user_id AS "userId", user_uuid AS "userUuid", user_roles AS "userRoles",
    user_is_active AS "userIsActive",
    is_user_unchanged AS "isUserUnchanged", is_course_unchanged AS "isCourseUnchanged", is_link_unchanged AS "isLinkUnchanged",
    is_handler_asked AS "isHandlerAsked", is_roster_old AS "isRosterOld",
    launch_id IN (SELECT launch_id FROM person) AS "isLocked", launch_id IN (SELECT launch_id FROM session) AS "isOpened"
  FROM context`;

const OPEN_TOGETHER = openUnchangedText('SKIP LOCKED');
const OPEN_ALONE = openUnchangedText('');

interface OpenedRow
  extends
    LaunchRegistration,
    Pick<LaunchContext, 'isUserUnchanged' | 'isCourseUnchanged' | 'isLinkUnchanged' | 'isHandlerAsked' | 'isRosterOld'> {
  readonly launchId: string;
  readonly userId: number | null;
  readonly userUuid: string;
  readonly userRoles: readonly Role[];
  readonly userIsActive: boolean;
  readonly isLocked: boolean;
  readonly isOpened: boolean;
}

/** `used`: the state or nonce was already used; `inactive`: the user was deactivated. */
export type Outcome = 'opened' | 'used' | 'inactive';

/** The context of a launch; `outcome` is undefined if something is new and the launch was therefore not opened. */
export interface Found {
  readonly context: LaunchContext;
  readonly outcome: Outcome | undefined;
}

/**
 * Reads the launch's context, and inserts the launch and its session if the registration is still the one that the token was
 * verified against and user, course and link are unchanged. One statement, so that exactly one of several racing posts opens a
 * session. Returns undefined if the registration was deleted. Throws ForeignKeyViolation if it is deleted meanwhile.
 */
export async function openAlone(sql: Executor, launch: NewLaunch): Promise<Found | undefined> {
  const [row] = await sql.prepared<OpenedRow>('lti-open-alone', OPEN_ALONE, [JSON.stringify([recordOf(launch)])]);
  return row && foundIn(row);
}

/** Opens several launches in one statement, which waits for no user's row: returns undefined for those whose user is locked. */
export async function openTogether(sql: Executor, launches: readonly NewLaunch[]): Promise<(Found | undefined)[]> {
  const rows = await sql.prepared<OpenedRow>('lti-open-together', OPEN_TOGETHER, [JSON.stringify(launches.map(recordOf))]);
  const found = new Map(rows.map((row) => [row.launchId, foundIn(row)]));
  return launches.map(({ launchId }) => {
    const one = found.get(launchId);
    return one?.outcome === 'inactive' ? undefined : one;
  });
}

function foundIn(row: OpenedRow): Found {
  const { toolUrl, isActive, isCurrent, isDeployed, deploymentPolicy, isUserUnchanged, isCourseUnchanged } = row;
  const { isLinkUnchanged, isHandlerAsked: isAsked, isRosterOld: isOld } = row;
  const { userId: id, userUuid: uuid, userRoles: roles, userIsActive } = row;
  const isToOpen = isActive && isCurrent && isDeployed && isUserUnchanged && isCourseUnchanged && isLinkUnchanged && isAsked;
  return {
    context: {
      registration: { toolUrl, isActive, isCurrent, isDeployed, deploymentPolicy },
      ...(id === null ? {} : { user: { id, uuid, roles, isActive: userIsActive } }),
      isUserUnchanged,
      isCourseUnchanged,
      isLinkUnchanged,
      isHandlerAsked: isAsked,
      isRosterOld: isOld,
    },
    outcome: isToOpen ? outcomeOf(row) : undefined,
  };
}

const OPEN = `
  WITH person AS (SELECT l.*, u.id AS user_id FROM (${LAUNCH}) l JOIN users u ON u.id = $2 AND u.is_active FOR SHARE OF u),
  ${INSERT}
  SELECT EXISTS (SELECT FROM person) AS "isLocked", EXISTS (SELECT FROM session) AS "isOpened"`;

/**
 * Inserts the launch and its session, or neither, after user and course were synced. Throws ForeignKeyViolation if the
 * registration was deleted.
 */
export async function openLaunch(tx: Tx, userId: number, launch: NewLaunch): Promise<Outcome> {
  const [row] = await tx.prepared<Pick<OpenedRow, 'isLocked' | 'isOpened'>>('lti-open', OPEN, [
    JSON.stringify([recordOf(launch)]),
    userId,
  ]);
  return outcomeOf(row ?? { isLocked: false, isOpened: false });
}

const outcomeOf = ({ isLocked, isOpened }: Pick<OpenedRow, 'isLocked' | 'isOpened'>): Outcome =>
  isLocked ? (isOpened ? 'opened' : 'used') : 'inactive';

const REGISTRATION = `
  SELECT t.id AS "toolId", p.id AS "platformId", p.issuer, t.client_id AS "clientId", p.jwks_endpoint AS "jwksEndpoint"
  FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id WHERE t.id = $1 AND t.is_active AND p.is_active`;

/** Returns undefined if the registration is inactive or was deleted. One statement. */
export async function findRegistration(sql: Executor, toolId: number): Promise<Registration | undefined> {
  const [row] = await sql.prepared<Registration>('lti-registration', REGISTRATION, [toolId]);
  return row;
}

/**
 * Locks the registration until the end of the transaction, so that meanwhile it can neither be deleted nor change to another LMS.
 * Refuses a registration that has changed, and a response that was already posted. Two racing posts may both pass; `openLaunch`
 * then decides. Throws LaunchError `registration_inactive`, `launch_used`.
 */
export async function requireUnused(
  tx: Tx,
  { registration: by, state }: Pick<NewLaunch, 'registration' | 'state'>,
): Promise<void> {
  const [registration] = await tx.query<{ isUsed: boolean }>(
    `SELECT EXISTS (SELECT FROM lti_launches l WHERE l.state_token = $2) AS "isUsed"
     FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id WHERE t.id = $1 AND p.id = $3 AND t.client_id = $4
       FOR KEY SHARE OF t, p`,
    [by.toolId, state, by.platformId, by.clientId],
  );
  if (!registration) throw new LaunchError('registration_inactive');
  if (registration.isUsed) throw new LaunchError('launch_used');
}
