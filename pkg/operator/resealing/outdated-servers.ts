import { isDeleting } from '../../kube/object.ts';
import type { Deployment } from '../../kube/kinds.ts';
import type { Store } from '../../kube/store.ts';
import type { Tenant } from '../kinds.ts';
import { slugOf } from '../names.ts';
import { releaseIn, releaseOf, type ReleaseSettings } from '../tenant/workload/release.ts';

interface Options {
  readonly settings: ReleaseSettings;
  readonly tenants: Pick<Store<Tenant>, 'list'>;
  readonly deployments: Pick<Store<Deployment>, 'get'>;
}

/**
 * Returns the slugs of tenants with a pod that may lack the present platform keys. Such a pod may seal with another key, and
 * cannot open values of the present ones.
 */
export function outdatedServers({ settings, tenants, deployments }: Options): Set<string> {
  const outdated = tenants.list().filter((tenant) => {
    const { namespace, name } = tenant.metadata;
    const deployment = deployments.get({ namespace, name });
    if (isDeleting(tenant) || !deployment) return false;
    return releaseIn(deployment) !== releaseOf(tenant, settings) || !isRolledOut(deployment);
  });
  return new Set(outdated.map(slugOf));
}

/** Returns whether no pod of a former template is left. */
function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return false;
  return (status?.updatedReplicas ?? 0) === wanted && (status?.replicas ?? 0) === wanted;
}
