import { expect, test } from '@jest/globals';
import type { Deployment } from '../../../kube/kinds.ts';
import { availabilityOf } from './availability.ts';

const deployment = (status: Deployment['status'], replicas = 2): Deployment => ({
  metadata: { generation: 3 },
  spec: { replicas, selector: {}, template: {} },
  ...(status ? { status } : {}),
});
const rolledOut = { observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 };
const condition = (type: string, status: string, reason: string) => ({ type, status, reason, message: 'why' });

test('a rollout that is through is available', () => {
  expect(availabilityOf(deployment(rolledOut), false)).toEqual({ reason: 'Available', message: '2 of 2 pods are ready' });
});

test.each<[string, Deployment['status']]>([
  ['of which the controller knows nothing yet', undefined],
  ['that it has not seen', { ...rolledOut, observedGeneration: 2 }],
  ['with an old pod left', { ...rolledOut, replicas: 3 }],
  ['with a new pod that is not available', { ...rolledOut, availableReplicas: 1 }],
])('a change %s rolls out', (_what, status) => {
  expect(availabilityOf(deployment(status), false)).toMatchObject({ status: 'False', reason: 'RollingOut' });
});

test('once it was available, a pod less does not take that away while the Deployment calls itself available', () => {
  const status = {
    ...rolledOut,
    availableReplicas: 1,
    readyReplicas: 1,
    conditions: [condition('Available', 'True', 'MinimumReplicasAvailable')],
  };

  expect(availabilityOf(deployment(status), true)).toEqual({ reason: 'Available', message: '1 of 2 pods are ready' });
  expect(availabilityOf(deployment({ ...status, conditions: [] }), true)).toMatchObject({
    status: 'False',
    reason: 'RollingOut',
  });
});

test('a rollout past its deadline and pods that are refused are stuck', () => {
  const late = {
    ...rolledOut,
    availableReplicas: 0,
    conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')],
  };
  const refused = { ...rolledOut, availableReplicas: 0, conditions: [condition('ReplicaFailure', 'True', 'FailedCreate')] };

  expect(availabilityOf(deployment(late), false)).toEqual({
    status: 'False',
    reason: 'RolloutFailed',
    message: 'pods do not become ready: why',
    isTerminal: true,
  });
  expect(availabilityOf(deployment(refused), false)).toEqual({
    status: 'False',
    reason: 'PodsRefused',
    message: 'why',
    isTerminal: true,
  });
});

test('no pods are no availability', () => {
  expect(availabilityOf(deployment({ observedGeneration: 3 }, 0), true)).toMatchObject({
    status: 'False',
    reason: 'ScaledToZero',
  });
});
