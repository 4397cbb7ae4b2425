import type { EventRecorder } from '../kube/events.ts';
import { hasFinalizer, removeFinalizer } from '../kube/finalizers.ts';
import type { Informer } from '../kube/informer.ts';
import { isDeleting, keyOf, keyText, type KubeObject, type ObjectKey, type Observed } from '../kube/object.ts';
import { done, type Result } from '../kube/result.ts';
import type { WithConditions } from '../kube/status.ts';
import type { Store } from '../kube/store.ts';
import type { Namespace } from '../kube/kinds.ts';
import type { Clock } from '../runtime/clock.ts';
import { readyFrom, stalledFrom } from './conditions/ready.ts';
import { conditionsOf, ConditionWriter } from './conditions/writer.ts';
import { BY_TENANT } from './informers.ts';
import type { ObservedTenant } from './kinds.ts';
import { FINALIZER } from './names.ts';
import { isTerminating } from './namespaces.ts';
import { ConditionRunner, type StepCondition } from './conditions/runner.ts';
import type { StepTimer } from './conditions/step-timer.ts';
import type { TenantRows, TenantSchema } from '../store/postgres/tenant-schema.ts';
import type { TenantAccess } from './tenant-rows.ts';
import type { OrphanRows } from './tenant/database/database-step.ts';

/** A resource that belongs to a Tenant of its namespace and becomes rows in that tenant's schema. */
type TenantScoped = WithConditions & {
  metadata: { name: string; namespace: string; uid: string };
  spec: { tenantRef: { name: string } };
};

export interface TenantScopedDeps<T extends TenantScoped> {
  readonly informer: Informer<T>;
  readonly namespaces: Store<Namespace>;
  readonly access: TenantAccess;
  readonly events: EventRecorder;
  readonly timeSteps: StepTimer;
  readonly clock: Clock;
}

/** The differences between the kinds. */
export interface TenantScopedKind<T extends TenantScoped> {
  /**
   * Runs the steps `Accepted` and `Synced`. Returns the other fields of the status and the message of `Ready=True`.
   * A field that is undefined is removed from the status; one that is left out stays.
   */
  pass(
    object: Observed<T>,
    steps: ConditionRunner,
  ): Promise<{ status: Omit<NonNullable<T['status']>, 'conditions' | 'observedGeneration'>; message: string }>;
  /** Conditions that follow from the spec alone. */
  conditions?(object: Observed<T>): readonly StepCondition[];
  /** Removes the rows of one resource, if they still exist. */
  remove(object: Observed<T>, rows: TenantRows): Promise<void>;
  /** Removes the rows of all resources except these, by their `managed_ref`. */
  removeOthers(schema: TenantSchema, references: readonly string[]): Promise<void>;
}

/**
 * The reconcile that Webhook and LtiRegistration share.
 *
 * Invariants:
 * - Deleting a resource deletes its rows; where its Tenant is deleted or being deleted, the finalizer is removed at once.
 * - `Ready` exists from the first pass, with the generation that it is about; `Stalled` when the pass is over.
 */
export class TenantScopedReconciler<T extends TenantScoped> implements OrphanRows {
  readonly #deps: TenantScopedDeps<T>;
  readonly #kind: TenantScopedKind<T>;
  readonly #conditions: ConditionWriter<T>;

  constructor(deps: TenantScopedDeps<T>, kind: TenantScopedKind<T>) {
    this.#deps = deps;
    this.#kind = kind;
    this.#conditions = new ConditionWriter(deps);
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { informer, namespaces, clock } = this.#deps;
    const found = informer.store.get(key);
    if (!found) return done;
    if (isDeleting(found)) return this.#finalize(found);
    if (isTerminating(namespaces, key.namespace)) return done;
    const object = await this.#conditions.begin(found);

    const steps = new ConditionRunner(signal, this.#deps.timeSteps(key));
    const { status, message } = await this.#kind.pass(object, steps);
    const all = [...steps.conditions, readyFrom(steps, message), stalledFrom(steps), ...(this.#kind.conditions?.(object) ?? [])];
    const conditions = conditionsOf(object, all, clock.now());
    await this.#conditions.end(object, { ...object.status, ...status, ...conditions } as NonNullable<T['status']>);
    return steps.result();
  }

  async removeOrphans(tenant: ObservedTenant, schema: TenantSchema): Promise<void> {
    const present = this.#deps.informer.store.byIndex(BY_TENANT, keyText(keyOf(tenant))).filter((object) => !isDeleting(object));
    await this.#kind.removeOthers(schema, present.map(referenceOf));
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
