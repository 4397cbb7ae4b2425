import type { Usage } from '../../../store/postgres/provisioning.ts';
import type { ConditionRunner, Step, StepCondition } from '../../conditions/runner.ts';
import { readyFrom, stalledFrom } from '../../conditions/ready.ts';
import { seconds } from '../../../kube/status.ts';
import { conditionsOf } from '../../conditions/writer.ts';
import type { ObservedTenant, Tenant, TenantSpec, TenantStatus } from '../../kinds.ts';
import { selectorText } from '../../names.ts';
import { fieldsIgnoredOfTenant } from '../../unsupported.policy.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import type { DatabaseAccess } from '../database/database-step.ts';
import { usageStatus, withinLimits } from '../limits/limits.ts';
import { changedAt, credentialsOf } from '../rotation/rotation.policy.ts';
import type { FollowedRequest } from '../rotation/rotation-step.ts';
import type { Workload } from '../workload/workload-step.ts';

/** The steps whose values the status shows. */
interface StatusSteps {
  readonly accepted: Step<AcceptedTenant>;
  readonly database: Step<DatabaseAccess>;
  readonly workload: Step<Workload>;
  readonly rotation?: Step<FollowedRequest>;
  /** Undefined: the usage stays unchanged. */
  readonly usage?: Usage | undefined;
}

/**
 * Returns the whole status after a pass of the reconcile: one condition per step, `Ready` and `Stalled` from them, and
 * `FieldsIgnored` from the spec. Values that the pass did not determine stay unchanged.
 */
export function tenantStatus(
  tenant: ObservedTenant,
  steps: ConditionRunner,
  found: StatusSteps,
  now: Date,
): NonNullable<Tenant['status']> {
  const facts = factsOf(tenant, found);
  const limits = withinLimits(tenant, facts.usage ?? tenant.status?.usage);
  const ignored = fieldsIgnoredOfTenant(tenant.spec as TenantSpec);
  const all = [...steps.conditions, readyOf(tenant, steps, facts), stalledFrom(steps), limits, ignored];
  return { ...tenant.status, ...facts, ...conditionsOf(tenant, all, now) };
}

/** Returns the fields of the status beside the conditions. */
function factsOf(tenant: ObservedTenant, { accepted, database, workload, rotation, usage }: StatusSteps): Partial<TenantStatus> {
  const { replicas = 0, readyReplicas = 0 } = workload.value?.deployment.status ?? {};
  return {
    ...(accepted.value && {
      tenantId: accepted.value.tenantId,
      ...accepted.value.addresses,
      credentials: credentialStates(tenant, accepted.value),
    }),
    ...rotation?.value,
    ...((usage ?? tenant.status?.usage) && { usage: usageStatus(tenant, usage) }),
    ...(database.value && { schemaVersion: database.value.schemaVersion }),
    ...(workload.value && { image: workload.value.image, replicas, readyReplicas, selector: selectorText(tenant) }),
  };
}

const credentialStates = (tenant: ObservedTenant, accepted: AcceptedTenant): NonNullable<TenantStatus['credentials']> =>
  credentialsOf(tenant).map((name) => {
    const step = accepted.credentials[name]?.step;
    return { name, changedAt: seconds(changedAt(accepted, name)), ...(step ? { step } : {}) };
  });

function readyOf({ spec }: ObservedTenant, steps: ConditionRunner, facts: Partial<TenantStatus>): StepCondition {
  const accepted = steps.conditions.find(({ type }) => type === 'Accepted');
  if (accepted?.status === 'True' && spec.suspended) {
    return {
      type: 'Ready',
      status: 'False',
      reason: 'Suspended',
      message: 'spec.suspended is set: no pods run, the data are kept',
    };
  }
  return readyFrom(steps, `answers at ${facts.appUrl ?? ''}`);
}
