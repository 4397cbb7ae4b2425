import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import busboy from 'busboy';
import { drained } from '../../../../pkg/content/imports/frames.ts';
import { freePort } from '../../backends/ports.ts';
import { pdf } from './pdf.ts';

/** Every way in which a helper behaves. `refuses` takes no connections; the rest is of requests that convert something. */
export const FAULTS = [
  'refuses',
  'hangs before the reply',
  'hangs in the reply',
  'hangs in the request',
  'drops the connection',
  'truncates',
  'answers 500',
  'answers 503 with Retry-After',
  'answers 422',
  'answers 401',
  'wrong type',
  'garbage',
  'no HTTP',
  'never ends',
  'redirects',
] as const;
export type Fault = (typeof FAULTS)[number];

/** A request as it arrived: of a multipart body, the text fields and what the file was. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly json?: Record<string, unknown>;
  readonly fields: Readonly<Record<string, string>>;
  readonly file?: { readonly name: string; readonly type: string; readonly bytes: number; readonly sha256: string };
}

export interface TestHelper {
  /** The base address, as `spec.helpers` has it. */
  readonly url: string;
  /** Whole requests that asked for a conversion, the oldest first. */
  readonly received: readonly Received[];
  /** Conversions that are under way. */
  readonly running: number;
  /** Bytes received so far of the file that arrives now. */
  readonly arriving: number;
  /** From now on; the next `times` only, then it behaves well again. `undefined`: it behaves well. */
  fail(fault: Fault | undefined, times?: number): Promise<void>;
  /** Holds back replies from now on until the result is called. */
  hold(): () => void;
  /** Sets the result for a PDF: bytes, or a number of bytes that are made while they are read. */
  answerWith(result: Buffer | { readonly bytes: number }): void;
  /** Sets the answer to a text, instead of `{ text, source_language, provider }`. */
  answerTextWith(body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Language tags that it names at /languages; undefined: it has no such address. */
  languages: readonly string[] | undefined;
  close(): Promise<void>;
}

/** The target of redirects: a metadata service. */
const INSIDE = 'http://169.254.169.254/latest/meta-data/';

/**
 * The three helper services on loopback: a text is translated into capitals, a PDF into the one that `answerWith` set.
 * Only what behaves badly on request is asked of it: the product's own helpers are cmd/helpers.
 */
export async function startHelper(): Promise<TestHelper> {
  const received: Received[] = [];
  const port = await freePort();
  let planned: { fault: Fault | undefined; times: number } = { fault: undefined, times: Infinity };
  let held: Promise<void> | undefined;
  let result: Buffer | { readonly bytes: number } = pdf({ text: 'converted' });
  let ofText: { body: unknown; headers: Readonly<Record<string, string>> } | undefined;
  let [running, arriving] = [0, 0];

  const next = (): Fault | undefined => {
    if (planned.times === 0) return undefined;
    planned.times -= 1;
    return planned.fault;
  };
  const convert = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fault = next();
    if (fault === 'hangs in the request') return void request.pause();
    arriving = 0;
    const one = await read(request, (bytes) => (arriving += bytes));
    received.push(one);
    await held;
    if (response.destroyed) return;
    if (fault !== undefined && fault !== 'refuses') return misbehave(response, fault);
    if (!one.file) return answerText(response, one, ofText);
    response.writeHead(200, { 'content-type': 'application/pdf' });
    await write(response, result);
    response.end();
  };
  const server = createServer((request, response) => {
    request.on('error', () => undefined);
    if (request.method === 'GET') {
      const { languages } = helper;
      const status = languages && request.url === '/languages' ? 200 : 404;
      return response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ sources: languages, targets: languages }));
    }
    running += 1;
    response.once('close', () => (running -= 1));
    convert(request, response).catch(() => response.destroy()); // the client left
  });
  const up = (): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const down = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await up();

  const helper: TestHelper = {
    url: `http://127.0.0.1:${port}`,
    received,
    get running() {
      return running;
    },
    get arriving() {
      return arriving;
    },
    fail: async (fault, times = Infinity) => {
      planned = { fault, times };
      if (server.listening === (fault === 'refuses')) await (fault === 'refuses' ? down() : up());
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
    answerWith: (given) => void (result = given),
    answerTextWith: (body, headers = { 'content-type': 'application/json' }) => void (ofText = { body, headers }),
    languages: ['en', 'es', 'pt-BR', 'zh-Hant'],
    close: down,
  };
  return helper;
}

async function read(request: IncomingMessage, count: (bytes: number) => void): Promise<Received> {
  const of = { path: request.url ?? '', headers: request.headers };
  if (!(request.headers['content-type'] ?? '').startsWith('multipart/form-data')) {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    return { ...of, fields: {}, json: JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown> };
  }
  return new Promise((resolve, reject) => {
    const fields: Record<string, string> = {};
    let file: Received['file'];
    const form = busboy({ headers: request.headers });
    form.on('field', (name, value) => void (fields[name] = value));
    form.on('file', (field, stream, { filename, mimeType }) => {
      const hash = createHash('sha256');
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        count(chunk.length);
        hash.update(chunk);
      });
      stream.once('end', () => void (file = { name: filename ?? '', type: mimeType, bytes, sha256: hash.digest('hex') }));
      if (field !== 'file') reject(new Error(`a file in the field ${field}`));
    });
    form.once('close', () => resolve({ ...of, fields, ...(file ? { file } : {}) }));
    form.once('error', reject);
    request.once('aborted', () => reject(new Error('the client left')));
    request.pipe(form);
  });
}

function answerText(
  response: ServerResponse,
  { json = {} }: Received,
  set: { body: unknown; headers: Readonly<Record<string, string>> } | undefined,
): void {
  if (set)
    return void response.writeHead(200, set.headers).end(typeof set.body === 'string' ? set.body : JSON.stringify(set.body));
  const reply = { text: String(json['text']).toUpperCase(), source_language: 'en', provider: 'capitals' };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
}

function misbehave(response: ServerResponse, fault: Exclude<Fault, 'refuses' | 'hangs in the request'>): void {
  const { socket } = response;
  const pdfHead = { 'content-type': 'application/pdf' };
  const json = { 'content-type': 'application/json' };
  switch (fault) {
    case 'hangs before the reply':
      return;
    case 'hangs in the reply':
      return void response.writeHead(200, pdfHead).write('%PDF-1.7\n');
    case 'drops the connection':
      return void socket?.destroy();
    case 'truncates':
      return void response.writeHead(200, { ...pdfHead, 'content-length': 10_000 }).write('%PDF-1.7\n', () => socket?.destroy());
    case 'answers 500':
      return void response.writeHead(500, json).end('{"error":"internal","message":"It broke."}');
    case 'answers 503 with Retry-After':
      return void response.writeHead(503, { ...json, 'retry-after': '7' }).end('{"error":"busy","message":"Too many."}');
    case 'answers 422':
      return void response.writeHead(422, json).end('{"error":"no_text","message":"The PDF has <b>no text</b>."}');
    case 'answers 401':
      return void response.writeHead(401, json).end('{"error":"unauthenticated","message":"The token is wrong."}');
    case 'wrong type':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>');
    case 'garbage':
      return void response.writeHead(200, pdfHead).end(Buffer.alloc(5_000, 7));
    case 'no HTTP':
      return void socket?.end('I am no web server\r\n\r\n');
    case 'redirects':
      return void response.writeHead(302, { location: INSIDE }).end();
    case 'never ends':
      response.writeHead(200, pdfHead);
      return void write(response, { bytes: Infinity });
  }
}

const FILL = Buffer.alloc(65_536, 0x20);
const END = '\n%%EOF\n';

/** A PDF's beginning, blanks, and its end: as many bytes as wanted, no faster than they are read. */
async function write(response: ServerResponse, result: Buffer | { readonly bytes: number }): Promise<void> {
  if (Buffer.isBuffer(result)) return void response.write(result);
  const begin = '%PDF-1.7\n';
  response.write(begin);
  for (let left = result.bytes - begin.length - END.length; left > 0 && !response.destroyed; left -= FILL.length) {
    if (response.write(FILL.subarray(0, Math.min(left, FILL.length)))) continue;
    await drained(response);
  }
  response.write(END);
}
