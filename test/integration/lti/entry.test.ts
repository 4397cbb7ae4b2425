import { expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { pino } from 'pino';
import { createServer } from '../../../cmd/server/server.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { INSTRUCTOR, type Launch, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { freePort } from '../../support/backends/ports.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();

async function launched(opened: Partial<Launch> = {}, claims: Record<string, unknown> = {}) {
  const page = await follow(
    new Browser(),
    at.lms.open(at.clientId, opened, { claims: (all) => void Object.assign(all, claims) }),
  );
  const entry = new URL(String(page.headers.location));
  const token = entry.searchParams.get('token') ?? '';
  const { launch_id: launchId } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    launch_id: string;
  };
  return { entry, token, launchId, api: tenant.anonymous.as(token) };
}

/** Scripts and styles are those of the build: files that people uploaded are of this origin too. */
const csp = (frames: string): string => {
  const files = `${new URL(tenant.url).host}/assets/`;
  return (
    `default-src 'none'; script-src ${files}; style-src ${files}; font-src ${files}; connect-src 'self'; ` +
    `img-src 'self'; media-src 'self'; ` +
    `base-uri 'none'; form-action 'none'; frame-ancestors ${frames}; require-trusted-types-for 'script'`
  );
};

test('a launch arrives at a page without inline script, which only its LMS may frame and no cache stores', async () => {
  const { entry } = await launched();

  const page = await new Browser().get(entry);

  expect(page.status).toBe(200);
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': csp(at.lms.issuer),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|javascript:|https?:\/\//);
  expect(page.text).not.toContain(entry.searchParams.get('token'));
});

test('frame-ancestors are those of the launch and of its registration', async () => {
  const { entry } = await launched(
    {},
    {
      [`${LTI}/launch_presentation`]: { document_target: 'iframe', return_url: 'https://school.example.org/courses/7?done=1' },
      [`${LTI}/tool_platform`]: { guid: 'x', url: 'https://campus.example.org:8443/home' },
    },
  );
  const hostile = await launched(
    {},
    { [`${LTI}/launch_presentation`]: { return_url: 'https://a;script-src' }, [`${LTI}/tool_platform`]: { url: 'https://*' } },
  );
  await tenant.db.tables.ltiPlatforms.update({ id: at.platformId }, { frameAncestors: ['https://*.example.edu'] });

  const page = await new Browser().get(entry);
  const safe = await new Browser().get(hostile.entry);
  await tenant.db.tables.ltiPlatforms.update({ id: at.platformId }, { frameAncestors: [] });

  const listed = `${at.lms.issuer} https://*.example.edu`;
  expect(page.headers['content-security-policy']).toBe(
    csp(`https://school.example.org https://campus.example.org:8443 ${listed}`),
  );
  expect(safe.headers['content-security-policy']).toBe(csp(listed));
});

test('the page is in the language that the LMS shows, else the person’s, else the one that the browser wants', async () => {
  const presentation = `${LTI}/launch_presentation`;
  const pages = [
    { claims: { [presentation]: { locale: 'de-DE' }, locale: 'en' }, accepts: 'en' },
    { claims: { [presentation]: {}, locale: 'de_CH' }, accepts: 'en' },
    { claims: { [presentation]: { locale: 'fr' } }, accepts: 'de-AT,de;q=0.9' },
    { claims: { [presentation]: { locale: 7 } }, accepts: '*' },
  ];

  const languages = await Promise.all(
    pages.map(async ({ claims, accepts }) => {
      const { entry } = await launched({}, claims);
      const { text } = await new Browser().get(entry, { 'accept-language': accepts });
      return /<html lang="(\w+)">[^]*<title>(.+?)</.exec(text)?.slice(1);
    }),
  );

  expect(languages).toEqual([
    ['de', 'Kursdateien'],
    ['de', 'Kursdateien'],
    ['de', 'Kursdateien'],
    ['en', 'Course files'],
  ]);
});

test('a refusal is in the language that the browser wants, with the same code', async () => {
  const german = await new Browser().get(`${tenant.url}/lti/entry`, { 'accept-language': 'de' });
  const other = await new Browser().get(`${tenant.url}/lti/entry`, { 'accept-language': 'fr' });
  const unknownHost = await new Browser().get(`${tenant.url}/lti/entry`, {
    'accept-language': 'de',
    host: 'elsewhere.example.org',
  });

  expect(german.text).toContain('<html lang="de">');
  expect(german.text).toContain('Diese Seite öffnet sich aus Ihrem Kurs: Öffnen Sie dort den Link.');
  expect(other.text).toContain('This page opens from your course: open the link there.');
  expect(unknownHost.text).toContain('Dieser Dienst antwortet nicht unter diesem Hostnamen.');
  for (const { status, text } of [german, other])
    expect([status, text.includes('<code>entry_token_missing</code>')]).toEqual([400, true]);
});

test('the page also has an address with the launch’s id, so that a reload without the token works', async () => {
  const { launchId } = await launched();

  const page = await new Browser().get(`${tenant.url}/lti/entry?launch=${launchId}`);

  expect([page.status, page.headers['content-security-policy']]).toEqual([200, csp(at.lms.issuer)]);
});

test('its script and style are served by their hash and cached for a year', async () => {
  const { entry } = await launched();
  const { text } = await new Browser().get(entry);
  const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => `${tenant.url}${path}`);

  expect([...new Set(files.map((file) => file.replace(/^.*-[A-Za-z0-9_-]{8}\./, '')))]).toEqual(['css', 'js']);
  for (const file of files) {
    const reply = await tenant.anonymous.raw('GET', file);
    const again = await tenant.anonymous.raw('GET', file, { headers: { 'if-none-match': String(reply.headers['etag']) } });
    const head = await tenant.anonymous.raw('HEAD', file);
    expect([reply.status, again.status, again.bytes.length, head.status]).toEqual([200, 304, 0, 200]);
    expect(reply.headers).toMatchObject({
      'content-type': file.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    expect(Number(reply.headers['content-length'])).toBe(reply.bytes.length);
  }
});

test.each([
  '/assets/',
  '/assets/../package.json',
  '/assets/%2e%2e/sources.sha256',
  '/.vite/manifest.json',
  '/sources.sha256',
  '/assets/entry.js',
])('the file %s is not given out', async (path) => {
  expect((await tenant.anonymous.raw('GET', `${tenant.url}${path}`)).status).toBe(404);
});

test('a token that is missing, changed, foreign, old or of no launch is refused readably, each with its code', async () => {
  const { token, launchId } = await launched();
  const old = await launched();
  await tenant.db.tables.ltiLaunches.update({ launchId: old.launchId }, { expiresAt: new Date(Date.now() - 1000) });
  const foreign = await startTenant();
  const foreignToken = foreign.admin.token ?? '';
  await foreign.stop();
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const changed = Buffer.from(Buffer.from(payload, 'base64url').toString().replace(launchId, old.launchId)).toString('base64url');
  const hs256 = await new SignJWT({ launch_id: launchId }).setProtectedHeader({ alg: 'HS256' }).sign(systemRandom.bytes(32));

  const codes = [];
  for (const query of [
    '',
    '?token=',
    '?token=abc',
    `?token=${header}.${changed}.${signature}`,
    `?token=${hs256}`,
    `?token=${foreignToken}`,
    `?token=${tenant.admin.token}`,
    `?token=${token}&token=${token}`,
    `?token=${old.token}`,
    `?launch=${old.launchId}`,
    `?launch=${systemRandom.uuid()}`,
    '?launch=%00',
  ]) {
    const { status, code, headers, text } = await new Browser().get(`${tenant.url}/lti/entry${query}`);
    codes.push(`${status} ${code}`);
    expect(text).toContain('</html>');
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
    );
  }

  expect(codes).toEqual([
    '400 entry_token_missing',
    '400 entry_token_missing',
    '401 entry_token_invalid',
    '401 entry_token_invalid',
    '401 entry_token_invalid',
    '401 entry_token_invalid',
    '401 entry_token_invalid',
    '400 parameter_repeated',
    '401 entry_expired',
    '401 entry_expired',
    '401 entry_token_invalid',
    '401 entry_token_invalid',
  ]);
});

test('a token past its hour is entry_expired', async () => {
  let ahead = 0;
  const timed = await startTenant({
    clock: { ...systemClock, now: () => new Date(Date.now() + ahead) },
  });
  const own = await registeredLms(timed);
  const page = await follow(new Browser(), own.lms.open(own.clientId));
  const before = await new Browser().get(String(page.headers.location));
  ahead = 3_601_000;

  const after = await new Browser().get(String(page.headers.location));
  await timed.stop();
  await own.lms.stop();

  expect([before.status, after.status, after.code]).toEqual([200, 401, 'entry_expired']);
});

test('the page asks what it shows of GET /lti/launches/{launch_id}', async () => {
  const { launchId, api } = await launched(
    { user: { id: 'viewer', name: 'Grace Hopper' }, roles: [INSTRUCTOR], course: { id: 'cs-1', title: 'Compilers' } },
    { [`${LTI}/launch_presentation`]: { return_url: 'https://lms.example.org/back' } },
  );

  const { status, body } = await api.get(`/lti/launches/${launchId}`);

  expect(status).toBe(200);
  expect(body).toEqual({
    launch_id: launchId,
    user: { id: (await api.get('/users/me')).body.id, name: 'Grace Hopper' },
    roles: [INSTRUCTOR],
    context: { id: 'cs-1', title: 'Compilers' },
    folder: { id: expect.any(String), name: 'Compilers', may_write: true },
    resource_link: { id: 'link-1', title: 'Files', file: null, problem: null },
    reviews: false,
    course_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    takes_grades: true,
    return_url: 'https://lms.example.org/back',
    launched_at: expect.any(String),
    expires_at: expect.any(String),
  });
  expect(Date.parse(body.expires_at) - Date.parse(body.launched_at)).toBe(3_600_000);
  expect((await api.get(`/files?folder_id=${body.folder.id}`)).status).toBe(200);
});

test('a launch is shown to its user, the course’s instructors and administrators; for others it does not exist', async () => {
  const course = { id: 'rights-1', title: 'Rights' };
  const own = await launched({ user: { id: 'learner-1' }, course });
  const peer = await launched({ user: { id: 'learner-2' }, course });
  const instructor = await launched({ user: { id: 'prof-1' }, course, roles: [INSTRUCTOR] });
  const elsewhere = await launched({ user: { id: 'prof-2' }, course: { id: 'rights-2', title: 'Other' }, roles: [INSTRUCTOR] });
  const stranger = await tenant.user({ roles: ['instructor'] });
  const show = async (api: typeof own.api) => {
    const { status, body } = await api.get(`/lti/launches/${own.launchId}`);
    return [status, body.folder?.may_write ?? body.folder];
  };

  expect(await show(own.api)).toEqual([200, false]);
  expect(await show(instructor.api)).toEqual([200, true]);
  expect(await show(tenant.admin)).toEqual([200, null]);
  expect(await show(peer.api)).toEqual([404, undefined]);
  expect(await show(elsewhere.api)).toEqual([404, undefined]);
  expect(await show(stranger.api)).toEqual([404, undefined]);
  expect((await tenant.anonymous.get(`/lti/launches/${own.launchId}`)).status).toBe(401);
  expect((await own.api.get(`/lti/launches/${systemRandom.uuid()}`)).status).toBe(404);
  expect((await own.api.get('/lti/launches/nonsense')).status).toBe(400);
});

test('the way back, which may hold a secret of the person’s session at the LMS, is shown to that person alone', async () => {
  const course = { id: 'way-back-1', title: 'Way back' };
  const back = 'https://lms.example.org/mod/lti/return.php?course=2&sesskey=k3yOfBen';
  const own = await launched({ user: { id: 'ben' }, course }, { [`${LTI}/launch_presentation`]: { return_url: back } });
  const instructor = await launched({ user: { id: 'prof-3' }, course, roles: [INSTRUCTOR] });
  const show = async (api: typeof own.api) => (await api.get(`/lti/launches/${own.launchId}`)).body;

  const shown = await Promise.all([show(own.api), show(instructor.api), show(tenant.admin)]);
  const page = await new Browser().get(own.entry);

  expect(shown.map(({ launch_id, return_url }) => [launch_id, return_url])).toEqual([
    [own.launchId, back],
    [own.launchId, null],
    [own.launchId, null],
  ]);
  expect(JSON.stringify([page.text, page.headers])).not.toContain('k3yOfBen');
});

test('a person whom the LMS does not name has no name here', async () => {
  const { launchId, api } = await launched({ user: { id: 'nameless' } });

  expect((await api.get(`/lti/launches/${launchId}`)).body.user).toEqual({ id: expect.any(String), name: null });
});

test('a launch outside any course has no folder, and grades only where the LMS takes them', async () => {
  const { launchId, api } = await launched({ course: null });

  expect((await api.get(`/lti/launches/${launchId}`)).body).toMatchObject({ context: null, folder: null, takes_grades: false });
});

test('a server whose pages were not built says so once at its start, and answers them with 503', async () => {
  const { entry, token } = await launched();
  const errors: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push((JSON.parse(line) as { msg: string }).msg) });
  const port = await freePort();
  const config = { ...tenant.config, CARREL_PORT: port, CARREL_LTI_URL: `http://127.0.0.1:${port}` };
  const server = await createServer(config, { log, webFolder: import.meta.dirname });

  const page = await new Browser().get(`http://127.0.0.1:${port}/lti/entry${entry.search}`);
  const api = await tenant.anonymous.as(token).raw('GET', `http://127.0.0.1:${port}/api/v1/users/me`);
  await server.stop();

  expect([page.status, page.code, api.status]).toEqual([503, 'web_not_built', 200]);
  expect(errors).toEqual([expect.stringMatching(/make build/)]);
});
