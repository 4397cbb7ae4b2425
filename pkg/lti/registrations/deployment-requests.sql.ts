import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { noteUnknownDeployment } from '../launch/unknown-deployments.sql.ts';

/**
 * How deployments that a registration does not list are treated: they are refused, or wait until an administrator admits them.
 */
export type DeploymentPolicy = 'Listed' | 'Confirm';
export type RequestStatus = 'waiting' | 'admitted' | 'refused';

/** Maximum of waiting deployments of a registration. */
export const WAITING_MAX = 100;
/** At the maximum, a waiting deployment that has not launched for this long makes room for another. */
const IDLE_AFTER = '1 day';

/** A registration and the LMS that it names. */
export interface RegisteredTool {
  readonly toolId: number;
  readonly platformId: number;
  readonly clientId: string;
}

const SEEN = `
  UPDATE lti_deployment_requests SET launches = launches + 1, first_seen_at = coalesce(first_seen_at, now()), last_seen_at = now()
  WHERE tool_id = $1 AND platform_id = $2 AND deployment_id = $3 RETURNING status`;

const WAITING = `(SELECT count(*) FROM lti_deployment_requests WHERE tool_id = $1 AND platform_id = $2 AND status = 'waiting')`;

const REQUEST = `
  WITH idle AS (
    DELETE FROM lti_deployment_requests WHERE (tool_id, platform_id, deployment_id) IN (
      SELECT tool_id, platform_id, deployment_id FROM lti_deployment_requests
      WHERE tool_id = $1 AND platform_id = $2 AND status = 'waiting' AND last_seen_at < now() - interval '${IDLE_AFTER}'
        AND ${WAITING} >= ${WAITING_MAX}
      ORDER BY last_seen_at LIMIT 1)
    RETURNING deployment_id)
  INSERT INTO lti_deployment_requests (tool_id, platform_id, deployment_id, launches, first_seen_at, last_seen_at)
  SELECT $1, $2, $3, 1, now(), now() WHERE ${WAITING} - (SELECT count(*) FROM idle) < ${WAITING_MAX} RETURNING status`;

/**
 * Records that a deployment which may not launch has launched, and returns its state. `listed`: the registration accepts no
 * requests, or no longer. `full`: too many wait, and this one is not recorded.
 */
export async function recordRequest(
  db: Database,
  of: RegisteredTool,
  deploymentId: string,
): Promise<RequestStatus | 'listed' | 'full'> {
  return (await seen(db.tables, of, deploymentId)) ?? db.transaction((tx) => request(tx, of, deploymentId));
}

async function seen(
  sql: Executor,
  { toolId, platformId }: RegisteredTool,
  deploymentId: string,
): Promise<RequestStatus | undefined> {
  const [known] = await sql.prepared<{ status: RequestStatus }>('lti-deployment-seen', SEEN, [toolId, platformId, deploymentId]);
  return known?.status;
}

/** Creates requests of one registration one after the other, so that their number is bounded and each deployment has one. */
async function request(tx: Tx, of: RegisteredTool, deploymentId: string): Promise<RequestStatus | 'listed' | 'full'> {
  if ((await lockPolicy(tx, of)) !== 'Confirm') return 'listed';
  const known = await seen(tx, of, deploymentId);
  if (known) return known;
  const [row] = await tx.query<{ isDeployed: boolean }>(
    'SELECT EXISTS (SELECT FROM lti_deployments WHERE tool_id = $1 AND platform_id = $2 AND deployment_id = $3) AS "isDeployed"',
    [of.toolId, of.platformId, deploymentId],
  );
  // Admitted or listed after the launch was read.
  if (row?.isDeployed) return 'admitted';
  const inserted = await tx.query(REQUEST, [of.toolId, of.platformId, deploymentId]);
  if (inserted.length === 0) return 'full';
  await reportChange(tx);
  await noteUnknownDeployment(tx, of.toolId, deploymentId);
  return 'waiting';
}

/**
 * Locks the registration against other requests, decisions, and the operator; launches are not blocked. Returns undefined if it
 * was deleted or has changed to another LMS.
 */
export async function lockPolicy(
  tx: Tx,
  { toolId, platformId, clientId }: RegisteredTool,
): Promise<DeploymentPolicy | undefined> {
  const [tool] = await tx.query<{ policy: DeploymentPolicy }>(
    'SELECT deployment_policy AS policy FROM lti_tools WHERE id = $1 AND platform_id = $2 AND client_id = $3 FOR NO KEY UPDATE',
    [toolId, platformId, clientId],
  );
  return tool?.policy;
}

/** Notifies the operator, which shows the waiting and admitted deployments in the status. */
export async function reportChange(tx: Tx): Promise<void> {
  await tx.query(
    'INSERT INTO carrel.deployment_changes (changed_at) VALUES (now()) ON CONFLICT (tenant) DO UPDATE SET changed_at = now()',
  );
}
