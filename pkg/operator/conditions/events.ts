import type { EventRecorder } from '../../kube/events.ts';
import type { Kind, Observed } from '../../kube/object.ts';
import { findCondition, type Condition, type WithConditions } from '../../kube/status.ts';

/** Reasons of a Webhook or LtiRegistration that is not Stalled, since its Tenant may be applied after it, but needs a Warning. */
const WITHOUT_TENANT = new Set(['TenantNotFound', 'TenantDeleting']);

/**
 * Records an Event for each transition between two states that a person should see: the object became ready or lost readiness, is
 * stalled, adopted retained data, has reached a limit, or has fields that are ignored. Progress shows in the conditions alone.
 */
export function recordTransitions(
  events: EventRecorder,
  kind: Kind,
  before: Observed<WithConditions>,
  after: Observed<WithConditions>,
): void {
  const was = (type: string): Condition | undefined => findCondition(before.status?.conditions, type);
  const is = (type: string): Condition | undefined => findCondition(after.status?.conditions, type);
  const record = (type: 'Normal' | 'Warning', { reason, message }: Condition): void =>
    events.record(after, kind, { type, reason, message });

  const accepted = is('Accepted');
  if (accepted?.reason === 'Adopted' && was('Accepted')?.reason !== 'Adopted') record('Normal', accepted);
  const stalled = is('Stalled');
  const wrong = stalled?.status === 'True' ? stalled : accepted && WITHOUT_TENANT.has(accepted.reason) ? accepted : undefined;
  if (wrong && !isSame(wrong, was(wrong.type))) record('Warning', wrong);
  const ignored = is('FieldsIgnored');
  if (ignored?.status === 'True' && !isSame(ignored, was(ignored.type))) record('Warning', ignored);
  const limits = is('WithinLimits');
  if (limits?.status === 'False' && was('WithinLimits')?.status !== 'False') record('Warning', limits);
  const ready = is('Ready');
  if (!ready || ready.status === was('Ready')?.status) return;
  if (ready.status === 'True') record('Normal', ready);
  else if (was('Ready')?.status === 'True' && !wrong) record(ready.reason === 'Suspended' ? 'Normal' : 'Warning', ready);
}

const isSame = (a: Condition, b: Condition | undefined): boolean =>
  b !== undefined && a.status === b.status && a.reason === b.reason && a.message === b.message;
