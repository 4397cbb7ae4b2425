import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { listen } from '../../runtime/ops-server.ts';
import { messageOf } from '../../runtime/command-error.ts';
import { KUBELET_CLIENT, pkiPaths } from '../programs/controlplane.ts';
import type { ContainerRunner } from './container.ts';
import { readLog } from './logs.ts';

/** The view of the node that its server needs. */
interface KubeletView {
  container(namespace: string, pod: string, container: string): ContainerRunner | undefined;
}

/**
 * Serves the port at which the API server asks a node (kubelet's API, as far as `kubectl logs` needs it). Only the API server's
 * own client certificate has access; `/healthz` is open.
 */
export async function startKubelet(options: {
  stateDirectory: string;
  address: string;
  port: number;
  view: KubeletView;
}): Promise<Server> {
  const files = pkiPaths(options.stateDirectory);
  const server = createServer(
    {
      cert: readFileSync(files.kubelet.certificate),
      key: readFileSync(files.kubelet.key),
      ca: readFileSync(files.authority.certificate),
      requestCert: true,
      rejectUnauthorized: false, // Requests of /healthz carry no certificate.
    },
    (request, response) => void answer(request, response, options.view).catch((error: unknown) => fail(response, error)),
  );
  await listen(server, options.port, options.address);
  return server;
}

async function answer(request: IncomingMessage, response: ServerResponse, view: KubeletView): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://kubelet');
  if (url.pathname === '/healthz') return send(response, 200, 'ok\n');
  const socket = request.socket as TLSSocket;
  if (!socket.authorized || socket.getPeerCertificate().subject.CN !== KUBELET_CLIENT)
    return send(response, 401, 'Unauthorized\n');
  const [, verb, namespace = '', pod = '', container = ''] = url.pathname.split('/').map(decodeURIComponent);
  if (verb !== 'containerLogs') return send(response, 501, `The process node answers kubectl logs; ${verb} needs a real node.\n`);
  const runner = view.container(namespace, pod, container);
  if (!runner) return send(response, 400, `pod ${namespace}/${pod} with container ${container} does not run on this node`);
  return sendLog(request, response, url.searchParams, runner);
}

async function sendLog(
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
  runner: ContainerRunner,
): Promise<void> {
  const number = (name: string): number | undefined => (query.has(name) ? Number(query.get(name)) : undefined);
  const previous = query.get('previous') === 'true';
  const path = runner.logFile({ previous });
  const { name, state } = runner.status;
  if (!existsSync(path)) {
    const why = previous
      ? 'has no terminated container before it'
      : `is waiting to start: ${state?.waiting?.reason ?? 'no reason known'}`;
    return send(response, 400, `container "${name}" ${why}${state?.waiting?.message ? ` (${state.waiting.message})` : ''}`);
  }
  const isOver = (): boolean =>
    previous || request.socket.destroyed || runner.status.state?.running === undefined || runner.logFile({ previous }) !== path;
  const lines = readLog(
    path,
    { tailLines: number('tailLines'), limitBytes: number('limitBytes'), follow: query.get('follow') === 'true' },
    isOver,
  );
  const first = await lines.next();
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.flushHeaders();
  if (first.value) response.write(first.value);
  await pipeline(lines, response);
}

const send = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
};

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else send(response, 500, `${messageOf(error)}\n`);
}
