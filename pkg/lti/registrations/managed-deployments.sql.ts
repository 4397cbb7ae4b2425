import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '../../store/postgres/pool.ts';
import type { DeploymentPolicy } from './deployment-requests.sql.ts';

/** Where the deployments of a schema's registrations lie. */
export interface DeploymentTables {
  readonly deployments: string;
  readonly requests: string;
}

/** The deployments of a registration as its rows have them. */
export interface StoredDeployments {
  /** Those that may launch. */
  readonly deploymentIds: readonly string[];
  /** In the order of `inOrder`. */
  readonly listed: readonly string[];
  /** Of those that were not listed when they first launched, or when an administrator decided; the newest first. */
  readonly waiting: readonly string[];
  readonly admitted: readonly string[];
  readonly refused: readonly string[];
}

/** What a resource says of them. */
export interface WantedDeployments {
  readonly policy: DeploymentPolicy;
  readonly listed: readonly string[];
}

/** Columns of a query over lti_tools `t` and its platform `p`: those of StoredDeployments. */
export function deploymentColumns({ deployments, requests }: DeploymentTables): string {
  const requested = (status: string): string =>
    `ARRAY(SELECT r.deployment_id::text FROM ${requests} r WHERE r.tool_id = t.id AND r.platform_id = p.id AND r.status = '${status}'
       ORDER BY coalesce(r.decided_at, r.first_seen_at) DESC, r.deployment_id) AS ${status}`;
  return `ARRAY(SELECT d.deployment_id::text FROM ${deployments} d WHERE d.tool_id = t.id AND d.platform_id = p.id) AS "deploymentIds",
    t.listed_deployments AS listed, ${['waiting', 'admitted', 'refused'].map(requested).join(', ')}`;
}

/** As the registration's row has those that are listed: another order in the resource is no change. */
export const inOrder = (listed: readonly string[]): string[] => listed.toSorted();

/** Whether exactly those may launch that should, and nothing that is listed has a request beside. */
export function areDeploymentsAsWanted(stored: StoredDeployments, { policy, listed }: WantedDeployments): boolean {
  const { waiting, admitted, refused } = stored;
  const wanted = new Set([...listed, ...(policy === 'Confirm' ? admitted : [])]);
  const isTaken = new Set(listed);
  return (
    isDeepStrictEqual(stored.listed, inOrder(listed)) &&
    stored.deploymentIds.length === wanted.size &&
    stored.deploymentIds.every((id) => wanted.has(id)) &&
    ![waiting, admitted, refused].flat().some((id) => isTaken.has(id))
  );
}

/**
 * Listing a deployment takes it over from whoever decided on it by REST: taken off the list, it is unknown again. What was
 * admitted by REST may launch beside it while the policy is `Confirm`; the decisions stay while it is not. The tool's row is
 * locked.
 */
export async function writeDeployments(
  tx: Sql,
  { deployments, requests }: DeploymentTables,
  { toolId, platformId }: { readonly toolId: number; readonly platformId: number },
  { policy, listed }: WantedDeployments,
): Promise<void> {
  await tx.query(`DELETE FROM ${requests} WHERE tool_id = $1 AND (platform_id <> $2 OR deployment_id = ANY ($3))`, [
    toolId,
    platformId,
    listed,
  ]);
  const wanted = `(SELECT unnest($3::text[]) UNION SELECT r.deployment_id FROM ${requests} r
    WHERE r.tool_id = $1 AND r.platform_id = $2 AND r.status = 'admitted' AND $4 = 'Confirm')`;
  const parameters = [toolId, platformId, listed, policy];
  await tx.query(
    `DELETE FROM ${deployments} WHERE tool_id = $1 AND (platform_id <> $2 OR deployment_id NOT IN ${wanted})`,
    parameters,
  );
  await tx.query(
    `INSERT INTO ${deployments} (tool_id, platform_id, deployment_id) SELECT $1, $2, w.id FROM ${wanted} AS w (id) ON CONFLICT DO NOTHING`,
    parameters,
  );
}
