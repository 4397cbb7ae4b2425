import { createHash } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './errors.ts';

/** Whether one can listen there now; 'absent' when the machine has no such address (no IPv6, macOS without aliases). */
export function probePort(host: string, port: number): Promise<'free' | 'taken' | 'absent'> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(codeOf(error) === 'EADDRINUSE' || codeOf(error) === 'EACCES' ? 'taken' : 'absent'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('free')));
  });
}

/** As probePort, but a port that is taken gets a moment: the kernel frees those of a process that was just ended a little after it is gone. */
export async function probePortPatiently(host: string, port: number, patienceMs = 2_000): Promise<'free' | 'taken' | 'absent'> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const state = await probePort(host, port);
    if (state !== 'taken' || performance.now() > deadline) return state;
    await sleep(50);
  }
}

/** A port that was free a moment ago. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port: 0 }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** The wanted ports where they are free, else any that are. */
export async function choosePorts<Name extends string>(host: string, wanted: Record<Name, number>): Promise<Record<Name, number>> {
  const chosen: Record<string, number> = {};
  for (const [name, port] of Object.entries<number>(wanted)) {
    chosen[name] = (await probePort(host, port)) === 'free' ? port : await freePort(host);
  }
  return chosen as Record<Name, number>;
}

/**
 * The first three bytes of a home's own loopback network, 127.x.y: from its path, so that it stays the same;
 * `salt` gives another when that one is in use. Never 127.0.*, where a machine's own names live.
 */
export function loopbackNetwork(home: string, salt = 0): string {
  const digest = createHash('sha256').update(`${home}\0${salt}`).digest();
  return `127.${1 + ((digest[0] ?? 0) % 254)}.${digest[1] ?? 0}`;
}

/** Linux answers on all of 127.0.0.0/8; macOS only on what its interface was given. */
export const hasLoopbackNetwork = async (): Promise<boolean> => (await probePort('127.1.2.3', 0)) === 'free';
