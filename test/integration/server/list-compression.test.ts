import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import { request } from 'undici';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { inParallel, range } from '../../support/wait.ts';

const tenant = serverSuite();
const FILES = 120;
/** In bytes: shorter pages are not compressed. */
const LONG = 16 * 1024;
let folder: string;
let token: string;
beforeAll(async () => {
  folder = (await tenant.admin.post('/folders', { name: 'Lecture' })).body.id;
  await inParallel(range(FILES), 8, async (n) => {
    await tenant.admin.upload('/files', { name: `Übung ${n}.txt`, file: Buffer.from('x'), fields: { folder_id: folder } });
    await tenant.admin.post(`/folders/${folder}/share`);
  });
  token = (await tenant.admin.post(`/folders/${folder}/share`)).body.token;
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As they came. */
  readonly bytes: Buffer;
}

async function ask(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET'): Promise<Answer> {
  const sent = { authorization: `Bearer ${tenant.admin.token}`, ...headers };
  const reply = await request(`${tenant.apiUrl}${path}`, { method, headers: sent });
  return { status: reply.statusCode, headers: reply.headers, bytes: Buffer.from(await reply.body.arrayBuffer()) };
}

const GZIP = { 'accept-encoding': 'gzip, deflate, br' };
const long = (): readonly string[] => [
  '/files?limit=200',
  `/folders/${folder}/children?limit=200`,
  '/search?q=bung&limit=200',
  `/s/${token}/children?limit=200`,
];

test('a long list of files is sent by gzip to who accepts it, and as it is to anybody else', async () => {
  for (const path of long()) {
    const [plain, gzip] = [await ask(path), await ask(path, GZIP)];

    expect([path, plain.bytes.length > LONG, gzip.bytes.length < plain.bytes.length / 4]).toEqual([path, true, true]);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect([plain, gzip].map(({ headers }) => [headers['content-encoding'], headers['vary'], headers['content-type']])).toEqual([
      [undefined, 'Accept-Encoding', 'application/json; charset=utf-8'],
      ['gzip', 'Accept-Encoding', 'application/json; charset=utf-8'],
    ]);
    expect(gzip.headers['content-length']).toBe(String(gzip.bytes.length));
    expect([plain.headers['etag'], gzip.headers['etag']]).toEqual([
      expect.stringMatching(/^"[\w-]{27}"$/),
      `W/${String(plain.headers['etag'])}`,
    ]);
  }
});

test.each(['identity', 'br', 'gzip;q=0', 'identity, gzip;q=0.5', ''])('Accept-Encoding %j asks for no gzip', async (accepted) => {
  const { headers } = await ask('/files?limit=200', { 'accept-encoding': accepted });

  expect(headers['content-encoding']).toBeUndefined();
});

test('a 304 is the same for both forms, whichever of the two tags the client has', async () => {
  const path = '/files?limit=200';
  const tags = [(await ask(path)).headers['etag'], (await ask(path, GZIP)).headers['etag']].map(String);
  for (const [form, headers] of [{}, GZIP].entries())
    for (const tag of tags) {
      const known = await ask(path, { ...headers, 'if-none-match': tag });

      expect([known.status, known.bytes.length, known.headers['etag']]).toEqual([304, 0, tags[form]]);
      expect([known.headers['vary'], known.headers['content-encoding']]).toEqual(['Accept-Encoding', undefined]);
    }
});

test('HEAD has the headers of GET', async () => {
  const [get, head] = [await ask('/files?limit=200', GZIP), await ask('/files?limit=200', GZIP, 'HEAD')];
  const shown = ({ headers }: Answer): unknown[] =>
    ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'].map((name) => headers[name]);

  expect([head.status, head.bytes.length, shown(head)]).toEqual([200, 0, shown(get)]);
});

test('a short list stays as it is, and so does a long one that shows links, and a resource', async () => {
  const links = await ask('/shares?limit=200', GZIP);
  const others = [await ask('/files?limit=3', GZIP), await ask(`/folders/${folder}`, GZIP)];

  expect(links.bytes.length).toBeGreaterThan(LONG);
  expect([links, ...others].map(({ headers }) => [headers['content-encoding'], headers['vary']])).toEqual(
    range(3).map(() => [undefined, undefined]),
  );
});
