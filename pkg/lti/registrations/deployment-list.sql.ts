import { listPage, type Page } from '../../api/paging.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import { keyset, textKey, timeKey } from '../../store/postgres/keyset.ts';
import type { RegisteredTool, RequestStatus } from './deployment-requests.sql.ts';
import { DEPLOYMENT_SORT_FIELDS, type DeploymentQuery, type DeploymentView } from './deployments.schema.ts';

export interface DeploymentRow {
  readonly deploymentId: string;
  readonly status: RequestStatus | 'listed';
  readonly mayLaunch: boolean;
  readonly launches: number;
  readonly firstSeenAt: Date | null;
  readonly lastSeenAt: Date | null;
  readonly decidedAt: Date | null;
}

const COLUMNS = `d.deployment_id AS "deploymentId", d.status, d.may_launch AS "mayLaunch", d.launches,
  d.first_seen_at AS "firstSeenAt",
  d.last_seen_at AS "lastSeenAt", d.decided_at AS "decidedAt"`;

/** Deployments of all registrations; one without a request may launch because its resource lists it. */
const DEPLOYMENTS = `(
  SELECT tool_id, platform_id, deployment_id::text AS deployment_id, coalesce(r.status, 'listed') AS status,
    l.may_launch IS NOT NULL AS may_launch,
    least(coalesce(r.launches, 0), 2147483647)::int AS launches, r.first_seen_at, r.last_seen_at, r.decided_at
  FROM (SELECT tool_id, platform_id, deployment_id, true AS may_launch FROM lti_deployments) l
    FULL JOIN lti_deployment_requests r USING (tool_id, platform_id, deployment_id)) d`;

const LIST = keyset<DeploymentRow, (typeof DEPLOYMENT_SORT_FIELDS)[number]>({
  keys: {
    deployment_id: textKey('d.deployment_id', ({ deploymentId }) => deploymentId),
    first_seen_at: { ...timeKey('d.first_seen_at', ({ firstSeenAt }: DeploymentRow) => firstSeenAt), nullable: true },
    last_seen_at: { ...timeKey('d.last_seen_at', ({ lastSeenAt }: DeploymentRow) => lastSeenAt), nullable: true },
  },
  fields: DEPLOYMENT_SORT_FIELDS,
  fallback: 'deployment_id',
  tieBreaker: 'deployment_id',
});

/** Returns the registration with the id that clients see; undefined if it does not exist. */
export async function findTool(sql: Executor, uuid: string): Promise<RegisteredTool | undefined> {
  const [tool] = await sql.query<RegisteredTool>(
    'SELECT id AS "toolId", platform_id AS "platformId", client_id AS "clientId" FROM lti_tools WHERE uuid = $1 AND ' +
      'platform_id IS NOT NULL',
    [uuid],
  );
  return tool;
}

/** Takes one statement. */
export const listDeployments = (
  sql: Executor,
  { toolId, platformId }: RegisteredTool,
  query: DeploymentQuery,
  present: (row: DeploymentRow) => DeploymentView,
): Promise<Page<DeploymentView>> =>
  listPage(sql, query, {
    keyset: LIST,
    columns: COLUMNS,
    from: DEPLOYMENTS,
    where: (params) => [
      `d.tool_id = ${params.add(toolId)}`,
      `d.platform_id = ${params.add(platformId)}`,
      ...(query.status === undefined ? [] : [`d.status = ${params.add(query.status)}`]),
    ],
    present,
  });

/** Returns undefined if the deployment is unknown. */
export async function findDeployment(
  sql: Executor,
  { toolId, platformId }: RegisteredTool,
  deploymentId: string,
): Promise<DeploymentRow | undefined> {
  const [row] = await sql.query<DeploymentRow>(
    `SELECT ${COLUMNS} FROM ${DEPLOYMENTS} WHERE d.tool_id = $1 AND d.platform_id = $2 AND d.deployment_id = $3`,
    [toolId, platformId, deploymentId],
  );
  return row;
}

/** Returns how many deployments of a registration were admitted or refused. */
export async function countDecided(tx: Tx, { toolId, platformId }: RegisteredTool): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM lti_deployment_requests WHERE tool_id = $1 AND platform_id = $2 AND status <> 'waiting'`,
    [toolId, platformId],
  );
  return row?.count ?? 0;
}

/**
 * Returns whether the deployment may launch through another registration with this issuer and client id: no login could then
 * select one of the two.
 */
export async function isOfAnother(tx: Tx, { toolId }: RegisteredTool, deploymentId: string): Promise<boolean> {
  const others = await tx.query(
    `SELECT FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id JOIN lti_platforms q ON q.issuer = p.issuer
       JOIN lti_tools o ON o.platform_id = q.id AND o.client_id = t.client_id AND o.id <> t.id
       JOIN lti_deployments d ON d.tool_id = o.id AND d.platform_id = q.id AND d.deployment_id = $2
     WHERE t.id = $1`,
    [toolId, deploymentId],
  );
  return others.length > 0;
}

/** Writes a decision: the deployment may launch, or no longer. The registration is locked. */
export async function writeDecision(
  tx: Tx,
  { toolId, platformId }: RegisteredTool,
  { deploymentId, status }: { deploymentId: string; status: 'admitted' | 'refused' },
): Promise<void> {
  const key = [toolId, platformId, deploymentId];
  await tx.query(
    `INSERT INTO lti_deployment_requests (tool_id, platform_id, deployment_id, status, decided_at) VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (tool_id, platform_id, deployment_id) DO UPDATE SET status = excluded.status, decided_at = excluded.decided_at`,
    [...key, status],
  );
  await tx.query(
    status === 'admitted'
      ? 'INSERT INTO lti_deployments (tool_id, platform_id, deployment_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
      : 'DELETE FROM lti_deployments WHERE tool_id = $1 AND platform_id = $2 AND deployment_id = $3',
    key,
  );
}
