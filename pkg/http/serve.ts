import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Actor } from '../api/actor.ts';
import {
  type Endpoint,
  EVENT_STREAM,
  problemsOf,
  type Reply,
  type ReplyHeaders,
  type RequestInfo,
  type Traffic,
} from '../api/endpoint.ts';
import { noneMatchHits, parseEntityTags } from '../api/etag.ts';
import { foreignCursor } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import { validate } from '../api/validation.ts';
import type { AccessClaims, Tokens } from '../access/tokens.ts';
import type { Clock } from '../runtime/clock.ts';
import { DataException } from '../store/postgres/errors.ts';
import { type Origin, origins } from '../store/postgres/origin.ts';
import { NO_CACHE } from '../store/redis/tagged-cache.ts';
import type { RequestAdmission, Requester, Wanted } from './admission.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import { replyLingering } from './lingering-close.ts';
import { clientGone, problemOf } from './middleware/errors.ts';
import { requireTenant } from './middleware/tenant.ts';
import { successHeaders } from './openapi/headers.ts';
import { cacheReply, cachedReply, replyEntry } from './reply-cache.ts';
import { type Body, jsonSchemaOf, readBody } from './request/body.ts';
import { parseQuery, queryForms, strict } from './request/validate.ts';
import type { Context, Handler } from './request-state.ts';

export interface ServeDeps {
  readonly admission: RequestAdmission;
  readonly tokens: Tokens;
  readonly idempotency: IdempotencyKeys;
  readonly clock: Clock;
  readonly tenant: { readonly slug: string; readonly id: string; readonly name: string | undefined };
  /** Address of the API, for `Link` headers; no slash at the end. */
  readonly apiUrl: string;
  /** Tests: fail for a reply or problem that the endpoint does not declare. */
  readonly exact: boolean;
}

const EMPTY = z.object({});

/**
 * An endpoint as Koa middleware: the steps of a request, in order. `readable`: a GET below its path shows what it creates, by its
 * id.
 */
export function serve(endpoint: Endpoint, deps: ServeDeps, readable: boolean): Handler {
  const bodySchema = jsonSchemaOf(endpoint);
  const shapes = {
    params: strict(endpoint.params ?? EMPTY),
    query: strict(endpoint.query ?? EMPTY),
    body: bodySchema && strict(bodySchema),
  };
  const forms = queryForms(endpoint.query ?? EMPTY);
  return declared(endpoint, deps, async (ctx) => {
    ctx.state.route = endpoint.path;
    const { claims, refusal } = endpoint.caller === 'anyone' ? {} : await identify(ctx, deps.tokens);
    const parsed = shapes.params.safeParse(ctx.params);
    const wanted = claims && wantedOf(endpoint, claims, ctx.url, parsed);
    const admission = await deps.admission.admit(ctx, claims ?? byItself(endpoint, parsed), wanted);
    if (refusal) throw refusal;
    const actor = await admission.authenticate();
    requireTenant(ctx.req, deps.tenant);
    requireCaller(endpoint, actor);
    if (actor) ctx.state.userUuid = actor.userUuid;

    const params = parsed.success ? parsed.data : validate(shapes.params, ctx.params as unknown);
    const query = validate(shapes.query, parseQuery(ctx.search, forms));
    const cached = wanted?.cache === 'reply' ? cachedReply(admission.found) : undefined;
    if (cached) return send(ctx, deps, unlessKnown(ctx, cached));
    const request = new HandlerRequest(ctx);
    const sent = await readBody(ctx.req, endpoint, actor?.userUuid ?? ctx.state.address);
    const body = sent.kind === 'json' && shapes.body ? validate(shapes.body, sent.value) : undefined;

    const record = wanted?.cache === 'record' ? admission.found : NO_CACHE;
    const handle = (): Promise<Reply> =>
      handled(endpoint, deps, { actor, params, query, body, record, request }).catch(blameCursor(query));
    const reply = await once(endpoint, deps, ctx, actor, sent, handle);
    if (wanted?.cache === 'reply') await cacheReply(admission.found, reply, deps.clock.now());
    if (readable && reply.status === 201)
      ctx.set('Location', `${new URL(deps.apiUrl).origin}${ctx.path}/${(reply.body as { id: string }).id}`);
    return send(ctx, deps, unlessKnown(ctx, reply));
  });
}

/** Parameters of the path; what is wrong with them is reported only after the request was admitted. */
type Parsed = z.ZodSafeParseResult<unknown>;

/** The reply, or the record that the handler reads. */
function wantedOf(endpoint: Endpoint, claims: AccessClaims, url: string, params: Parsed): Wanted | undefined {
  const reply = replyEntry(endpoint, claims, url);
  if (reply) return { cache: 'reply', entry: reply };
  return endpoint.record && params.success ? { cache: 'record', entry: endpoint.record(params.data) } : undefined;
}

/** The requester without a token, as far as the request itself proves it. */
function byItself(endpoint: Endpoint, params: Parsed): Requester {
  const { counts = 'api' } = endpoint;
  if (typeof counts === 'string') return counts;
  const userUuid = params.success ? counts(params.data) : undefined;
  return userUuid === undefined ? 'api' : { linkOf: userUuid };
}

/** An invalid token is reported only after the request was counted. */
async function identify(ctx: Context, tokens: Tokens): Promise<{ claims?: AccessClaims; refusal?: Problem }> {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(ctx.get('authorization')) ?? [];
  if (token === undefined)
    return { refusal: new Problem('unauthenticated', 'Send an access token: Authorization: Bearer <token>.') };
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

/**
 * The request as handlers see it; what few of them ask for is made when it is asked for. Throws Problem `validation_failed` for a
 * malformed If-Match.
 */
class HandlerRequest implements RequestInfo {
  readonly #ctx: Context;
  #headers: RequestInfo['headers'] | undefined;
  #signal: AbortSignal | undefined;
  readonly ifMatch: RequestInfo['ifMatch'];

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.ifMatch = parseEntityTags('If-Match', ctx.req.headers['if-match']);
  }

  get requestId(): string {
    return this.#ctx.state.requestId;
  }
  get method(): string {
    return this.#ctx.method;
  }
  get url(): string {
    return this.#ctx.url;
  }
  get ip(): string {
    return this.#ctx.state.address;
  }
  get network(): string {
    return this.#ctx.state.network;
  }
  get headers(): RequestInfo['headers'] {
    return (this.#headers ??= headersOf(this.#ctx));
  }
  get signal(): AbortSignal {
    return (this.#signal ??= signalOf(this.#ctx));
  }
  get stream(): Readable {
    return this.#ctx.req;
  }
  get traffic(): Traffic {
    return trafficOf(this.#ctx);
  }
}

const headersOf = ({ req }: Context): RequestInfo['headers'] =>
  Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]));

function signalOf({ res }: Context): AbortSignal {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!res.writableFinished) gone.abort(clientGone());
  };
  // 'close' is not emitted again for a listener that comes after it.
  if (res.closed) onClose();
  else res.once('close', onClose);
  return gone.signal;
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

/** The steps of a request; with `exact`, a problem that the endpoint does not declare is an error. */
function declared(endpoint: Endpoint, deps: ServeDeps, way: (ctx: Context) => Promise<void>): Handler {
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

/** Whether a request may change something that the audit log has: of reads only a download by a share link does. */
const changes = ({ method, caller }: Endpoint): boolean => method !== 'get' || caller === 'anyone';

const originOf = ({ actor, request: { ip, requestId } }: Parameters<Endpoint['handle']>[0]): Origin => ({
  userId: actor?.userId ?? null,
  ip,
  requestId,
});

/** The handler's reply; with `exact`, a reply that the endpoint does not declare is an error. */
async function handled(endpoint: Endpoint, deps: ServeDeps, request: Parameters<Endpoint['handle']>[0]): Promise<Reply> {
  const reply = await (changes(endpoint)
    ? origins.run(originOf(request), () => endpoint.handle(request))
    : endpoint.handle(request));
  if (deps.exact) requireDeclared(endpoint, reply);
  return reply;
}

/** The server makes the values of a cursor: when the database cannot read one, the client changed it. */
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
        : !(endpoint.followed && isStreamOf(EVENT_STREAM, reply)) &&
          !endpoint.exported?.some((type) => isStreamOf(type, reply)) &&
          !isShape(shape, reply.body)
  )
    throw new TypeError(`${endpoint.path}: the body of its ${reply.status} is not what it declares`);
  const headers = new Set<string>(
    [...successHeaders(endpoint, reply.status, false), ...OF_CONTENT].map((name) => name.toLowerCase()),
  );
  const other = Object.keys(reply.headers ?? {}).find((name) => !headers.has(name.toLowerCase()));
  if (other !== undefined) throw new TypeError(`${endpoint.path} does not declare the header ${other}`);
}

/** Headers that the OpenAPI document states by the media type of a reply. */
const OF_CONTENT = ['Content-Type', 'Content-Length'];

const isStreamOf = (type: string, { body, headers }: Reply): boolean =>
  body instanceof Readable && headers?.['content-type'] === type;
const isBytes = (body: unknown): boolean => body instanceof Readable || Buffer.isBuffer(body) || typeof body === 'string';
const isShape = (shape: z.ZodType, body: unknown): boolean => strict(shape).safeParse(JSON.parse(JSON.stringify(body))).success;

/** Runs the handler, or gives the stored reply of the same Idempotency-Key. */
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
  const body = sent.kind === 'json' ? sent.bytes : undefined;
  const headers = (endpoint.takes ?? []).map(({ name }) => `${name}: ${ctx.get(name)}\n`).join('');
  const request = { method: ctx.method, url: ctx.url, headers, body, launchId: actor.launchId };
  const isSecret = endpoint.idempotent === 'sealed';
  return deps.idempotency.run({ key: String(key), actor, request, isSecret }, ctx.state.log(), handle);
}

/** 304 in place of a resource whose entity tag If-None-Match names (RFC 9110 §13.1.2). Throws Problem `validation_failed`. */
function unlessKnown(ctx: Context, reply: Reply): Reply {
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

function send(ctx: Context, deps: ServeDeps, reply: Reply): void {
  ctx.status = reply.status;
  setHeaders(ctx, reply.headers);
  const next = nextCursor(reply.body);
  if (next !== undefined) ctx.set('Link', `<${nextUrl(ctx, deps.apiUrl, next)}>; rel="next"`);
  if (reply.body === undefined) {
    // Koa sets 204 for an empty body and removes the content headers; the endpoint's reply decides.
    ctx.body = null;
    ctx.status = reply.status;
    setHeaders(ctx, reply.headers);
  } else if (isBytes(reply.body)) ctx.body = reply.body;
  else {
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
    const body = JSON.stringify(reply.body);
    // A text leaves together with the headers, in one write. An upload that is sent again gets the reply of the first, and its
    // bytes are not read.
    if (isRead(ctx)) ctx.body = body;
    else replyLingering(ctx, Buffer.from(body));
  }
  if (!isRead(ctx)) ctx.set('Connection', 'close');
}

function setHeaders(ctx: Context, headers: ReplyHeaders = {}): void {
  for (const name in headers) ctx.res.setHeader(name, headers[name] as string | readonly string[]);
}

/** The body of a GET has no meaning (RFC 9110 §9.3.1). */
const isRead = (ctx: Context): boolean => ctx.req.complete || ctx.method === 'GET' || ctx.method === 'HEAD';

const nextCursor = (body: unknown): string | undefined =>
  (body as { pagination?: { next_cursor?: string | null } } | null | undefined)?.pagination?.next_cursor ?? undefined;

/** The same list with another cursor (RFC 8288). */
function nextUrl(ctx: Context, apiUrl: string, cursor: string): string {
  const here = new URL(ctx.url, apiUrl);
  here.searchParams.set('cursor', cursor);
  return `${new URL(apiUrl).origin}${here.pathname}${here.search}`;
}
