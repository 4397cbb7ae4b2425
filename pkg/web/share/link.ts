import { addressOf, type ReplyOf } from '../api/client.ts';
import { problemOfReply, unreachable } from '../api/problem.ts';

export type Shared = ReplyOf<'GET /s/{token}'>;
export type SharedFile = Extract<Shared, { kind: 'file' }>;
export type SharedFolder = Extract<Shared, { kind: 'folder' }>;
export type ChildPage = ReplyOf<'GET /s/{token}/children'>;
export type Child = ChildPage['data'][number];

interface Wanted {
  /** Undefined: the folder of the link. */
  readonly folderId: string | undefined;
  readonly query: string;
  readonly sort: string;
  readonly cursor: string | undefined;
}

/** Rows of one request. */
const PAGE = 200;

/**
 * What the API gives to whoever has a link. The reply to the password begins a session, which the browser keeps as a cookie; it is
 * sent as a header too, for browsers that take no cookies. Everything throws ApiProblem, or AbortError if `signal` was aborted.
 */
export class Link {
  readonly token: string;
  #session: string | undefined;

  constructor(token: string) {
    this.token = token;
  }

  /** Where a link with a password is not open yet, `name` is null. */
  async show(password?: string, signal?: AbortSignal): Promise<Shared> {
    const headers = password === undefined ? {} : { 'x-share-password': inLatin1(password) };
    const reply = await this.#get(addressOf('/s/{token}', { path: { token: this.token } }), headers, signal);
    return (await reply.json()) as Shared;
  }

  async children({ folderId, query, sort, cursor }: Wanted, signal: AbortSignal): Promise<ChildPage> {
    const parameters = { folder_id: folderId, q: query === '' ? undefined : query, sort, cursor, limit: PAGE };
    const address = addressOf('/s/{token}/children', { path: { token: this.token }, query: parameters });
    return (await (await this.#get(address, {}, signal)).json()) as ChildPage;
  }

  addressOf = (part: 'download' | 'zip'): string => addressOf(`/s/{token}/${part}`, { path: { token: this.token } });

  addressOfChild = (id: string): string => addressOf('/s/{token}/files/{id}/download', { path: { token: this.token, id } });

  /** Headers of requests by this link. */
  get headers(): Readonly<Record<string, string>> {
    return this.#session === undefined ? {} : { 'x-share-session': this.#session };
  }

  async #get(address: string, headers: Readonly<Record<string, string>>, signal: AbortSignal | undefined): Promise<Response> {
    try {
      const reply = await fetch(address, {
        headers: { ...this.headers, ...headers },
        credentials: 'same-origin',
        cache: 'no-store',
        ...(signal ? { signal } : {}),
      });
      if (!reply.ok) throw await problemOfReply(reply);
      this.#session = reply.headers.get('x-share-session') ?? this.#session;
      return reply;
    } catch (error) {
      throw error instanceof TypeError ? unreachable(error) : error;
    }
  }
}

/** A header carries bytes: those of the text in UTF-8. */
const inLatin1 = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');

/** Lets the browser save what an address answers. */
export function save(address: string): void {
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = '';
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}
