import { hostname, totalmem, cpus } from 'node:os';
import { isAlreadyExists } from '../../kube/errors.ts';
import { type Lease, LEASE, type Node, NODE } from '../../kube/kinds.ts';
import { ResourceApi } from '../../kube/resource.ts';
import type { KubeClient } from '../../kube/transport.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import { toSeconds } from './status.ts';

export const NODE_NAME = 'local';

/** The intervals of a kubelet: the lease every 10 s, the status every 5 minutes. */
const LEASE_RENEW_MS = 10_000;
const LEASE_SECONDS = 40;
const STATUS_EVERY_MS = 300_000;
const RETRY_MS = 500;

export interface Registration {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** The address at which the API server asks the node for logs. */
  readonly address: string;
  readonly kubeletPort: number;
  readonly version: string;
}

/** Registers Node `local`, also when it exists. Resolves when it is registered and Ready. */
export async function register(registration: Registration, signal: AbortSignal): Promise<void> {
  const api = new ResourceApi(registration.client, NODE);
  while (!signal.aborted) {
    try {
      const labels = {
        'kubernetes.io/hostname': NODE_NAME,
        'kubernetes.io/os': process.platform,
        'kubernetes.io/arch': process.arch,
        'carrel.dev/process-node': 'true',
      };
      await api.create({ metadata: { name: NODE_NAME, labels }, spec: {} }).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
      await api.patchStatus({ namespace: '', name: NODE_NAME }, nodeStatus(registration));
      await renewLease(registration);
      return;
    } catch (error) {
      registration.log.warn({ err: error }, 'the node is not registered yet');
      await registration.clock.sleep(RETRY_MS, signal).catch(() => {});
    }
  }
}

/** Keeps lease and status fresh until the signal, then resolves. */
export async function keepHeartbeat(registration: Registration, signal: AbortSignal): Promise<void> {
  const { client, clock, log } = registration;
  const nodes = new ResourceApi(client, NODE);
  let statusAt = clock.monotonic();
  while (!signal.aborted) {
    await clock.sleep(LEASE_RENEW_MS, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      await renewLease(registration);
      if (clock.monotonic() - statusAt > STATUS_EVERY_MS) {
        await nodes.patchStatus({ namespace: '', name: NODE_NAME }, nodeStatus(registration));
        statusAt = clock.monotonic();
      }
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat is late');
    }
  }
}

async function renewLease({ client, clock }: Registration): Promise<void> {
  const leases = new ResourceApi(client, LEASE);
  const lease: Lease = {
    metadata: { namespace: 'kube-node-lease', name: NODE_NAME },
    spec: {
      holderIdentity: NODE_NAME,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: clock.now().toISOString().replace('Z', '000Z'),
    },
  };
  await leases.apply(lease, { fieldManager: 'carrel-node', force: true });
}

function nodeStatus({ clock, address, kubeletPort, version }: Registration): NonNullable<Node['status']> {
  const now = toSeconds(clock.now());
  const capacity = {
    cpu: String(cpus().length),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    pods: '240',
    'ephemeral-storage': '100Gi',
  };
  const condition = (type: string, status: string, reason: string) => ({
    type,
    status,
    reason,
    message: reason,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return {
    capacity,
    allocatable: capacity,
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: NODE_NAME },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } } as NonNullable<NonNullable<Node['status']>['daemonEndpoints']>,
    conditions: [
      condition('Ready', 'True', 'ProcessNodeReady'),
      condition('MemoryPressure', 'False', 'NotWatched'),
      condition('DiskPressure', 'False', 'NotWatched'),
      condition('PIDPressure', 'False', 'NotWatched'),
    ],
    nodeInfo: {
      architecture: process.arch,
      bootID: '',
      containerRuntimeVersion: `process://${process.versions.node}`,
      kernelVersion: '',
      kubeProxyVersion: '',
      kubeletVersion: version,
      machineID: hostname(),
      operatingSystem: process.platform,
      osImage: 'Carrel process node',
      systemUUID: '',
    },
  };
}
