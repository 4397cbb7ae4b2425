import { ConditionError, ConditionRunner, type StepResult } from '../../../pkg/operator/conditions/runner.ts';
import { readyFrom, stalledFrom } from '../../../pkg/operator/conditions/ready.ts';
import { conditionsOf } from '../../../pkg/operator/conditions/writer.ts';
import type { AcceptedTenant } from '../../../pkg/operator/tenant/acceptance/acceptance-step.ts';
import { tenantStatus } from '../../../pkg/operator/tenant/status/status.ts';
import { tenantWith } from './tenant-resources.ts';

/* Resources of the three kinds as the operator's own code leaves them: for what GitOps tools say of them. */

const NOW = new Date('2026-01-02T03:04:05Z');
const addresses = { appUrl: 'https://north.files.example' };
const accepted = { tenantId: '7', addresses, since: '2026-01-01T00:00:00Z', credentials: {} } as unknown as AcceptedTenant;
export const good = async (): Promise<StepResult<AcceptedTenant>> => ({ value: accepted, reason: 'Good', message: '' });

/** A Tenant after a pass in which one step ended so. */
export async function tenantAfter(
  type: string,
  outcome: () => Promise<StepResult<AcceptedTenant>>,
  spec: Parameters<typeof tenantWith>[0] = {},
): Promise<object> {
  const tenant = tenantWith(spec);
  const steps = new ConditionRunner(new AbortController().signal);
  const acceptedStep = await steps.run('Accepted', {}, type === 'Accepted' ? outcome : good);
  if (type !== 'Accepted') await steps.run(type, { accepted: acceptedStep }, outcome);
  const unused = { type: 'none' };
  const status = tenantStatus(tenant, steps, { accepted: acceptedStep, database: unused, workload: unused }, NOW);
  return { ...tenant, status };
}

/** A Webhook or an LtiRegistration after a pass whose step failed for a reason. */
export async function scopedAfter(kind: string, reason: string, isTerminal: boolean): Promise<object> {
  const metadata = {
    name: 'lms',
    namespace: 'schools',
    uid: 'u-2',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 3,
  };
  const steps = new ConditionRunner(new AbortController().signal);
  await steps.run('Accepted', {}, () => Promise.reject(new ConditionError(reason, 'why', { isTerminal })));
  const object = { apiVersion: 'carrel.dev/v1alpha1', kind, metadata };
  return { ...object, status: conditionsOf(object, [...steps.conditions, readyFrom(steps, ''), stalledFrom(steps)], NOW) };
}

export const failing =
  (reason: string, isTerminal = false) =>
  () =>
    Promise.reject<StepResult<AcceptedTenant>>(new ConditionError(reason, 'why', { isTerminal }));
