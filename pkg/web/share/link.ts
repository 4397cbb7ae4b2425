import { addressOf, type ReplyOf } from '../api/client.ts';
import { Observed } from '../api/observed.ts';
import { ApiProblem, problemOfReply, unreachable } from '../api/problem.ts';

export type Shared = ReplyOf<'GET /s/{token}'>;
export type SharedFile = Extract<Shared, { kind: 'file' }>;
export type SharedFolder = Extract<Shared, { kind: 'folder' }>;
export type ChildPage = ReplyOf<'GET /s/{token}/children'>;
export type Child = ChildPage['data'][number];

/** What the document of a link has of it (pkg/content/sharing/share-page.ts); null: it has to be asked for. */
export interface Given {
  readonly shared: Shared | null;
  /** The first page of the folder, by name. */
  readonly children: ChildPage | null;
}

interface Wanted {
  /** Undefined: the folder of the link. */
  readonly folderId: string | undefined;
  readonly query: string;
  readonly sort: string;
  readonly cursor: string | undefined;
}

/** What a download by link is refused for, by status. */
const CODES: Readonly<Record<number, string>> = {
  401: 'share_password_required',
  404: 'not_found',
  422: 'archive_too_large',
  429: 'too_many_transfers',
  503: 'unavailable',
};
/** Rows of one request. */
const PAGE = 200;

/**
 * What the API gives to whoever has a link. The reply to the password begins a session, which the browser keeps as a cookie; it
 * is sent as a header too, for browsers that take no cookies. Everything throws ApiProblem, or AbortError if `signal` was
 * aborted.
 */
export class Link {
  readonly token: string;
  /** False when a request was refused for want of the password, until it is entered. */
  readonly isOpen = new Observed(true);
  #session: string | undefined;
  #given: ChildPage | null;

  /** `given`: the first page of the folder, if it is there already. It is shown once; the next time the list is asked for. */
  constructor(token: string, given: ChildPage | null = null) {
    this.token = token;
    this.#given = given;
  }

  /** Where a link with a password is not open yet, `name` is null. */
  async show(password?: string, signal?: AbortSignal): Promise<Shared> {
    const headers = password === undefined ? {} : { 'x-share-password': inLatin1(password) };
    const reply = await this.#get(addressOf('/s/{token}', { path: { token: this.token } }), headers, signal);
    const shared = (await reply.json()) as Shared;
    if (shared.name !== null) this.isOpen.set(true);
    return shared;
  }

  async children({ folderId, query, sort, cursor }: Wanted, signal: AbortSignal): Promise<ChildPage> {
    const given = this.#given;
    this.#given = null;
    if (given && folderId === undefined && query === '' && sort === 'name' && cursor === undefined) return given;
    const parameters = { folder_id: folderId, q: query === '' ? undefined : query, sort, cursor, limit: PAGE };
    const address = addressOf('/s/{token}/children', { path: { token: this.token }, query: parameters });
    return (await (await this.#get(address, {}, signal)).json()) as ChildPage;
  }

  /**
   * Asks whether a download would begin, which counts as none. What the browser saves itself cannot say on the page why it
   * failed.
   */
  async require(address: string): Promise<void> {
    const reply = await fetch(address, { method: 'HEAD', headers: this.headers, cache: 'no-store' }).catch((error: unknown) => {
      throw unreachable(error);
    });
    if (reply.ok) return;
    // A reply to HEAD has no body that says why.
    if (reply.status === 401) this.isOpen.set(false);
    const retryAfter = Number(reply.headers.get('retry-after')) || undefined;
    const requestId = reply.headers.get('x-request-id') ?? undefined;
    throw new ApiProblem({ status: reply.status, code: CODES[reply.status] ?? 'unknown', message: '', retryAfter, requestId });
  }

  addressOf = (part: 'download' | 'files' | 'uploads' | 'zip'): string =>
    addressOf(`/s/{token}/${part}`, { path: { token: this.token } });

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
      if (!reply.ok) {
        const problem = await problemOfReply(reply);
        if (problem.code === 'share_password_required') this.isOpen.set(false);
        throw problem;
      }
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
