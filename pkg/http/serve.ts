import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Actor } from '../api/actor.ts';
import { type Endpoint, problemsOf, type Reply, type ReplyHeaders, type RequestInfo, type Traffic } from '../api/endpoint.ts';
import { parseEntityTags } from '../api/etag.ts';
import { foreignCursor } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import { validate } from '../api/validation.ts';
import type { AccessClaims, Tokens } from '../identity/tokens.ts';
import type { Clock } from '../runtime/clock.ts';
import { DataException } from '../store/postgres/errors.ts';
import type { CacheEntry } from '../store/redis/generation.ts';
import { type Asker, type Door, type Entrance, limitHeaders } from './door.ts';
import { fingerprintOf, type IdempotencyKeys } from './idempotency.ts';
import { replyLingering } from './lingering.ts';
import { clientGone, problemOf } from './middleware/errors.ts';
import { requireTenant } from './middleware/tenant.ts';
import { successHeaders } from './openapi/headers.ts';
import { keepReply, keptReply, replyEntry } from './reply-cache.ts';
import { type Body, jsonSchemaOf, readBody } from './request/body.ts';
import { parseQuery, strict } from './request/validate.ts';
import type { Context, Middleware } from './state.ts';

export interface ServeDeps {
  readonly door: Door;
  readonly tokens: Tokens;
  readonly idempotency: IdempotencyKeys;
  readonly clock: Clock;
  readonly tenant: { readonly slug: string; readonly id: string };
  /** Address of the API, for `Link` headers; no slash at the end. */
  readonly apiUrl: string;
  /** Tests: a reply or problem that the endpoint does not declare is a mistake of ours. */
  readonly exact: boolean;
}

const EMPTY = z.object({});

/** An endpoint as Koa serves it. The whole way of a request, in its order. `readable`: what it creates is shown below its address by its id. */
export function serve(endpoint: Endpoint, deps: ServeDeps, readable: boolean): Middleware {
  const bodySchema = jsonSchemaOf(endpoint);
  const shapes = {
    params: strict(endpoint.params ?? EMPTY),
    query: strict(endpoint.query ?? EMPTY),
    body: bodySchema && strict(bodySchema),
  };
  return declared(endpoint, deps, async (ctx) => {
    ctx.state.route = endpoint.path;
    const { claims, refusal } = endpoint.caller === 'anyone' ? {} : await identify(ctx, deps.tokens);
    const entry = claims && replyEntry(endpoint, claims, ctx.url);
    const entrance = await enter(ctx, deps.door, claims ?? byItself(endpoint, shapes.params, ctx), entry);
    if (refusal) throw refusal;
    const actor = await entrance.admit();
    requireTenant(ctx.req, deps.tenant);
    requireCaller(endpoint, actor);
    if (actor) ctx.state.userUuid = actor.userUuid;

    const params = validate(shapes.params, ctx.params as unknown);
    const query = validate(shapes.query, parseQuery(ctx.search));
    const kept = entry && keptReply(entrance.reply);
    if (kept) return send(ctx, deps, kept);
    const request = requestInfo(ctx);
    const sent = await readBody(ctx.req, endpoint, actor?.userUuid ?? ctx.state.address);
    const body = sent.kind === 'json' && shapes.body ? validate(shapes.body, sent.value) : undefined;

    const handle = (): Promise<Reply> => handled(endpoint, deps, { actor, params, query, body, request }).catch(blameCursor(query));
    const reply = await once(endpoint, deps, ctx, actor, sent, handle);
    if (entry) await keepReply(entrance.reply, reply, deps.clock.now());
    if (readable && reply.status === 201)
      ctx.set('Location', `${new URL(deps.apiUrl).origin}${ctx.path}/${(reply.body as { id: string }).id}`);
    return send(ctx, deps, reply);
  });
}

/** Counts the request against the limits; every reply tells how they stand. Throws Problem `rate_limit_exceeded`. */
export async function enter(ctx: Context, door: Door, by: Asker, entry?: CacheEntry): Promise<Entrance> {
  const entrance = await door.enter(ctx.state, by, entry);
  ctx.set(limitHeaders(entrance.verdict));
  if (entrance.verdict.allowed) return entrance;
  const seconds = Math.max(1, Math.ceil(entrance.verdict.tightest.waitMs / 1000));
  throw new Problem('rate_limit_exceeded', `Too many requests. Try again in ${seconds} s.`, { retryAfter: seconds });
}

/** Who asks without a token, as far as the request itself proves it. */
function byItself(endpoint: Endpoint, params: z.ZodType, ctx: Context): Asker {
  const { counts = 'api' } = endpoint;
  if (typeof counts === 'string') return counts;
  const sent = params.safeParse(ctx.params);
  const userUuid = sent.success ? counts(sent.data) : undefined;
  return userUuid === undefined ? 'api' : { ticketOf: userUuid };
}

/** A token that does not hold is told only after the request was counted. */
async function identify(ctx: Context, tokens: Tokens): Promise<{ claims?: AccessClaims; refusal?: Problem }> {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(ctx.get('authorization')) ?? [];
  if (token === undefined) return { refusal: new Problem('unauthenticated', 'Send an access token: Authorization: Bearer <token>.') };
  try {
    return { claims: await tokens.verify(token) };
  } catch (error) {
    return { refusal: problemOf(error) };
  }
}

function requireCaller(endpoint: Endpoint, actor: Actor | undefined): void {
  if (typeof endpoint.caller !== 'object') return;
  if (!actor?.permissions.has(endpoint.caller.permission))
    throw new Problem('forbidden', `This needs the permission ${endpoint.caller.permission}.`);
}

function requestInfo(ctx: Context): RequestInfo {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!ctx.res.writableFinished) gone.abort(clientGone());
  };
  // Who left before this heard of them is never heard of again.
  if (ctx.res.closed) onClose();
  else ctx.res.once('close', onClose);
  return {
    requestId: ctx.state.requestId,
    method: ctx.method,
    url: ctx.url,
    ip: ctx.state.address,
    network: ctx.state.network,
    headers: Object.fromEntries(
      Object.entries(ctx.req.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    ),
    ifMatch: parseEntityTags('If-Match', ctx.req.headers['if-match']),
    signal: gone.signal,
    stream: ctx.req,
    traffic: trafficOf(ctx),
  };
}

const trafficOf = ({ req, res }: Context): Traffic => ({
  get received() {
    return req.socket.bytesRead;
  },
  get sent() {
    return req.socket.bytesWritten;
  },
  get awaitsBody() {
    return !req.complete && !req.isPaused();
  },
  get awaitsReader() {
    return res.writableNeedDrain;
  },
});

/** The way of a request; where it is to be exact, with no problem but those that the endpoint declares. */
function declared(endpoint: Endpoint, deps: ServeDeps, way: (ctx: Context) => Promise<void>): Middleware {
  if (!deps.exact) return way;
  const codes = new Set(problemsOf(endpoint));
  return async (ctx) => {
    try {
      await way(ctx);
    } catch (error) {
      if (!codes.has(problemOf(error).code))
        throw new TypeError(`${endpoint.path} does not declare ${problemOf(error).code}`, { cause: error });
      throw error;
    }
  };
}

/** The handler's reply; where it is to be exact, only what the endpoint declares. */
async function handled(endpoint: Endpoint, deps: ServeDeps, request: Parameters<Endpoint['handle']>[0]): Promise<Reply> {
  const reply = await endpoint.handle(request);
  if (deps.exact) requireDeclared(endpoint, reply);
  return reply;
}

/** Values in a cursor come from us; when the database cannot read one, somebody changed it. */
const blameCursor =
  (query: unknown) =>
  (error: unknown): never => {
    const hasCursor = (query as { cursor?: string }).cursor !== undefined;
    throw hasCursor && error instanceof DataException ? foreignCursor() : error;
  };

function requireDeclared(endpoint: Endpoint, reply: Reply): void {
  const shape = endpoint.replies[reply.status];
  if (shape === undefined) throw new TypeError(`${endpoint.path} does not declare status ${reply.status}`);
  if (
    shape === null
      ? reply.body !== undefined
      : 'stream' in shape
        ? !isBytes(reply.body) && reply.body !== undefined
        : !isShape(shape, reply.body)
  )
    throw new TypeError(`${endpoint.path}: the body of its ${reply.status} is not what it declares`);
  const headers = new Set<string>([...successHeaders(endpoint, reply.status, false), ...OF_CONTENT].map((name) => name.toLowerCase()));
  const other = Object.keys(reply.headers ?? {}).find((name) => !headers.has(name.toLowerCase()));
  if (other !== undefined) throw new TypeError(`${endpoint.path} does not declare the header ${other}`);
}

/** What the document says by the media type of a reply. */
const OF_CONTENT = ['Content-Type', 'Content-Length'];

const isBytes = (body: unknown): boolean => body instanceof Readable || Buffer.isBuffer(body) || typeof body === 'string';
const isShape = (shape: z.ZodType, body: unknown): boolean => strict(shape).safeParse(JSON.parse(JSON.stringify(body))).success;

/** Runs the handler, or gives what it gave to the same Idempotency-Key before. */
function once(
  endpoint: Endpoint,
  deps: ServeDeps,
  ctx: Context,
  actor: Actor | undefined,
  sent: Body,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  const key = ctx.req.headers['idempotency-key'];
  if (!endpoint.idempotent || !actor || key === undefined) return handle();
  const fingerprint = fingerprintOf(ctx.method, ctx.url, sent.kind === 'json' ? sent.bytes : undefined, actor.launchId);
  return deps.idempotency.run(String(key), actor, fingerprint, ctx.state.log(), handle);
}

function send(ctx: Context, deps: ServeDeps, reply: Reply): void {
  ctx.status = reply.status;
  setHeaders(ctx, reply.headers);
  const next = nextCursor(reply.body);
  if (next !== undefined) ctx.set('Link', `<${nextUrl(ctx, deps.apiUrl, next)}>; rel="next"`);
  if (reply.body === undefined) ctx.body = null;
  else if (isBytes(reply.body)) ctx.body = reply.body;
  else {
    ctx.type = 'application/json; charset=utf-8';
    const body = Buffer.from(JSON.stringify(reply.body));
    // Whoever sends an upload again is told what became of the first, and its bytes are not read.
    if (isRead(ctx)) ctx.body = body;
    else replyLingering(ctx, body);
  }
  // Koa turns an empty body into 204 and takes the headers of content away; what the endpoint said holds.
  ctx.status = reply.status;
  setHeaders(ctx, reply.headers);
  if (!isRead(ctx)) ctx.set('Connection', 'close');
}

function setHeaders(ctx: Context, headers: ReplyHeaders = {}): void {
  for (const [name, value] of Object.entries(headers)) ctx.set(name, typeof value === 'string' ? value : [...value]);
}

/** A body of GET means nothing (RFC 9110 §9.3.1). */
const isRead = (ctx: Context): boolean => ctx.req.complete || ctx.method === 'GET' || ctx.method === 'HEAD';

const nextCursor = (body: unknown): string | undefined =>
  (body as { pagination?: { next_cursor?: string | null } } | null | undefined)?.pagination?.next_cursor ?? undefined;

/** The same list with another cursor (RFC 8288). */
function nextUrl(ctx: Context, apiUrl: string, cursor: string): string {
  const here = new URL(ctx.url, apiUrl);
  here.searchParams.set('cursor', cursor);
  return `${new URL(apiUrl).origin}${here.pathname}${here.search}`;
}
