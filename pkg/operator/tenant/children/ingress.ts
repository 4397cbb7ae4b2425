import { INGRESS, type Ingress } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { identity } from '../../names.ts';
import type { ChildInput } from './child.ts';

/** https://cert-manager.io/docs/usage/ingress/ */
const CLUSTER_ISSUER = 'cert-manager.io/cluster-issuer';

/** Routes both hosts of a tenant to its Service. Returns undefined if no Ingress exposes the tenant. */
export function ingress(
  tenant: Tenant,
  { accepted: { hosts } }: { readonly accepted: Pick<ChildInput['accepted'], 'hosts'> },
): Ingress | undefined {
  const { type, ingressClassName, annotations, tls } = tenant.spec.exposure;
  if (type !== 'Ingress') return undefined;
  // cert-manager watches Ingresses for it, and fills the Secret that `tls` names.
  const issuer = tls?.clusterIssuer === undefined ? undefined : { [CLUSTER_ISSUER]: tls.clusterIssuer };
  const { metadata, ...head } = identity(tenant, INGRESS, tenant.metadata.name);
  const names = [...new Set([hosts.app, hosts.lti])];
  return {
    ...head,
    metadata: { ...metadata, ...(issuer || annotations ? { annotations: { ...annotations, ...issuer } } : {}) },
    spec: {
      ...(ingressClassName === undefined ? {} : { ingressClassName }),
      ...(tls ? { tls: [{ hosts: names, secretName: tls.secretName }] } : {}),
      rules: names.map((host) => ({
        host,
        http: {
          paths: [
            { path: '/', pathType: 'Prefix', backend: { service: { name: tenant.metadata.name, port: { name: 'http' } } } },
          ],
        },
      })),
    },
  };
}
