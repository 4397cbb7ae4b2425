import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Actor, Permission } from './actor.ts';
import type { CacheEntry, CacheLookup } from '../store/redis/tagged-cache.ts';
import type { ProblemCode } from './error-catalogue.ts';

/** Where the REST API begins, below the tenant's address. */
export const BASE_PATH = '/api/v1';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options';

/** A header that a request may have. */
export interface RequestHeader {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly example: string;
}

/**
 * Who may call: `anyone` without a token, `user` with one, or a user whose roles give a permission.
 * What a user may do with one file is a rule of the service, not of the endpoint.
 */
export type Caller = 'anyone' | 'user' | { readonly permission: Permission };

/** The request as a handler sees it, beside its validated parts. */
export interface RequestInfo {
  readonly requestId: string;
  /** Upper case. `HEAD` reaches the endpoint of the GET; its reply has no body, so the endpoint need not open one. */
  readonly method: string;
  /** Path and query as they were sent. */
  readonly url: string;
  /** The client's address, behind as many proxies as are trusted. */
  readonly ip: string;
  /** The network that this address is of: of IPv4 the address itself, of IPv6 the /56 that one connection may have. */
  readonly network: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The entity tags of If-Match, `'*'`, or undefined when there is none. */
  readonly ifMatch: readonly string[] | '*' | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** The raw body, for endpoints with `body: 'stream'`. */
  readonly stream: Readable;
  readonly traffic: Traffic;
}

/** How a request's body and its reply go over the connection, as of now. */
export interface Traffic {
  /** Bytes that came in on the connection so far. */
  readonly received: number;
  /** Bytes that went out on it so far. */
  readonly sent: number;
  /** Whether we wait for the client to send more of the body. */
  readonly awaitsBody: boolean;
  /** Whether the client has yet to read what was written. */
  readonly awaitsReader: boolean;
}

/** A repeated header (Set-Cookie) is a list. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A reply: `status` and `body` must be one of the endpoint's `replies`. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: ReplyHeaders;
  /** For an endpoint that is `cached`: until when the reply holds at most. */
  readonly cacheUntil?: Date;
}

export const reply = (status: number, body?: unknown, headers?: ReplyHeaders): Reply => ({
  status,
  ...(body === undefined ? {} : { body }),
  ...(headers === undefined ? {} : { headers }),
});

/** A reply with the strong entity tag of the resource that it shows (RFC 9110 §8.8.3). */
export const tagged = (status: number, body: { readonly etag: string }): Reply => reply(status, body, { etag: `"${body.etag}"` });

/** A StreamBody that takes JSON too hands over the parsed value, or undefined when a stream was sent. */
type Out<S> = S extends z.ZodType
  ? z.output<S>
  : S extends { readonly json: infer J extends z.ZodType }
    ? z.output<J> | undefined
    : undefined;

/** What `replies` may hold: a JSON schema, `null` for no body, or the media type of a body that streams. */
export type ReplyShape = z.ZodType | null | { readonly stream: string };

/** The fields that an endpoint has whatever the types of its request. */
interface EndpointBase<Params> {
  readonly method: Method;
  /** Below the base path, parameters in braces: `/files/{id}/download`. */
  readonly path: string;
  /** Name of the method in a generated client, such as `listFiles`. */
  readonly operationId: string;
  readonly summary: string;
  readonly tag?: string;
  readonly replies: Readonly<Record<number, ReplyShape>>;
  /** What can go wrong beside what any endpoint may answer (COMMON_ERRORS, and by its caller, body and parameters). */
  readonly errors?: readonly ProblemCode[];
  /**
   * Whether Idempotency-Key is honoured: the reply of the first request is stored for 24 h, sealed where it has a secret in it.
   */
  readonly idempotent?: boolean | 'sealed';
  /**
   * Whether a POST to its path with X-HTTP-Method-Override is the method that this names, as tus 1.0 asks; HEAD is answered as
   * GET is.
   */
  readonly overridable?: boolean;
  /** Whether its replies may set a cookie. */
  readonly setsCookie?: boolean;
  /**
   * Headers of the request that the handler reads, and those of the replies (pkg/http/openapi/headers.ts), beside what follows
   * from the declaration.
   */
  readonly takes?: readonly RequestHeader[];
  readonly gives?: readonly string[];
  /**
   * For `caller: 'anyone'`: the limit that a request counts against. Left out: the limit of all requests without a token.
   * A function returns the uuid of the user whom the parameters authenticate, or undefined if they authenticate nobody.
   */
  readonly counts?: 'login' | 'refresh' | ((params: Params) => string | undefined);
  /**
   * A GET whose JSON replies are cached, per user and parameters, for REPLY_TTL_SECONDS or until a write invalidates one of these
   * tags.
   */
  readonly cached?: { readonly tags: readonly string[] };
  /**
   * A GET whose 200 is a stream of server-sent events, each with the reply's JSON as its data, where `Accept` names EVENT_STREAM.
   */
  readonly followed?: boolean;
  /**
   * A GET of a list whose 200 is all of the list, an item a line, where `Accept` names one of these media types, NDJSON or CSV.
   */
  readonly exported?: readonly string[];
  /**
   * For a GET that is not `cached`, with a token: what its handler reads from the cache, looked up in the request's first round
   * trip to Redis.
   */
  readonly record?: (params: Params) => CacheEntry;
}

/** What a handler gets. */
export interface HandlerInput<
  A extends Actor | undefined = Actor | undefined,
  Params = unknown,
  Query = unknown,
  Body = unknown,
> {
  actor: A;
  params: Params;
  query: Query;
  body: Body;
  /** The look-up of `record`; without one it holds nothing and puts nothing. */
  record: CacheLookup;
  request: RequestInfo;
}

/** An endpoint as its feature declares it: the handler's types follow from the schemas. */
export interface EndpointDeclaration<P, Q, B, C extends Caller> extends EndpointBase<Out<P>> {
  readonly caller: C;
  readonly params?: P;
  readonly query?: Q;
  /** A JSON body's schema; or `{ stream }`: the handler reads the raw body of one of those media types itself. */
  readonly body?: B;
  readonly handle: (input: HandlerInput<C extends 'anyone' ? undefined : Actor, Out<P>, Out<Q>, Out<B>>) => Promise<Reply>;
}

/** A body that the handler reads itself, as a stream of one of these media types. */
export interface StreamBody {
  readonly stream: readonly string[];
  /** What the OpenAPI document says of it. */
  readonly schema: z.ZodType;
  /**
   * When given, `application/json` of this schema is taken as well; and a form (`application/x-www-form-urlencoded`) is read as
   * that.
   */
  readonly json?: z.ZodType;
}

/** An endpoint whose types are checked already; what http mounts and OpenAPI describes. */
export interface Endpoint extends EndpointBase<unknown> {
  readonly caller: Caller;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType | StreamBody;
  readonly handle: (input: HandlerInput) => Promise<Reply>;
}

/**
 * Declares an endpoint; validation, OpenAPI, the metric's label and the permission check all come from this declaration.
 * A GET of a resource with an `etag` also answers 304, without declaring it.
 */
export function endpoint<
  const C extends Caller,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | StreamBody | undefined = undefined,
>(declaration: EndpointDeclaration<P, Q, B, C>): Endpoint {
  const endpoint = declaration as unknown as Endpoint;
  const hasEtag = endpoint.method === 'get' && hasField(endpoint.replies[200] ?? null, 'etag');
  return hasEtag ? { ...endpoint, replies: { ...endpoint.replies, 304: null } } : endpoint;
}

/** Whether a reply is a JSON object with this field. */
export const hasField = (shape: ReplyShape, field: string): boolean =>
  shape !== null && !isStream(shape) && shape instanceof z.ZodObject && field in shape.shape;

export const isStream = (shape: ReplyShape): shape is { readonly stream: string } => shape !== null && 'stream' in shape;

export const isStreamBody = (body: Endpoint['body']): body is StreamBody => body !== undefined && 'stream' in body;

/** The media type of server-sent events (HTML, Server-sent events). */
export const EVENT_STREAM = 'text/event-stream';

/** The media type of JSON values, one a line. */
export const NDJSON = 'application/x-ndjson';

/** The media type of a table (RFC 4180). */
export const CSV = 'text/csv';

type Asked = Pick<RequestInfo, 'method' | 'headers'>;
const accepts = ({ method, headers }: Asked, type: string): boolean =>
  method === 'GET' && (headers['accept'] ?? '').split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === type);

/** Whether the client asks for server-sent events. */
export const wantsEvents = (request: Asked): boolean => accepts(request, EVENT_STREAM);
/** Whether the client asks for all of a list, a JSON value a line. */
export const wantsLines = (request: Asked): boolean => accepts(request, NDJSON);
/** Whether the client asks for all of a list as a table. */
export const wantsTable = (request: Asked): boolean => accepts(request, CSV);

/** What any endpoint may answer. */
export const COMMON_ERRORS: readonly ProblemCode[] = [
  'validation_failed',
  'tenant_mismatch',
  'request_timeout',
  'headers_too_large',
  'rate_limit_exceeded',
  'internal',
  'unavailable',
  'suspended',
];

/** Every problem that can come out of an endpoint: its own, the common ones, and those that follow from its declaration. */
export function problemsOf(endpoint: Endpoint): ProblemCode[] {
  return [
    ...new Set<ProblemCode>([
      ...COMMON_ERRORS,
      ...(endpoint.caller === 'anyone' ? [] : (['unauthenticated'] as const)),
      ...(typeof endpoint.caller === 'object' ? (['forbidden'] as const) : []),
      ...(endpoint.method === 'get' || endpoint.method === 'options' ? [] : (['payload_too_large'] as const)),
      ...(endpoint.body === undefined ? [] : (['unsupported_media_type'] as const)),
      ...(endpoint.idempotent ? (['idempotency_key_reused', 'conflict'] as const) : []),
      ...(endpoint.errors ?? []),
    ]),
  ];
}
