import { isDeepStrictEqual } from 'node:util';
import { compareResourceVersions, keyOf, keyText, type KubeObject, type Kind, type ObjectKey, type Observed } from './object.ts';

export interface Change<T extends KubeObject> {
  readonly type: 'added' | 'updated' | 'deleted';
  /** As it is now; of a deleted one, its last state. */
  readonly object: Observed<T>;
  /** Before an update. */
  readonly previous?: Observed<T>;
  /** Part of the first list, or of the replay for a new subscriber, not a change. */
  readonly initial: boolean;
}

export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;
type IndexOf<T extends KubeObject> = (object: Observed<T>) => readonly string[];

/**
 * A copy of a kind's objects in memory, kept by a Reflector; readers must not change what they get.
 *
 * Invariants:
 * - Every change is reported once, in order: added, updated …, deleted. A new object of a known name is a deletion and an addition.
 * - An object never goes back to an older resource version, whether the watch or our own write (`record`) delivers it first.
 * - With `transform`, an update of what is not kept is no change.
 * - `managedFields` are not kept: they are half of an object's bytes and no reader needs them.
 */
export class Store<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly #objects = new Map<string, Observed<T>>();
  readonly #indexes: ReadonlyMap<string, { of: IndexOf<T>; values: Map<string, Set<string>> }>;
  readonly #transform: ((object: Observed<T>) => Observed<T>) | undefined;
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #synced = Promise.withResolvers<void>();
  #hasSynced = false;
  /** What each reflector has delivered: one for all objects (''), or one for each namespace. */
  readonly #scopes: ReadonlyMap<string, Scope>;

  /**
   * `indexes`: by name, the values under which an object is found. `transform` may drop unread fields, to save memory.
   * `scopes`: the namespaces, each with a reflector of its own; left out, one reflector delivers all objects.
   */
  constructor(options: {
    kind: Kind<T>;
    indexes?: Record<string, IndexOf<T>>;
    transform?: (object: Observed<T>) => Observed<T>;
    scopes?: readonly string[] | undefined;
  }) {
    this.kind = options.kind;
    this.#scopes = new Map((options.scopes ?? ['']).map((scope) => [scope, { seen: '0', rewound: false, hasSynced: false }]));
    this.#transform = options.transform;
    this.#indexes = new Map(Object.entries(options.indexes ?? {}).map(([name, of]) => [name, { of, values: new Map() }]));
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): Observed<T> | undefined {
    return this.#objects.get(keyText(key));
  }

  /** All, or those of a namespace. */
  list(namespace?: string): Observed<T>[] {
    const all = [...this.#objects.values()];
    return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  /** Throws if no index has that name: a programming error. */
  byIndex(name: string, value: string): Observed<T>[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`${this.kind.plural} have no index ${name}`);
    return [...(index.values.get(value) ?? [])].flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Resolves when the first list is in; rejects with the signal's reason. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([this.#synced.promise, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Reports what is here already, as added, then every change. Returns a function that unsubscribes. */
  onChange(handler: ChangeHandler<T>): () => void {
    for (const object of this.#objects.values()) handler({ type: 'added', object, initial: true });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /**
   * Records the answer to our own write, so that the next reader sees it before the watch delivers it.
   * What the watch has delivered already, or is past, is ignored.
   */
  record(object: Observed<T>): void {
    const { seen, hasSynced } = this.#scopeOf(object);
    if (hasSynced && compareResourceVersions(object.metadata.resourceVersion, seen) > 0) this.upsert(object);
  }

  /** For the reflector of this scope: a list of this version begins. */
  beginList(resourceVersion: string, name = ''): void {
    const scope = this.#scope(name);
    scope.rewound = compareResourceVersions(resourceVersion, scope.seen) < 0;
  }

  /** For the reflector: an object of a list or an event. */
  upsert(given: Observed<T>): void {
    const plain = withoutManagedFields(given);
    const object = this.#transform?.(plain) ?? plain;
    const key = keyText(keyOf(object));
    const previous = this.#objects.get(key);
    if (previous) {
      if (previous.metadata.resourceVersion === object.metadata.resourceVersion && previous.metadata.uid === object.metadata.uid) return;
      if (!this.#scopeOf(object).rewound && isOlder(object, previous)) return;
    }
    if (previous && previous.metadata.uid !== object.metadata.uid) this.#delete(key, previous);
    const present = this.#objects.get(key);
    if (present) this.#unindex(key, present);
    this.#objects.set(key, object);
    this.#index(key, object);
    if (present && this.#transform !== undefined && isSameButVersion(present, object)) return;
    this.#report(present ? { type: 'updated', object, previous: present } : { type: 'added', object });
  }

  /** For the reflector: an object that is gone. */
  remove(object: Observed<T>): void {
    const key = keyText(keyOf(object));
    const previous = this.#objects.get(key);
    if (previous && !isOlder(object, previous)) this.#delete(key, previous);
  }

  /** For the reflector of this scope: a list of `resourceVersion` held exactly `keys`; what else of the scope was here before it is gone. */
  endList(keys: ReadonlySet<string>, resourceVersion: string, name = ''): void {
    const scope = this.#scope(name);
    for (const [key, object] of this.#objects) {
      if (this.#scopeOf(object) !== scope) continue;
      const isNewer = compareResourceVersions(object.metadata.resourceVersion, resourceVersion) > 0;
      if (!keys.has(key) && (scope.rewound || !isNewer)) this.#delete(key, object);
    }
    this.#finishList(scope, resourceVersion);
  }

  /** For the reflector of this scope: nothing of it is left to deliver, since its namespace is gone, or going and the rights in it gone already, or the kind is missing. */
  endScope(name = ''): void {
    const scope = this.#scope(name);
    for (const [key, object] of this.#objects) if (this.#scopeOf(object) === scope) this.#delete(key, object);
    this.#finishList(scope, '0');
  }

  #finishList(scope: Scope, seen: string): void {
    Object.assign(scope, { rewound: false, seen, hasSynced: true });
    if (![...this.#scopes.values()].every(({ hasSynced }) => hasSynced)) return;
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  /** For the reflector of this scope: all changes up to this version have been delivered. */
  progress(resourceVersion: string, name = ''): void {
    this.#scope(name).seen = resourceVersion;
  }

  /** Throws if the store has no such scope: a programming error. */
  #scope(name: string): Scope {
    const scope = this.#scopes.get(name);
    if (!scope) throw new Error(`the store of ${this.kind.plural} has no scope ${name}`);
    return scope;
  }

  /** That of its namespace; a Namespace is its own. */
  #scopeOf({ metadata }: Observed<T>): Scope {
    return this.#scopes.get('') ?? this.#scope(metadata.namespace ?? metadata.name);
  }

  #delete(key: string, object: Observed<T>): void {
    this.#objects.delete(key);
    this.#unindex(key, object);
    this.#report({ type: 'deleted', object });
  }

  #report(change: Omit<Change<T>, 'initial'>): void {
    for (const handler of this.#handlers) handler({ ...change, initial: !this.#hasSynced });
  }

  #index(key: string, object: Observed<T>): void {
    for (const { of, values } of this.#indexes.values()) {
      for (const value of of(object)) {
        const keys = values.get(value);
        if (keys) keys.add(key);
        else values.set(value, new Set([key]));
      }
    }
  }

  #unindex(key: string, object: Observed<T>): void {
    for (const { of, values } of this.#indexes.values()) {
      for (const value of of(object)) {
        const keys = values.get(value);
        keys?.delete(key);
        if (keys?.size === 0) values.delete(value);
      }
    }
  }
}

interface Scope {
  /** The reflector has delivered all changes up to this version. */
  seen: string;
  /** While a list is taken in that is older than what we have (a restored backup), its versions rule. */
  rewound: boolean;
  hasSynced: boolean;
}

const isOlder = (object: Observed, than: Observed): boolean =>
  compareResourceVersions(object.metadata.resourceVersion, than.metadata.resourceVersion) < 0;

/** Whether two states of an object differ in their resource version alone. */
const isSameButVersion = (one: Observed, other: Observed): boolean =>
  isDeepStrictEqual(
    { ...one, metadata: { ...one.metadata, resourceVersion: '' } },
    { ...other, metadata: { ...other.metadata, resourceVersion: '' } },
  );

function withoutManagedFields<T extends KubeObject>(object: Observed<T>): Observed<T> {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
