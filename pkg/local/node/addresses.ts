import { freePort, probePortPatiently } from '../ports.ts';
import type { Pod } from '../../kube/kinds.ts';

/**
 * Where a pod answers: an address of its own, or – where the machine has but one, or a program of the machine holds the port on
 * all addresses – free ports instead of those it asks for.
 */
export interface PodAddress {
  readonly ip: string;
  /** Declared container port → the port in use. Empty: they are the same. */
  readonly ports: Readonly<Record<string, number>>;
}

/** Annotation by which the router learns of exchanged ports. */
export const PORTS_ANNOTATION = 'carrel.dev/local-ports';

const FIRST = 10;
const LAST = 254;

/** The addresses x.y.z.10 to .254 of the platform's network, each with one pod at a time. */
export class PodAddresses {
  readonly #network: string | null;
  readonly #shared: string;
  readonly #taken = new Map<string, string>();

  /** `network` null: pods share the address `shared`. */
  constructor(network: string | null, shared: string) {
    this.#network = network;
    this.#shared = shared;
  }

  /** The pod's address: the one it had (its status says), else a free one; undefined when all are taken. */
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

  /** Once the pod's last process has ended. */
  release(uid: string): void {
    for (const [ip, owner] of this.#taken) if (owner === uid) this.#taken.delete(ip);
  }
}

/** A free port for each that the pod declares and that must be another. */
async function exchanged(pod: Pod, ip: string, must: (port: number) => Promise<boolean>): Promise<Record<string, number>> {
  const ports: Record<string, number> = {};
  for (const { containerPort } of (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? [])) {
    if (await must(containerPort)) ports[String(containerPort)] = await freePort(ip);
  }
  return ports;
}

export const portOf = (address: PodAddress, port: number): number => address.ports[String(port)] ?? port;

/** The environment with exchanged ports: a variable `…_PORT` that names a declared port gets the one in use. */
export const withPorts = (environment: Record<string, string>, { ports }: PodAddress): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, name.endsWith('_PORT') ? String(ports[value] ?? value) : value]),
  );

const range = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index);
