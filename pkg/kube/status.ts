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
  /** RFC 3339, in seconds: the time when `status` last changed. */
  lastTransitionTime: string;
}

export type WithConditions = KubeObject & { status?: { conditions?: Condition[] } };

/** The API server's limit of a message (metav1.Condition). */
const MAX_MESSAGE = 32_768;

/** The time of a condition that an object has by its definition's default, which is not a transition. */
const NEVER = '1970-01-01T00:00:00Z';

/** Returns the conditions with this one set. `lastTransitionTime` changes only if its status does. */
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

/** Returns true if the condition is True and describes the object's current spec. */
export function isConditionTrue(object: WithConditions, type: string): boolean {
  const condition = findCondition(object.status?.conditions, type);
  const isCurrent = condition?.observedGeneration === undefined || condition.observedGeneration === object.metadata?.generation;
  return condition?.status === 'True' && isCurrent;
}

/** `2026-01-02T03:04:05Z`: the API's times have no fractions. */
export const seconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');

const MAX_TRIES = 4;

/** Writes the status subresource, and only if it differs. */
export class StatusWriter<T extends KubeObject & { status?: unknown }> {
  readonly #api: ResourceApi<T>;
  readonly #store: Store<T> | undefined;

  constructor(options: { api: ResourceApi<T>; store?: Store<T> | undefined }) {
    this.#api = options.api;
    this.#store = options.store;
  }

  /**
   * Makes `status` the object's whole status; returns the object with it. If the object has changed since it was read, it is read
   * again and the status is set on that: observedGeneration tells which spec the status describes. An object that is gone, or was
   * recreated, is a KubeError 404 or 409.
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

/** Returns the value as it would come back: without undefined fields. */
const plain = (value: unknown): unknown => (value === undefined ? {} : (JSON.parse(JSON.stringify(value)) as unknown));
