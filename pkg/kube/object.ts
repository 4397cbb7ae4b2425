import type { V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';

/**
 * A typed model of @kubernetes/client-node as it travels: timestamps are RFC 3339 strings, and a field whose name is a word
 * of the language goes without the model's underscore (`from`, not `_from`). Nothing here converts, so the types must not lie.
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

/** An object as the API server gave it: it has a name, a uid and a resourceVersion. */
export type Observed<T extends KubeObject = KubeObject> = T & {
  metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string; creationTimestamp: string };
};

/** `namespace` is '' for what lies in no namespace. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * What a kind is. `group` is '' for the core group. The type parameter is the shape of its objects; it exists for the compiler
 * only.
 */
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

/** `namespace/name`, or `name` alone: a key as text, for logs and maps. */
export const keyText = (key: ObjectKey): string => (key.namespace === '' ? key.name : `${key.namespace}/${key.name}`);

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { namespace: '', name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export const isDeleting = (object: KubeObject): boolean => object.metadata?.deletionTimestamp !== undefined;

/**
 * Orders two resource versions of one kind: negative when `a` is older. They are decimal numbers of any size
 * (Kubernetes 1.35: resource versions are comparable); what is no number counts as equal, so that nothing is dropped for it.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a === b || !/^\d+$/.test(a) || !/^\d+$/.test(b)) return 0;
  return a.length - b.length || (a < b ? -1 : 1);
}
