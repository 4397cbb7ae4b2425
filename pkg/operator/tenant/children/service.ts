import { SERVICE, type Service } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, podLabels } from '../../names.ts';

export const service = (tenant: Tenant): Service => ({
  ...identity(tenant, SERVICE, tenant.metadata.name),
  spec: { selector: podLabels(tenant), ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }] },
});
