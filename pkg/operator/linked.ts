import type { EventRecorder } from '../kube/events.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../kube/finalizers.ts';
import type { Informer } from '../kube/informer.ts';
import { isDeleting, keyOf, keyText, type KubeObject, type ObjectKey, type Observed } from '../kube/object.ts';
import { done, type Result } from '../kube/result.ts';
import { findCondition, StatusWriter, type Condition } from '../kube/status.ts';
import type { Store } from '../kube/store.ts';
import type { Namespace } from '../kube/kinds.ts';
import type { Clock } from '../runtime/clock.ts';
import { announce } from './announce.ts';
import { conditionsOf, FIRST, readyFrom } from './conditions.ts';
import { FINALIZER } from './names.ts';
import { Steps } from './steps.ts';
import type { TenantAccess, TenantRows } from './tenant-rows.ts';

/** A resource that belongs to a Tenant of its namespace and becomes rows of it. */
type Linked = KubeObject & {
  metadata: { name: string; namespace: string; uid: string };
  spec: { tenantRef: { name: string } };
  status?: { observedGeneration?: number; conditions?: Condition[] };
};

export interface LinkedDeps<T extends Linked> {
  readonly informer: Informer<T>;
  readonly namespaces: Store<Namespace>;
  readonly access: TenantAccess;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** What is particular to a kind. */
export interface LinkedKind<T extends Linked> {
  /**
   * Runs `Accepted` and `Synced`; gives the rest of the status, as far as it is known, and what Ready says when all is well.
   * A field that is undefined is taken away, one that is left out stays.
   */
  pass(
    object: Observed<T>,
    steps: Steps,
  ): Promise<{ status: Omit<NonNullable<T['status']>, 'conditions' | 'observedGeneration'>; message: string }>;
  /** Removes the rows; gone already is fine. */
  remove(object: Observed<T>, rows: TenantRows): Promise<void>;
}

/**
 * The frame of a reconcile that Webhook and LtiRegistration share.
 *
 * Invariants:
 * - One that is deleted takes its rows along; where its Tenant is gone or going, it lets go at once.
 * - `Ready` says from the first second which generation it speaks of.
 */
export class LinkedReconciler<T extends Linked> {
  readonly #deps: LinkedDeps<T>;
  readonly #kind: LinkedKind<T>;
  readonly #statusWriter: StatusWriter<T>;

  constructor(deps: LinkedDeps<T>, kind: LinkedKind<T>) {
    this.#deps = deps;
    this.#kind = kind;
    this.#statusWriter = new StatusWriter({ api: deps.informer.api, store: deps.informer.store });
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { informer, namespaces, events, clock } = this.#deps;
    const found = informer.store.get(key);
    if (!found) return done;
    if (isDeleting(found)) return this.#finalize(found);
    if (namespaces.get({ namespace: '', name: key.namespace })?.metadata.deletionTimestamp !== undefined) return done;
    const object = await this.#begin(found);

    const steps = new Steps(signal);
    const { status, message } = await this.#kind.pass(object, steps);
    const conditions = conditionsOf(object, [...steps.conditions, readyFrom(steps, message)], clock);
    const written = await this.#statusWriter.write(object, { ...object.status, ...status, ...conditions } as NonNullable<T['status']>);
    announce(events, informer.api.kind, object, written);
    return steps.result();
  }

  async #begin(found: Observed<T>): Promise<Observed<T>> {
    const { informer, clock } = this.#deps;
    const object = hasFinalizer(found, FINALIZER) ? found : await addFinalizer(informer.api, found, FINALIZER, { store: informer.store });
    if (findCondition(object.status?.conditions, 'Ready') !== undefined) return object;
    return this.#statusWriter.write(object, { ...object.status, ...conditionsOf(object, [FIRST], clock) } as NonNullable<T['status']>);
  }

  async #finalize(object: Observed<T>): Promise<Result> {
    const { informer, access } = this.#deps;
    if (!hasFinalizer(object, FINALIZER)) return done;
    const tenant = access.find(object.metadata.namespace, object.spec.tenantRef.name);
    const rows = tenant && (await access.openToRemove(tenant));
    if (rows) await this.#kind.remove(object, rows);
    await removeFinalizer(informer.api, object, FINALIZER, { store: informer.store });
    return done;
  }
}

/** `managed_ref` of the rows that a resource made. */
export const referenceOf = (object: KubeObject): string => keyText(keyOf(object));
