import type { V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import type { Pod } from '../../kube/kinds.ts';
import type { Json } from '../../kube/object.ts';
import type { ContainerStatus } from './container.ts';

export type PodStatus = Json<V1PodStatus>;
type PodCondition = Json<V1PodCondition>;

/** The known state of a pod's run. */
export interface PodView {
  readonly pod: Pod;
  readonly hostIP: string;
  /** The pod's address; undefined while it has none. */
  readonly podIP: string | undefined;
  readonly startTime: string;
  readonly init: readonly ContainerStatus[];
  readonly containers: readonly ContainerStatus[];
  /** The reason why the pod has not started; replaces the containers' own messages. */
  readonly blocked?: { readonly reason: string; readonly message: string } | undefined;
}

/** Returns a pod's status as a kubelet writes it, from its containers. Pure; `now` dates the conditions that changed. */
export function podStatus(view: PodView, now: Date): PodStatus {
  const { pod, init, containers } = view;
  const initialized = init.every(({ state }) => state?.terminated?.exitCode === 0);
  const phase = phaseOf(view);
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name);
  const finished = phase === 'Succeeded' || phase === 'Failed';
  const why = finished
    ? { reason: 'PodCompleted' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  const containersReady = initialized && unready.length === 0 && containers.length > 0;
  const gates = (pod.spec?.readinessGates ?? []).every(({ conditionType }) => conditionOf(pod, conditionType)?.status === 'True');
  const ready = containersReady && gates;
  const condition = (type: string, is: boolean, reasons: { reason?: string; message?: string } = {}): PodCondition => {
    const status = is ? 'True' : 'False';
    const before = conditionOf(pod, type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : toSeconds(now);
    return { type, status, ...(is ? {} : reasons), ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) };
  };
  const own = [
    condition('PodReadyToStartContainers', view.podIP !== undefined),
    condition('Initialized', initialized, { reason: 'ContainersNotInitialized', message: 'an init container has not completed' }),
    condition('Ready', ready, gates ? why : { reason: 'ReadinessGatesNotReady', message: 'a readiness gate is not True' }),
    condition('ContainersReady', containersReady, why),
    condition('PodScheduled', true),
  ];
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !own.some((each) => each.type === type));
  return {
    phase,
    conditions: [...own, ...others],
    hostIP: view.hostIP,
    hostIPs: [{ ip: view.hostIP }],
    ...(view.podIP === undefined ? {} : { podIP: view.podIP, podIPs: [{ ip: view.podIP }] }),
    startTime: view.startTime,
    ...(pod.metadata?.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    ...(init.length === 0 ? {} : { initContainerStatuses: [...init] }),
    containerStatuses: containers.map((status) => blockedStatus(status, view.blocked)),
  };
}

function phaseOf({ pod, containers }: PodView): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  const ended = containers.map(({ state }) => state?.terminated);
  if (containers.length > 0 && ended.every((state) => state !== undefined)) {
    const stopped = pod.metadata?.deletionTimestamp !== undefined;
    if (stopped || pod.spec?.restartPolicy !== 'Always')
      return ended.every((state) => state?.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  const begun = containers.some(
    ({ state, restartCount }) => state?.running !== undefined || state?.terminated !== undefined || restartCount > 0,
  );
  return begun ? 'Running' : 'Pending';
}

const blockedStatus = (status: ContainerStatus, blocked: PodView['blocked']): ContainerStatus =>
  blocked && status.state?.waiting ? { ...status, state: { waiting: { ...blocked } } } : status;

const conditionOf = (pod: Pod, type: string): PodCondition | undefined =>
  pod.status?.conditions?.find((condition) => condition.type === type);

/** Formats a time in whole seconds, as Kubernetes' metav1.Time. */
export const toSeconds = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');
