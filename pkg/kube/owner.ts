import { apiVersionOf, type Kind, type KubeObject, type Observed, type OwnerReference } from './object.ts';

/** A reference that makes `owner` the controller of an object: it goes when its owner goes, and the owner's deletion in the foreground waits for it. */
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

/** By uid: an owner of the same name that was made anew is another one. */
export const isControlledBy = (object: KubeObject, owner: { readonly uid: string }): boolean => controllerOf(object)?.uid === owner.uid;
