import { join } from 'node:path';
import type { Machine } from '../../pkg/local/binaries/resolve.ts';

/** The addresses of the one-node cluster. The host's side of the link and the node's are the two hosts of 10.78.0.0/30. */
export const NETWORK = {
  link: 'carrel0',
  hostAddress: '10.78.0.1',
  nodeAddress: '10.78.0.2',
  linkBits: 30,
  pods: '10.244.0.0/24',
  services: '10.96.0.0/24',
  /** The Service `kubernetes`: the first address of `services`. */
  apiService: '10.96.0.1',
  dnsService: '10.96.0.10',
} as const;

/** All users of the machine share one lock, since addresses and control groups are the machine's. */
const LOCK = '/run/lock/carrel-node.lock';

export const NODE_NAME = 'local';
/** The folder of the pods' control groups, in each hierarchy. */
export const CGROUP = 'carrel-node';

/**
 * Everything that the node writes lies below `folder`, which goes with it. One node at a time on a machine: the addresses are
 * fixed.
 */
export interface Layout {
  readonly folder: string;
  readonly lock: string;
  readonly pki: string;
  readonly etc: string;
  readonly log: string;
  readonly volumes: string;
  /** Holds files that the cluster needs only while it runs. */
  readonly scratch: string;
  /** An administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Holds kubectl; users add it to their PATH. */
  readonly bin: string;
}

export function layoutOf(machine: Machine): Layout {
  const folder = join(machine.cache, 'node');
  return {
    folder,
    lock: LOCK,
    pki: join(folder, 'pki'),
    etc: join(folder, 'etc'),
    log: join(folder, 'log'),
    scratch: join(folder, 'scratch'),
    volumes: join(folder, 'volumes'),
    bin: join(folder, 'bin'),
    kubeconfig: join(folder, 'kubeconfig'),
  };
}
