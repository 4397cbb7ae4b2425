import { SUSPENDED_ANNOTATION } from '../../../api/suspended-reply.ts';
import { SERVICE, type Service } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, podLabels } from '../../names.ts';

/** Routes of the Gateway API refer to the Service by this number. */
export const SERVICE_PORT = 80;

export function service(tenant: Tenant): Service {
  const { metadata, ...head } = identity(tenant, SERVICE, tenant.metadata.name);
  return {
    ...head,
    metadata: { ...metadata, ...(tenant.spec.suspended ? { annotations: { [SUSPENDED_ANNOTATION]: 'true' } } : {}) },
    spec: { selector: podLabels(tenant), ports: [{ name: 'http', port: SERVICE_PORT, protocol: 'TCP', targetPort: 'http' }] },
  };
}
