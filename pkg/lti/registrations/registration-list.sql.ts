import { listPage, type Page } from '../../api/paging.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { integerKey, keyset, nameKey, timeKey } from '../../store/postgres/keyset.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { DeploymentPolicy } from './deployment-requests.sql.ts';
import { REGISTRATION_SORT_FIELDS, type RegistrationQuery, type RegistrationView } from './registrations.schema.ts';

/** The agreement between the LMS and the tool (`lti_registration_links.registered`). */
export interface Agreement {
  readonly product: string | null;
  readonly scopes_asked: readonly string[];
  readonly scopes_granted: readonly string[];
  readonly placements: readonly string[];
  /** Whether the LMS named its deployment id. */
  readonly has_deployment: boolean;
  /** Whether another LMS with its issuer had already assigned the client id; absent: none had. */
  readonly shares_client_id?: boolean;
}

/** A registration as the API shows it; its private key is never read. */
export interface RegistrationRow {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly clientId: string;
  readonly issuer: string | null;
  readonly platformName: string | null;
  readonly deploymentIds: readonly string[];
  readonly deploymentPolicy: DeploymentPolicy;
  readonly waitingDeployments: number;
  readonly scope: string;
  readonly isActive: boolean;
  readonly managedBy: string | null;
  readonly managedRef: string | null;
  readonly publicKeyIds: readonly string[];
  readonly agreement: Agreement | null;
  readonly registeredAt: Date | null;
  /** Also considers people, because launches are deleted after 90 days. */
  readonly hasLaunched: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const NAME = `coalesce(split_part(t.managed_ref, '/', 2), t.client_id)`;

/** Columns of a tool `t`, its platform `p`, and the link `l` through which an LMS registered it. */
const COLUMNS = `t.id, t.uuid, ${NAME} AS name, t.client_id AS "clientId", p.issuer, p.platform_name AS "platformName",
  ARRAY(SELECT d.deployment_id::text FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = t.platform_id
    ORDER BY 1) AS "deploymentIds",
  t.deployment_policy AS "deploymentPolicy", (SELECT count(*)::int FROM lti_deployment_requests w WHERE w.tool_id = t.id
    AND w.platform_id = t.platform_id AND w.status = 'waiting' AND t.deployment_policy = 'Confirm') AS "waitingDeployments",
  t.scope, t.is_active AND coalesce(p.is_active, false) AS "isActive", t.managed_by AS "managedBy", t.managed_ref AS "managedRef",
  array_remove(ARRAY[t.key_id::text], NULL) || ARRAY(SELECT k.key_id::text FROM lti_tool_keys k
    WHERE k.tool_id = t.id AND (k.published_until IS NULL OR k.published_until > now())
    ORDER BY k.published_until DESC NULLS FIRST, k.key_id) AS "publicKeyIds",
  l.registered AS agreement, l.used_at AS "registeredAt",
  EXISTS (SELECT FROM lti_launches h WHERE h.tool_id = t.id)
    OR EXISTS (SELECT FROM lti_identities i WHERE i.platform_id = t.platform_id AND i.created_at >= l.used_at) AS "hasLaunched",
  t.created_at AS "createdAt", greatest(t.updated_at, p.updated_at) AS "updatedAt"`;

const FROM = `lti_tools t LEFT JOIN lti_platforms p ON p.id = t.platform_id
  LEFT JOIN LATERAL (SELECT r.registered, r.used_at FROM lti_registration_links r
    WHERE r.client_id = t.client_id AND r.issuer = p.issuer AND coalesce(r.jwks_endpoint, p.jwks_endpoint) = p.jwks_endpoint
    ORDER BY r.id DESC LIMIT 1) l ON true`;

const REGISTRATION = `SELECT ${COLUMNS} FROM ${FROM} WHERE t.uuid = $1`;

const REGISTRATIONS = keyset<RegistrationRow, (typeof REGISTRATION_SORT_FIELDS)[number] | 'id'>({
  keys: {
    name: nameKey(`(${NAME})`, ({ name }) => name),
    created_at: timeKey('t.created_at', ({ createdAt }) => createdAt),
    id: integerKey('t.id', ({ id }) => id),
  },
  fields: REGISTRATION_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'id',
});

/** Takes one statement. */
export const listRegistrations = (
  sql: Sql,
  query: RegistrationQuery,
  present: (row: RegistrationRow) => RegistrationView,
): Promise<Page<RegistrationView>> =>
  listPage(sql, query, { keyset: REGISTRATIONS, columns: COLUMNS, from: FROM, where: () => [], present });

/** Takes one statement. */
export async function findRegistration(sql: Executor, uuid: string): Promise<RegistrationRow | undefined> {
  const [row] = await sql.query<RegistrationRow>(REGISTRATION, [uuid]);
  return row;
}
