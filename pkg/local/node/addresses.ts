import { freePort, probePortPatiently } from '../ports.ts';
import type { Pod } from '../../kube/kinds.ts';

/**
 * The address of a pod. Free ports replace its declared ones if the machine has only one address, or a program of the machine
 * holds the port on all addresses.
 */
export interface PodAddress {
  readonly ip: string;
  /** Declared container port → the port in use. Empty if they are the same. */
  readonly ports: Readonly<Record<string, number>>;
}

/** Annotation that tells the router about replaced ports. */
export const PORTS_ANNOTATION = 'carrel.dev/local-ports';

const FIRST = 10;
const LAST = 254;

/** The addresses x.y.z.10 to .254 of the platform's network, each with one pod at a time. */
export class PodAddresses {
  readonly #network: string | null;
  readonly #shared: string;
  readonly #taken = new Map<string, string>();

  /** If `network` is null, pods share the address `shared`. */
  constructor(network: string | null, shared: string) {
    this.#network = network;
    this.#shared = shared;
  }

  /** Returns the pod's address: the one in its status, otherwise a free one; undefined if all are taken. */
  async assign(pod: Pod): Promise<PodAddress | undefined> {
    const uid = pod.metadata?.uid ?? '';
    if (this.#network === null) return { ip: this.#shared, ports: await exchanged(pod, this.#shared, async () => true) };
    const had = pod.status?.podIP;
    const candidates = [
      ...(had?.startsWith(`${this.#network}.`) ? [had] : []),
      ...range(FIRST, LAST).map((last) => `${this.#network}.${last}`),
    ];
    const ip = candidates.find((candidate) => (this.#taken.get(candidate) ?? uid) === uid);
    if (ip === undefined) return undefined;
    this.#taken.set(ip, uid);
    return { ip, ports: await exchanged(pod, ip, async (port) => (await probePortPatiently(ip, port)) === 'taken') };
  }

  /** Call it once the pod's last process has ended. */
  release(uid: string): void {
    for (const [ip, owner] of this.#taken) if (owner === uid) this.#taken.delete(ip);
  }
}

/** Returns a free port for each declared port of the pod that must be replaced. */
async function exchanged(pod: Pod, ip: string, must: (port: number) => Promise<boolean>): Promise<Record<string, number>> {
  const ports: Record<string, number> = {};
  for (const { containerPort } of (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? [])) {
    if (await must(containerPort)) ports[String(containerPort)] = await freePort(ip);
  }
  return ports;
}

export const portOf = (address: PodAddress, port: number): number => address.ports[String(port)] ?? port;

/** Returns the environment with replaced ports: a variable `…_PORT` that names a declared port gets the one in use. */
export const withPorts = (environment: Record<string, string>, { ports }: PodAddress): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, name.endsWith('_PORT') ? String(ports[value] ?? value) : value]),
  );

const range = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index);
