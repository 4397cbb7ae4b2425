import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerSuspended } from '../api/suspended-reply.ts';
import type { Random } from '../runtime/random.ts';
import { closeServer, listen } from '../runtime/ops-server.ts';

/** The address to which requests for suspended tenants are sent: this operator, which answers 503 `suspended`. */
export interface SuspendedAnswer {
  /** An IP address that Ingress controllers reach. */
  readonly address: string;
  readonly port: number;
}

/** Limits the operator's memory; each connection gets one short reply. */
const MAX_CONNECTIONS = 1_000;

export interface SuspendedServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Answers 503 `suspended` to every request, on every replica of the operator. */
export async function startSuspendedServer(options: {
  host: string | undefined;
  port: number;
  random: Random;
}): Promise<SuspendedServer> {
  const server = createServer((request, response) => answerSuspended(request, response, options.random));
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, options.port, options.host);
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}
