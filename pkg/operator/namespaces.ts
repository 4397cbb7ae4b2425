import type { Namespace } from '../kube/kinds.ts';
import type { Observed } from '../kube/object.ts';
import type { Store } from '../kube/store.ts';
import type { Owner } from '../store/postgres/registry.ts';
import { ConditionError } from './conditions/runner.ts';

type Namespaces = Pick<Store<Namespace>, 'get'>;

const namespaceOf = (namespaces: Namespaces, name: string): Observed<Namespace> | undefined =>
  namespaces.get({ namespace: '', name });

export const isTerminating = (namespaces: Namespaces, name: string): boolean =>
  namespaceOf(namespaces, name)?.metadata.deletionTimestamp !== undefined;

/**
 * Returns whether `owner` is the Tenant of this name. The namespace's uid decides, since a recreated namespace of the same name
 * is a different one.
 */
export const isOwnedBy = (
  namespaces: Namespaces,
  owner: Owner,
  { namespace, name }: { namespace: string; name: string },
): boolean => owner.namespaceUid === namespaceOf(namespaces, namespace)?.metadata.uid && owner.name === name;

/** Returns a Tenant's owner as the registry identifies it. Throws ConditionError NamespaceUnknown. */
export function ownerOf(namespaces: Namespaces, { namespace, name }: { namespace: string; name: string }): Owner {
  const uid = namespaceOf(namespaces, namespace)?.metadata.uid;
  if (uid === undefined)
    throw new ConditionError('NamespaceUnknown', `namespace ${namespace} has not been seen yet`, {
      status: 'Unknown',
      retryAfterMs: 200,
    });
  return { namespace, namespaceUid: uid, name };
}
