import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { NETWORK } from '../../hack/node/layout.ts';
import { commandOf, type OneNodeCluster } from '../../hack/node/node.ts';
import { kubectlOk, type Platform } from '../support/programs/platform.ts';

const PROGRAM = /cmd\/(operator|worker|server)\/main\.js/;
/** At which the programs listen: a connection from there came in. */
const OWN_PORTS = new Set([8080, 8081, 9090]);
const POLL_MS = 500;
/** 127.0.0.1 and ::1, as the kernel writes them on this machine: `kubectl port-forward` connects to a pod from within. */
const LOOPBACK = /^(?:.{6}7F|.{30}7F|0{24}01000000)$/;

/**
 * The TCP ports that the pods of each program connect to, while Postgres, Redis, the object store, the receiver and the LMS
 * answer at these.
 */
const EXPECTED = {
  operator: { apiServer: 443, postgres: 5432, redis: 6379, objectStore: 7070, objectStoreAdmin: 7071 },
  server: { postgres: 5432, redis: 6379, objectStore: 7070, lms: 443 },
  worker: { postgres: 5432, redis: 6379, objectStore: 7070, receiverAndLms: 443 },
} as const;
type Program = keyof typeof EXPECTED;

export interface Connections {
  /** Every port that a pod of the program was connected to, since the start. */
  readonly of: (program: Program) => ReadonlySet<number>;
  stop(): void;
}

/** Looks at the sockets of each pod from outside of it: its own network namespace lists them, also those of a minute ago. */
export function watchConnections(cluster: OneNodeCluster): Connections {
  const seen = { operator: new Set<number>(), server: new Set<number>(), worker: new Set<number>() };
  const timer = setInterval(() => {
    for (const pid of cluster.containers) {
      const program = PROGRAM.exec(commandOf(pid))?.[1] as Program | undefined;
      if (program) for (const port of outwardPorts(pid)) seen[program].add(port);
    }
  }, POLL_MS);
  return { of: (program) => seen[program], stop: () => clearInterval(timer) };
}

/** Remote ports of the connections that a pod has begun (proc(5), /proc/net/tcp): `local remote state` in hexadecimal. */
function outwardPorts(pid: number): number[] {
  return ['tcp', 'tcp6'].flatMap((table) => {
    try {
      return [...readFileSync(`/proc/${pid}/net/${table}`, 'utf8').matchAll(/^ *\d+: \w+:(\w{4}) (\w+):(\w{4}) /gm)].flatMap(
        ([, local = '', address = '', remote = '']) => {
          const isOutward = !/^0+$/.test(address) && !LOOPBACK.test(address) && !OWN_PORTS.has(Number.parseInt(local, 16));
          return isOutward ? [Number.parseInt(remote, 16)] : [];
        },
      );
    } catch {
      return []; // ended meanwhile
    }
  });
}

interface Policy {
  readonly spec: {
    readonly egress: readonly {
      readonly ports?: readonly { readonly port?: number }[];
      readonly to?: readonly { readonly ipBlock?: { readonly cidr: string } }[];
    }[];
  };
}

/**
 * Each program connected to what it needs and to nothing else, and its NetworkPolicy names each of these ports, or allows all.
 */
export async function connectionsAreExpected(
  { platform, connections }: { readonly platform: Platform; readonly connections: Connections | undefined },
  policies: Record<Program, [namespace: string, name: string]>,
): Promise<void> {
  for (const program of ['operator', 'server', 'worker'] as const) {
    const used = [...(connections?.of(program) ?? [])].toSorted((a, b) => a - b);
    assert.deepEqual(
      used,
      Object.values(EXPECTED[program]).toSorted((a, b) => a - b),
      `the ports that the ${program} connected to`,
    );
    const [namespace, name] = policies[program];
    const policy = JSON.parse(await kubectlOk(platform, ['-n', namespace, 'get', 'networkpolicy', name, '-o', 'json'])) as Policy;
    const allowed = policy.spec.egress.filter(({ to }) => to === undefined);
    const isAll = allowed.some(({ ports }) => ports === undefined);
    // The LMS is at an address that tenants.egressAllow opens, at every port.
    const opensLms = policy.spec.egress.some(
      ({ ports, to }) =>
        ports?.every(({ port }) => port === undefined) && to?.some(({ ipBlock }) => ipBlock?.cidr === NETWORK.services),
    );
    const named = new Set<number | undefined>(opensLms ? [443] : []);
    for (const { ports = [] } of allowed) for (const { port } of ports) named.add(port);
    assert.deepEqual(
      used.filter((port) => !isAll && !named.has(port)),
      [],
      `ports that the NetworkPolicy of the ${program} does not open`,
    );
  }
}
