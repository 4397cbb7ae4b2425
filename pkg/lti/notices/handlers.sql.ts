import type { Tx } from '../../store/postgres/database.ts';

/* The platforms' addresses for registering ours for notices, and whether the platforms have it. */

/**
 * Records that a deployment is asked to use our address. Returns false if it was asked within the day, perhaps by a launch at the
 * same moment.
 */
export async function askHandler(tx: Tx, toolId: number, deploymentId: string, url: string): Promise<boolean> {
  const asked = await tx.query(
    `INSERT INTO lti_notice_handlers AS n (tool_id, deployment_id, service_url) VALUES ($1, $2, $3)
     ON CONFLICT (tool_id, deployment_id) DO UPDATE SET service_url = excluded.service_url, asked_at = now(),
       registered_at = NULL, reason = NULL,
       attempts = 0 WHERE n.asked_at <= now() - interval '1 day'
     RETURNING n.tool_id`,
    [toolId, deploymentId, url],
  );
  return asked.length > 0;
}

/** Returns the condition that the deployment has our address through `url`, or was asked to use it within the day. */
export const isHandlerAsked = ({ tool, deployment, url }: { tool: string; deployment: string; url: string }): string =>
  `EXISTS (SELECT FROM lti_notice_handlers n WHERE n.tool_id = ${tool} AND n.deployment_id = ${deployment}
    AND (n.service_url = ${url} AND n.registered_at IS NOT NULL OR n.asked_at > now() - interval '1 day'))`;

export const handlerAddress = async (tx: Tx, toolId: number, deploymentId: string): Promise<string | undefined> =>
  (
    await tx.query<{ url: string }>(
      'SELECT service_url AS url FROM lti_notice_handlers WHERE tool_id = $1 AND deployment_id = $2',
      [toolId, deploymentId],
    )
  )[0]?.url;

/** Records the result of an attempt: `reason` is null once the platform has our address. Returns the number of attempts. */
export async function noteHandler(
  tx: Tx,
  toolId: number,
  deploymentId: string,
  { reason, now }: { readonly reason: string | null; readonly now: Date },
): Promise<number> {
  const [row] = await tx.query<{ attempts: number }>(
    `UPDATE lti_notice_handlers SET reason = left($3::text, 500), attempts = attempts + 1,
       registered_at = CASE WHEN $3::text IS NULL THEN $4::timestamptz ELSE registered_at END
     WHERE tool_id = $1 AND deployment_id = $2 RETURNING attempts`,
    [toolId, deploymentId, reason, now],
  );
  return row?.attempts ?? 0;
}

/** Records the platform's first notice, which shows that it reaches us. */
export async function noteHello(tx: Tx, toolId: number, deploymentId: string, now: Date): Promise<void> {
  await tx.query('UPDATE lti_notice_handlers SET hello_at = $3 WHERE tool_id = $1 AND deployment_id = $2', [
    toolId,
    deploymentId,
    now,
  ]);
}
