import type { Deployment } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { podLabels } from '../../names.ts';

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;
type Affinity = NonNullable<NonNullable<Tenant['spec']['pod']>['affinity']>;
type PodAffinity = NonNullable<Affinity['podAffinity']>;

/** Returns the fields that `spec.pod` adds to the pod's spec. Selectors that it leaves out count the tenant's own pods. */
export function podFields(tenant: Tenant): Partial<PodSpec> {
  const { nodeSelector, tolerations, affinity, imagePullSecrets, priorityClassName } = tenant.spec.pod ?? {};
  return {
    ...(nodeSelector ? { nodeSelector } : {}),
    ...(tolerations?.length ? { tolerations } : {}),
    ...(affinity ? { affinity: affinityOf(tenant, affinity) } : {}),
    ...(imagePullSecrets?.length ? { imagePullSecrets } : {}),
    ...(priorityClassName ? { priorityClassName } : {}),
    topologySpreadConstraints: spreadOf(tenant),
  };
}

const ownPods = (tenant: Tenant) => ({ labelSelector: { matchLabels: podLabels(tenant) } });

function spreadOf(tenant: Tenant): NonNullable<PodSpec['topologySpreadConstraints']> {
  const evenly = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' } as const;
  return (tenant.spec.pod?.topologySpreadConstraints ?? [evenly]).map((constraint) => ({ ...ownPods(tenant), ...constraint }));
}

function affinityOf(tenant: Tenant, { nodeAffinity, podAffinity, podAntiAffinity }: Affinity): NonNullable<PodSpec['affinity']> {
  return {
    ...(nodeAffinity ? { nodeAffinity } : {}),
    ...(podAffinity ? { podAffinity: withSelectors(tenant, podAffinity) } : {}),
    ...(podAntiAffinity ? { podAntiAffinity: withSelectors(tenant, podAntiAffinity) } : {}),
  } as NonNullable<PodSpec['affinity']>;
}

function withSelectors(tenant: Tenant, affinity: PodAffinity): PodAffinity {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } =
    affinity;
  return {
    ...(required && {
      requiredDuringSchedulingIgnoredDuringExecution: required.map((term) => ({ ...ownPods(tenant), ...term })),
    }),
    ...(preferred && {
      preferredDuringSchedulingIgnoredDuringExecution: preferred.map(({ weight, podAffinityTerm }) => ({
        weight,
        podAffinityTerm: { ...ownPods(tenant), ...podAffinityTerm },
      })),
    }),
  };
}
