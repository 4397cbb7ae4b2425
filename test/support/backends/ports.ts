import { probePort } from '../../../pkg/local/ports.ts';

/**
 * Each process of jest has a slice of its own, below the ports that kernels give to outgoing connections: nobody takes a port
 * before its test listens.
 */
const SLICE = 1_000;
const FROM = 20_000 + SLICE * (Number(process.env['JEST_WORKER_ID'] ?? 0) % 10);

let next = Math.floor(Math.random() * SLICE);

/** A port of loopback that was free a moment ago, and that this process has not given out before. */
export async function freePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % SLICE;
    const port = FROM + next;
    if ((await probePort('127.0.0.1', port)) === 'free') return port;
  }
}
