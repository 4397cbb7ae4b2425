import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { HEADERS_TIMEOUT_MS, HEADER_BYTES_MAX, KEEP_ALIVE_MS, SILENCE_TIMEOUT_MS, UNREAD_BYTES } from './size-and-time-limits.ts';
import type { ProblemCode } from '../api/error-catalogue.ts';
import { Problem } from '../api/problem.ts';
import { closeServer } from '../runtime/ops-server.ts';
import type { Random } from '../runtime/random.ts';
import type { App } from './app.ts';
import { errorBody } from './middleware/errors.ts';

/** On shutdown, how long busy connections may take to receive a reply with `Connection: close`. */
const FAREWELL_MS = 250;
const SWEEP_MS = 100;
/** On shutdown, how long a new connection may take to send its first byte. */
const UNUSED_MS = 1_000;

/** Open connections, and when each was taken (ms, monotonic). */
type Connections = ReadonlyMap<Socket, number>;

export interface HttpListener {
  readonly server: Server;
  /**
   * Stops the server within `limitMs`; then closes connections whose requests still run.
   * Every reply from now on says `Connection: close`. Connections are closed only when nothing has arrived on them that was not
   * answered.
   */
  drain(limitMs: number): Promise<void>;
}

/** The HTTP server. What Node refuses before the application sees it gets the one shape too. */
export function createListener(app: App, random: Random): HttpListener {
  const handle = app.callback();
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => void handle(request, response);
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: 0,
      highWaterMark: UNREAD_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Duplicates of a header that must be unique are visible, instead of being dropped silently.
      joinDuplicateHeaders: true,
      requireHostHeader: false, // the application asks for it, so that its absence is an error of the one shape
    },
    onRequest,
  );
  server.setTimeout(SILENCE_TIMEOUT_MS);
  server.on('checkExpectation', onRequest); // an unknown expectation is ignored (RFC 9110 §10.1.1)
  server.on('connect', (_request, socket) => end(socket, new Problem('method_not_allowed'), random));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(error, socket, random));

  const connections = new Map<Socket, number>();
  server.on('connection', (socket) => {
    connections.set(socket, performance.now());
    socket.once('close', () => connections.delete(socket));
  });
  return { server, drain: (limitMs) => drain(server, connections, limitMs) };
}

const CODES: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

function refuse(error: NodeJS.ErrnoException, socket: Duplex, random: Random): void {
  // Node stores the current reply there. Once it has begun, anything written would end up inside of it.
  const replying = (socket as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent;
  if (error.code === 'ECONNRESET' || !socket.writable || replying) {
    socket.destroy();
    return;
  }
  const code = CODES[error.code ?? ''];
  end(socket, code ? new Problem(code) : new Problem('validation_failed', 'The request is not valid HTTP.'), random);
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** The last words on a connection that no application has. */
function end(socket: Duplex, problem: Problem, random: Random): void {
  const id = random.uuid();
  const body = JSON.stringify(errorBody(problem, id));
  socket.end(
    `HTTP/1.1 ${problem.status} ${REASONS[problem.status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${id}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function drain(server: Server, connections: Connections, limitMs: number): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  const cut = setTimeout(() => server.closeAllConnections(), limitMs);
  if (connections.size > 0) await sleep(FAREWELL_MS);
  await afterReading();
  const sweep = setInterval(() => void afterReading().then(() => closeIdle(server, connections)), SWEEP_MS);
  try {
    await closeServer(server);
  } finally {
    clearTimeout(cut);
    clearInterval(sweep);
  }
}

/** After all received bytes were read: a connection that is idle now has, as far as the server can know, no request in flight. */
const afterReading = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Node takes a connection on which nothing was ever sent for busy; browsers open such in advance. */
function closeIdle(server: Server, connections: Connections): void {
  server.closeIdleConnections();
  const before = performance.now() - UNUSED_MS;
  for (const [socket, taken] of connections) if (socket.bytesRead === 0 && taken < before) socket.destroy();
}
