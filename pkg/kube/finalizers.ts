import { isConflict, isInvalid, isNotFound, KubeError } from './errors.ts';
import { isDeleting, keyOf, type KubeObject, type Observed } from './object.ts';
import type { JsonPatchOperation, ResourceApi } from './resource.ts';
import type { Store } from './store.ts';

type Options<T extends KubeObject> = { store?: Store<T>; signal?: AbortSignal };

const MAX_TRIES = 4;

export const hasFinalizer = (object: KubeObject, name: string): boolean => object.metadata?.finalizers?.includes(name) ?? false;

/**
 * Returns the object with the finalizer; writes only if it is missing. An object that is deleted meanwhile is a KubeError (404,
 * 422).
 */
export function addFinalizer<T extends KubeObject>(
  api: ResourceApi<T>,
  object: Observed<T>,
  name: string,
  options: Options<T> = {},
): Promise<Observed<T>> {
  return change(api, object, options, (current) => {
    if (hasFinalizer(current, name)) return undefined;
    const finalizers = [...(current.metadata.finalizers ?? []), name];
    return { op: current.metadata.finalizers ? 'replace' : 'add', path: '/metadata/finalizers', value: finalizers };
  });
}

/** Removes our finalizer; others stay. A missing object is not an error. */
export async function removeFinalizer<T extends KubeObject>(
  api: ResourceApi<T>,
  object: Observed<T>,
  name: string,
  options: Options<T> = {},
): Promise<void> {
  await change(api, object, options, (current) => {
    if (!hasFinalizer(current, name)) return undefined;
    return { op: 'replace', path: '/metadata/finalizers', value: current.metadata.finalizers?.filter((one) => one !== name) };
  }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function change<T extends KubeObject>(
  api: ResourceApi<T>,
  object: Observed<T>,
  options: Options<T>,
  operation: (current: Observed<T>) => JsonPatchOperation | undefined,
): Promise<Observed<T>> {
  const { store, signal } = options;
  let current = object;
  for (let tries = 1; ; tries++) {
    const step = operation(current);
    if (!step) return current;
    const guard: JsonPatchOperation[] = [
      { op: 'test', path: '/metadata/uid', value: current.metadata.uid },
      { op: 'replace', path: '/metadata/resourceVersion', value: current.metadata.resourceVersion },
    ];
    try {
      const changed = await api.patch(keyOf(object), [...guard, step], { signal });
      // A deleted object without its last finalizer no longer exists: the answer shows its final state.
      if (!isDeleting(changed) || (changed.metadata.finalizers ?? []).length > 0) store?.record(changed);
      return changed;
    } catch (error) {
      if (!(isConflict(error) || isInvalid(error)) || tries >= MAX_TRIES) throw error;
      current = await api.get(keyOf(object), { signal });
      if (current.metadata.uid !== object.metadata.uid)
        throw new KubeError(404, 'NotFound', `${api.kind.kind} ${object.metadata.name} was recreated`);
    }
  }
}
