import { GATEWAY } from '../kube/gateway-api.ts';
import { EVENT, LEASE, NAMESPACE, POD, SECRET } from '../kube/kinds.ts';
import type { Kind } from '../kube/object.ts';
import { LTI_REGISTRATION, TENANT, WEBHOOK } from './kinds.ts';
import { OWNED_KINDS } from './tenant/children/index.ts';

const WATCHED = ['get', 'list', 'watch'];
/**
 * The rights to objects that the operator creates for a tenant: it creates with POST, changes with apply and JSON patch, and
 * prunes with DELETE.
 */
const OWNED = [...WATCHED, 'create', 'patch', 'delete'];

/** `<group>/<resource>`; the core group is empty. */
const resourceOf = ({ group, plural }: Kind, subresource?: string): string =>
  `${group}/${plural}${subresource === undefined ? '' : `/${subresource}`}`;

/**
 * Every right that the operator needs in all namespaces: verbs by resource. charts/carrel/templates/operator/role.yaml grants
 * exactly these, and so do config/rbac and the API servers of the tests, on which the operator runs with no other right.
 */
export const CLUSTER_RIGHTS: ReadonlyMap<string, readonly string[]> = new Map([
  // Create is for registrations that LMSs made by themselves, patch for the finalizer. The status is replaced. Owner references
  // that block the owner's deletion require `finalizers`.
  ...[TENANT, LTI_REGISTRATION, WEBHOOK].flatMap((kind): [string, string[]][] => [
    [resourceOf(kind), [...WATCHED, 'patch', ...(kind === LTI_REGISTRATION ? ['create'] : [])]],
    [resourceOf(kind, 'status'), ['update']],
    [resourceOf(kind, 'finalizers'), ['update']],
  ]),
  // Secrets are also written by update, so that what others added to them stays.
  ...OWNED_KINDS.map((kind): [string, string[]] => [resourceOf(kind), kind === SECRET ? [...OWNED, 'update'] : OWNED]),
  [resourceOf(NAMESPACE), ['list', 'watch']],
  // Shows whether the Gateway that a Tenant names exists and is programmed.
  [resourceOf(GATEWAY), ['list', 'watch']],
  // A deletion waits for the last pod.
  [resourceOf(POD), ['list']],
  [resourceOf(EVENT), ['create', 'patch']],
]);

/** The rights in the operator's own namespace. A create cannot be bound to a name, since it has none in the request's path. */
export const OWN_NAMESPACE_RIGHTS: ReadonlyMap<string, readonly string[]> = new Map([
  [resourceOf(LEASE), ['create', 'get', 'update']],
]);
