import { findCondition } from '../../kube/status.ts';
import type { Result } from '../../kube/result.ts';
import type { Clock } from '../../runtime/clock.ts';
import { conditionsOf, FIRST, readyFrom } from '../conditions.ts';
import type { ObservedTenant, Tenant, TenantSpec, TenantStatus } from '../kinds.ts';
import { selectorText } from '../names.ts';
import { Steps, type Outcome, type Step, type StepCondition } from '../steps.ts';
import type { Claim } from './claims.ts';
import type { DatabaseAccess } from './database.ts';
import { ignoredFields } from './unsupported.policy.ts';
import type { Workload } from './workload.ts';

export type TenantStep = 'Accepted' | 'DatabaseReady' | 'StorageReady' | 'KeysReady' | 'WorkloadAvailable' | 'Exposed';

type Status = NonNullable<Tenant['status']>;

/** Gathers what a pass of the reconcile found into the status: one condition per step, `Ready` and `Stalled` drawn from them, `FieldsIgnored` from the spec. */
export class TenantStatusBuilder {
  readonly #tenant: ObservedTenant;
  readonly #clock: Clock;
  readonly #steps: Steps;
  #facts: Partial<TenantStatus> = {};

  constructor(tenant: ObservedTenant, clock: Clock, signal: AbortSignal) {
    this.#tenant = tenant;
    this.#clock = clock;
    this.#steps = new Steps(signal);
  }

  step<Needs extends Record<string, Step<unknown>>, T>(
    type: TenantStep,
    needs: Needs,
    work: (values: { [Name in keyof Needs]: Needs[Name] extends Step<infer V> ? V : never }) => Promise<Outcome<T>>,
  ): Promise<Step<T>> {
    return this.#steps.run(type, needs, work);
  }

  /** The facts that the status shows beside the conditions. */
  with(found: { accepted: Step<Claim>; database: Step<DatabaseAccess>; workload: Step<Workload> }): this {
    const { accepted, database, workload } = found;
    if (accepted.value) this.#add({ tenantId: accepted.value.tenantId, ...accepted.value.addresses });
    if (database.value) this.#add({ schemaVersion: database.value.schemaVersion });
    if (workload.value) {
      const { replicas = 0, readyReplicas = 0 } = workload.value.deployment.status ?? {};
      this.#add({ image: workload.value.image, replicas, readyReplicas, selector: selectorText(this.#tenant) });
    }
    return this;
  }

  /** The whole status; what this pass did not find out stays as it was. */
  build(): Status {
    const all = [...this.#steps.conditions, this.#ready(), this.#stalled(), fieldsIgnored(this.#tenant)];
    return { ...this.#tenant.status, ...this.#facts, ...conditionsOf(this.#tenant, all, this.#clock) };
  }

  /** After the status is written: see Steps.result. */
  result(): Result {
    return this.#steps.result();
  }

  #add(facts: Partial<TenantStatus>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  #ready(): StepCondition {
    const accepted = this.#steps.conditions.find(({ type }) => type === 'Accepted');
    if (accepted?.status === 'True' && this.#tenant.spec.suspended) {
      return { type: 'Ready', status: 'False', reason: 'Suspended', message: 'spec.suspended is set: no pods run, the data are kept' };
    }
    return readyFrom(this.#steps, `answers at ${this.#facts.appUrl ?? ''}`);
  }

  #stalled(): StepCondition {
    const { stuck } = this.#steps;
    if (!stuck) return { type: 'Stalled', status: 'False', reason: 'NotStalled', message: '' };
    return { type: 'Stalled', status: 'True', reason: stuck.reason, message: `${stuck.type}: ${stuck.message}` };
  }
}

/** What the spec asks for and this release does not do, while the tenant runs without it. */
function fieldsIgnored({ spec }: ObservedTenant): StepCondition {
  const fields = ignoredFields(spec as TenantSpec);
  if (fields.length === 0) return { type: 'FieldsIgnored', status: 'False', reason: 'AllSupported', message: '' };
  return {
    type: 'FieldsIgnored',
    status: 'True',
    reason: 'NotYetSupported',
    message: `not supported yet and ignored: ${fields.join('; ')}`,
  };
}

/** The status of a Tenant that was just seen for the first time, so that `kubectl wait` and GitOps find a condition at once. */
export function firstStatus(tenant: ObservedTenant, clock: Clock): Status {
  return { ...tenant.status, ...conditionsOf(tenant, [FIRST], clock) };
}

/** The status while a Tenant goes; `message` names what it waits for. */
export function deletingStatus(tenant: ObservedTenant, message: string, clock: Clock): Status {
  const ready = { type: 'Ready', status: 'False', reason: 'Deleting', message } as const;
  return { ...tenant.status, ...conditionsOf(tenant, [ready], clock) };
}

export const isNew = (tenant: ObservedTenant): boolean => findCondition(tenant.status?.conditions ?? [], 'Ready') === undefined;
