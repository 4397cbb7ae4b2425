import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Problem, type ProblemCode } from '../api/problem.ts';
import type { Random } from '../runtime/random.ts';
import type { App } from './app.ts';
import { errorBody } from './middleware/errors.ts';

const HEADERS_TIMEOUT_MS = 20_000;
/** A connection on which nothing moves, in or out, is given up: uploads and downloads may take as long as they move. */
const SILENCE_TIMEOUT_MS = 120_000;
/** Longer than a proxy keeps its own, so that it is the proxy who closes. */
const KEEP_ALIVE_MS = 75_000;
const HEADER_BYTES_MAX = 16 * 1024;

/** The HTTP server. What Node refuses before the application sees it gets the one shape too. */
export function createHttpServer(app: App, random: Random): Server {
  const handle = app.callback();
  const server = createServer(
    { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => void handle(request, response),
  );
  server.setTimeout(SILENCE_TIMEOUT_MS);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, random));
  return server;
}

const CODES: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
const REASONS: Readonly<Record<number, string>> = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' };

function refuse(error: NodeJS.ErrnoException, socket: Socket, random: Random): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = CODES[error.code ?? ''] ?? 'validation_failed';
  const problem = code === 'validation_failed' ? new Problem(code, 'This is not an HTTP request.') : new Problem(code);
  const id = random.uuid();
  const body = JSON.stringify(errorBody(problem, id));
  socket.end(
    `HTTP/1.1 ${problem.status} ${REASONS[problem.status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${id}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
