import { setCondition, type Condition } from '../kube/status.ts';
import type { KubeObject, Observed } from '../kube/object.ts';
import type { Clock } from '../runtime/clock.ts';
import type { StepCondition, Steps } from './steps.ts';

type WithConditions = Observed<KubeObject & { status?: { conditions?: Condition[] } }>;

/** The status fields that every kind has: the conditions with these set, all of them speaking of the present generation. */
export function conditionsOf(
  object: Observed<KubeObject>,
  found: readonly StepCondition[],
  clock: Clock,
): { observedGeneration: number; conditions: Condition[] } {
  const observedGeneration = object.metadata.generation ?? 0;
  const now = clock.now();
  const before = (object as WithConditions).status?.conditions ?? [];
  const conditions = found.reduce<Condition[]>(
    (all, condition) => setCondition(all, { ...condition, observedGeneration }, now),
    [...before],
  );
  return { observedGeneration, conditions };
}

/** `Ready` as the steps say it: True when all are, else what a person should hear of first. */
export function readyFrom(steps: Steps, message: string): StepCondition {
  const { worst } = steps;
  if (!worst) return { type: 'Ready', status: 'True', reason: 'Ready', message };
  return { type: 'Ready', status: worst.status, reason: worst.reason, message: `${worst.type}: ${worst.message}` };
}

/** What an object that is seen for the first time says, so that `kubectl wait` and GitOps find a condition at once. */
export const FIRST: StepCondition = { type: 'Ready', status: 'Unknown', reason: 'Reconciling', message: 'the operator has begun' };
