import type { Namespace } from './kinds.ts';
import type { Kind, KubeObject, Observed } from './object.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { ResourceApi } from './resource.ts';
import { Store } from './store.ts';
import type { KubeClient } from './transport.ts';

/** A store together with the reflectors that update it. */
export interface Informer<T extends KubeObject> {
  readonly api: ResourceApi<T>;
  readonly store: Store<T>;
  /** Updates the store until the signal is aborted; then it resolves. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Creates a store of all objects of a kind, or only those of `namespaces`, with one list and watch for each namespace: so the
 * program needs no rights beyond them. For the kind Namespace, the store holds those with these names.
 */
export function informer<T extends KubeObject>(
  options: Omit<ReflectorOptions<T>, 'api' | 'store' | 'scope' | 'hasEnded'> & {
    client: KubeClient;
    kind: Kind<T>;
    namespaces?: readonly string[] | undefined;
    /**
     * The existing ones of `namespaces`. With it, a namespace that is gone, or being deleted and without our rights, counts as
     * empty.
     */
    existing?: Store<Namespace> | undefined;
    indexes?: Record<string, (object: Observed<T>) => readonly string[]>;
    transform?: (object: Observed<T>) => Observed<T>;
    packed?: boolean;
  },
): Informer<T> {
  const { client, kind, indexes, transform, packed, namespaces, existing, ...rest } = options;
  const api = new ResourceApi(client, kind);
  const store = new Store<T>({
    kind,
    ...(indexes ? { indexes } : {}),
    ...(transform ? { transform } : {}),
    packed,
    scopes: namespaces,
  });
  const selections = namespaces?.map((scope) => ({
    scope,
    ...(kind.namespaced ? { namespace: scope } : { fieldSelector: `metadata.name=${scope}` }),
    ...(existing ? { hasEnded: () => existing.hasSynced && isGoneOrGoing(existing.get({ namespace: '', name: scope })) } : {}),
  })) ?? [{}];
  const reflectors = selections.map((selection) => new Reflector<T>({ ...rest, ...selection, api, store }));
  return { api, store, run: async (signal) => void (await Promise.all(reflectors.map((reflector) => reflector.run(signal)))) };
}

const isGoneOrGoing = (namespace: Observed<Namespace> | undefined): boolean =>
  namespace?.metadata.deletionTimestamp !== undefined || !namespace;
