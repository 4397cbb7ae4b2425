import type { Executor } from '../../store/postgres/database.ts';

/** Number of deployments recorded for a registration (the slots of carrel.unknown_deployments). */
const SLOTS = 20;
/** A deployment that launches again within this time is not recorded again; for that long nothing else takes its slot. */
const NOTED_AGAIN_AFTER = '1 hour';

const NOTE = `
  INSERT INTO carrel.unknown_deployments AS u (managed_ref, slot, deployment_id)
  SELECT t.managed_ref, free.slot, $2
  FROM lti_tools t CROSS JOIN LATERAL (
    SELECT s.slot FROM generate_series(0, ${SLOTS - 1}) AS s (slot)
    LEFT JOIN carrel.unknown_deployments k ON k.tenant = current_user AND k.managed_ref = t.managed_ref AND k.slot = s.slot
    WHERE k.noted_at IS NULL OR k.noted_at < now() - interval '${NOTED_AGAIN_AFTER}'
    ORDER BY k.deployment_id = $2 DESC NULLS LAST, k.noted_at NULLS FIRST, s.slot LIMIT 1) free
  WHERE t.id = $1 AND t.managed_ref IS NOT NULL AND NOT EXISTS (
    SELECT FROM carrel.unknown_deployments k WHERE k.tenant = current_user AND k.managed_ref = t.managed_ref
      AND k.deployment_id = $2
      AND k.noted_at >= now() - interval '${NOTED_AGAIN_AFTER}')
  ON CONFLICT (tenant, managed_ref, slot) DO UPDATE SET deployment_id = excluded.deployment_id, noted_at = now()
    WHERE u.noted_at < now() - interval '${NOTED_AGAIN_AFTER}'`;

/**
 * Records for the operator that a deployment launched which its registration, a Kubernetes resource, does not list. Only for a
 * verified id_token. One statement. It writes nothing for a deployment recorded within the hour, nor while 20 others were: an LMS
 * can neither fill the table nor flood the Events, and some of several racing launches may go unrecorded.
 */
export async function noteUnknownDeployment(sql: Executor, toolId: number, deploymentId: string): Promise<void> {
  await sql.prepared('lti-unknown-deployment', NOTE, [toolId, deploymentId]);
}
