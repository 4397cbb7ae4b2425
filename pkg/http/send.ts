import { Readable } from 'node:stream';
import type { Endpoint, Reply } from '../api/endpoint.ts';
import { etagOfText, noneMatchHits, parseEntityTags } from '../api/etag.ts';
import { jsonOf } from '../api/json-text.ts';
import { gzipOf, isWorthGzip, takesGzip } from './gzip.ts';
import { replyLingering } from './lingering-close.ts';
import type { Context } from './request-state.ts';

/** A reply whose body may be there as JSON already, and is to be sent by gzip. */
interface Rendered extends Reply {
  readonly json?: string;
  readonly isGzip?: boolean;
}

/**
 * Writes the reply, or a 304 if If-None-Match names its entity tag (RFC 9110 §13.1.2). The tag of a page of a list is a hash of
 * its JSON. Throws Problem `validation_failed`.
 */
export async function send(ctx: Context, endpoint: Endpoint, apiUrl: string, reply: Reply): Promise<void> {
  const { status, headers, body, json, isGzip } = unlessKnown(ctx, withTagOfList(ctx, endpoint, reply));
  const gzip = json !== undefined && isGzip ? await gzipOf(json) : undefined;
  // For an empty body Koa sets 204 and removes the content headers, so the reply's status and headers come after it.
  if (body === undefined) ctx.body = null;
  ctx.status = status;
  for (const name in headers) ctx.res.setHeader(name, headers[name] as string | readonly string[]);
  // On a 304 too: without it, the last page would look the same as any other.
  const next = nextCursor(reply.body);
  if (next !== undefined) ctx.set('Link', `<${nextUrl(ctx, apiUrl, next)}>; rel="next"`);
  if (isBytes(body)) ctx.body = body;
  else if (gzip) sendGzip(ctx, gzip);
  else if (body !== undefined) sendJson(ctx, json ?? jsonOf(body));
  if (!isRead(ctx)) ctx.set('Connection', 'close');
}

/**
 * The rows of a list have no common revision, so its tag is made of what the client would receive. Compressed bytes are not the
 * same bytes, so their tag is weak (RFC 9110 §8.8.3.3). For If-None-Match the two are one.
 */
function withTagOfList(ctx: Context, { compressed = false }: Endpoint, reply: Reply): Rendered {
  if (reply.status !== 200 || !isGet(ctx) || paginationOf(reply.body) === undefined) return reply;
  const json = jsonOf(reply.body);
  const mayBeGzip = compressed && isWorthGzip(json);
  const isGzip = mayBeGzip && takesGzip(ctx);
  const etag = `${isGzip ? 'W/' : ''}"${etagOfText(json)}"`;
  return { ...reply, json, isGzip, headers: { ...reply.headers, etag, ...(mayBeGzip ? VARY : {}) } };
}

const VARY = { vary: 'Accept-Encoding' };

function unlessKnown(ctx: Context, reply: Rendered): Rendered {
  const header = ctx.req.headers['if-none-match'];
  const { etag, vary } = reply.headers ?? {};
  if (header === undefined || reply.status !== 200 || typeof etag !== 'string' || !isGet(ctx)) return reply;
  const isKnown = noneMatchHits(parseEntityTags('If-None-Match', header), etag.replace(/^W\//, '').slice(1, -1));
  return isKnown ? { status: 304, headers: { etag, ...(vary === undefined ? {} : { vary }) } } : reply;
}

function sendGzip(ctx: Context, bytes: Buffer): void {
  ctx.res.setHeader('Content-Type', JSON_TYPE);
  ctx.res.setHeader('Content-Encoding', 'gzip');
  ctx.body = bytes;
}

const JSON_TYPE = 'application/json; charset=utf-8';

function sendJson(ctx: Context, body: string): void {
  ctx.res.setHeader('Content-Type', JSON_TYPE);
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
