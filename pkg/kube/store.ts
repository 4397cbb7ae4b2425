import { isDeepStrictEqual } from 'node:util';
import { compareResourceVersions, keyOf, keyText, type KubeObject, type Kind, type ObjectKey, type Observed } from './object.ts';
import { controllerOf } from './owner.ts';
import { Packer } from './packer.ts';
import { abortable } from '../runtime/abort.ts';

export interface Change<T extends KubeObject> {
  readonly type: 'added' | 'updated' | 'deleted';
  /** The current state; for a deleted object, its last one. */
  readonly object: Observed<T>;
  /** The state before an update. */
  readonly previous?: Observed<T>;
  /** Part of the first list, or of the replay for a new subscriber, not a change. */
  readonly initial: boolean;
  /** The answer to our own write (`record`), not an event of the watch. */
  readonly own: boolean;
}

type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;
/** Several times the number of reconciles that run at once, times the objects of a kind that each reads. */
const MOST_RECENT = 64;
type IndexOf<T extends KubeObject> = (object: Observed<T>) => readonly string[];

/**
 * A copy of a kind's objects in memory, updated by a Reflector; readers must not change the objects.
 *
 * Invariants:
 * - Every change is reported once, in order: added, updated …, deleted. A new object of a known name is a deletion and an
 *   addition.
 * - An object never returns to an older resource version, whether the watch or our own write (`record`) delivers it first.
 * - With `transform`, an update of dropped fields is not a change.
 * - `managedFields` are dropped: they are half of an object's bytes and no reader needs them.
 * - With `packed`, objects are held as compressed text (packer.ts), except those that were read or written last. The fields that
 *   order and find objects are not packed.
 */
export class Store<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #packer: Packer<Observed<T>> | undefined;
  /** Unpacked objects that were read or written last, oldest first: a reconcile reads most of its objects several times. */
  readonly #recent = new Map<Entry<T>, Observed<T>>();
  readonly #indexes: ReadonlyMap<string, { of: IndexOf<T>; values: Map<string, Set<string>> }>;
  readonly #transform: ((object: Observed<T>) => Observed<T>) | undefined;
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #synced = Promise.withResolvers<void>();
  #hasSynced = false;
  /** The delivered versions of each reflector: one for all objects (''), or one per namespace. */
  readonly #scopes: ReadonlyMap<string, Scope>;

  /**
   * `indexes`: by name, the values under which an object is found. `transform` may drop unread fields, to save memory.
   * `packed` needs about a tenth of the memory and some 30 µs per object that is read: for kinds with thousands of objects.
   * `scopes`: the namespaces, each with its own reflector. Default: one reflector delivers all objects.
   */
  constructor(options: {
    kind: Kind<T>;
    indexes?: Record<string, IndexOf<T>>;
    transform?: (object: Observed<T>) => Observed<T>;
    packed?: boolean | undefined;
    scopes?: readonly string[] | undefined;
  }) {
    this.kind = options.kind;
    this.#scopes = new Map((options.scopes ?? ['']).map((scope) => [scope, { seen: '0', rewound: false, hasSynced: false }]));
    this.#transform = options.transform;
    this.#packer = options.packed ? new Packer() : undefined;
    this.#indexes = new Map(Object.entries(options.indexes ?? {}).map(([name, of]) => [name, { of, values: new Map() }]));
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: ObjectKey): boolean {
    return this.#entries.has(keyText(key));
  }

  get(key: ObjectKey): Observed<T> | undefined {
    return this.#read(this.#entries.get(keyText(key)));
  }

  /** Returns all objects, or those of a namespace. */
  list(namespace?: string): Observed<T>[] {
    const all = [...this.#entries.values()];
    return (namespace === undefined ? all : all.filter((entry) => entry.namespace === namespace)).map((entry) =>
      this.#read(entry),
    );
  }

  /** Returns the objects of a namespace whose controller has this uid; for undefined, those without a controller. */
  controlledBy(uid: string | undefined, namespace: string): Observed<T>[] {
    const theirs = [...this.#entries.values()].filter((entry) => entry.controllerUid === uid && entry.namespace === namespace);
    return theirs.map((entry) => this.#read(entry));
  }

  /** Throws if no index has that name, which is a programming error. */
  byIndex(name: string, value: string): Observed<T>[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`${this.kind.plural} have no index ${name}`);
    return [...(index.values.get(value) ?? [])].flatMap((key) => this.#read(this.#entries.get(key)) ?? []);
  }

  /** Resolves when the first list is complete; rejects with the signal's reason. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await abortable(this.#synced.promise, signal);
  }

  /** Reports the existing objects as added, unless `replay` is false, then every change. Returns a function that unsubscribes. */
  onChange(handler: ChangeHandler<T>, { replay = true } = {}): () => void {
    if (replay)
      for (const entry of this.#entries.values())
        handler({ type: 'added', object: this.#read(entry), initial: true, own: false });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /**
   * Records the answer to our own write, so that the next reader sees it before the watch delivers it.
   * A version that the watch has already delivered or passed is ignored.
   */
  record(object: Observed<T>): void {
    const { seen, hasSynced } = this.#scopeOf(object.metadata);
    if (hasSynced && compareResourceVersions(object.metadata.resourceVersion, seen) > 0) this.upsert(object, true);
  }

  /** For the reflector of this scope: a list of this version begins. */
  beginList(resourceVersion: string, name = ''): void {
    const scope = this.#scope(name);
    scope.rewound = compareResourceVersions(resourceVersion, scope.seen) < 0;
  }

  /** For the reflector: an object of a list or an event. */
  upsert(given: Observed<T>, own = false): void {
    const plain = withoutManagedFields(given);
    const object = this.#transform?.(plain) ?? plain;
    const key = keyText(keyOf(object));
    const known = this.#entries.get(key);
    if (known) {
      if (known.resourceVersion === object.metadata.resourceVersion && known.uid === object.metadata.uid) return;
      if (!this.#scopeOf(object.metadata).rewound && isOlder(object.metadata, known)) return;
    }
    if (known && known.uid !== object.metadata.uid) this.#delete(key, known);
    const previous = this.#read(this.#entries.get(key));
    if (previous) this.#unindex(key, previous);
    if (known) this.#recent.delete(known);
    this.#entries.set(key, this.#entryOf(object));
    this.#index(key, object);
    if (previous && this.#transform !== undefined && isSameButVersion(previous, object)) return;
    this.#report(previous ? { type: 'updated', object, previous, own } : { type: 'added', object, own });
  }

  /** For the reflector: an object that was deleted. */
  remove(object: Observed<T>): void {
    const key = keyText(keyOf(object));
    const known = this.#entries.get(key);
    if (known && !isOlder(object.metadata, known)) this.#delete(key, known);
  }

  /**
   * For the reflector of this scope: a list of `resourceVersion` held exactly `keys`. Other objects of the scope from before the
   * list are gone.
   */
  endList(keys: ReadonlySet<string>, resourceVersion: string, name = ''): void {
    const scope = this.#scope(name);
    for (const [key, entry] of this.#entries) {
      if (this.#scopeOf(entry) !== scope) continue;
      const isNewer = compareResourceVersions(entry.resourceVersion, resourceVersion) > 0;
      if (!keys.has(key) && (scope.rewound || !isNewer)) this.#delete(key, entry);
    }
    this.#finishList(scope, resourceVersion);
  }

  /**
   * For the reflector of this scope: it has nothing left to deliver. Its namespace is gone, or being deleted and our rights in it
   * are already gone, or the kind is missing.
   */
  endScope(name = ''): void {
    const scope = this.#scope(name);
    for (const [key, entry] of this.#entries) if (this.#scopeOf(entry) === scope) this.#delete(key, entry);
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

  /** Throws if the store has no such scope, which is a programming error. */
  #scope(name: string): Scope {
    const scope = this.#scopes.get(name);
    if (!scope) throw new Error(`the store of ${this.kind.plural} has no scope ${name}`);
    return scope;
  }

  /** Returns the scope of the namespace; a Namespace is its own scope. */
  #scopeOf({ namespace, name }: { namespace?: string | undefined; name: string }): Scope {
    return this.#scopes.get('') ?? this.#scope(namespace ?? name);
  }

  #entryOf(object: Observed<T>): Entry<T> {
    const { namespace, name, uid, resourceVersion } = object.metadata;
    const controllerUid = controllerOf(object)?.uid;
    const entry = { namespace, name, uid, resourceVersion, controllerUid, object: this.#packer?.pack(object) ?? object };
    if (this.#hasSynced) this.#remember(entry, object);
    return entry;
  }

  #remember(entry: Entry<T>, object: Observed<T>): void {
    if (!this.#packer) return;
    this.#recent.set(entry, object);
    const [oldest] = this.#recent.keys();
    if (oldest && this.#recent.size > MOST_RECENT) this.#recent.delete(oldest);
  }

  #read(entry: Entry<T>): Observed<T>;
  #read(entry: Entry<T> | undefined): Observed<T> | undefined;
  #read(entry: Entry<T> | undefined): Observed<T> | undefined {
    if (typeof entry?.object !== 'string') return entry?.object;
    const recent = this.#recent.get(entry) ?? this.#packer?.unpack(entry.object);
    if (recent) this.#remember(entry, recent);
    return recent;
  }

  #delete(key: string, entry: Entry<T>): void {
    const object = this.#read(entry);
    this.#entries.delete(key);
    this.#recent.delete(entry);
    this.#unindex(key, object);
    this.#report({ type: 'deleted', object, own: false });
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

interface Entry<T extends KubeObject> {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly controllerUid: string | undefined;
  /** A string if packed. */
  readonly object: Observed<T> | string;
}

type Versioned = Pick<Entry<KubeObject>, 'resourceVersion'>;

interface Scope {
  /** The reflector has delivered all changes up to this version. */
  seen: string;
  /** True while a list is read that is older than the store's content (a restored backup): its versions then count. */
  rewound: boolean;
  hasSynced: boolean;
}

const isOlder = (one: Versioned, than: Versioned): boolean =>
  compareResourceVersions(one.resourceVersion, than.resourceVersion) < 0;

/** Returns true if two states of an object differ only in their resource version. */
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
