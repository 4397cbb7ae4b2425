import { createHash } from 'node:crypto';
import { differences, removalOf } from './diff.ts';
import { isAlreadyExists, isConflict, isInvalid, KubeError } from './errors.ts';
import { managesField, upgradedManagedFields } from './managed-fields.ts';
import {
  isDeleting,
  keyOf,
  keyText,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type Observed,
  type OwnerReference,
} from './object.ts';
import { controllerOf, isControlledBy } from './owner.ts';
import { ResourceApi } from './resource.ts';
import type { Store } from './store.ts';
import type { KubeClient } from './transport.ts';

/** An object of the desired name already exists and belongs to another owner. It was not touched. */
export class NameConflictError extends Error {
  override readonly name = 'NameConflictError';
  readonly kind: string;
  readonly key: ObjectKey;

  constructor(kind: string, key: ObjectKey, existing: KubeObject) {
    const owner = controllerOf(existing);
    const whose = owner ? `belongs to ${owner.kind} ${owner.name}` : 'was not made by this owner';
    super(`${kind} ${keyText(key)} exists and ${whose}; delete or rename it`);
    this.kind = kind;
    this.key = key;
  }
}

interface Applied<T extends KubeObject> {
  readonly object: Observed<T>;
  readonly outcome: 'created' | 'updated' | 'unchanged';
}

interface ApplyOptions<T extends KubeObject> {
  /** Becomes the object's controller. */
  readonly owner: OwnerReference;
  /** The cached copies to compare with; the server's answer is recorded there. Default: the object is read. */
  readonly store?: Store<T> | undefined;
  /**
   * Fields (`['spec', 'replicas']`) that keep their live value when `desired` no longer sets them: another manager takes over.
   */
  readonly leave?: readonly (readonly string[])[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MAX_TRIES = 4;

/**
 * Brings objects to their desired state by server-side apply with one field manager, and writes only if something differs.
 *
 * Invariants:
 * - An object has changed if its annotation `<prefix>/applied` is not the hash of the desired state, if a desired leaf differs
 *   (diff.ts), or if a pod template has fields that were not desired. Otherwise nothing is written.
 * - An object that the owner does not control is never touched: creation is a plain create, and a change carries the uid that was
 *   checked.
 * - A difference that applying did not correct is not applied again until the object or its desired state changes.
 */
export class Applier {
  readonly #client: KubeClient;
  readonly #manager: string;
  readonly #annotation: string;
  /**
   * Maps a uid to a digest of an object that still differs after it was applied (a webhook that changes it back, a default
   * unknown to diff.ts).
   */
  readonly #unrepaired = new Map<string, string>();

  /** `annotationPrefix` as in `example.com`: the hash is stored under `example.com/applied`. */
  constructor(options: { client: KubeClient; fieldManager: string; annotationPrefix: string }) {
    this.#client = options.client;
    this.#manager = options.fieldManager;
    this.#annotation = `${options.annotationPrefix}/applied`;
  }

  /**
   * Applies the object. One that is being deleted is left alone; its deletion is a change that brings the caller back. Throws
   * NameConflictError, KubeError.
   */
  async apply<T extends KubeObject>(kind: Kind<T>, desired: T, options: ApplyOptions<T>): Promise<Applied<T>> {
    const api = new ResourceApi(this.#client, kind);
    const wanted = this.#complete(desired, options.owner);
    for (let tries = 1; ; tries++) {
      try {
        const applied = await this.#applyOnce(api, wanted, options);
        options.store?.record(applied.object);
        return applied;
      } catch (error) {
        // The object changed, or was created or deleted, between our read and our write: read again.
        if (tries >= MAX_TRIES || !(isConflict(error) || isAlreadyExists(error) || isOtherUid(error))) throw error;
      }
    }
  }

  /**
   * Deletes the objects of the store that `owner` controls and `keep` does not name; returns their names. `matches` restricts
   * which objects may be deleted.
   */
  async prune<T extends KubeObject>(
    kind: Kind<T>,
    options: {
      owner: OwnerReference;
      namespace: string;
      store: Store<T>;
      keep: readonly string[];
      matches?: (object: Observed<T>) => boolean;
      signal?: AbortSignal;
    },
  ): Promise<string[]> {
    const { owner, namespace, store, keep, matches = () => true, signal } = options;
    const api = new ResourceApi(this.#client, kind);
    const goes = (object: Observed<T>): boolean =>
      !keep.includes(object.metadata.name) && !object.metadata.deletionTimestamp && matches(object);
    const surplus = store.controlledBy(owner.uid, namespace).filter(goes);
    for (const object of surplus) await api.delete(keyOf(object), { uid: object.metadata.uid, ...(signal ? { signal } : {}) });
    return surplus.map((object) => object.metadata.name);
  }

  async #applyOnce<T extends KubeObject>(api: ResourceApi<T>, wanted: T, options: ApplyOptions<T>): Promise<Applied<T>> {
    const { owner, store, signal, leave = [] } = options;
    const key = keyOf(wanted);
    const known = store?.get(key);
    if (known && isControlledBy(known, owner) && (isDeleting(known) || this.#isAsWanted(api.kind, wanted, known)))
      return { object: known, outcome: 'unchanged' };

    // The copy may be stale, and a write depends on the live state: read the object itself.
    const live = known || !store ? await api.find(key, { signal }) : undefined;
    if (!live) return this.#create(api, wanted, owner, signal);
    if (!isControlledBy(live, owner)) throw new NameConflictError(api.kind.kind, key, live);
    if (isDeleting(live) || this.#isAsWanted(api.kind, wanted, live)) return { object: live, outcome: 'unchanged' };

    const ready = await this.#handOver(api, await this.#upgrade(api, live, signal), wanted, leave, signal);
    const applied = await api.apply(withUid(wanted, ready.metadata.uid), { fieldManager: this.#manager, force: true, signal });
    const object = await this.#removeExtras(api, wanted, applied, signal);
    this.#remember(api.kind, wanted, object);
    return { object, outcome: object.metadata.resourceVersion === live.metadata.resourceVersion ? 'unchanged' : 'updated' };
  }

  async #create<T extends KubeObject>(
    api: ResourceApi<T>,
    wanted: T,
    owner: OwnerReference,
    signal: AbortSignal | undefined,
  ): Promise<Applied<T>> {
    try {
      const object = await api.create(wanted, { fieldManager: this.#manager, signal });
      this.#remember(api.kind, wanted, object);
      return { object, outcome: 'created' };
    } catch (error) {
      const existing = isAlreadyExists(error) ? await api.find(keyOf(wanted), { signal }) : undefined;
      if (existing && !isControlledBy(existing, owner)) throw new NameConflictError(api.kind.kind, keyOf(wanted), existing);
      if (!existing || !isAlreadyExists(error)) throw error;
      return this.#applyOnce(api, wanted, { owner, signal });
    }
  }

  /**
   * A create marks its fields as "updated" by our manager, and apply removes only fields that it applied. So apply takes them
   * over before the first change (as client-go's csaupgrade does).
   */
  async #upgrade<T extends KubeObject>(
    api: ResourceApi<T>,
    live: Observed<T>,
    signal: AbortSignal | undefined,
  ): Promise<Observed<T>> {
    const managedFields = upgradedManagedFields(live.metadata.managedFields ?? [], this.#manager);
    if (!managedFields) return live;
    return api.patch(
      keyOf(live),
      [
        { op: 'replace', path: '/metadata/managedFields', value: managedFields },
        { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
      ],
      { fieldManager: this.#manager, signal },
    );
  }

  /** A second manager takes over the live value of a field that we release; otherwise apply would reset it to its default. */
  async #handOver<T extends KubeObject>(
    api: ResourceApi<T>,
    live: Observed<T>,
    wanted: T,
    leave: readonly (readonly string[])[],
    signal: AbortSignal | undefined,
  ): Promise<Observed<T>> {
    let object = live;
    for (const path of leave) {
      const value = valueAt(live, path);
      if (
        value === undefined ||
        valueAt(wanted, path) !== undefined ||
        !managesField(live.metadata.managedFields ?? [], this.#manager, path)
      )
        continue;
      const held = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
      const { namespace, name, uid } = object.metadata;
      const body = { ...held, metadata: { ...(namespace ? { namespace } : {}), name, uid } } as unknown as T;
      object = await api.apply(body, { fieldManager: `${this.#manager}-handover`, force: true, signal });
    }
    return object;
  }

  async #removeExtras<T extends KubeObject>(
    api: ResourceApi<T>,
    wanted: T,
    applied: Observed<T>,
    signal: AbortSignal | undefined,
  ): Promise<Observed<T>> {
    const removal = removalOf(differences(api.kind, wanted, applied).extras);
    if (removal.length === 0) return applied;
    const guard = { op: 'replace', path: '/metadata/resourceVersion', value: applied.metadata.resourceVersion } as const;
    return api.patch(keyOf(applied), [guard, ...removal], { fieldManager: this.#manager, signal });
  }

  #isAsWanted<T extends KubeObject>(kind: Kind<T>, wanted: T, live: Observed<T>): boolean {
    const { drift, extras } = differences(kind, wanted, live);
    if (drift.length + extras.length === 0) {
      this.#unrepaired.delete(live.metadata.uid);
      return true;
    }
    return this.#unrepaired.get(live.metadata.uid) === digestOf(wanted, live);
  }

  #remember<T extends KubeObject>(kind: Kind<T>, wanted: T, live: Observed<T>): void {
    const { drift, extras } = differences(kind, wanted, live);
    if (drift.length + extras.length > 0) this.#unrepaired.set(live.metadata.uid, digestOf(wanted, live));
    else this.#unrepaired.delete(live.metadata.uid);
  }

  /** Returns the object to send: without empty fields, with the owner and the hash of the whole. */
  #complete<T extends KubeObject>(desired: T, owner: OwnerReference): T {
    const plain = withoutNull(desired) as T;
    const { status: _status, ...object } = { ...plain, metadata: { ...plain.metadata, ownerReferences: [owner] } } as T & {
      status?: unknown;
    };
    const annotations = { ...object.metadata?.annotations, [this.#annotation]: hashOf(object) };
    return { ...object, metadata: { ...object.metadata, annotations } } as unknown as T;
  }
}

const withUid = <T extends KubeObject>(object: T, uid: string): T => ({ ...object, metadata: { ...object.metadata, uid } });

/** True if an apply failed because it names a different uid than the object has. */
const isOtherUid = (error: unknown): boolean =>
  isInvalid(error) && ((error as KubeError).details?.causes ?? []).some((cause) => cause.field === 'metadata.uid');

const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], object);

/** Returns a digest of the desired and the live object, without fields that change on their own. */
function digestOf(wanted: KubeObject, live: Observed): string {
  const { status: _status, metadata, ...rest } = live as Observed & { status?: unknown };
  const { resourceVersion: _version, managedFields: _fields, generation: _generation, ...kept } = metadata;
  return hashOf([wanted, rest, kept]);
}

const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, 32);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}

function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null);
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutNull(inner)]));
}
