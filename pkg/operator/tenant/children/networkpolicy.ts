import { NETWORK_POLICY, type NetworkPolicy } from '../../../kube/kinds.ts';
import { PUBLIC_RANGES } from '../../../net/private-address.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, podLabels } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';
import type { ChildInput } from './child.ts';
import { HTTP_PORT, OPS_PORT } from './deployment.ts';

type Spec = NonNullable<NetworkPolicy['spec']>;
type Egress = NonNullable<Spec['egress']>[number];

const tcp = (port: number) => ({ port, protocol: 'TCP' });

/**
 * Allows the least that a tenant's pods need: the Ingress controllers and Prometheus reach them; they reach DNS, the stores, the
 * collector of traces if one is configured, public addresses (LMSs and storage that the tenant named) and the private ranges that
 * the operator opens. So they reach no other tenant's pod, no API server and no cloud's metadata service. Returns undefined if
 * the operator makes no policies.
 */
export function networkPolicy(tenant: Tenant, { settings }: Pick<ChildInput, 'settings'>): NetworkPolicy | undefined {
  const rules = settings.networkPolicy;
  if (!rules) return undefined;
  const { ingressControllers, metricsFrom } = rules;
  return {
    ...identity(tenant, NETWORK_POLICY, tenant.metadata.name),
    spec: {
      podSelector: { matchLabels: podLabels(tenant) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        // Without peers the port is open to all addresses: an Ingress controller may be in the nodes' network, or outside of the
        // cluster.
        { ports: [tcp(HTTP_PORT)], ...(ingressControllers.length > 0 ? { from: [...ingressControllers] } : {}) },
        { ports: [tcp(OPS_PORT)], from: metricsFrom.length > 0 ? [...metricsFrom] : [{ namespaceSelector: {} }] },
      ],
      egress: egressOf(settings, rules),
    },
  };
}

function egressOf(
  settings: OperatorSettings,
  { stores, collectors, postgresPorts }: NonNullable<OperatorSettings['networkPolicy']>,
): Egress[] {
  const opened = settings.egressAllow
    .split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
  const ports = [...new Set([...postgresPorts, portOf(`redis://${settings.redisAddress}`), portOf(settings.s3Endpoint)])];
  const blocks = [
    ...PUBLIC_RANGES.map(({ cidr, except }) => ({ cidr, ...(except ? { except: [...except] } : {}) })),
    ...opened.map((cidr) => ({ cidr })),
  ];
  return [
    { ports: [{ port: 53, protocol: 'UDP' }, tcp(53)] },
    { ports: ports.map(tcp), ...(stores.length > 0 ? { to: [...stores] } : {}) },
    ...(settings.traces
      ? [{ ports: [tcp(portOf(settings.traces.endpoint))], ...(collectors.length > 0 ? { to: [...collectors] } : {}) }]
      : []),
    // All ports are open, since an LMS may answer at 8443.
    { ports: [{ protocol: 'TCP' }], to: blocks.map((ipBlock) => ({ ipBlock })) },
  ];
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'redis:': 6379 };

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 443) : Number(port);
}
