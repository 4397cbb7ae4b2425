import { lookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { Agent, type Dispatcher, FormData, request } from 'undici';
import { untilServed } from '../wait.ts';

export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The JSON of the body, or undefined. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what the server sent, whatever that was
  readonly body: any;
  readonly bytes: Buffer;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
}

type RawOptions = CallOptions & { readonly body?: Dispatcher.DispatchOptions['body'] | FormData };

export interface Upload {
  readonly file: Buffer | Readable;
  /** The length of a stream, where it is known; sent as Content-Length. */
  readonly bytes?: number;
  readonly name: string;
  /** Sent before the file. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** PUT adds a version. */
  readonly method?: 'POST' | 'PUT';
}

const dispatcher = new Agent({
  connections: 64,
  bodyTimeout: 600_000,
  headersTimeout: 600_000,
  connect: {
    /** `*.localhost` is loopback, as for browsers and curl, and not for Node. */
    lookup: (hostname, options, callback) => lookup(hostname.endsWith('.localhost') ? '127.0.0.1' : hostname, options, callback),
  },
});

// Streams go by hand: FormData and web streams take three times the CPU for 2 GiB.
const BOUNDARY = 'carrel-test-boundary-7f3a';
/** Escapes a name as browsers do (HTML Standard, multipart/form-data encoding algorithm). */
const escaped = (name: string): string => name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');

async function* around(head: Buffer, source: Readable, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  yield* source as AsyncIterable<Buffer>;
  yield tail;
}

/** A client of the API as a program would write one; paths are below /api/v1. */
export class Api {
  readonly url: string;
  readonly token: string | undefined;
  readonly refreshToken: string | undefined;

  constructor(url: string, tokens: { token?: string; refreshToken?: string } = {}) {
    this.url = url;
    this.token = tokens.token;
    this.refreshToken = tokens.refreshToken;
  }

  /** Returns a client of the same address with another token. */
  as(token: string | undefined): Api {
    return new Api(this.url, token === undefined ? {} : { token });
  }

  /** Throws when it is refused. */
  async login(email: string, password: string): Promise<Api> {
    const reply = await untilServed(() => this.post('/auth/login', { email, password }));
    if (reply.status !== 200) throw new Error(`login answered ${reply.status} ${JSON.stringify(reply.body)}`);
    return new Api(this.url, { token: reply.body.access_token, refreshToken: reply.body.refresh_token });
  }

  get = (path: string, options: CallOptions = {}): Promise<ApiReply> => this.raw('GET', path, options);
  head = (path: string, options: CallOptions = {}): Promise<ApiReply> => this.raw('HEAD', path, options);
  delete = (path: string, options: CallOptions = {}): Promise<ApiReply> => this.raw('DELETE', path, options);
  post = (path: string, json?: unknown, options: CallOptions = {}): Promise<ApiReply> => this.#json('POST', path, json, options);
  put = (path: string, json?: unknown, options: CallOptions = {}): Promise<ApiReply> => this.#json('PUT', path, json, options);
  patch = (path: string, json?: unknown, options: CallOptions = {}): Promise<ApiReply> =>
    this.#json('PATCH', path, json, options);

  async upload(path: string, upload: Upload): Promise<ApiReply> {
    const method = upload.method ?? 'POST';
    const headers = upload.headers ?? {};
    const fields = Object.entries(upload.fields ?? {});
    if (Buffer.isBuffer(upload.file)) {
      const form = new FormData();
      for (const [name, value] of fields) form.set(name, value);
      form.set('file', new Blob([new Uint8Array(upload.file)], { type: upload.type ?? 'application/octet-stream' }), upload.name);
      return this.raw(method, path, { headers, body: form });
    }
    const head = Buffer.from(
      [
        ...fields.map(([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${escaped(upload.name)}"\r\n` +
          `Content-Type: ${upload.type ?? 'application/octet-stream'}\r\n\r\n`,
      ].join(''),
    );
    const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
    const length = upload.bytes === undefined ? {} : { 'content-length': String(head.length + upload.bytes + tail.length) };
    return this.raw(method, path, {
      headers: { ...headers, ...length, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: Readable.from(around(head, upload.file, tail), { objectMode: false }),
    });
  }

  async raw(method: string, path: string, options: RawOptions = {}): Promise<ApiReply> {
    const { statusCode, headers, body } = await this.#send(method, path, options);
    return answer(statusCode, headers, Buffer.from(await body.arrayBuffer()));
  }

  /** The content at an address, as it comes. Throws when it is refused. */
  async download(url: string): Promise<Readable> {
    const { statusCode, body } = await this.#send('GET', url, {});
    if (statusCode !== 200) throw new Error(`GET ${url} answered ${statusCode}: ${await body.text()}`);
    return body;
  }

  #send(method: string, path: string, options: RawOptions): Promise<Dispatcher.ResponseData> {
    const query = new URLSearchParams(
      Object.entries(options.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const url = `${path.startsWith('http') ? path : this.url + path}${query === '' ? '' : `?${query}`}`;
    return request(url, {
      method: method as Dispatcher.HttpMethod,
      dispatcher,
      headers: { ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }), ...options.headers } as Record<
        string,
        string
      >,
      body: (options.body ?? null) as Exclude<Dispatcher.DispatchOptions['body'], undefined>,
    });
  }

  #json(method: string, path: string, json: unknown, options: CallOptions): Promise<ApiReply> {
    if (json === undefined) return this.raw(method, path, options);
    return this.raw(method, path, {
      ...options,
      headers: { 'content-type': 'application/json', ...options.headers },
      body: typeof json === 'string' ? json : JSON.stringify(json),
    });
  }
}

/** Sends header lines exactly as given, each twice if it is there twice: what clients with good manners cannot. */
export function sendRaw(url: string, options: { method?: string; headers: readonly string[]; body?: string }): Promise<ApiReply> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: options.method ?? 'GET', agent: false, headers: options.headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(answer(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))));
    });
    sent.on('error', reject);
    sent.end(options.body);
  });
}

function answer(status: number, headers: Record<string, string | string[] | undefined>, bytes: Buffer): ApiReply {
  const isJson = String(headers['content-type'] ?? '').startsWith('application/json') && bytes.length > 0;
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    ),
    body: isJson ? JSON.parse(bytes.toString('utf8')) : undefined,
    bytes,
  };
}
