import type { Tenant } from '../../kinds.ts';
import { PREFIX } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';

/** Prefixes of keys by which the operator and the Deployment know their pods. No list allows these. */
const OWN_PREFIXES = ['app.kubernetes.io/', `${PREFIX}/`, 'pod-template-hash'];

/** Returns whether one of the operator's lists allows a key. An entry that ends in `*` allows all keys with that prefix. */
export const allows = (list: readonly string[], key: string): boolean =>
  list.some((entry) => (entry.endsWith('*') ? key.startsWith(entry.slice(0, -1)) : key === entry));

/**
 * Returns the reason why a Tenant may not have the pods that `spec.pod` describes, or undefined if it may. A field that could
 * take rights or room from others must be on a list of the operator's: labels open NetworkPolicies, annotations are read by a
 * cluster's other controllers, tolerations and priority classes take nodes.
 */
export function podRefusal({ spec }: Tenant, settings: OperatorSettings): { reason: string; message: string } | undefined {
  const { labels, annotations, tolerations = [], priorityClassName } = spec.pod ?? {};
  const mayHave = (list: readonly string[]) => (key: string) =>
    allows(list, key) && !OWN_PREFIXES.some((prefix) => key.startsWith(prefix));
  const foreign = (
    [
      ['spec.pod.labels', Object.keys(labels ?? {}).filter((key) => !mayHave(settings.podLabels)(key))],
      ['spec.pod.annotations', Object.keys(annotations ?? {}).filter((key) => !mayHave(settings.podAnnotations)(key))],
      // A toleration without a key tolerates every taint.
      ['spec.pod.tolerations', tolerations.map(({ key = '*' }) => key).filter((key) => !allows(settings.tolerations, key))],
      ['spec.pod.priorityClassName', [priorityClassName ?? []].flat().filter((name) => !settings.priorityClasses.includes(name))],
    ] as const
  ).find(([, keys]) => keys.length > 0);
  return (
    foreign && { reason: 'PodFieldNotAllowed', message: `${foreign[0]}: this operator does not accept ${foreign[1].join(', ')}` }
  );
}
