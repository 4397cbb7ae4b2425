import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

/**
 * The port that only the cluster sees: `/healthz` (the process is alive), `/readyz` (it accepts work), `/metrics` (Prometheus).
 */
interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** `ready` returns null, or the reason why the program accepts no work at the moment (the body of a 503). */
export async function startOpsServer(options: {
  host: string | undefined;
  port: number;
  metrics: Metrics;
  ready: () => string | null;
}): Promise<OpsServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    const send = (status: number, type: string, body: string): void => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
    if (path === '/healthz') return send(200, 'text/plain', 'ok\n');
    if (path === '/readyz') {
      const reason = options.ready();
      return reason === null ? send(200, 'text/plain', 'ok\n') : send(503, 'text/plain', `${reason}\n`);
    }
    if (path === '/metrics') {
      void options.metrics.metrics().then(
        (text) => send(200, options.metrics.contentType, text),
        () => send(500, 'text/plain', 'metrics failed\n'),
      );
      return;
    }
    return send(404, 'text/plain', 'not found\n');
  });
  await listen(server, options.port, options.host);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => closeServer(server),
  };
}

/** Listens, or rejects with the system's error (EADDRINUSE and the like). */
export function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Accepts no new connection, closes the idle ones, and resolves when the last request has been answered. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeIdleConnections();
  });
}
