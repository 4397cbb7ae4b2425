import { createHash, randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, CommandError } from '../runtime/command-error.ts';

/** The ports that the platform's programs on this machine have if they are free. */
export const WANTED_PORTS = {
  apiserver: 6443,
  etcd: 2379,
  etcdPeer: 2380,
  controllerManager: 10257,
  kubelet: 10250,
  postgres: 5432,
  valkey: 6379,
  valkeyQueue: 6380,
  s3: 7070,
  s3Admin: 7071,
  operatorOps: 9090,
  workerOps: 9091,
  demo: 7080,
  helpers: 7090,
  helpersOps: 7091,
};
export type PortName = keyof typeof WANTED_PORTS;

/**
 * Returns whether a program can listen there now; `absent` if the machine has no such address (no IPv6, macOS without aliases).
 */
export function probePort(host: string, port: number): Promise<'free' | 'taken' | 'absent'> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(codeOf(error) === 'EADDRINUSE' || codeOf(error) === 'EACCES' ? 'taken' : 'absent'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('free')));
  });
}

/**
 * Works like probePort, but waits a moment for a port that is taken: the kernel frees the ports of a process a little after it
 * has ended.
 */
export async function probePortPatiently(host: string, port: number, patienceMs = 2_000): Promise<'free' | 'taken' | 'absent'> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const state = await probePort(host, port);
    if (state !== 'taken' || performance.now() > deadline) return state;
    await sleep(50);
  }
}

/**
 * Below the ports that kernels use for outgoing connections (Linux: from 32768, others: from 49152), so that none takes the port
 * before a program listens on it.
 */
const FREE_FROM = 30_000;
const FREE_COUNT = 2_768;

/** Ports already handed out: programs begin to listen a while after they got a port. */
const given = new Set<number>();

/** Returns a port that was free a moment ago, and that this process has not handed out. */
export async function freePort(host: string): Promise<number> {
  if (given.size > FREE_COUNT / 2) given.clear();
  for (;;) {
    const port = FREE_FROM + randomInt(FREE_COUNT);
    if (given.has(port)) continue;
    const state = await probePort(host, port);
    given.add(port);
    if (state === 'free') return port;
    if (state === 'absent') throw new CommandError(`this machine has no address ${host}`);
  }
}

/** Returns the desired ports if they are free, otherwise free ones. */
export async function choosePorts<Name extends string>(
  host: string,
  wanted: Record<Name, number>,
): Promise<Record<Name, number>> {
  const chosen: Record<string, number> = {};
  for (const [name, port] of Object.entries<number>(wanted)) {
    chosen[name] = (await probePort(host, port)) === 'free' ? port : await freePort(host);
  }
  return chosen as Record<Name, number>;
}

/**
 * Returns the first three bytes of a state directory's own loopback network, 127.x.y. They derive from its path, so that the
 * network stays the same; `salt` selects another if that one is in use. Never 127.0.*, where a machine's own names live.
 */
export function loopbackNetwork(stateDirectory: string, salt = 0): string {
  const digest = createHash('sha256').update(`${stateDirectory}\0${salt}`).digest();
  return `127.${1 + ((digest[0] ?? 0) % 254)}.${digest[1] ?? 0}`;
}

/** Linux answers on all of 127.0.0.0/8; macOS only on addresses that its interface was given. */
export const hasLoopbackNetwork = async (): Promise<boolean> => (await probePort('127.1.2.3', 0)) === 'free';
