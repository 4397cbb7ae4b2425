import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Random } from '../runtime/random.ts';
import { escapeHtml } from './page.ts';
import { Problem } from './problem.ts';

/** Set on a tenant's Service while the tenant is suspended; the server that routes by it then answers instead. */
export const SUSPENDED_ANNOTATION = 'carrel.dev/suspended';

const RETRY_AFTER_SECONDS = 60;

/**
 * Answers a request for a suspended tenant, which has no pod to answer it: 503 `suspended` with `Retry-After`. It is in the API's
 * error shape below `/api/` and if JSON is preferred, otherwise a page. Any site may show the page in a frame, as an LMS does
 * with links in its courses.
 */
export function answerSuspended(request: IncomingMessage, response: ServerResponse, random: Random): void {
  const problem = new Problem('suspended');
  const requestId = random.uuid();
  const isApi = (request.url ?? '').startsWith('/api/') || prefersJson(request.headers.accept);
  if (!request.complete) response.setHeader('Connection', 'close'); // its body is not read
  response
    .writeHead(problem.status, {
      'Content-Type': isApi ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
      'Retry-After': String(RETRY_AFTER_SECONDS),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': requestId,
      ...(isApi
        ? {}
        : { 'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors *" }),
    })
    .end(
      isApi ? JSON.stringify({ error: problem.code, message: problem.message, request_id: requestId }) : page(problem, requestId),
    );
}

const prefersJson = (accept: string | undefined): boolean => {
  const types = accept ?? '';
  return types.includes('application/json') && !types.includes('text/html');
};

const page = ({ code }: Problem, requestId: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Out of service</title>
<body>
<h1>Out of service</h1>
<p>This service is suspended. All files are kept. Please try again later, or ask the people who run it.</p>
<p>Code: <code>${escapeHtml(code)}</code><br>Request: ${escapeHtml(requestId)}</p>
</body>
</html>
`;
