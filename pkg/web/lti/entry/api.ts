import type { Session } from './session.ts';
import type { Refusal } from './messages.ts';

/** The fields of GET /lti/launches/{launch_id} that the page shows. */
export interface Launch {
  readonly user: { readonly id: string; readonly name: string | null } | null;
  readonly context: { readonly id: string; readonly title: string } | null;
  readonly folder: { readonly id: string; readonly name: string; readonly may_write: boolean } | null;
  /** `file`: the one that the link was placed for; `problem`: why it opens no file. */
  readonly resource_link: {
    readonly id: string;
    readonly title: string | null;
    readonly file: { readonly id: string; readonly name: string } | null;
    readonly problem: { readonly code: string; readonly message: string } | null;
  } | null;
  /** Whether the page shows only a hand-in. */
  readonly reviews: boolean;
  /** The course at /lti/contexts, for its instructors. */
  readonly course_id: string | null;
  readonly takes_grades: boolean;
  readonly return_url: string | null;
}

/** A version that a person has handed in. */
export interface HandIn {
  readonly user: { readonly name: string | null };
  readonly file: { readonly id: string; readonly name: string };
  readonly version: number;
  readonly handed_in_at: string;
  readonly download_url: string;
}

export interface FileItem {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly mime_type: string | null;
  readonly updated_at: string;
}

export interface FolderEntry {
  readonly type: 'folder';
  readonly id: string;
  readonly name: string;
}

export interface FileEntry extends FileItem {
  readonly type: 'file';
  readonly owner: { readonly id: string };
}

export type Entry = FolderEntry | FileEntry;

/** A page of a list of the API. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly next_cursor: string | null; readonly has_more: boolean };
}

export type OnConflict = 'fail' | 'rename' | 'replace';

/** The result of an upload, as far as a page shows it. */
export interface Uploaded {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly mime_type: string | null;
}

/** A refusal of the API; code `unreachable` if no server answered. */
export class ApiError extends Error implements Refusal {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;

  constructor({ code, message, retryAfter, requestId }: Refusal) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }
}

export const refusalOf = (error: unknown): Refusal => (error instanceof ApiError ? error : { code: 'page_failed', message: '' });

const API = '/api/v1';
const PAGE_SIZE = 50;

/** The contents of a request: JSON, and headers beside the usual ones. */
interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Filters = Readonly<Record<string, string>>;

/** The REST API, called as the person who launched. Throws ApiError. */
export class Api {
  readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  launch = (): Promise<Launch> => this.json<Launch>('GET', `/lti/launches/${this.session.launchId}`);

  /** Lists a folder by name; null is the person's own root. */
  children<Child extends Entry = Entry>(folderId: string | null, cursor?: string, filters: Filters = {}): Promise<Page<Child>> {
    const query = new URLSearchParams({ ...filters, sort: 'name', limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) });
    return this.json<Page<Child>>('GET', `/folders/${folderId ?? 'root'}/children?${query}`);
  }

  handIn = (): Promise<HandIn> => this.json<HandIn>('GET', `/lti/launches/${this.session.launchId}/hand-in`);

  /**
   * Returns whether the folder has a file of this name that the person may see. Called before a large upload starts, which would
   * otherwise learn it only at its end.
   */
  async hasFile(folderId: string, name: string): Promise<boolean> {
    const query = new URLSearchParams({ folder_id: folderId, q: name, limit: '200' });
    const { data } = await this.json<Page<FileItem>>('GET', `/files?${query}`);
    return data.some((file) => file.name === name.normalize());
  }

  file = (id: string): Promise<FileItem> => this.json<FileItem>('GET', `/files/${id}`);

  /** Returns an address that saves the file; it works for a minute. */
  async ticket(fileId: string): Promise<string> {
    return (await this.json<{ url: string }>('POST', `/files/${fileId}/ticket`)).url;
  }

  /** Returns the beginning of the text at such an address: at most this many bytes. Empty if there is none. */
  async beginning(url: string, bytes: number): Promise<string> {
    const reply = await fetch(url, { headers: { range: `bytes=0-${bytes - 1}` }, credentials: 'omit' });
    return reply.ok ? reply.text() : '';
  }

  /** A read request waits if the person has exceeded the rate limit. */
  protected async json<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    try {
      return await this.#json<T>(method, path, sent);
    } catch (error) {
      const { code, retryAfter } = error as ApiError;
      if (method !== 'GET' || code !== 'rate_limit_exceeded' || retryAfter === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryAfter * 1_000));
      return this.#json<T>(method, path, sent);
    }
  }

  async #json<T>(method: string, path: string, { body, headers = {} }: Sent): Promise<T> {
    let reply: Response;
    let text: string;
    try {
      reply = await fetch(`${API}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.session.token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        credentials: 'omit',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await reply.text();
    } catch {
      throw unreachable();
    }
    if (!reply.ok) throw errorOf(text);
    return (text === '' ? null : JSON.parse(text)) as T;
  }
}

export const unreachable = (): ApiError => new ApiError({ code: 'unreachable', message: '' });

/** Parses the API's error shape; a proxy in between may answer in another. */
export function errorOf(text: string): ApiError {
  try {
    const { error, message, retry_after, request_id } = JSON.parse(text) as {
      error: string;
      message: string;
      retry_after?: number;
      request_id?: string;
    };
    return new ApiError({ code: error, message, retryAfter: retry_after, requestId: request_id });
  } catch {
    return unreachable();
  }
}
