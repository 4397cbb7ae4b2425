import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '../../store/postgres/pool.ts';
import type { DeploymentPolicy } from './deployment-requests.sql.ts';

/** The tables of the deployments of a schema's registrations. */
export interface DeploymentTables {
  readonly deployments: string;
  readonly requests: string;
}

/** The deployments of a registration according to its rows. */
export interface StoredDeployments {
  /** Deployments that may launch. */
  readonly deploymentIds: readonly string[];
  /** Sorted by `inOrder`. */
  readonly listed: readonly string[];
  /** Deployments that were not listed when they first launched, or when an administrator decided; newest first. */
  readonly waiting: readonly string[];
  readonly admitted: readonly string[];
  readonly refused: readonly string[];
}

/** The deployments according to the resource. */
export interface WantedDeployments {
  readonly policy: DeploymentPolicy;
  readonly listed: readonly string[];
}

/** Returns the columns of StoredDeployments for a query over lti_tools `t` and its platform `p`. */
export function deploymentColumns({ deployments, requests }: DeploymentTables): string {
  const requested = (status: string): string =>
    `ARRAY(SELECT r.deployment_id::text FROM ${requests} r WHERE r.tool_id = t.id AND r.platform_id = p.id
       AND r.status = '${status}'
       ORDER BY coalesce(r.decided_at, r.first_seen_at) DESC, r.deployment_id) AS ${status}`;
  return `ARRAY(SELECT d.deployment_id::text FROM ${deployments} d WHERE d.tool_id = t.id
    AND d.platform_id = p.id) AS "deploymentIds",
    t.listed_deployments AS listed, ${['waiting', 'admitted', 'refused'].map(requested).join(', ')}`;
}

/** Returns the listed deployments as the registration's row stores them: another order in the resource is not a change. */
export const inOrder = (listed: readonly string[]): string[] => listed.toSorted();

/** Returns whether exactly the desired deployments may launch, and no listed deployment also has a request. */
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
 * Writes the deployments of a registration. Listing a deployment replaces a decision made by REST; once removed from the list, it
 * is unknown again. A deployment admitted by REST may also launch while the policy is `Confirm`; the decisions remain stored
 * under another policy. The tool's row is locked.
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
    `INSERT INTO ${deployments} (tool_id, platform_id, deployment_id) SELECT $1, $2, w.id FROM ${wanted} AS w (id)
       ON CONFLICT DO NOTHING`,
    parameters,
  );
}
