import { isIPv6 } from 'node:net';
import { ENDPOINT_SLICE, type EndpointSlice } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { FIELD_MANAGER, identity } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';

/**
 * Leads the Service of a suspended tenant, which has no pods, to the server that answers instead. The controller of
 * EndpointSlices leaves slices of others unchanged. Undefined: the tenant has pods, or no server answers.
 */
export function suspendedEndpoints(
  tenant: Tenant,
  { settings }: { readonly settings: Pick<OperatorSettings, 'suspendedAnswer'> },
): EndpointSlice | undefined {
  const answer = settings.suspendedAnswer;
  if (!tenant.spec.suspended || !answer) return undefined;
  const { name } = tenant.metadata;
  const { metadata, ...head } = identity(tenant, ENDPOINT_SLICE, `${name}-suspended`);
  const ofService = { 'kubernetes.io/service-name': name, 'endpointslice.kubernetes.io/managed-by': FIELD_MANAGER };
  return {
    ...head,
    metadata: { ...metadata, labels: { ...metadata.labels, ...ofService } },
    addressType: isIPv6(answer.address) ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [answer.address], conditions: { ready: true } }],
    ports: [{ name: 'http', port: answer.port, protocol: 'TCP' }],
  };
}
