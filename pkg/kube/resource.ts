import type { ApiStatus } from './errors.ts';
import { isNotFound, KubeError } from './errors.ts';
import { apiVersionOf, keyOf, type Kind, type KubeObject, type ObjectKey, type Observed } from './object.ts';
import type { KubeClient, Query } from './transport.ts';
import { jsonLines } from './json-lines.ts';

/** The parts of RFC 6902 that are used. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

export interface Selection {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface Page<T extends KubeObject> {
  readonly items: Observed<T>[];
  /** The version of the whole list: the same on all its pages. */
  readonly resourceVersion: string;
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Observed<T> }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** `timeoutMs` is for one attempt. */
type Signalled = { signal?: AbortSignal | undefined; timeoutMs?: number | undefined };
type Subresource = 'status' | 'scale';

export const PAGE_SIZE = 500;
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_ONLY_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The API of one kind. All methods throw KubeError. Objects are sent and received as JSON without conversion. */
export class ResourceApi<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly #client: KubeClient;

  constructor(client: KubeClient, kind: Kind<T>) {
    this.#client = client;
    this.kind = kind;
  }

  get(key: ObjectKey, options: Signalled = {}): Promise<Observed<T>> {
    return this.#client.request({ method: 'GET', path: this.#path(key), ...signalled(options) });
  }

  /** Returns undefined where `get` would be a 404. */
  async find(key: ObjectKey, options: Signalled = {}): Promise<Observed<T> | undefined> {
    try {
      return await this.get(key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Returns all objects, read in pages; a list that becomes too old between pages is started again. */
  async list(options: Selection & Signalled & { limit?: number } = {}): Promise<Observed<T>[]> {
    const items: Observed<T>[] = [];
    let next: string | undefined;
    do {
      const page: Page<T> = await this.page({ ...options, continue: next });
      items.push(...page.items);
      next = page.next;
    } while (next !== undefined);
    return items;
  }

  /** Returns one page of at most `limit` (500). A `continue` token is valid for about 5 minutes; after that it is a 410. */
  async page(
    options: Selection & Signalled & { limit?: number; continue?: string | undefined; metadataOnly?: boolean } = {},
  ): Promise<Page<T>> {
    const list = await this.#client.request<{
      metadata?: { resourceVersion?: string; continue?: string };
      items?: Observed<T>[] | null;
    }>({
      method: 'GET',
      path: this.#collection(options.namespace),
      query: { ...selectors(options), limit: options.limit ?? PAGE_SIZE, continue: options.continue },
      ...signalled(options),
      ...(options.metadataOnly ? { accept: METADATA_ONLY_LIST } : {}),
    });
    const items = list.items ?? [];
    // The API server omits these two in the items of a list.
    for (const item of items) Object.assign(item, { apiVersion: apiVersionOf(this.kind), kind: this.kind.kind });
    return { items, resourceVersion: list.metadata?.resourceVersion ?? '', next: list.metadata?.continue || undefined };
  }

  create(object: T, options: Signalled & { fieldManager?: string } = {}): Promise<Observed<T>> {
    return this.#client.request({
      method: 'POST',
      path: this.#collection(object.metadata?.namespace),
      query: { fieldManager: options.fieldManager },
      body: this.#typed(object),
      ...signalled(options),
    });
  }

  /** Replaces the object. With `metadata.resourceVersion`, it is a 409 if the object has changed since. */
  update(object: T, options: Signalled & { fieldManager?: string } = {}): Promise<Observed<T>> {
    return this.#put(object, undefined, options);
  }

  replaceStatus(object: T, options: Signalled & { fieldManager?: string } = {}): Promise<Observed<T>> {
    return this.#put(object, 'status', options);
  }

  patchStatus(key: ObjectKey, status: object, options: Signalled & { fieldManager?: string } = {}): Promise<Observed<T>> {
    return this.patch(key, { status }, { ...options, subresource: 'status' });
  }

  /**
   * Server-side apply: `object` holds exactly the fields that `fieldManager` desires; `force` takes fields over from other
   * managers.
   */
  apply(
    object: T,
    options: Signalled & { fieldManager: string; force?: boolean; subresource?: Subresource },
  ): Promise<Observed<T>> {
    return this.#client.request({
      method: 'PATCH',
      path: this.#path(keyOf(object), options.subresource),
      query: { fieldManager: options.fieldManager, force: options.force ?? false },
      contentType: 'application/apply-patch+yaml',
      body: this.#typed(object),
      ...signalled(options),
    });
  }

  /** An array is a JSON patch (RFC 6902), an object a merge patch (RFC 7386). */
  patch(
    key: ObjectKey,
    change: object | readonly JsonPatchOperation[],
    options: Signalled & { fieldManager?: string; subresource?: Subresource } = {},
  ): Promise<Observed<T>> {
    return this.#client.request({
      method: 'PATCH',
      path: this.#path(key, options.subresource),
      query: { fieldManager: options.fieldManager },
      contentType: Array.isArray(change) ? 'application/json-patch+json' : 'application/merge-patch+json',
      body: change,
      ...signalled(options),
    });
  }

  /** Deletes the object; a missing one is not an error. `uid` and `resourceVersion` are preconditions (409). */
  async delete(
    key: ObjectKey,
    options: Signalled & {
      uid?: string;
      resourceVersion?: string;
      propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
      gracePeriodSeconds?: number;
    } = {},
  ): Promise<void> {
    const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy = 'Background', signal } = options;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy,
      gracePeriodSeconds,
      preconditions: { uid, resourceVersion },
    };
    try {
      await this.#client.request({ method: 'DELETE', path: this.#path(key), body, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /**
   * Yields changes after `resourceVersion` until the server ends the stream (after `timeoutSeconds`). Throws KubeError: 410 if
   * the version is too old; status 0 if the stream broke, fell silent for `idleMs`, or ended within a line.
   */
  async *watch(
    options: Selection & Signalled & { resourceVersion: string; timeoutSeconds: number; idleMs: number; metadataOnly?: boolean },
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const stream = await this.#client.stream({
      method: 'GET',
      path: this.#collection(options.namespace),
      query: {
        ...selectors(options),
        watch: true,
        allowWatchBookmarks: true,
        resourceVersion: options.resourceVersion,
        timeoutSeconds: options.timeoutSeconds,
      },
      ...signalled(options),
      idleMs: options.idleMs,
      ...(options.metadataOnly ? { accept: METADATA_ONLY } : {}),
    });
    try {
      for await (const event of jsonLines(stream.body)) yield this.#watchEvent(event as RawEvent);
    } finally {
      stream.abort();
    }
  }

  #watchEvent(event: RawEvent): WatchEvent<T> {
    const what = `watch ${this.kind.plural}`;
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const object = event.object as Observed<T>;
        Object.assign(object, { apiVersion: apiVersionOf(this.kind), kind: this.kind.kind });
        return { type: event.type, object };
      }
      case 'BOOKMARK':
        return { type: 'BOOKMARK', resourceVersion: (event.object as Observed).metadata.resourceVersion };
      case 'ERROR':
        throw KubeError.fromStatus(500, event.object as ApiStatus, what);
      default:
        throw new KubeError(0, 'Unreachable', `${what}: an event of an unknown type`);
    }
  }

  #put(object: T, subresource: Subresource | undefined, options: Signalled & { fieldManager?: string }): Promise<Observed<T>> {
    return this.#client.request({
      method: 'PUT',
      path: this.#path(keyOf(object), subresource),
      query: { fieldManager: options.fieldManager },
      body: this.#typed(object),
      ...signalled(options),
    });
  }

  #typed(object: T): T {
    return { ...object, apiVersion: apiVersionOf(this.kind), kind: this.kind.kind };
  }

  #collection(namespace: string | undefined): string {
    const { group, version, plural, namespaced } = this.kind;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    return namespaced && namespace ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
  }

  #path(key: ObjectKey, subresource?: Subresource): string {
    // An empty name would address the collection, and a DELETE would delete all its objects.
    if (key.name === '') throw new Error(`a ${this.kind.kind} without a name`);
    if (this.kind.namespaced && key.namespace === '') throw new Error(`${this.kind.kind} ${key.name} without a namespace`);
    const path = `${this.#collection(key.namespace)}/${encodeURIComponent(key.name)}`;
    return subresource ? `${path}/${subresource}` : path;
  }
}

interface RawEvent {
  readonly type: string;
  readonly object: unknown;
}

const selectors = (selection: Selection): Query => ({
  labelSelector: selection.labelSelector,
  fieldSelector: selection.fieldSelector,
});

const signalled = ({ signal, timeoutMs }: Signalled): Signalled => ({ signal, timeoutMs });
