import { isDeleting } from '../../kube/object.ts';
import type { Deployment, Secret } from '../../kube/kinds.ts';
import type { Store } from '../../kube/store.ts';
import { parseDataKeys, platformKeyOf } from '../../runtime/sealing.ts';
import type { Tenant } from '../kinds.ts';
import { secretNames } from '../names.ts';
import { dataOf } from '../secrets.ts';

interface Stores {
  readonly tenants: Store<Tenant>;
  readonly secrets: Store<Secret>;
  readonly deployments: Store<Deployment>;
}

/** How many Tenants have a server that may seal with another key than this one: their Secret or their pods are not those of the present keys yet. */
export function outdatedServers({ tenants, secrets, deployments }: Stores, keyId: string): number {
  return tenants.list().filter((tenant) => {
    if (isDeleting(tenant)) return false;
    const { namespace, name } = tenant.metadata;
    const deployment = deployments.get({ namespace, name });
    if (!deployment) return false;
    const secret = secrets.get({ namespace, name: secretNames(tenant).keys });
    return !isRolledOut(deployment) || secret === undefined || firstKeyOf(secret) !== keyId;
  }).length;
}

/** No pod of a former template is left. */
function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return false;
  return (status?.updatedReplicas ?? 0) === wanted && (status?.replicas ?? 0) === wanted;
}

function firstKeyOf(secret: Secret): string | undefined {
  try {
    return platformKeyOf(parseDataKeys(dataOf(secret)['data.json'] ?? '')[0]?.id ?? '');
  } catch {
    return undefined;
  }
}
