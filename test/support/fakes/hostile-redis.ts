import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { range } from '../wait.ts';

const SILENT_READERS = 20;
/** More than Redis has, each at a key of its own. */
const VALUES = 400;
const VALUE = 'x'.repeat(1_000_000);

/**
 * Abuses a Redis as the holder of a tenant's password can: fills it with large values, again and again, and requests replies
 * that it never reads.
 */
export async function abuseRedis(url: string): Promise<{ readonly filled: Promise<void>; stop(): Promise<void> }> {
  const client = new Redis(url, { enableReadyCheck: false, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  const { hostname, port, username, password } = new URL(url);
  const prefix = `t:${username.replace(/^tenant_/, '')}:`;
  const sockets = new Set<Socket>();
  const stopping = new AbortController();
  const { signal } = stopping;

  await client.set(`${prefix}asked`, 'x'.repeat(10_000));
  const askWithoutReading = (): void => {
    if (signal.aborted) return;
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(socket);
        // An attacker comes again when it was thrown out. No test waits for this.
        setTimeout(askWithoutReading, 200);
      });
    socket.pause();
    const many = ['MGET', ...range(3_500).map(() => `${prefix}asked`)];
    socket.write([['AUTH', username, password], many, many].map(commandOf).join(''));
  };
  range(SILENT_READERS).forEach(askWithoutReading);

  const filled = Promise.withResolvers<void>();
  const filling = (async () => {
    for (let at = 0; !signal.aborted; at += 1) {
      await client.set(`${prefix}${at % VALUES}`, VALUE).catch(() => undefined);
      if (at === VALUES) filled.resolve();
    }
  })();
  return {
    filled: filled.promise,
    stop: async () => {
      stopping.abort();
      for (const socket of sockets) socket.destroy();
      client.disconnect();
      await filling;
    },
  };
}

const commandOf = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
