import { isDeepStrictEqual } from 'node:util';
import { keyOf, keyText, type Kind, type KubeObject, type ObjectKey, type Observed } from './object.ts';
import { controllerOf } from './owner.ts';
import { PRIORITY, type Priority } from './work-queue.ts';
import type { Change, Store } from './store.ts';

type Enqueue = (key: ObjectKey, priority: Priority) => void;

/** A source of keys for a controller. */
export interface Source {
  /**
   * Calls `enqueue` for each change, and for each existing object unless another source names its key anyway. Returns a function
   * that unsubscribes.
   */
  subscribe(enqueue: Enqueue): () => void;
  waitForSync(signal: AbortSignal): Promise<void>;
  /** Returns true if the controller's own object of that key exists; only the source of the kind itself knows. */
  readonly holds?: (key: ObjectKey) => boolean;
}

/**
 * The controller's own kind. A change of its spec, or its deletion, is a user's action and has priority. Status and finalizers
 * that the reconcile itself wrote do not enqueue the key again; those that another client wrote do.
 */
export function forObject<T extends KubeObject>(store: Store<T>): Source {
  const keysOf = (change: Change<T>): ObjectKey[] => (change.own && isBookkeeping(change) ? [] : [keyOf(change.object)]);
  return {
    ...source(store, keysOf, { priorityOf: priorityOfOwn }),
    holds: (key) => store.has(key),
  };
}

/**
 * A child kind: enqueues the key of its controller owner, if that is of `ownerKind`. For a controller that has `forObject` of
 * that kind: every existing owner is reconciled anyway, so earlier children are not read. Reading them would delay a new leader
 * for seconds with thousands of owners. A child that the reconcile itself wrote does not enqueue its owner: the reconcile
 * continued with the answer.
 */
export function forOwner<T extends KubeObject>(store: Store<T>, ownerKind: Kind): Source {
  const ownerOf = ({ object, own }: Change<T>): ObjectKey[] => {
    if (own) return [];
    const owner = controllerOf(object);
    const isOurs = owner?.kind === ownerKind.kind && owner.apiVersion.split('/')[0] === (ownerKind.group || ownerKind.version);
    return owner && isOurs
      ? [{ namespace: ownerKind.namespaced ? (object.metadata.namespace ?? '') : '', name: owner.name }]
      : [];
  };
  return source(store, ownerOf, { replay: false });
}

/**
 * Any other kind: `map` returns the keys that an object concerns. It is called with both states when an object changes, so that
 * keys that it no longer concerns are included.
 */
export function forMapped<T extends KubeObject>(
  store: Store<T>,
  map: (object: Change<T>['object']) => readonly ObjectKey[],
): Source {
  return source(store, ({ object, previous }) => [...map(object), ...(previous ? map(previous) : [])]);
}

function source<T extends KubeObject>(
  store: Store<T>,
  keysOf: (change: Change<T>) => readonly ObjectKey[],
  { priorityOf = priorityOfOther, replay = true }: { priorityOf?: (change: Change<T>) => Priority; replay?: boolean } = {},
): Source {
  return {
    subscribe: (enqueue) => {
      const onChange = (change: Change<T>): void => {
        // Each key once: a key named twice would be reconciled twice, since the first run starts at once.
        const keys = new Map(keysOf(change).map((key) => [keyText(key), key]));
        for (const key of keys.values()) enqueue(key, priorityOf(change));
      };
      return store.onChange(onChange, { replay });
    },
    waitForSync: (signal) => store.waitForSync(signal),
  };
}

function isBookkeeping<T extends KubeObject>({ object, previous }: Change<T>): boolean {
  return previous !== undefined && isDeepStrictEqual(withoutBookkeeping(object), withoutBookkeeping(previous));
}

const withoutBookkeeping = (object: Observed): object => ({
  ...object,
  status: undefined,
  metadata: { ...object.metadata, finalizers: undefined, resourceVersion: '' },
});

const priorityOfOther = <T extends KubeObject>(change: Change<T>): Priority =>
  change.initial ? PRIORITY.resync : PRIORITY.change;

function priorityOfOwn<T extends KubeObject>(change: Change<T>): Priority {
  if (change.initial) return PRIORITY.resync;
  const { object, previous } = change;
  const sameSpec = previous !== undefined && previous.metadata.generation === object.metadata.generation;
  return sameSpec && previous.metadata.deletionTimestamp === object.metadata.deletionTimestamp
    ? PRIORITY.change
    : PRIORITY.person;
}
