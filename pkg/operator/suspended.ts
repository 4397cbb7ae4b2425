import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerSuspended } from '../api/suspended.ts';
import type { Random } from '../runtime/random.ts';
import { closeServer, listen } from '../runtime/ops.ts';

/** Where requests for suspended tenants are led to: this operator, which answers that they are suspended. */
export interface SuspendedAnswer {
  /** An IP address that Ingress controllers reach. */
  readonly address: string;
  readonly port: number;
}

/** One reply without work: whoever holds more connections than this is not worth the operator's memory. */
const MAX_CONNECTIONS = 1_000;

export interface SuspendedServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Answers 503 `suspended` to whatever is asked, on every replica of the operator. */
export async function startSuspendedServer(options: { host: string | undefined; port: number; random: Random }): Promise<SuspendedServer> {
  const server = createServer((request, response) => answerSuspended(request, response, options.random));
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, options.port, options.host);
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}
