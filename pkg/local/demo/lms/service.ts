import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { bodyOf, json, Manner } from './manner.ts';
import { type LinkManner, linkOf, type Page } from './paging.ts';
import { Refusal } from './refusal.ts';
import type { TokenEndpoint } from './token.ts';

const HUGE_CHUNK = 'x'.repeat(1024 * 1024);
const HUGE_CHUNKS = 64;
const PAGE_SIZE = 50;

/**
 * How a service answers. `slow` never does; `revoked` takes every token back first, so that it is a 401 until there is a new one;
 * `huge` is 64 MiB of JSON; `html` a login page with status 200. `cut`: so many bytes of the answer, then the connection is lost,
 * or the answer ends as if it were whole.
 */
export type ServiceManner =
  | 'well'
  | 'down'
  | 'slow'
  | 'revoked'
  | 'huge'
  | 'html'
  | LinkManner
  | { readonly cut: number; readonly as: 'lost' | 'ended' }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text?: string | Buffer };

/** A request as it came. */
export interface ServiceRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly authorization: string;
  /** What it was answered; undefined where no answer went out, or none of ours. */
  status?: number;
}

export interface Call {
  /** The tool that asks. */
  readonly clientId: string;
  readonly url: URL;
  readonly body: string;
  readonly pageSize: number;
}

export interface Answer {
  /** 200 unless said. */
  readonly status?: number;
  readonly body?: unknown;
  /** The page that the body is of. */
  readonly page?: Page<unknown>;
}

/** What a method of an address does. */
export interface Operation {
  /** One of them must be granted. */
  readonly scopes: readonly string[];
  /** The media type that it gives; the `Accept` of a GET must name it. */
  readonly gives?: string;
  /** The media type that it takes. */
  readonly takes?: string;
  /** Throws Refusal. */
  run(call: Call): Answer;
}

export type Operations = Readonly<Record<string, Operation>>;

/**
 * A service of the platform: it wants a token for one of the scopes (401, 403), the method (405) and the media types (406, 415)
 * of the documents, tells what is wrong as `reason`, and misbehaves by its manner.
 */
export class Service {
  readonly manner = new Manner<ServiceManner>('well');
  readonly received: ServiceRequest[] = [];
  /** Holds up the answers to a method after what was asked is done. */
  held: { readonly method: string; readonly until: Promise<void> } | undefined;
  /** The most that a page holds, whatever `limit` asks for. */
  pageSize = PAGE_SIZE;
  readonly #issuer: string;
  readonly #tokens: TokenEndpoint;
  readonly #operations: (url: URL) => Operations | undefined;

  /** `operations`: the methods of an address; undefined where nothing is. */
  constructor(issuer: string, tokens: TokenEndpoint, operations: (url: URL) => Operations | undefined) {
    this.#issuer = issuer;
    this.#tokens = tokens;
    this.#operations = operations;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '/', this.#issuer);
    const body = await bodyOf(request);
    const arrived: ServiceRequest = { method, url: url.href, body, authorization: headers.authorization ?? '' };
    this.received.push(arrived);
    const manner = this.manner.next();
    if (manner === 'down') return void response.destroy();
    if (manner === 'slow') return;
    if (manner === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>');
    if (manner === 'huge') return huge(response);
    if (typeof manner === 'object' && 'status' in manner) {
      return void response.writeHead(manner.status, manner.headers).end(manner.text);
    }
    if (manner === 'revoked') this.#tokens.revokeAll();
    try {
      const { operation, clientId } = this.#allowed(request, url);
      const { status = 200, body: said, page } = operation.run({ clientId, url, body, pageSize: this.pageSize });
      if (this.held?.method === method) {
        arrived.status = status;
        await this.held.until;
      }
      const link = page && linkOf(page, manner);
      if (link !== undefined) response.setHeader('link', link);
      if (typeof manner === 'object' && 'cut' in manner) return cutShort(response, JSON.stringify(said), manner);
      arrived.status = status;
      if (said === undefined) response.writeHead(status).end();
      else json(response, status, said, operation.gives);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      arrived.status = error.status;
      for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
      json(response, error.status, { reason: error.message });
    }
  }

  #allowed({ method = '', headers }: IncomingMessage, url: URL): { operation: Operation; clientId: string } {
    const operations = this.#operations(url);
    if (!operations) throw new Refusal(404, 'there is nothing here');
    const operation = operations[method];
    if (!operation) throw new Refusal(405, `${method} is not offered`, { allow: Object.keys(operations).join(', ') });
    const caller = this.#tokens.caller(headers.authorization, operation.scopes);
    if (caller === 401) throw new Refusal(401, 'no token of this platform', { 'www-authenticate': 'Bearer' });
    if (caller === 403) throw new Refusal(403, `the token is for none of ${operation.scopes.join(', ')}`);
    const accepted = (headers.accept ?? '').split(',').map((type) => type.split(';')[0]?.trim());
    if (method === 'GET' && operation.gives !== undefined && !accepted.includes(operation.gives))
      throw new Refusal(406, `Accept must name ${operation.gives}`);
    if (operation.takes !== undefined && headers['content-type'] !== operation.takes)
      throw new Refusal(415, `the type is ${operation.takes}`);
    return { operation, clientId: caller.clientId };
  }
}

function cutShort(response: ServerResponse, text: string, { cut, as }: { cut: number; as: 'lost' | 'ended' }): void {
  const part = Buffer.from(text).subarray(0, cut);
  if (as === 'ended') return void response.writeHead(200, { 'content-type': 'application/json' }).end(part);
  response.writeHead(200, { 'content-length': Buffer.byteLength(text) });
  response.write(part, () => response.destroy());
}

function huge(response: ServerResponse): void {
  const chunks = function* (): Generator<string> {
    yield '{"padding":"';
    for (let sent = 0; sent < HUGE_CHUNKS; sent += 1) yield HUGE_CHUNK;
    yield '"}';
  };
  const source = Readable.from(chunks());
  response.on('close', () => source.destroy());
  source.pipe(response.writeHead(200, { 'content-type': 'application/json' }));
}
