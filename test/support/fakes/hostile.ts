import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig, type User } from '@kubernetes/client-node';
import { Registry } from 'prom-client';
import { KubeClient } from '../../../pkg/kube/transport.ts';

export interface Hostile {
  readonly client: KubeClient;
  readonly metrics: Registry;
  /** `GET /path?query`, in the order they came. */
  readonly calls: string[];
  close(): Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An "API server" that answers each call as the next of `answers` says, the last one for all that follow. */
export async function hostile(
  answers: Answer | readonly Answer[],
  options: { requestTimeoutMs?: number } = {},
  user: User = { name: 'user', token: 'token' },
): Promise<Hostile> {
  const script = typeof answers === 'function' ? [answers] : answers;
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const answer = script[Math.min(calls.length, script.length - 1)]!;
    calls.push(`${request.method} ${request.url}`);
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kubeConfig = new KubeConfig();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  kubeConfig.loadFromClusterAndUser({ name: 'hostile', server: url, skipTLSVerify: true }, user);
  const metrics = new Registry();
  const client = new KubeClient({ kubeConfig, metrics, ...options });
  return {
    client,
    metrics,
    calls,
    close: async () => {
      await client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A JSON reply. */
export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

/** A `Status`, as the API server refuses. */
export const refusal = (code: number, reason: string, headers: Record<string, string> = {}): Answer =>
  json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `refused: ${reason}` }, code, headers);

/** The connection goes away without an answer. */
export const reset: Answer = (request) => void request.socket.destroy();

/** The headers of a stream, then each text as it is, then what `end` does. */
export const stream =
  (texts: readonly string[], end: (response: ServerResponse) => void = (response) => void response.end()): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const text of texts) response.write(text);
    // The delay lets the written bytes leave before the connection ends.
    setTimeout(() => end(response), 10);
  };
