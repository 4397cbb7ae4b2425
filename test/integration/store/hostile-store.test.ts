import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { createAuthority, createCertificate } from '../../../pkg/local/programs/certificates.ts';
import { EgressError } from '../../../pkg/net/egress-error.ts';
import { guardedSockets } from '../../../pkg/net/guarded-sockets.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { bucketName, StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { newContentKey } from '../../../pkg/store/s3/content-key.ts';
import { Objects } from '../../../pkg/store/s3/objects.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { range } from '../../support/wait.ts';

const MIB = 1 << 20;
/** A reply may go so far past its bound as buffers of the kernel are deep. */
const LEEWAY = 6 * MIB;
/** The most that is sent to a client that does not stop reading. It then fails the test, and spares the machine's memory. */
const MOST_SENT = 64 * MIB;

interface HostileStore {
  readonly port: number;
  readonly url: string;
  readonly requests: string[];
  /** Bytes that clients have taken. */
  taken: number;
  answer: (request: IncomingMessage, response: ServerResponse) => void;
}

const running = ownStores();
let hostile: HostileStore;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const server = createServer((request, response) => {
    hostile.requests.push(`${request.method} ${request.url}`);
    request.resume();
    hostile.answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  hostile = {
    port,
    url: `http://127.0.0.1:${port}`,
    requests: [],
    taken: 0,
    answer: (_request, response) => void response.end(),
  };
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
});
atEnd(async () => {
  for (const end of ends) end();
});

const access = { region: 'us-east-1', bucket: 'bucket', accessKeyId: 'key', secretAccessKey: 'secret' };

function open(options: Partial<ConstructorParameters<typeof Objects>[0]> = {}): Objects {
  const objects = new Objects({ ...access, endpoint: hostile.url, ...options });
  ends.unshift(() => objects.close());
  return objects;
}

const pages = async (objects: Objects): Promise<number> => {
  let count = 0;
  for await (const _ of objects.list()) count += 1;
  return count;
};

/** `head`, then so much of `filler` as the client takes. */
const endless =
  (head: string, filler: string, most = Infinity) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.write(head);
    const chunk = Buffer.from(filler.repeat(Math.ceil((64 * 1024) / filler.length)));
    const write = (): void => {
      while (!response.destroyed && hostile.taken < most) {
        if (hostile.taken > MOST_SENT) return void response.destroy();
        hostile.taken += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', write);
      }
      response.end();
    };
    write();
  };

test.each<[string, number, (objects: Objects) => Promise<unknown>]>([
  ['a deletion', 40 * MIB, (objects) => objects.delete(['a'])],
  ['a deletion', Infinity, (objects) => objects.delete(['a'])],
  ['an object that is put', Infinity, (objects) => objects.put('a', Buffer.from('a'))],
  ['a listing', Infinity, pages],
  ['a listing of uploads', Infinity, (objects) => objects.abandonUploads('')],
  ['an error instead of an object', Infinity, (objects) => objects.get('a')],
])('%s whose reply goes on for %d bytes ends at its bound', async (_what, most, call) => {
  const objects = open();
  hostile.taken = 0;
  const answer = endless('<?xml version="1.0"?><Result>', '<Error><Code>x</Code><Key>yyyyyyyyyyyyyyyyyyyyy</Key></Error>', most);
  hostile.answer = (request, response) => {
    if (request.method === 'GET' && !request.url?.includes('list-type') && !request.url?.includes('uploads'))
      response.statusCode = 500;
    const { statusCode } = response;
    const { writeHead } = response;
    response.writeHead = ((_status: number, headers: object) => writeHead.call(response, statusCode, headers as never)) as never;
    answer(request, response);
  };

  const failure = await call(objects).catch((error: Error) => error);

  expect(failure).toBeInstanceOf(StoreUnavailableError);
  // Twice, since it is tried again.
  expect(hostile.taken).toBeLessThan(2 * (8 * MIB + LEEWAY));
});

const LISTED = '<Contents><Key>20200101/xxxxxxxxxxxxxxxxxxxxxxxx</Key><Size>1</Size></Contents>';
const HUGE_LISTING = `<ListBucketResult>${LISTED.repeat(100_000)}</ListBucketResult>`;
const SMALL_LISTING = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

test('nine replies of 7.9 MiB at once take little more memory than nine small ones', async () => {
  const run = promisify(execFile);
  const grown = async (listing: string): Promise<{ grown: number; errors: string[] }> => {
    hostile.answer = (request, response) => void response.end(request.url?.includes('/first') ? SMALL_LISTING : listing);
    const { stdout } = await run(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', 'test/support/programs/listing-memory.ts', hostile.url, '9'],
      {
        cwd: ROOT,
      },
    );
    return JSON.parse(stdout) as { grown: number; errors: string[] };
  };

  const control = await grown(SMALL_LISTING);
  const huge = await grown(HUGE_LISTING);

  expect([control.errors, huge.errors]).toEqual([['none'], ['ReplyMalformed']]);
  // 18 to 21 MB more; where each reply is parsed as a whole, 238 to 303.
  expect(huge.grown - control.grown).toBeLessThan(72 * MIB);
});

/** A page of objects and one of uploads, of which more are always said to follow. */
const onePage = (key: string, token: string): string =>
  `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>` +
  `<Contents><Key>${key}</Key></Contents></ListBucketResult>`;
const oneUpload = (key: string, id: string): string =>
  `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>` +
  `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload></ListMultipartUploadsResult>`;

function answerLists(pageOf: (isUploads: boolean, page: number) => string): void {
  hostile.requests.length = 0;
  hostile.answer = (request, response) => {
    response.writeHead(request.method === 'DELETE' ? 204 : 200, { 'content-type': 'application/xml' });
    response.end(request.method === 'DELETE' ? '' : pageOf(request.url?.includes('uploads') ?? false, hostile.requests.length));
  };
}

test('a listing that hands out the same page for ever, or uploads that never go, ends after a few requests', async () => {
  const objects = open({ mostPages: 100 });
  const key = newContentKey('20260102', systemRandom);
  answerLists((isUploads, page) => (isUploads ? oneUpload(key, 'u') : onePage(`k${page}`, 'again')));

  await expect(pages(objects)).rejects.toThrow('the listing of bucket bucket does not end');
  const listed = hostile.requests.length;
  await expect(objects.abandonUploads('')).rejects.toThrow('the listing of bucket bucket does not end');

  expect(listed).toBe(2);
  expect(hostile.requests.length - listed).toBeLessThan(20);
});

test('a listing whose pages never end, each of them another one, ends at its bound', async () => {
  const objects = open({ mostPages: 50 });
  answerLists((isUploads, page) =>
    isUploads ? oneUpload(`somebody-elses-${page}`, `u${page}`) : onePage(`k${page}`, `t${page}`),
  );

  await expect(pages(objects)).rejects.toThrow('the listing of bucket bucket does not end');
  await expect(objects.abandonUploads('')).rejects.toThrow('the listing of bucket bucket does not end');

  expect(hostile.requests).toHaveLength(100);
});

test('an upload continues while as many downloads as there are connections stall', async () => {
  const objects = open();
  const unanswered: ServerResponse[] = [];
  hostile.answer = (request, response) => {
    if (request.method !== 'GET') return void response.end();
    response.writeHead(200, { 'content-length': '1000' }).write('x');
    unanswered.push(response);
  };
  const bodies: { body: Readable }[] = [];
  // Not all at once: a connection has two seconds.
  while (bodies.length < 2_000) bodies.push(...(await Promise.all(range(20).map(() => objects.get('large')))));

  const put = await objects.put('small', Buffer.from('small'));

  expect([unanswered.length, put.size]).toEqual([2_000, 5]);
  for (const { body } of bodies) body.destroy();
});

test('an endpoint that a tenant names is not dialled at a private address, by whatever name, nor without TLS', async () => {
  hostile.requests.length = 0;
  hostile.answer = (_request, response) => void response.end();
  const resolve = async (name: string): Promise<string[]> => (name === 'inside.example' ? ['127.0.0.1'] : ['93.184.216.34']);
  const connect = guardedSockets({ allow: [], clock, resolve });
  const codeAt = async (endpoint: string): Promise<unknown> => {
    const failure = await open({ endpoint, connect })
      .ping()
      .catch((error: Error) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    const { cause } = failure as Error;
    return cause instanceof EgressError ? cause.code : cause;
  };

  const codes = [
    await codeAt(hostile.url),
    await codeAt(`http://localhost:${hostile.port}`),
    await codeAt(`https://inside.example:${hostile.port}`),
    await codeAt(`https://[::1]:${hostile.port}`),
    await codeAt('https://169.254.169.254'),
    await codeAt('http://outside.example'),
  ];

  expect(codes).toEqual([...Array<string>(5).fill('address_refused'), 'plain_http_refused']);
  expect(hostile.requests).toEqual([]);
});

test('a store at a private address in an allowed range is used by http, and by https with its certificate checked', async () => {
  const bucket = bucketName(`t-${systemRandom.hex(5)}`);
  const made = { bucket, accessKeyId: bucket, secretAccessKey: systemRandom.base64url(24) };
  const admin = new StorageAdmin(running.s3);
  ends.unshift(() => admin.close());
  await admin.ensureBucketWithUser(made);
  const connect = guardedSockets({ allow: parseAllowedRanges('127.0.0.0/8,::1/128'), clock });
  const objects = open({ ...running.s3, ...made, connect });
  const authority = createAuthority('Carrel test authority', new Date());
  const { certificate: cert, key } = createCertificate(authority, { commonName: 'store' }, ['127.0.0.1'], new Date());
  const tls = createTlsServer({ cert, key }, (_request, response) => void response.end()).listen(0, '127.0.0.1');
  await once(tls, 'listening');
  ends.unshift(
    () => tls.closeAllConnections(),
    () => tls.close(),
  );
  const endpoint = `https://127.0.0.1:${(tls.address() as AddressInfo).port}`;
  const trusting = guardedSockets({ allow: parseAllowedRanges('127.0.0.0/8'), clock, ca: [authority.certificate] });
  const bytes = systemRandom.bytes(20 * MIB);

  await objects.put('file', bytes);
  const read = await buffer((await objects.get('file')).body);
  await open({ endpoint, connect: trusting }).ping();
  const untrusted = await open({ endpoint, connect })
    .ping()
    .catch((error: Error) => error.cause);

  expect(read.equals(bytes)).toBe(true);
  expect(untrusted).toMatchObject({ code: 'tls_failed' });
});
