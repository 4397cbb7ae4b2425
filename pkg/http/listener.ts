import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HEADERS_TIMEOUT_MS, HEADER_BYTES_MAX, KEEP_ALIVE_MS, SILENCE_TIMEOUT_MS, UNREAD_BYTES } from './size-and-time-limits.ts';
import type { ProblemCode } from '../api/error-catalogue.ts';
import { Problem } from '../api/problem.ts';
import { afterAwake } from '../runtime/awake.ts';
import { closeServer } from '../runtime/ops-server.ts';
import type { Random } from '../runtime/random.ts';
import type { App } from './app.ts';
import { errorBody } from './middleware/errors.ts';

/**
 * On shutdown, the time for busy connections to receive a reply with `Connection: close`. A time in which the process stands
 * still hardly counts: clients have learned nothing, and their next requests may be on their way.
 */
const FAREWELL_MS = 250;
const SWEEP_MS = 100;
/** On shutdown, the time for a new connection to send its first byte. */
const UNUSED_MS = 1_000;

/** Open connections, and the time when each was accepted (ms, monotonic). */
type Connections = ReadonlyMap<Socket, number>;

interface HttpListener {
  readonly server: Server;
  /**
   * Stops the server within `limitMs`; then closes connections whose requests still run.
   * Every reply from now on has `Connection: close`. A connection is closed only if everything that arrived on it was answered.
   */
  drain(limitMs: number): Promise<void>;
}

/** Creates the HTTP server. Requests that Node refuses before the application sees them get the same error shape. */
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
      // Duplicates of a header that must be unique stay visible, instead of being dropped silently.
      joinDuplicateHeaders: true,
      requireHostHeader: false, // the application requires it, so that its absence has the same error shape
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
  // Node stores the current reply there. Once it has begun, anything written would end up inside it.
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

/** Writes the last reply on a connection that the application does not handle. */
function end(socket: Duplex, problem: Problem, random: Random): void {
  const id = random.uuid();
  const body = JSON.stringify(errorBody(problem, id));
  socket.end(
    `HTTP/1.1 ${problem.status} ${REASONS[problem.status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function drain(server: Server, connections: Connections, limitMs: number): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  const cut = setTimeout(() => server.closeAllConnections(), limitMs);
  if (connections.size > 0) await new Promise<void>((resolve) => void afterAwake(FAREWELL_MS, resolve));
  await afterReading();
  const sweep = setInterval(() => void afterReading().then(() => closeIdle(server, connections)), SWEEP_MS);
  try {
    await closeServer(server);
  } finally {
    clearTimeout(cut);
    clearInterval(sweep);
  }
}

/**
 * Resolves after all received bytes were read. As far as the server can know, a connection that is idle then has no request in
 * flight.
 */
const afterReading = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Node regards a connection on which nothing was ever sent as busy; browsers open such connections in advance. */
function closeIdle(server: Server, connections: Connections): void {
  server.closeIdleConnections();
  const before = performance.now() - UNUSED_MS;
  for (const [socket, taken] of connections) if (socket.bytesRead === 0 && taken < before) socket.destroy();
}
