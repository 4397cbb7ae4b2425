import { SERVICE_ACCOUNT, type ServiceAccount } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { identity } from '../../names.ts';

/** The server never talks to the API server, so no token is mounted. */
export const serviceAccount = (tenant: Tenant): ServiceAccount => ({
  ...identity(tenant, SERVICE_ACCOUNT, tenant.metadata.name),
  automountServiceAccountToken: false,
});
