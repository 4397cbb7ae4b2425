import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Actor, Permission } from './actor.ts';
import type { CacheEntry, CacheLookup } from '../store/redis/tagged-cache.ts';
import type { ProblemCode } from './error-catalogue.ts';

/** The path of the REST API below the tenant's address. */
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
 * The permitted callers: `anyone` without a token, `user` with one, or a user whose roles grant a permission.
 * A service, not an endpoint, decides what a user may do with one file.
 */
export type Caller = 'anyone' | 'user' | { readonly permission: Permission };

/** The request as a handler sees it, besides its validated parts. */
export interface RequestInfo {
  readonly requestId: string;
  /** Upper case. `HEAD` reaches the endpoint of the GET; its reply has no body, so the endpoint need not open one. */
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** The client's address behind the trusted proxies. */
  readonly ip: string;
  /** The network of this address: for IPv4 the address itself, for IPv6 the /56 that one connection may have. */
  readonly network: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The entity tags of If-Match, `'*'`, or undefined if it was not sent. */
  readonly ifMatch: readonly string[] | '*' | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** The raw body, for endpoints with `body: 'stream'`. */
  readonly stream: Readable;
  readonly traffic: Traffic;
}

/** The current transfer state of a request's body and its reply on the connection. */
export interface Traffic {
  /** Bytes received on the connection so far. */
  readonly received: number;
  /** Bytes sent on it so far. */
  readonly sent: number;
  /** True while we wait for the client to send more of the body. */
  readonly awaitsBody: boolean;
  /** True while the client has yet to read what was written. */
  readonly awaitsReader: boolean;
}

/** A repeated header (Set-Cookie) is a list. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A reply: `status` and `body` must be one of the endpoint's `replies`. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: ReplyHeaders;
  /** For a `cached` endpoint: the time until which the reply is valid at most. */
  readonly cacheUntil?: Date;
}

export const reply = (status: number, body?: unknown, headers?: ReplyHeaders): Reply => ({
  status,
  ...(body === undefined ? {} : { body }),
  ...(headers === undefined ? {} : { headers }),
});

/** Returns a reply with the strong entity tag of the resource that it shows (RFC 9110 §8.8.3). */
export const tagged = (status: number, body: { readonly etag: string }): Reply => reply(status, body, { etag: `"${body.etag}"` });

/** A StreamBody that also accepts JSON passes the parsed value, or undefined if a stream was sent. */
type Out<S> = S extends z.ZodType
  ? z.output<S>
  : S extends { readonly json: infer J extends z.ZodType }
    ? z.output<J> | undefined
    : undefined;

/** The possible `replies`: a JSON schema, `null` for no body, or the media type of a body that streams. */
export type ReplyShape = z.ZodType | null | { readonly stream: string };

/** The fields of an endpoint that do not depend on the types of its request. */
interface EndpointBase<Params> {
  readonly method: Method;
  /** Below the base path, parameters in braces: `/files/{id}/download`. */
  readonly path: string;
  /** Name of the method in a generated client, such as `listFiles`. */
  readonly operationId: string;
  readonly summary: string;
  readonly tag?: string;
  readonly replies: Readonly<Record<number, ReplyShape>>;
  /** The possible errors besides those of any endpoint (COMMON_ERRORS, and those of its caller, body and parameters). */
  readonly errors?: readonly ProblemCode[];
  /** Set if Idempotency-Key is honoured: the reply of the first request is stored for 24 h, sealed if it has a secret in it. */
  readonly idempotent?: boolean | 'sealed';
  /**
   * True if a POST to its path with X-HTTP-Method-Override may stand for this method, as tus 1.0 requires; HEAD is answered as
   * GET is.
   */
  readonly overridable?: boolean;
  /** True if its replies may set a cookie. */
  readonly setsCookie?: boolean;
  /**
   * Headers of the request that the handler reads, and those of the replies (pkg/http/openapi/headers.ts), besides those that
   * follow from the declaration.
   */
  readonly takes?: readonly RequestHeader[];
  readonly gives?: readonly string[];
  /**
   * For `caller: 'anyone'`: the limit against which a request counts. Default: the limit of all requests without a token.
   * A function returns the uuid of the user whom the parameters authenticate, or undefined if they authenticate nobody.
   */
  readonly counts?: 'login' | 'refresh' | 'link' | ((params: Params) => string | undefined);
  /**
   * A GET whose JSON replies are cached, per user and parameters, for REPLY_TTL_SECONDS or until a write invalidates one of these
   * tags.
   */
  readonly cached?: { readonly tags: readonly string[] };
  /**
   * A GET whose 200 is a stream of server-sent events, each with the reply's JSON as its data, if `Accept` names EVENT_STREAM.
   */
  readonly followed?: boolean;
  /**
   * True for a list that shows no secrets: its long pages are sent by gzip to whoever takes it. The size of a compressed page
   * could tell of a secret beside text that somebody else chose (BREACH).
   */
  readonly compressed?: boolean;
  /**
   * A GET of a list whose 200 is the whole list, one item per line, if `Accept` names one of these media types, NDJSON or CSV.
   */
  readonly exported?: readonly string[];
  /**
   * For a GET that is not `cached`, with a token: the cache entry that its handler reads, looked up in the request's first round
   * trip to Redis.
   */
  readonly record?: (params: Params) => CacheEntry;
}

/** The input of a handler. */
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
  /** The look-up of `record`; without one it holds nothing and stores nothing. */
  record: CacheLookup;
  request: RequestInfo;
}

/** An endpoint as its feature declares it: the handler's types follow from the schemas. */
interface EndpointDeclaration<P, Q, B, C extends Caller> extends EndpointBase<Out<P>> {
  readonly caller: C;
  readonly params?: P;
  readonly query?: Q;
  /** A JSON body's schema; or `{ stream }`: the handler reads the raw body of one of those media types itself. */
  readonly body?: B;
  readonly handle: (input: HandlerInput<C extends 'anyone' ? undefined : Actor, Out<P>, Out<Q>, Out<B>>) => Promise<Reply>;
}

/** A body that the handler reads itself, as a stream of one of these media types. */
interface StreamBody {
  readonly stream: readonly string[];
  /** The schema in the OpenAPI document. */
  readonly schema: z.ZodType;
  /**
   * If set, `application/json` of this schema is also accepted, and a form (`application/x-www-form-urlencoded`) is read as that
   * JSON.
   */
  readonly json?: z.ZodType;
}

/** An endpoint whose types are already checked; http mounts it and OpenAPI describes it. */
export interface Endpoint extends EndpointBase<unknown> {
  readonly caller: Caller;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType | StreamBody;
  readonly handle: (input: HandlerInput) => Promise<Reply>;
}

/**
 * Declares an endpoint; validation, OpenAPI, the metric's label and the permission check all come from this declaration.
 * A GET of a resource with an `etag`, or of a list, also answers 304, without declaring it.
 */
export function endpoint<
  const C extends Caller,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | StreamBody | undefined = undefined,
>(declaration: EndpointDeclaration<P, Q, B, C>): Endpoint {
  const endpoint = declaration as unknown as Endpoint;
  const shown = endpoint.replies[200] ?? null;
  const hasEtag = endpoint.method === 'get' && (hasField(shown, 'etag') || isList(shown));
  return hasEtag ? { ...endpoint, replies: { ...endpoint.replies, 304: null } } : endpoint;
}

/** Returns true if a reply is a JSON object with this field. */
export const hasField = (shape: ReplyShape, field: string): boolean =>
  shape !== null && !isStream(shape) && shape instanceof z.ZodObject && field in shape.shape;

/** Returns true if a reply is a page of a list (pkg/api/paging.ts). */
export const isList = (shape: ReplyShape): boolean => hasField(shape, 'pagination');

export const isStream = (shape: ReplyShape): shape is { readonly stream: string } => shape !== null && 'stream' in shape;

export const isStreamBody = (body: Endpoint['body']): body is StreamBody => body !== undefined && 'stream' in body;

/** The media type of server-sent events (HTML, Server-sent events). */
export const EVENT_STREAM = 'text/event-stream';

/** The media type of JSON values, one per line. */
export const NDJSON = 'application/x-ndjson';

/** The media type of a table (RFC 4180). */
export const CSV = 'text/csv';

type Asked = Pick<RequestInfo, 'method' | 'headers'>;
const accepts = ({ method, headers }: Asked, type: string): boolean =>
  method === 'GET' && (headers['accept'] ?? '').split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === type);

/** Returns true if the client requests server-sent events. */
export const wantsEvents = (request: Asked): boolean => accepts(request, EVENT_STREAM);
/** Returns true if the client requests the whole list as JSON, one value per line. */
export const wantsLines = (request: Asked): boolean => accepts(request, NDJSON);
/** Returns true if the client requests the whole list as a table. */
export const wantsTable = (request: Asked): boolean => accepts(request, CSV);

/** The errors that any endpoint may return. */
const COMMON_ERRORS: readonly ProblemCode[] = [
  'validation_failed',
  'tenant_mismatch',
  'request_timeout',
  'headers_too_large',
  'rate_limit_exceeded',
  'internal',
  'unavailable',
  'suspended',
];

/** Returns every problem that an endpoint may return: its own, the common ones, and those that follow from its declaration. */
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
