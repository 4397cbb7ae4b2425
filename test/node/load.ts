import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'node:http';
import { messageOf } from '../../pkg/runtime/command-error.ts';
import type { Api } from '../support/clients/api.ts';

const READERS = 4;
const PAUSE_MS = 10;
const TIMEOUT_MS = 30_000;

export interface Load {
  /** Requests by their method and status, or error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Resolves when the last request is answered. */
  stop(): Promise<void>;
}

/**
 * Clients that keep their connections, as programs do: four that read, and one that creates folders, one request after the other
 * each. Nothing is sent twice. `url` may lead past the Ingress: the host is always that of the tenant.
 */
export function startLoad(admin: Api, url: string): Load {
  const outcomes: Record<string, number> = {};
  const agent = new Agent({ keepAlive: true });
  const stopping = new AbortController();
  const client = async (method: 'GET' | 'POST'): Promise<void> => {
    while (!stopping.signal.aborted) {
      const [path, body] = method === 'GET' ? ['users/me', undefined] : ['folders', JSON.stringify({ name: randomUUID() })];
      const outcome = `${method} ${await send({ agent, method, url: `${url}/${path}`, admin, body })}`;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      await sleep(PAUSE_MS);
    }
  };
  const clients = [client('POST'), ...Array.from({ length: READERS }, () => client('GET'))];
  return {
    outcomes,
    stop: async () => {
      stopping.abort();
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

/** The status and whether the reply says when to come again, or what went wrong. */
function send(options: { agent: Agent; method: string; url: string; admin: Api; body: string | undefined }): Promise<string> {
  const { agent, method, url, admin, body } = options;
  const { hostname, port, pathname } = new URL(url);
  const headers = {
    host: new URL(admin.url).host,
    authorization: `Bearer ${admin.token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve) => {
    // `*.localhost` is loopback, and not for Node.
    const host = hostname.endsWith('.localhost') ? '127.0.0.1' : hostname;
    const sent = request({ agent, method, host, port, path: pathname, headers, timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      const suffix = response.headers['retry-after'] === undefined ? '' : ' with Retry-After';
      response.on('end', () => resolve(`${response.statusCode}${suffix}`));
      response.on('error', (error) => resolve(`broken off: ${messageOf(error)}`));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', (error) => resolve(messageOf(error)));
    sent.end(body);
  });
}
