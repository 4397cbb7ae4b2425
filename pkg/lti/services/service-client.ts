import type { Sealer } from '../../runtime/sealing.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { privateKeyAssociatedData } from '../private-key.ts';
import { type ServiceClient, ServiceTokenError } from './service-tokens.ts';

/** A registration as far as the services of its platform are asked. */
export interface ServiceRegistration {
  readonly isActive: boolean;
  readonly clientId: string;
  readonly tokenEndpoint: string;
  readonly tokenAudience: string | null;
  /** Of the launch; else that of the registration, where it lists exactly one. */
  readonly deploymentId: string | null;
  readonly keyId: string | null;
  /** Sealed. */
  readonly privateKey: string | null;
  readonly managedRef: string | null;
}

/** Of a tool `t` and its platform `p`: its deployment, where there is exactly one. */
const ONE_DEPLOYMENT = `(SELECT min(d.deployment_id) FROM lti_deployments d WHERE d.tool_id = t.id AND d.platform_id = p.id HAVING count(*) = 1)`;

/**
 * The columns of a ServiceRegistration, of a tool `t` and its platform `p`. `launched`: the deployment of a launch, where it is
 * known.
 */
export const serviceRegistration = (launched: string): string =>
  `t.is_active AND p.is_active AND t.platform_id = p.id AS "isActive", t.client_id AS "clientId",
  p.token_endpoint AS "tokenEndpoint", p.token_audience AS "tokenAudience", t.key_id AS "keyId", t.private_key AS "privateKey",
  t.managed_ref AS "managedRef", coalesce(${launched}, ${ONE_DEPLOYMENT}) AS "deploymentId"`;

const REGISTRATION = `SELECT ${serviceRegistration('$2::text')} FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  WHERE t.id = $1 AND p.id = coalesce($3::int, p.id)`;

/**
 * `deploymentId`: of a launch, where it is known. `platformId`: whose services are asked; undefined where the registration is of
 * another platform by now, whose token that one must not get. One statement.
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
