import { apiVersionOf, type Kind, type KubeObject, type Observed, type OwnerReference } from './object.ts';

/**
 * Returns a reference that makes `owner` the controller of an object: deleting the owner deletes it, and a foreground deletion of
 * the owner waits for it.
 */
export function ownerReference(owner: Observed, kind: Kind): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata?.ownerReferences?.find((reference) => reference.controller === true);

/** Compares by uid: a recreated owner of the same name is another one. */
export const isControlledBy = (object: KubeObject, owner: { readonly uid: string }): boolean =>
  controllerOf(object)?.uid === owner.uid;
