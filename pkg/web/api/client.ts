import type { KeyOfContent } from './change-keys.ts';
import { Observed } from './observed.ts';
import type { Operations } from './operations.generated.ts';
import { ping } from './ping.ts';
import { isAbort, problemOfReply, unreachable } from './problem.ts';
import { isWaitedFor, SlowRequests } from './slow-requests.ts';

const BASE = '/api/v1';

/** Gives and renews the access token of the person who is signed in. */
export interface Tokens {
  /** Resolves to undefined if nobody is signed in. */
  current(): Promise<string | undefined>;
  /**
   * Called after a 401 for `refused`: resolves to another token, perhaps only after the person has signed in again, or to
   * undefined if they do not.
   */
  renewed(refused: string | undefined, signal?: AbortSignal): Promise<string | undefined>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type PathOf<M extends Method> = keyof Operations extends infer K ? (K extends `${M} ${infer P}` ? P : never) : never;
type OperationOf<M extends Method, P> = `${M} ${P & string}` extends infer K extends keyof Operations ? Operations[K] : never;
export type ReplyOf<K extends keyof Operations> = Operations[K]['reply'];
export type BodyOf<K extends keyof Operations> = Operations[K]['body'];

/** The fields of a request that its operation has; those that are all optional may be left out. */
type Fields<O> = O extends { path: infer P; query: infer Q } ? Optional<'path', P> & Optional<'query', Q> & BodyField<O> : never;
type Optional<Name extends string, T> = Record<string, never> extends T ? { [N in Name]?: T } : { [N in Name]: T };
type BodyField<O> = O extends { body: infer B } ? { body: B } : O extends { body?: infer B } ? { body?: B } : never;

interface Settings {
  readonly signal?: AbortSignal | undefined;
  /** Refuse the change with `precondition_failed` if the resource has another entity tag by now. */
  readonly ifMatch?: string | undefined;
  /** The same key for each attempt at one change: the API makes it once. A function may derive it from a JSON request. */
  readonly idempotencyKey?: string | KeyOfContent | undefined;
}

type Options<O> = Fields<O> & Settings;
/** The options may be left out if none is required. */
type Arguments<O> = Record<string, never> extends Fields<O> ? [options?: Options<O>] : [options: Options<O>];
type Reply<O> = O extends { reply: infer R } ? R : never;

interface WithTag {
  /** With its quotes. */
  readonly etag: string | undefined;
}

/** A resource with its entity tag. */
export interface Tagged<T> extends WithTag {
  readonly body: T;
}

type Scalar = string | number | boolean;

interface Loose extends Settings {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, Scalar | readonly Scalar[] | Readonly<Record<string, Scalar>> | null | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The REST API, called as the person who is signed in. Paths, parameters, bodies and replies have the types of the OpenAPI
 * document. Everything throws ApiProblem, or AbortError if `signal` was aborted.
 *
 * A request whose token the server refuses is sent once more with a new one. If the session has ended, it waits until the
 * person has signed in again.
 */
export class Client {
  /** False after a request that no server answered, until one is answered again. */
  readonly isReachable = new Observed(true);
  /** Requests that people wait for. */
  readonly slow = new SlowRequests();
  readonly #tokens: Tokens;

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  get = <P extends PathOf<'GET'>>(
    path: P,
    ...[options]: Arguments<OperationOf<'GET', P>>
  ): Promise<Reply<OperationOf<'GET', P>>> => this.#json('GET', path, options);
  post = <P extends PathOf<'POST'>>(
    path: P,
    ...[options]: Arguments<OperationOf<'POST', P>>
  ): Promise<Reply<OperationOf<'POST', P>>> => this.#json('POST', path, options);
  put = <P extends PathOf<'PUT'>>(
    path: P,
    ...[options]: Arguments<OperationOf<'PUT', P>>
  ): Promise<Reply<OperationOf<'PUT', P>>> => this.#json('PUT', path, options);
  patch = <P extends PathOf<'PATCH'>>(
    path: P,
    ...[options]: Arguments<OperationOf<'PATCH', P>>
  ): Promise<Reply<OperationOf<'PATCH', P>>> => this.#json('PATCH', path, options);
  delete = <P extends PathOf<'DELETE'>>(
    path: P,
    ...[options]: Arguments<OperationOf<'DELETE', P>>
  ): Promise<Reply<OperationOf<'DELETE', P>>> => this.#json('DELETE', path, options);

  /** Gets a resource with its entity tag; undefined if it still has the tag `known`. */
  async getIfChanged<P extends PathOf<'GET'>>(
    path: P,
    options: Options<OperationOf<'GET', P>>,
    known: string | undefined,
  ): Promise<Tagged<Reply<OperationOf<'GET', P>>> | undefined> {
    const headers = known === undefined ? {} : { 'if-none-match': known };
    const reply = await this.send('GET', path, { ...(options as Loose), headers });
    if (reply.status === 304) return undefined;
    return { body: (await reply.json()) as Reply<OperationOf<'GET', P>>, etag: reply.headers.get('etag') ?? undefined };
  }

  /** As `getIfChanged`, of a list: returns the page with its entity tag among its fields. */
  async getPage<P extends PathOf<'GET'>>(
    path: P,
    options: Options<OperationOf<'GET', P>>,
    known: string | undefined,
  ): Promise<(Reply<OperationOf<'GET', P>> & WithTag) | undefined> {
    const read = await this.getIfChanged(path, options, known);
    return read && Object.assign(read.body as Reply<OperationOf<'GET', P>> & object, { etag: read.etag });
  }

  /**
   * Sends a request and returns the reply of success (or 304): for bodies that are not JSON. A body that is neither text nor
   * bytes is sent as JSON.
   */
  async send(method: Method, path: string, options: Loose = {}): Promise<Response> {
    const token = await this.#tokens.current();
    const reply = await this.#fetch(method, path, token, options);
    if (reply.status !== 401 || (await isWrongPassword(reply))) return checked(reply);
    const renewed = await this.#tokens.renewed(token, options.signal);
    return checked(renewed === undefined ? reply : await this.#fetch(method, path, renewed, options));
  }

  async #json<R>(method: Method, path: string, options: unknown): Promise<R> {
    const reply = await this.send(method, path, options as Loose | undefined);
    const text = await reply.text();
    return (text === '' ? undefined : JSON.parse(text)) as R;
  }

  async #fetch(method: Method, path: string, token: string | undefined, options: Loose): Promise<Response> {
    const { signal, ifMatch, idempotencyKey, headers = {}, body } = options;
    const isRaw = typeof body === 'string' || body instanceof Blob || body instanceof FormData || body instanceof ArrayBuffer;
    const address = addressOf(path, options);
    const sent = body === undefined || isRaw ? body : JSON.stringify(body);
    // Without the entity tag, as the API compares requests: an attempt whose reply was lost may have changed it.
    const content = `${method}\n${address}\n${typeof sent === 'string' ? sent : ''}`;
    const key = typeof idempotencyKey === 'function' ? idempotencyKey(content) : idempotencyKey;
    // Bytes that are sent show how far they are.
    const ended = !isRaw && isWaitedFor(options) ? this.slow.begin(method === 'GET' ? 'read' : 'change') : undefined;
    try {
      const reply = await fetch(address, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
          ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch.replaceAll('"', '')}"` }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...headers,
        },
        ...(sent === undefined ? {} : { body: sent }),
        ...(signal ? { signal } : {}),
        // Only /auth has a cookie. The browser's own cache would answer with another person's list after a change of person.
        credentials: 'omit',
        cache: 'no-store',
      });
      this.isReachable.set(true);
      return reply;
    } catch (error) {
      if (isAbort(error)) throw error;
      this.isReachable.set(false);
      throw unreachable(error);
    } finally {
      ended?.();
    }
  }

  /** Finds out whether the service answers again. */
  async probe(): Promise<void> {
    if (await ping()) this.isReachable.set(true);
  }
}

/** Whether a request was refused for the password in its body. Another token does not help, and each attempt counts. */
const isWrongPassword = async (reply: Response): Promise<boolean> =>
  (await problemOfReply(reply.clone())).code === 'invalid_credentials';

async function checked(reply: Response): Promise<Response> {
  if (reply.ok || reply.status === 304) return reply;
  throw await problemOfReply(reply);
}

/** Returns the address of a request. A list in the query becomes a repeated parameter, an object `name[key]`. */
export function addressOf(template: string, { path = {}, query = {} }: Pick<Loose, 'path' | 'query'> = {}): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(path[name])));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    if (typeof value !== 'object') parameters.append(name, String(value));
    else if (isList(value)) for (const one of value) parameters.append(name, String(one));
    else for (const [key, one] of Object.entries(value)) parameters.append(`${name}[${key}]`, String(one));
  }
  return `${BASE}${filled}${parameters.size === 0 ? '' : `?${parameters}`}`;
}

const isList = (value: object): value is readonly Scalar[] => Array.isArray(value);
