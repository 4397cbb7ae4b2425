import type { Sealer } from '../../runtime/sealing.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { privateKeyAssociatedData } from '../private-key.ts';
import { type ServiceClient, ServiceTokenError } from './service-tokens.ts';

/** The values of a registration that requests to its platform's services need. */
export interface ServiceRegistration {
  readonly isActive: boolean;
  readonly clientId: string;
  readonly tokenEndpoint: string;
  readonly tokenAudience: string | null;
  /** The launch's deployment; otherwise that of the registration, if it lists exactly one. */
  readonly deploymentId: string | null;
  readonly keyId: string | null;
  /** Sealed private key. */
  readonly privateKey: string | null;
  readonly managedRef: string | null;
}

/** The deployment of a tool `t` at its platform `p`, if there is exactly one. */
const ONE_DEPLOYMENT = `(SELECT min(d.deployment_id) FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id
  HAVING count(*) = 1)`;

/**
 * Returns the columns of a ServiceRegistration for a tool `t` and its platform `p`. `launched`: the deployment of a launch, if
 * known.
 */
export const serviceRegistration = (launched: string): string =>
  `t.is_active AND p.is_active AND t.platform_id = p.id AS "isActive", t.client_id AS "clientId",
  p.token_endpoint AS "tokenEndpoint", p.token_audience AS "tokenAudience", t.key_id AS "keyId", t.private_key AS "privateKey",
  t.managed_ref AS "managedRef", coalesce(${launched}, ${ONE_DEPLOYMENT}) AS "deploymentId"`;

const REGISTRATION = `SELECT ${serviceRegistration('$2::text')} FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  WHERE t.id = $1 AND p.id = coalesce($3::int, p.id)`;

/**
 * `deploymentId`: that of a launch, if known. `platformId`: the platform whose services are asked. Returns undefined if the
 * registration now belongs to another platform, whose token the first must not get. One statement.
 */
export async function findServiceRegistration(
  sql: Executor,
  toolId: number,
  { deploymentId = null, platformId = null }: { readonly deploymentId?: string | null; readonly platformId?: number | null } = {},
): Promise<ServiceRegistration | undefined> {
  const values = [toolId, deploymentId, platformId];
  const [registration] = await sql.prepared<ServiceRegistration>('lti-service-registration', REGISTRATION, values);
  return registration;
}

interface Seal {
  readonly tenantId: string;
  readonly sealer: Sealer;
}

/** `tenant`: its slug. Throws ServiceTokenError for a registration that has no key yet. */
export function serviceClient(tenant: string, registration: ServiceRegistration, seal: () => Promise<Seal>): ServiceClient {
  const { clientId, tokenEndpoint, tokenAudience, deploymentId, keyId, privateKey, managedRef } = registration;
  if (keyId === null || privateKey === null || managedRef === null)
    throw new ServiceTokenError('the LMS gave no token: the registration has no key yet');
  return {
    tenant,
    clientId,
    tokenEndpoint,
    tokenAudience,
    deploymentId,
    keyId,
    privateKey: async () => {
      const { tenantId, sealer } = await seal();
      return sealer.open(privateKey, privateKeyAssociatedData(tenantId, managedRef));
    },
  };
}
