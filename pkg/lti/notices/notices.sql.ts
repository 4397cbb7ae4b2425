import type { Executor, Tx } from '../../store/postgres/database.ts';
import { jobRows } from '../../store/postgres/job-store.ts';
import type { Registration } from '../launch/launch.sql.ts';
import type { DeploymentPolicy } from '../registrations/deployment-requests.sql.ts';
import type { Notice } from './notice.policy.ts';
import { PROCESS_NOTICE } from './notices.jobs.ts';
import type { NoticeType } from './notice-types.ts';

export interface NoticeRegistration extends Registration {
  readonly deploymentIds: readonly string[];
  readonly deploymentPolicy: DeploymentPolicy;
}

const REGISTRATIONS = `
  SELECT t.id AS "toolId", p.id AS "platformId", p.issuer, t.client_id AS "clientId", p.jwks_endpoint AS "jwksEndpoint",
    t.deployment_policy AS "deploymentPolicy",
    ARRAY(SELECT d.deployment_id::text FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id) AS "deploymentIds"
  FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  WHERE p.issuer = ANY ($1::text[]) AND t.client_id = ANY ($2::text[]) AND t.is_active AND p.is_active`;

/** Returns the active registrations with one of these issuers and one of these client ids. One statement. */
export const registrationsOf = (
  sql: Executor,
  issuers: readonly string[],
  clientIds: readonly string[],
): Promise<NoticeRegistration[]> =>
  sql.prepared<NoticeRegistration>('lti-notice-registrations', REGISTRATIONS, [issuers, clientIds]);

/**
 * Skips each notice that was already received, and its job: platforms may send one twice. Also skips a notice whose registration
 * has changed to another LMS since the verification; the lock prevents such a change until the notice is stored.
 */
const STORE = `
  WITH s AS (
    SELECT * FROM json_to_recordset($1) AS s (
      tool_id int, platform_id int, client_id text, id text, type text, deployment_id text, context_id text, origins text[],
      noticed_at timestamptz)),
  t AS (
    SELECT id FROM lti_tools WHERE (id, platform_id, client_id) IN (SELECT tool_id, platform_id, client_id FROM s) ORDER BY id
      FOR KEY SHARE),
  n AS (
    INSERT INTO lti_notices (tool_id, notice_id, type, deployment_id, context_id, origin_ids, noticed_at)
    SELECT tool_id, s.id, type, deployment_id, context_id, coalesce(origins, '{}'), noticed_at FROM s JOIN t ON t.id = s.tool_id
    ORDER BY tool_id, s.id ON CONFLICT DO NOTHING RETURNING tool_id, notice_id)
  ${jobRows(PROCESS_NOTICE, `SELECT jsonb_build_object('tool', tool_id, 'notice', notice_id) FROM n`)}`;

/** A notice, and the registration that it was verified against. */
export type VerifiedNotice = Notice & { readonly by: Pick<Registration, 'toolId' | 'platformId' | 'clientId'> };

/** Stores verified notices, each once, and requests their jobs. One statement. */
export async function storeNotices(sql: Executor, notices: readonly VerifiedNotice[]): Promise<void> {
  const records = notices.map(({ by, id, type, deploymentId, contextId, origins, noticedAt }) => ({
    tool_id: by.toolId,
    platform_id: by.platformId,
    client_id: by.clientId,
    id,
    type,
    deployment_id: deploymentId,
    context_id: contextId,
    origins,
    noticed_at: noticedAt,
  }));
  await sql.prepared('lti-notices-store', STORE, [JSON.stringify(records)]);
}

export interface StoredNotice {
  readonly type: NoticeType;
  readonly platformId: number | null;
  readonly deploymentId: string;
  readonly contextId: string | null;
  readonly origins: readonly string[];
}

/** Returns the notice, locked until the end of the transaction; undefined if it was processed or its registration was deleted. */
export async function takeNotice(tx: Tx, tool: number, id: string, now: Date): Promise<StoredNotice | undefined> {
  const [notice] = await tx.query<StoredNotice>(
    `UPDATE lti_notices n SET processed_at = $3 FROM lti_tools t
     WHERE n.tool_id = $1 AND n.notice_id = $2 AND n.processed_at IS NULL AND t.id = n.tool_id
     RETURNING n.type, t.platform_id AS "platformId", n.deployment_id AS "deploymentId", n.context_id AS "contextId",
       n.origin_ids AS origins`,
    [tool, id, now],
  );
  return notice;
}

const KEPT = '90 days';

/** Deletes old notices: no platform sends one again after so long a time. */
export async function deleteOldNotices(tx: Tx, now: Date): Promise<void> {
  await tx.query(`DELETE FROM lti_notices WHERE received_at < $1::timestamptz - interval '${KEPT}'`, [now]);
}
