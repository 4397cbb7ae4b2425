import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'node:http';
import { extname } from 'node:path';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';

let tenant: TestTenant;

beforeAll(async () => {
  tenant = await startTenant({ name: 'Biology & <Co>' });
});

afterAll(() => tenant?.stop());

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${tenant.url}${path}`, { redirect: 'manual', ...init });

test('one document answers every address of the app, with nothing inline and nothing from elsewhere', async () => {
  const paths = [
    '/',
    '/files',
    '/files/7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11',
    '/admin/users',
    '/sign-in',
    '/reset',
    '/trash?x=y',
  ];
  const replies = await Promise.all(paths.map((path) => get(path)));
  const documents = await Promise.all(replies.map((reply) => reply.text()));
  const [document = ''] = documents;

  expect(replies.map(({ status }) => status)).toEqual(paths.map(() => 200));
  expect(new Set(documents).size).toBe(1);
  expect(document).toContain('<meta name="application-name" content="Biology &amp; &lt;Co&gt;">');
  expect(document).not.toMatch(/<style|style=|<script(?![^>]* src="\/assets\/)|https?:/);
});

test('the policy of the document allows only this origin, of which only the build runs, and nobody may frame it', async () => {
  const { headers } = await get('/');
  const policy = headers.get('content-security-policy') ?? '';
  const files = `${new URL(tenant.url).host}/assets/`;

  expect(policy).toContain(`default-src 'none'; script-src ${files}; style-src ${files}; font-src ${files};`);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain(`frame-src ${tenant.url}/preview-frame;`);
  expect(policy.replace(tenant.url, '')).not.toMatch(/unsafe|https?:|\*/);
  expect([headers.get('cache-control'), headers.get('cross-origin-opener-policy')]).toEqual(['no-store', 'same-origin']);
});

/** The paths of the files that the document names. */
async function namedFiles(): Promise<string[]> {
  const document = await (await get('/')).text();
  return [...document.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name = '']) => name);
}

interface Sent {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: number;
}

/** A request of our own, since fetch decodes what it gets. */
const raw = (path: string, headers: Readonly<Record<string, string>>): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const sent = request(`${tenant.url}${path}`, { headers, agent: false }, (reply) => {
      let bytes = 0;
      reply.on('data', (chunk: Buffer) => (bytes += chunk.length));
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, bytes }));
    });
    sent.on('error', reject);
    sent.end();
  });

test('every file that the document names is served compressed and cached for a year', async () => {
  const names = await namedFiles();
  const replies = await Promise.all(names.map((name) => raw(name, { 'accept-encoding': 'gzip, br' })));

  expect(names.map((name) => extname(name)).toSorted()).toEqual(['.css', '.js']);
  expect(replies).toEqual(
    names.map(() =>
      expect.objectContaining({
        status: 200,
        headers: expect.objectContaining({
          'cache-control': 'public, max-age=31536000, immutable',
          'content-encoding': 'br',
          vary: 'Accept-Encoding',
        }),
      }),
    ),
  );
});

test('a file is compressed as the browser accepts it, each form with an entity tag of its own', async () => {
  const name = (await namedFiles()).find((one) => one.endsWith('.js')) ?? '';
  const accepted = ['br', 'gzip, deflate', 'identity', 'br;q=0, gzip;q=0.5', ''];
  const replies = await Promise.all(accepted.map((encodings) => raw(name, { 'accept-encoding': encodings })));
  const [brotli, gzip, plain] = replies;
  const again = await raw(name, { 'accept-encoding': 'gzip', 'if-none-match': String(gzip?.headers.etag) });

  expect(replies.map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip', undefined, 'gzip', undefined]);
  expect(brotli?.bytes).toBeLessThan(gzip?.bytes ?? 0);
  expect(gzip?.bytes).toBeLessThan((plain?.bytes ?? 0) / 2);
  expect(new Set(replies.map(({ headers }) => headers.etag)).size).toBe(3);
  expect(again.status).toBe(304);
});

test('the document is in the language of the browser', async () => {
  const reply = await get('/', { headers: { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' } });

  expect([reply.headers.get('vary'), (await reply.text()).includes('<html lang="de">')]).toEqual(['accept-language', true]);
});

test.each([
  ['GET', '/assets/app-unknown.js', 404],
  ['GET', '/unknown', 404],
  ['GET', '/filesystem', 404],
  ['POST', '/files', 405],
  ['HEAD', '/files', 200],
])('%s %s is %i', async (method, path, status) => {
  expect((await get(path, { method })).status).toBe(status);
});

test('an address that nobody has is the app’s page for a browser, with its headers, and JSON for a program', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const paths = ['/login', '/Files', '/nowhere/at/all', '/files'];
  const replies = await Promise.all(paths.map((path) => get(path, { headers: { accept } })));
  const bodies = await Promise.all(replies.map((reply) => reply.text()));
  const [missing, , , page] = replies;
  const programs = await Promise.all([
    get('/login'),
    get('/login', { headers: { accept: 'application/json' } }),
    get('/api', { headers: { accept } }),
    get('/api/v2/files', { headers: { accept } }),
    get('/api/v1/nowhere', { headers: { accept } }),
  ]);
  const errors = await Promise.all(programs.map((reply) => reply.json()));
  const posted = await get('/login', { method: 'POST', headers: { accept } });

  expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 200]);
  expect(new Set(bodies).size).toBe(1);
  for (const name of ['content-security-policy', 'cross-origin-opener-policy', 'cache-control'])
    expect([name, missing?.headers.get(name)]).toEqual([name, page?.headers.get(name)]);
  expect(programs.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  expect(errors).toEqual(programs.map(() => expect.objectContaining({ error: 'not_found' })));
  expect([posted.status, posted.headers.get('content-type')]).toEqual([404, expect.stringContaining('application/json')]);
});
