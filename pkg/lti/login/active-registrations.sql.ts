import type { Database } from '../../store/postgres/database.ts';

/** The values of an LMS's registration that a login needs. */
export interface Registration {
  readonly toolId: number;
  readonly clientId: string;
  readonly scope: string;
  readonly toolUrl: string;
  readonly authEndpoint: string;
  /** Whether the requested deployment may launch through it. */
  readonly isDeployed: boolean;
}

const ACTIVE_OF_ISSUER = `
  SELECT t.id AS "toolId", t.client_id AS "clientId", t.scope, t.tool_url AS "toolUrl", p.auth_endpoint AS "authEndpoint",
    EXISTS (SELECT FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id
      AND d.deployment_id = $2) AS "isDeployed"
  FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  WHERE p.issuer = $1 AND p.is_active AND t.is_active ORDER BY t.id`;

/** Returns the active registrations of an issuer: of one LMS, or of several that share it. One statement. */
export async function activeOfIssuer(db: Database, issuer: string, deploymentId?: string): Promise<Registration[]> {
  if (issuer.includes('\0')) return [];
  return db.prepared<Registration>('lti-active-of-issuer', ACTIVE_OF_ISSUER, [
    issuer,
    deploymentId?.includes('\0') ? null : (deploymentId ?? null),
  ]);
}
