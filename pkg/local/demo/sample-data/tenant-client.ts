import { FormData, request } from 'undici';
import { limitedTo } from './limited-to.ts';

/** Waits for a job so long. */
const REQUEST_MS = 10_000;
/** A person may have 20 transfers in progress on a server (docs/design/api-conventions.md). */
const UPLOADS_AT_ONCE = 8;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * A client of hosts behind the router of this machine. It connects to the router itself, since Node does not know that
 * `*.localhost` is this machine.
 */
export async function send(
  routerPort: number,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string | FormData,
): Promise<Reply> {
  const { host, pathname, search } = new URL(url);
  const reply = await request(`http://127.0.0.1:${routerPort}${pathname}${search}`, {
    method,
    headers: { host, ...headers },
    body: body ?? null,
    headersTimeout: REQUEST_MS,
    bodyTimeout: REQUEST_MS,
  });
  return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() };
}

/** One object of a reply. */
// oxlint-disable-next-line typescript/no-explicit-any -- the sample data read a handful of fields of many kinds of objects
export type Answer = any;

/** The public API of a tenant, as one person. */
export class TenantClient {
  readonly #routerPort: number;
  readonly #api: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #uploads = limitedTo(UPLOADS_AT_ONCE);

  private constructor(routerPort: number, api: string, headers: Readonly<Record<string, string>>) {
    this.#routerPort = routerPort;
    this.#api = api;
    this.#headers = headers;
  }

  /** Signs in. Throws if the tenant refuses. */
  static async signIn(
    { routerPort, appUrl }: { routerPort: number; appUrl: string },
    credentials: { email: string; password: string },
  ): Promise<TenantClient> {
    const api = new URL('/api/v1', appUrl).href;
    const { access_token: token } = await new TenantClient(routerPort, api, {}).post('/auth/login', credentials);
    return new TenantClient(routerPort, api, { authorization: `Bearer ${token}` });
  }

  get = (path: string): Promise<Answer> => this.#call('GET', path);
  post = (path: string, body: object): Promise<Answer> => this.#json('POST', path, body);
  put = (path: string, body?: object): Promise<Answer> => this.#json('PUT', path, body);
  patch = (path: string, body: object): Promise<Answer> => this.#json('PATCH', path, body);
  delete = (path: string): Promise<Answer> => this.#call('DELETE', path);

  /** Uploads a file, or a new version of the file of that name; waits while as many as may are in progress. */
  upload(name: string, content: Buffer | string, folderId?: string): Promise<Answer> {
    const form = new FormData();
    if (folderId !== undefined) form.set('folder_id', folderId);
    form.set('on_conflict', 'replace');
    form.set('file', new Blob([typeof content === 'string' ? content : new Uint8Array(content)]), name);
    return this.#uploads(() => this.#call('POST', '/files', {}, form));
  }

  #json(method: 'POST' | 'PUT' | 'PATCH', path: string, body?: object): Promise<Answer> {
    if (body === undefined) return this.#call(method, path);
    return this.#call(method, path, { 'content-type': 'application/json' }, JSON.stringify(body));
  }

  async #call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body?: string | FormData,
  ): Promise<Answer> {
    const reply = await send(this.#routerPort, method, this.#api + path, { ...this.#headers, ...headers }, body);
    if (reply.status >= 300) throw new Error(`${method} ${path} was answered ${reply.status}: ${reply.text.slice(0, 300)}`);
    return reply.text === '' ? undefined : JSON.parse(reply.text);
  }
}
