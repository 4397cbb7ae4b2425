import { isDeepStrictEqual } from 'node:util';
import { isConflict } from './errors.ts';
import { keyOf, type KubeObject, type Observed } from './object.ts';
import type { ResourceApi } from './resource.ts';
import type { Store } from './store.ts';

/** `metav1.Condition`. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** One word in CamelCase, for programs. */
  reason: string;
  /** For people. */
  message: string;
  observedGeneration?: number;
  /** RFC 3339, in seconds: when `status` last changed. */
  lastTransitionTime: string;
}

export type WithConditions = KubeObject & { status?: { conditions?: Condition[] } };

/** The API server's limit of a message (metav1.Condition). */
const MAX_MESSAGE = 32_768;

/** Of a condition that an object has by its definition's default, which is no transition. */
const NEVER = '1970-01-01T00:00:00Z';

/** The conditions with this one set. `lastTransitionTime` moves only when its status changes. */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: Date,
): Condition[] {
  const before = findCondition(conditions, condition.type);
  const isSame = before?.status === condition.status && before.lastTransitionTime !== NEVER;
  const lastTransitionTime = isSame ? before.lastTransitionTime : seconds(now);
  const after: Condition = { ...condition, message: condition.message.slice(0, MAX_MESSAGE), lastTransitionTime };
  if (!before) return [...(conditions ?? []), after];
  return (conditions ?? []).map((one) => (one.type === condition.type ? after : one));
}

export const findCondition = <C extends { type: string }>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((condition) => condition.type === type);

/** Whether the condition is True and speaks of the object's present spec. */
export function isConditionTrue(object: WithConditions, type: string): boolean {
  const condition = findCondition(object.status?.conditions, type);
  const isCurrent = condition?.observedGeneration === undefined || condition.observedGeneration === object.metadata?.generation;
  return condition?.status === 'True' && isCurrent;
}

/** `2026-01-02T03:04:05Z`: the API's times have no fractions. */
export const seconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');

const MAX_TRIES = 4;

/** Writes the status subresource, and only when it differs. */
export class StatusWriter<T extends KubeObject & { status?: unknown }> {
  readonly #api: ResourceApi<T>;
  readonly #store: Store<T> | undefined;

  constructor(options: { api: ResourceApi<T>; store?: Store<T> | undefined }) {
    this.#api = options.api;
    this.#store = options.store;
  }

  /**
   * Makes `status` the object's whole status; answers the object as it is then. Where the object changed since it was read, it is
   * read again and the status set on that: the status says by observedGeneration of which spec it speaks. An object that is gone,
   * or made anew, is a KubeError 404 or 409.
   */
  async write(
    object: Observed<T>,
    status: NonNullable<T['status']>,
    options: { signal?: AbortSignal } = {},
  ): Promise<Observed<T>> {
    let current = object;
    for (let tries = 1; ; tries++) {
      if (isDeepStrictEqual(plain(current.status), plain(status))) return current;
      try {
        const written = await this.#api.replaceStatus({ ...current, status }, options);
        this.#store?.record(written);
        return written;
      } catch (error) {
        if (!isConflict(error) || tries >= MAX_TRIES) throw error;
        current = await this.#api.get(keyOf(object), options);
        if (current.metadata.uid !== object.metadata.uid) throw error;
      }
    }
  }
}

/** As it would come back: without what is undefined. */
const plain = (value: unknown): unknown => (value === undefined ? {} : (JSON.parse(JSON.stringify(value)) as unknown));
