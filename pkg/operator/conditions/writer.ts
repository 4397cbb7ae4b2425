import type { EventRecorder } from '../../kube/events.ts';
import { addFinalizer, hasFinalizer } from '../../kube/finalizers.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Observed } from '../../kube/object.ts';
import { setCondition, StatusWriter, type Condition, type WithConditions } from '../../kube/status.ts';
import type { Clock } from '../../runtime/clock.ts';
import { FINALIZER } from '../names.ts';
import { recordTransitions } from './events.ts';
import type { StepCondition } from './runner.ts';

/** Writes the status of the objects of one kind, and an Event for each transition that a person should see. */
export class ConditionWriter<T extends WithConditions> {
  readonly #informer: Informer<T>;
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  readonly #status: StatusWriter<T>;

  constructor(deps: { informer: Informer<T>; events: EventRecorder; clock: Clock }) {
    this.#informer = deps.informer;
    this.#events = deps.events;
    this.#clock = deps.clock;
    this.#status = new StatusWriter({ api: deps.informer.api, store: deps.informer.store });
  }

  /**
   * Returns the object with the finalizer, and writes it if it is missing. Until the first status the object has the default
   * condition `Ready` of its definition.
   */
  async begin(found: Observed<T>): Promise<Observed<T>> {
    const { api, store } = this.#informer;
    return hasFinalizer(found, FINALIZER) ? found : addFinalizer(api, found, FINALIZER, { store });
  }

  /** Writes the status and records the transitions. */
  async end(object: Observed<T>, status: NonNullable<T['status']>): Promise<void> {
    const written = await this.#status.write(object, status);
    recordTransitions(this.#events, this.#informer.api.kind, object, written);
  }

  /** Writes the status of an object that is being deleted; `message` names what its deletion waits for. */
  async deleting(object: Observed<T>, message: string): Promise<void> {
    const ready = { type: 'Ready', status: 'False', reason: 'Deleting', message } as const;
    await this.#status.write(object, { ...object.status, ...conditionsOf(object, [ready], this.#clock.now()) } as NonNullable<
      T['status']
    >);
  }
}

/** Returns the status fields that every kind has: the object's conditions with these set, for the present generation. */
export function conditionsOf(
  object: Observed<WithConditions>,
  found: readonly StepCondition[],
  now: Date,
): { observedGeneration: number; conditions: Condition[] } {
  const observedGeneration = object.metadata.generation ?? 0;
  const conditions = found.reduce<Condition[]>(
    (all, condition) => setCondition(all, { ...condition, observedGeneration }, now),
    [...(object.status?.conditions ?? [])],
  );
  return { observedGeneration, conditions };
}
