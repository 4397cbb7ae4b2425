import { INGRESS, type Ingress } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { identity } from '../../names.ts';
import type { ChildInput } from './child.ts';

/** Both hosts of a tenant lead to its Service; undefined where the tenant is not exposed by an Ingress. */
export function ingress(
  tenant: Tenant,
  { accepted: { hosts } }: { readonly accepted: Pick<ChildInput['accepted'], 'hosts'> },
): Ingress | undefined {
  const { type, ingressClassName, annotations, tls } = tenant.spec.exposure;
  if (type !== 'Ingress') return undefined;
  const { metadata, ...head } = identity(tenant, INGRESS, tenant.metadata.name);
  const names = [...new Set([hosts.app, hosts.lti])];
  return {
    ...head,
    metadata: { ...metadata, ...(annotations ? { annotations } : {}) },
    spec: {
      ...(ingressClassName === undefined ? {} : { ingressClassName }),
      ...(tls ? { tls: [{ hosts: names, secretName: tls.secretName }] } : {}),
      rules: names.map((host) => ({
        host,
        http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: tenant.metadata.name, port: { name: 'http' } } } }] },
      })),
    },
  };
}
