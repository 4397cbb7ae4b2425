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
 * The ways of a service to answer. `slow` never does. `revoked` revokes every token first, so that it answers 401 until the tool
 * gets a new one. `huge` is 64 MiB of JSON; `html` is a login page with status 200. `cut`: after this many bytes of the answer
 * the connection is lost, or the answer ends as if complete.
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

/** A request as received. */
interface ServiceRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly authorization: string;
  /** The status of the reply; undefined if no reply was sent, or not one of ours. */
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
  /** Default: 200. */
  readonly status?: number;
  readonly body?: unknown;
  /** The page of which this is the body. */
  readonly page?: Page<unknown>;
}

/** The operation of a method at an address. */
export interface Operation {
  /** The token must have one of these scopes. */
  readonly scopes: readonly string[];
  /** The media type that it returns; the `Accept` of a GET must name it. */
  readonly gives?: string;
  /** The media type that it accepts. */
  readonly takes?: string;
  /** Throws Refusal. */
  run(call: Call): Answer;
}

export type Operations = Readonly<Record<string, Operation>>;

/**
 * A service of the platform. It requires a token for one of the scopes (401, 403), and the method (405) and media types (406,
 * 415) of the documents. It reports what is wrong as `reason`, and misbehaves by its manner.
 */
export class Service {
  readonly manner = new Manner<ServiceManner>('well');
  readonly received: ServiceRequest[] = [];
  /** Delays the answers to a method until after its work is done. */
  held: { readonly method: string; readonly until: Promise<void> } | undefined;
  /** The largest page, whatever `limit` asks for. */
  pageSize = PAGE_SIZE;
  readonly #issuer: string;
  readonly #tokens: TokenEndpoint;
  readonly #operations: (url: URL) => Operations | undefined;

  /** `operations` returns the methods of an address; undefined if the address is unknown. */
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
    if (!operations) throw new Refusal(404, 'nothing exists at this address');
    const operation = operations[method];
    if (!operation) throw new Refusal(405, `${method} is not offered`, { allow: Object.keys(operations).join(', ') });
    const caller = this.#tokens.caller(headers.authorization, operation.scopes);
    if (caller === 401) throw new Refusal(401, 'the token is not one of this platform', { 'www-authenticate': 'Bearer' });
    if (caller === 403) throw new Refusal(403, `the token is for none of ${operation.scopes.join(', ')}`);
    const accepted = (headers.accept ?? '').split(',').map((type) => type.split(';')[0]?.trim());
    if (method === 'GET' && operation.gives !== undefined && !accepted.includes(operation.gives))
      throw new Refusal(406, `Accept must name ${operation.gives}`);
    if (operation.takes !== undefined && headers['content-type'] !== operation.takes)
      throw new Refusal(415, `the media type must be ${operation.takes}`);
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
