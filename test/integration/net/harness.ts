import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { EgressError } from '../../../pkg/net/egress-error.ts';
import { type GuardedClient, guardedClient, type GuardedClientOptions } from '../../../pkg/net/client.ts';
import type { EgressReply } from '../../../pkg/net/exchange.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { createMetrics, type Metrics } from '../../../pkg/runtime/metrics.ts';

export const LOOPBACK_ALLOWED = parseAllowedRanges('127.0.0.0/8,::1/128');
export const NOTHING_ALLOWED = parseAllowedRanges('');

/** Holds all that a test file opened, and closes it at once. */
export class Net {
  readonly metrics: Metrics = createMetrics('test');
  readonly #closers: (() => Promise<unknown>)[] = [];

  client(options: Partial<GuardedClientOptions> = {}): GuardedClient {
    const client = guardedClient({ allow: LOOPBACK_ALLOWED, clock: systemClock, metrics: this.metrics, ...options });
    this.#closers.push(() => client.close());
    return client;
  }

  /** A web server on loopback; its port. */
  http(handle: RequestListener): Promise<number> {
    return this.listen(createHttpServer(handle));
  }

  /** A server that reads the first bytes of a request and then does as `behave` says, byte by byte; its port. */
  raw(behave: (socket: Socket) => void): Promise<number> {
    return this.listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined).once('data', () => behave(socket));
      }),
    );
  }

  async listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#closers.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as AddressInfo).port;
  }

  async outcomes(): Promise<Record<string, number>> {
    const metric = await this.metrics.getSingleMetric('egress_requests_total')?.get();
    return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [String(labels['outcome']), value]));
  }

  /** Servers last opened go first, clients then have nothing to wait for. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
  }
}

/** The EgressError that a request ends in; anything else fails the test. */
export async function refusal(request: Promise<EgressReply>): Promise<EgressError> {
  const outcome = await request.catch((error: unknown) => error);
  if (outcome instanceof EgressError) return outcome;
  throw outcome instanceof Error ? outcome : new Error(`answered ${(outcome as EgressReply).status}`);
}
