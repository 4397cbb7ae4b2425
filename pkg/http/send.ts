import { Readable } from 'node:stream';
import type { Reply } from '../api/endpoint.ts';
import { etagOfText, noneMatchHits, parseEntityTags } from '../api/etag.ts';
import { replyLingering } from './lingering-close.ts';
import type { Context } from './request-state.ts';

/** A reply whose body may be there as JSON already. */
interface Rendered extends Reply {
  readonly json?: string;
}

/**
 * Writes the reply, or a 304 if If-None-Match names its entity tag (RFC 9110 §13.1.2). The tag of a page of a list is a hash of
 * the bytes that are sent. Throws Problem `validation_failed`.
 */
export function send(ctx: Context, apiUrl: string, reply: Reply): void {
  const { status, headers, body, json } = unlessKnown(ctx, withTagOfList(ctx, reply));
  // For an empty body Koa sets 204 and removes the content headers, so the reply's status and headers come after it.
  if (body === undefined) ctx.body = null;
  ctx.status = status;
  for (const name in headers) ctx.res.setHeader(name, headers[name] as string | readonly string[]);
  // On a 304 too: without it, the last page would look the same as any other.
  const next = nextCursor(reply.body);
  if (next !== undefined) ctx.set('Link', `<${nextUrl(ctx, apiUrl, next)}>; rel="next"`);
  if (isBytes(body)) ctx.body = body;
  else if (body !== undefined) sendJson(ctx, json ?? JSON.stringify(body));
  if (!isRead(ctx)) ctx.set('Connection', 'close');
}

/** The rows of a list have no common revision, so its tag is made of what the client would receive. */
function withTagOfList(ctx: Context, reply: Reply): Rendered {
  if (reply.status !== 200 || !isGet(ctx) || paginationOf(reply.body) === undefined) return reply;
  const json = JSON.stringify(reply.body);
  return { ...reply, json, headers: { ...reply.headers, etag: `"${etagOfText(json)}"` } };
}

function unlessKnown(ctx: Context, reply: Rendered): Rendered {
  const header = ctx.req.headers['if-none-match'];
  const etag = reply.headers?.['etag'];
  if (header === undefined || reply.status !== 200 || typeof etag !== 'string' || !isGet(ctx)) return reply;
  const isKnown = noneMatchHits(parseEntityTags('If-None-Match', header), etag.slice(1, -1));
  return isKnown ? { status: 304, headers: { etag } } : reply;
}

function sendJson(ctx: Context, body: string): void {
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  // Text is sent together with the headers, in one write. A repeated upload gets the reply of the first, and its bytes are not
  // read.
  if (isRead(ctx)) ctx.body = body;
  else replyLingering(ctx, Buffer.from(body));
}

export const isBytes = (body: unknown): boolean => body instanceof Readable || Buffer.isBuffer(body) || typeof body === 'string';

const isGet = ({ method }: Context): boolean => method === 'GET' || method === 'HEAD';

/** The body of a GET has no meaning (RFC 9110 §9.3.1). */
const isRead = (ctx: Context): boolean => ctx.req.complete || isGet(ctx);

interface Pagination {
  readonly next_cursor?: string | null;
}

/** Returns undefined if the body is no page of a list. */
const paginationOf = (body: unknown): Pagination | undefined =>
  (body as { pagination?: Pagination } | null | undefined)?.pagination;

const nextCursor = (body: unknown): string | undefined => paginationOf(body)?.next_cursor ?? undefined;

/** Returns the address of the same list with another cursor (RFC 8288). */
function nextUrl(ctx: Context, apiUrl: string, cursor: string): string {
  const here = new URL(ctx.url, apiUrl);
  here.searchParams.set('cursor', cursor);
  return `${new URL(apiUrl).origin}${here.pathname}${here.search}`;
}
