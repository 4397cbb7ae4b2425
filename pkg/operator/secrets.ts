import { createHash } from 'node:crypto';
import { NameConflictError } from '../kube/apply.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { Secret } from '../kube/kinds.ts';
import type { Kind, ObjectKey, Observed, OwnerReference } from '../kube/object.ts';
import { isControlledBy } from '../kube/owner.ts';
import type { ResourceApi } from '../kube/resource.ts';
import type { Store } from '../kube/store.ts';
import { withoutLineEnd } from '../runtime/line-end.ts';
import { CHECKSUM_ANNOTATION, FIELD_MANAGER } from './names.ts';
import { ConditionError } from './conditions/runner.ts';

export type SecretData = Readonly<Record<string, string>>;

/** The labels that identify the owner of every Secret. */
export interface SecretOwner {
  readonly namespace: string;
  readonly reference: OwnerReference;
  readonly labels: Record<string, string>;
}

/** The place where a person names a Secret. */
interface SecretReference {
  /** The object that names it, in the Secret's namespace. */
  readonly by: Observed;
  readonly kind: Kind;
  /** `spec.secretRef` */
  readonly field: string;
  readonly name: string;
}

/**
 * Secrets that the operator generates, and those that people name.
 *
 * Invariants:
 * - A Secret of a wanted name that has another owner is never written, and its values are not used.
 * - Generated values are written by create; where the Secret exists already, its values are compared.
 * - A line end at the end of a value that a person wrote is not part of it; an Event says so, once for each version of the
 *   Secret.
 * - A Secret whose checksum matches its data holds what the operator wrote, so no store needs to be called to check it.
 */
export class Secrets {
  readonly #api: ResourceApi<Secret>;
  readonly #store: Store<Secret>;
  readonly #events: Pick<EventRecorder, 'record'>;
  /** The version that the last Event reported, by the object and field that name the Secret. */
  readonly #reported = new Map<string, string>();

  /** `store` holds the operator's own Secrets of all namespaces. */
  constructor(deps: { api: ResourceApi<Secret>; store: Store<Secret>; events: Pick<EventRecorder, 'record'> }) {
    this.#api = deps.api;
    this.#store = deps.store;
    this.#events = deps.events;
  }

  /**
   * Returns the operator's own Secret of this name, or undefined if it does not exist. Throws NameConflictError if it has another
   * owner.
   */
  find(owner: SecretOwner, name: string): Observed<Secret> | undefined {
    const live = this.#store.get({ namespace: owner.namespace, name });
    return live && own(live, owner);
  }

  /** Returns the Secret's data, or undefined if it was edited after the operator wrote it. */
  intact(owner: SecretOwner, name: string): SecretData | undefined {
    const live = this.find(owner, name);
    if (!live) return undefined;
    const data = dataOf(live);
    return live.metadata.annotations?.[CHECKSUM_ANNOTATION] === checksum(data) ? data : undefined;
  }

  /**
   * Sets the Secret's data to exactly this; returns its checksum. Annotations of others stay. Throws NameConflictError,
   * KubeError.
   */
  async write(owner: SecretOwner, name: string, data: SecretData, annotations: Record<string, string> = {}): Promise<string> {
    const sum = checksum(data);
    const wanted = desired(owner, name, data, { ...annotations, [CHECKSUM_ANNOTATION]: sum });
    const live = this.find(owner, name) ?? (await this.#create(owner, wanted));
    if (!holds(live, wanted)) {
      const { metadata } = live;
      this.#store.record(
        await this.#api.update(
          {
            ...wanted,
            metadata: {
              ...wanted.metadata,
              resourceVersion: metadata.resourceVersion,
              labels: { ...metadata.labels, ...wanted.metadata?.labels },
              annotations: { ...metadata.annotations, ...wanted.metadata?.annotations },
              ...(metadata.finalizers ? { finalizers: metadata.finalizers } : {}),
            },
            ...(live.type === undefined ? {} : { type: live.type }),
          },
          { fieldManager: FIELD_MANAGER },
        ),
      );
    }
    return sum;
  }

  /**
   * Sets annotations; null removes one. Throws KubeError 409 if the Secret was changed meanwhile: the answer would hide that
   * change from the next pass.
   */
  async annotate(key: ObjectKey, annotations: Record<string, string | null>): Promise<void> {
    const resourceVersion = this.#store.get(key)?.metadata.resourceVersion;
    const metadata = { annotations, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    this.#store.record(await this.#api.patch(key, { metadata } as object, { fieldManager: FIELD_MANAGER }));
  }

  /**
   * Returns the values of a Secret that a person named, with all `keys`. Throws ConditionError; the watch of the Secrets'
   * metadata ends that state.
   */
  async named(reference: SecretReference, keys: readonly string[]): Promise<SecretData> {
    const { by, field, name } = reference;
    const { namespace = '' } = by.metadata;
    const secret = await this.#api.find({ namespace, name });
    if (!secret) throw new ConditionError('SecretMissing', `${field}: there is no Secret ${name} in namespace ${namespace}`);
    const values = valuesOf(secret);
    const missing = keys.filter((key) => !values[key]);
    if (missing.length > 0)
      throw new ConditionError('SecretIncomplete', `${field}: Secret ${name} has no value for ${missing.join(', ')}`);
    this.#reportLineEnds(reference, secret);
    return values;
  }

  /** Reports values of a single line only: a file of several lines, such as a key in PEM, usually ends with a line end. */
  #reportLineEnds({ by, kind, field, name }: SecretReference, secret: Observed<Secret>): void {
    const values = valuesOf(secret);
    const cut = Object.entries(dataOf(secret)).flatMap(([key, text]) => {
      const value = values[key] ?? '';
      return value === text || value.includes('\n') ? [] : [key];
    });
    const reader = `${by.metadata.uid} ${field}`;
    const version = `${secret.metadata.uid} ${secret.metadata.resourceVersion}`;
    if (cut.length === 0) this.#reported.delete(reader);
    if (cut.length === 0 || this.#reported.get(reader) === version) return;
    this.#reported.set(reader, version);
    const names = cut.toSorted().join(', ');
    const message = `${field}: Secret ${name} has a line end at the end of ${names}; it is not part of the value`;
    this.#events.record(by, kind, { type: 'Normal', reason: 'LineEndIgnored', message });
  }

  /** Creates the Secret, or returns the existing one. */
  async #create(owner: SecretOwner, wanted: Secret): Promise<Observed<Secret>> {
    try {
      const made = await this.#api.create(wanted, { fieldManager: FIELD_MANAGER });
      this.#store.record(made);
      return made;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return own(await this.#api.get({ namespace: owner.namespace, name: wanted.metadata?.name ?? '' }), owner);
    }
  }
}

function own(live: Observed<Secret>, owner: SecretOwner): Observed<Secret> {
  if (isControlledBy(live, owner.reference)) return live;
  throw new NameConflictError('Secret', { namespace: owner.namespace, name: live.metadata.name }, live);
}

const desired = (owner: SecretOwner, name: string, data: SecretData, annotations: Record<string, string>): Secret => ({
  metadata: { name, namespace: owner.namespace, labels: owner.labels, annotations, ownerReferences: [owner.reference] },
  type: 'Opaque',
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});

const holds = (live: Observed<Secret>, wanted: Secret): boolean =>
  checksum(dataOf(live)) === checksum(dataOf(wanted)) &&
  contains(live.metadata.labels, wanted.metadata?.labels) &&
  contains(live.metadata.annotations, wanted.metadata?.annotations);

const contains = (live: Record<string, string> | undefined, wanted: Record<string, string> | undefined): boolean =>
  Object.entries(wanted ?? {}).every(([key, value]) => live?.[key] === value);

/** Returns the values that a person wrote into a Secret, without line ends. */
export const valuesOf = (secret: Secret): SecretData =>
  Object.fromEntries(Object.entries(dataOf(secret)).map(([key, text]) => [key, withoutLineEnd(text)]));

/** Returns the bytes unchanged, as pods read them. */
const dataOf = (secret: Secret): SecretData =>
  Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );

/** Hex SHA-256; the values have at least 128 random bits, so it reveals nothing of them. */
export const checksum = (data: SecretData): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex');
