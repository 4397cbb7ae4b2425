import type { V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';

/**
 * A typed model of @kubernetes/client-node as sent over the network. Timestamps are RFC 3339 strings, and a field whose name is a
 * reserved word has no underscore, unlike in the model (`from`, not `_from`). Nothing here converts, so the types must not lie.
 */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [K in keyof T as K extends `_${infer Name}` ? Name : K]: Json<T[K]> }
      : T;

export type ObjectMeta = Json<V1ObjectMeta>;
export type OwnerReference = Json<V1OwnerReference>;

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** An object as returned by the API server: it has a name, a uid and a resourceVersion. */
export type Observed<T extends KubeObject = KubeObject> = T & {
  metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string; creationTimestamp: string };
};

/** `namespace` is '' for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** A kind. `group` is '' for the core group. The type parameter is the shape of its objects; it exists only for the compiler. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shape?: T;
}

export function defineKind<T extends KubeObject>(kind: Omit<Kind, 'shape'>): Kind<T> {
  return kind;
}

/** `apps/v1`, or `v1` in the core group. */
export const apiVersionOf = (kind: Pick<Kind, 'group' | 'version'>): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;

export const keyOf = (object: KubeObject): ObjectKey => ({
  namespace: object.metadata?.namespace ?? '',
  name: object.metadata?.name ?? '',
});

/** A key as text, for logs and maps: `namespace/name`, or only `name`. */
export const keyText = (key: ObjectKey): string => (key.namespace === '' ? key.name : `${key.namespace}/${key.name}`);

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { namespace: '', name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export const isDeleting = (object: KubeObject): boolean => object.metadata?.deletionTimestamp !== undefined;

/**
 * Orders two resource versions of one kind: negative if `a` is older. They are decimal numbers of any size (Kubernetes 1.35:
 * resource versions are comparable). A version that is not a number counts as equal, so that no object is dropped because of it.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a === b || !/^\d+$/.test(a) || !/^\d+$/.test(b)) return 0;
  return a.length - b.length || (a < b ? -1 : 1);
}
