import { z } from 'zod';
import type { Actor } from '../api/actor.ts';
import type { Endpoint, HandlerInput, Reply } from '../api/endpoint.ts';
import { foreignCursor } from '../api/paging.ts';
import { validate } from '../api/validation.ts';
import type { AccessClaims, Tokens } from '../access/tokens.ts';
import type { Clock } from '../runtime/clock.ts';
import { DataException } from '../store/postgres/errors.ts';
import { type Origin, origins } from '../store/postgres/origin.ts';
import { NO_CACHE } from '../store/redis/tagged-cache.ts';
import type { RequestAdmission, Wanted } from './admission.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import { requireTenant } from './middleware/tenant.ts';
import { cacheReply, cachedReply, replyEntry } from './reply-cache.ts';
import { type Body, jsonSchemaOf, readBody } from './request/body.ts';
import { HandlerRequest } from './request/handler-request.ts';
import { parseQuery, queryForms, strict } from './request/validate.ts';
import type { Context, Handler } from './request-state.ts';
import { identify, requesterWithoutToken, requireCaller } from './requester.ts';
import { send } from './send.ts';
import { declaredProblems, requireDeclaredReply } from './serve-checks.ts';

export interface ServeDeps {
  readonly admission: RequestAdmission;
  readonly tokens: Tokens;
  readonly idempotency: IdempotencyKeys;
  readonly clock: Clock;
  readonly tenant: { readonly slug: string; readonly id: string; readonly name: string | undefined };
  /** Address of the API, for `Link` headers, without a trailing slash. */
  readonly apiUrl: string;
  /** For tests: fail on a reply or problem that the endpoint does not declare. */
  readonly exact: boolean;
}

const EMPTY = z.object({});

/**
 * Serves an endpoint as Koa middleware: the steps of a request, in order. `readable`: a GET below its path shows a created
 * resource by its id.
 */
export function serve(endpoint: Endpoint, deps: ServeDeps, readable: boolean): Handler {
  const bodySchema = jsonSchemaOf(endpoint);
  const shapes = {
    params: strict(endpoint.params ?? EMPTY),
    query: strict(endpoint.query ?? EMPTY),
    body: bodySchema && strict(bodySchema),
  };
  const forms = queryForms(endpoint.query ?? EMPTY);
  const handler: Handler = async (ctx) => {
    ctx.state.route = endpoint.path;
    const { claims, refusal } = endpoint.caller === 'anyone' ? {} : await identify(ctx, deps.tokens);
    const parsed = shapes.params.safeParse(ctx.params);
    const wanted = claims && wantedOf(endpoint, claims, ctx.url, parsed);
    const admission = await deps.admission.admit(ctx, claims ?? requesterWithoutToken(endpoint, parsed), wanted);
    if (refusal) throw refusal;
    const actor = await admission.authenticate();
    requireTenant(ctx.req, deps.tenant);
    requireCaller(endpoint, actor);
    if (actor) ctx.state.userUuid = actor.userUuid;

    const params = parsed.success ? parsed.data : validate(shapes.params, ctx.params as unknown);
    const query = validate(shapes.query, parseQuery(ctx.search, forms));
    const cached = wanted?.cache === 'reply' ? cachedReply(admission.found) : undefined;
    if (cached) return send(ctx, endpoint, deps.apiUrl, cached);
    const request = new HandlerRequest(ctx);
    const sent = await readBody(ctx.req, endpoint, actor?.userUuid ?? ctx.state.address);
    const body = sent.kind === 'json' && shapes.body ? validate(shapes.body, sent.value) : undefined;

    const record = wanted?.cache === 'record' ? admission.found : NO_CACHE;
    const handle = (): Promise<Reply> =>
      handled(endpoint, deps, { actor, params, query, body, record, request }).catch(blameCursor(query));
    const reply = await idempotently(endpoint, deps.idempotency, { ctx, actor, sent }, handle);
    if (wanted?.cache === 'reply') await cacheReply(admission.found, reply, deps.clock.now());
    if (readable && reply.status === 201)
      ctx.set('Location', `${new URL(deps.apiUrl).origin}${ctx.path}/${(reply.body as { id: string }).id}`);
    return send(ctx, endpoint, deps.apiUrl, reply);
  };
  return deps.exact ? declaredProblems(endpoint, handler) : handler;
}

/** Parameters of the path; faults in them are reported only after the request was admitted. */
type Parsed = z.ZodSafeParseResult<unknown>;

/** Returns the cache entry of the reply, or of the record that the handler reads. */
function wantedOf(endpoint: Endpoint, claims: AccessClaims, url: string, params: Parsed): Wanted | undefined {
  const reply = replyEntry(endpoint, claims, url);
  if (reply) return { cache: 'reply', entry: reply };
  return endpoint.record && params.success ? { cache: 'record', entry: endpoint.record(params.data) } : undefined;
}

/** Returns true if a request may change something in the audit log; of reads, only a download by a share link does. */
const changes = ({ method, caller }: Endpoint): boolean => method !== 'get' || caller === 'anyone';

const originOf = ({ actor, request: { ip, requestId } }: HandlerInput): Origin => ({
  userId: actor?.userId ?? null,
  ip,
  requestId,
});

/** Returns the handler's reply; with `exact`, an undeclared reply is an error. */
async function handled(endpoint: Endpoint, deps: ServeDeps, request: HandlerInput): Promise<Reply> {
  const reply = await (changes(endpoint)
    ? origins.run(originOf(request), () => endpoint.handle(request))
    : endpoint.handle(request));
  if (deps.exact) requireDeclaredReply(endpoint, reply);
  return reply;
}

/** The server makes the values of a cursor: if the database cannot read one, the client changed it. */
const blameCursor =
  (query: unknown) =>
  (error: unknown): never => {
    const hasCursor = (query as { cursor?: string }).cursor !== undefined;
    throw hasCursor && error instanceof DataException ? foreignCursor() : error;
  };

interface Received {
  readonly ctx: Context;
  readonly actor: Actor | undefined;
  readonly sent: Body;
}

/** Runs the handler, or returns the stored reply of the same Idempotency-Key. */
function idempotently(
  endpoint: Endpoint,
  keys: IdempotencyKeys,
  { ctx, actor, sent }: Received,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  const key = ctx.req.headers['idempotency-key'];
  if (!endpoint.idempotent || !actor || key === undefined) return handle();
  const body = sent.kind === 'json' ? sent.bytes : undefined;
  const headers = (endpoint.takes ?? []).map(({ name }) => `${name}: ${ctx.get(name)}\n`).join('');
  const request = { method: ctx.method, url: ctx.url, headers, body, launchId: actor.launchId };
  const isSecret = endpoint.idempotent === 'sealed';
  return keys.run({ key: String(key), actor, request, isSecret }, ctx.state.log(), handle);
}
