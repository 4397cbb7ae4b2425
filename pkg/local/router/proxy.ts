import { Agent, request as upstreamRequest, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { codeOf } from '../../runtime/command-error.ts';
import type { Upstream } from './routes.ts';

/** RFC 9110 §7.6.1, and headers that only the first proxy may set. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-real-ip',
]);
const CONNECT_TIMEOUT_MS = 3_000;
/** Below the 65 s or so for which servers keep idle connections, so that this end closes first. */
const IDLE_MS = 4_000;

export type Outcome = 'answered' | 'unreachable';

/**
 * Forwards requests to pods, streaming both ways.
 *
 * Invariants:
 * - Nothing is held back: every received byte is sent on; a slow reader slows the writer down.
 * - A request reaches a pod at most once, unless it is safe (GET, HEAD, OPTIONS) and the pod closed its kept connection.
 * - A client's statements about its own address are dropped.
 */
export class Proxy {
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 256 });

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Returns `unreachable` if nothing was sent, so another pod may be tried. Otherwise the request was dealt with, well or badly.
   */
  async forward(
    request: IncomingMessage,
    response: ServerResponse,
    upstream: Upstream,
    withoutHeaders: readonly string[] = [],
  ): Promise<Outcome> {
    const headers = forwardedHeaders(request, withoutHeaders);
    const outcome = await this.#try(request, response, { ...upstream, headers }, this.#agent);
    if (outcome !== 'stale') return outcome;
    const again = await this.#try(request, response, { ...upstream, headers }, false);
    return again === 'stale' ? 'unreachable' : again;
  }

  #try(
    request: IncomingMessage,
    response: ServerResponse,
    target: Upstream & { headers: string[] },
    agent: Agent | false,
  ): Promise<Outcome | 'stale'> {
    return new Promise((resolve) => {
      const outgoing = upstreamRequest({
        ...target,
        agent,
        method: request.method,
        path: request.url,
        setHost: false,
      });
      const onClientGone = (): void => {
        if (!response.writableFinished) outgoing.destroy();
      };
      let sending = false;
      const connected = (): void => {
        sending = true;
        if (hasBody(request)) request.pipe(outgoing);
        else outgoing.end();
      };
      whenConnected(outgoing, connected);
      response.once('close', onClientGone);
      outgoing.once('continue', () => response.writeContinue());
      outgoing.once('response', (incoming) => {
        passBack(request, response, incoming);
        resolve('answered');
      });
      outgoing.once('error', (error) => {
        response.off('close', onClientGone);
        request.unpipe(outgoing);
        const isSafe = ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '');
        if (response.destroyed || response.headersSent) resolve('answered');
        else if (!sending) resolve('unreachable');
        else if (isSafe && outgoing.reusedSocket && codeOf(error) === 'ECONNRESET') resolve('stale');
        else {
          response
            .writeHead(502, { 'content-type': 'text/plain', connection: 'close' })
            .end('The server broke off before it answered.\n');
          resolve('answered');
        }
      });
    });
  }
}

/** Sends the body only once there is a connection: until then the request can go to another pod. */
function whenConnected(outgoing: ClientRequest, connected: () => void): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) {
      connected();
      return;
    }
    const timer = setTimeout(() => outgoing.destroy(new Error('no connection in time')), CONNECT_TIMEOUT_MS);
    socket.once('connect', () => {
      clearTimeout(timer);
      connected();
    });
    socket.once('close', () => clearTimeout(timer));
  });
}

/** A message without either header has no body (RFC 9112 §6.3). */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

function forwardedHeaders(request: IncomingMessage, without: readonly string[]): string[] {
  const headers = endToEnd(request.rawHeaders, request.headers.connection, without);
  const length = request.headers['transfer-encoding'] === undefined ? [] : ['transfer-encoding', 'chunked'];
  const address = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return [
    ...headers,
    ...length,
    'x-forwarded-for',
    address,
    'x-forwarded-proto',
    'http',
    'x-forwarded-host',
    request.headers.host ?? '',
  ];
}

/** Returns header pairs without those that belong to one connection, and without the given ones (in lower case). */
function endToEnd(raw: readonly string[], connection: string | undefined, without: readonly string[] = []): string[] {
  const named = new Set([...(connection ?? '').split(',').map((name) => name.trim().toLowerCase()), ...without]);
  const headers: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    const value = raw[index + 1] as string;
    const lower = name.toLowerCase();
    if (!NOT_FORWARDED.has(lower) && !named.has(lower)) headers.push(name, value);
  }
  return headers;
}

function passBack(request: IncomingMessage, response: ServerResponse, incoming: IncomingMessage): void {
  const headers = endToEnd(incoming.rawHeaders, incoming.headers.connection);
  // Answered before the request was read to its end (413 and the like): the rest is not read, so the connection cannot be reused.
  if (!request.complete) headers.push('connection', 'close');
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
  // Written together with the received part of the body, which the stream delivers in the next tick.
  response.cork();
  response.flushHeaders();
  incoming.pipe(response);
  process.nextTick(() => response.uncork());
  incoming.once('error', () => response.destroy());
  incoming.once('aborted', () => response.destroy()); // Half an answer must not look complete.
}
