import { Readable } from 'node:stream';
import type { Reply } from '../api/endpoint.ts';
import { noneMatchHits, parseEntityTags } from '../api/etag.ts';
import { replyLingering } from './lingering-close.ts';
import type { Context } from './request-state.ts';

/** Returns a 304 if If-None-Match names the resource's entity tag (RFC 9110 §13.1.2). Throws Problem `validation_failed`. */
export function unlessKnown(ctx: Context, reply: Reply): Reply {
  const header = ctx.req.headers['if-none-match'];
  const etag = reply.headers?.['etag'];
  if (
    header === undefined ||
    reply.status !== 200 ||
    typeof etag !== 'string' ||
    !(ctx.method === 'GET' || ctx.method === 'HEAD')
  )
    return reply;
  const isKnown = noneMatchHits(parseEntityTags('If-None-Match', header), etag.slice(1, -1));
  return isKnown ? { status: 304, headers: { etag } } : reply;
}

/** Writes the reply. */
export function send(ctx: Context, apiUrl: string, reply: Reply): void {
  const { status, headers, body } = reply;
  // For an empty body Koa sets 204 and removes the content headers, so the reply's status and headers come after it.
  if (body === undefined) ctx.body = null;
  ctx.status = status;
  for (const name in headers) ctx.res.setHeader(name, headers[name] as string | readonly string[]);
  const next = nextCursor(body);
  if (next !== undefined) ctx.set('Link', `<${nextUrl(ctx, apiUrl, next)}>; rel="next"`);
  if (isBytes(body)) ctx.body = body;
  else if (body !== undefined) sendJson(ctx, JSON.stringify(body));
  if (!isRead(ctx)) ctx.set('Connection', 'close');
}

function sendJson(ctx: Context, body: string): void {
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  // Text is sent together with the headers, in one write. A repeated upload gets the reply of the first, and its bytes are not
  // read.
  if (isRead(ctx)) ctx.body = body;
  else replyLingering(ctx, Buffer.from(body));
}

export const isBytes = (body: unknown): boolean => body instanceof Readable || Buffer.isBuffer(body) || typeof body === 'string';

/** The body of a GET has no meaning (RFC 9110 §9.3.1). */
const isRead = (ctx: Context): boolean => ctx.req.complete || ctx.method === 'GET' || ctx.method === 'HEAD';

const nextCursor = (body: unknown): string | undefined =>
  (body as { pagination?: { next_cursor?: string | null } } | null | undefined)?.pagination?.next_cursor ?? undefined;

/** Returns the address of the same list with another cursor (RFC 8288). */
function nextUrl(ctx: Context, apiUrl: string, cursor: string): string {
  const here = new URL(ctx.url, apiUrl);
  here.searchParams.set('cursor', cursor);
  return `${new URL(apiUrl).origin}${here.pathname}${here.search}`;
}
