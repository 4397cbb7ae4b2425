import type { Database } from '../../store/postgres/database.ts';

/** A registration of an LMS here, as far as a login needs it. */
export interface Registration {
  readonly toolId: number;
  readonly clientId: string;
  readonly scope: string;
  readonly toolUrl: string;
  readonly authEndpoint: string;
}

const ACTIVE_OF_ISSUER = `
  SELECT t.id AS "toolId", t.client_id AS "clientId", t.scope, t.tool_url AS "toolUrl", p.auth_endpoint AS "authEndpoint"
  FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  WHERE p.issuer = $1 AND p.is_active AND t.is_active ORDER BY t.id`;

/** The active ones of an issuer, all with the one platform's end points. One statement. */
export async function activeOfIssuer(db: Database, issuer: string): Promise<Registration[]> {
  return issuer.includes('\0') ? [] : db.prepared<Registration>('lti-active-of-issuer', ACTIVE_OF_ISSUER, [issuer]);
}
