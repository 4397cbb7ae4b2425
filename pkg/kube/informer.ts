import type { Kind, KubeObject, Observed } from './object.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { ResourceApi } from './resource.ts';
import { Store } from './store.ts';
import type { KubeClient } from './transport.ts';

/** A store together with the reflector that keeps it. */
export interface Informer<T extends KubeObject> {
  readonly api: ResourceApi<T>;
  readonly store: Store<T>;
  /** Keeps the store until the signal is aborted; then it resolves. */
  run(signal: AbortSignal): Promise<void>;
}

export function informer<T extends KubeObject>(
  options: Omit<ReflectorOptions<T>, 'api' | 'store'> & {
    client: KubeClient;
    kind: Kind<T>;
    indexes?: Record<string, (object: Observed<T>) => readonly string[]>;
    transform?: (object: Observed<T>) => Observed<T>;
  },
): Informer<T> {
  const { client, kind, indexes, transform, ...rest } = options;
  const api = new ResourceApi(client, kind);
  const store = new Store<T>({ kind, ...(indexes ? { indexes } : {}), ...(transform ? { transform } : {}) });
  const reflector = new Reflector<T>({ ...rest, api, store });
  return { api, store, run: (signal) => reflector.run(signal) };
}
