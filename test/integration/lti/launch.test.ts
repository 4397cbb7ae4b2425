import { expect, test } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { Browser, follow, toTheForm } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const REFUSAL_CSP =
  "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

const { tenant, at } = lmsSuite();

const tokenOf = (location: unknown): string => new URL(String(location)).searchParams.get('token') ?? '';

test('a launch goes the whole way: session, person, launch row and an application JWT that opens the API', async () => {
  const user = { id: 'ada', name: 'Ada Lovelace', email: 'ada@example.org' };

  const page = await follow(new Browser(), at.lms.open(at.clientId, { user, roles: [INSTRUCTOR] }));

  expect(page.status).toBe(303);
  expect(String(page.headers.location)).toMatch(new RegExp(`^${tenant.url}/lti/entry\\?token=ey`));
  const token = tokenOf(page.headers.location);
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(`${tenant.url}/.well-known/jwks.json`)));
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
  const me = await tenant.anonymous.as(token).get('/users/me');
  expect([me.status, me.body]).toEqual([
    200,
    expect.objectContaining({
      email: expect.stringMatching(/^[0-9a-f]{32}@lti\.invalid$/),
      contact_email: 'ada@example.org',
      display_name: 'Ada Lovelace',
      roles: ['instructor'],
    }),
  ]);
  expect(me.body.username).toMatch(/^lti-[0-9a-f]{32}$/);
  const launch = await tenant.db.tables.ltiLaunches.find({ launchId: String(payload.launch_id) });
  expect(launch).toMatchObject({
    userId: 'ada',
    contextId: 'history-1',
    resourceLinkId: 'link-1',
    deploymentId: '1',
    roles: [INSTRUCTOR],
    agsLineitemUrl: `${at.lms.issuer}/ags/history-1/lineitems/link-1`,
    nrpsUrl: `${at.lms.issuer}/nrps/history-1/members`,
  });
});

test('login initiation by POST works as by GET, and binds the launch by a partitioned cookie', async () => {
  const browser = new Browser();
  const login = at.lms.open(at.clientId);

  const begun = await browser.post(`${login.origin}${login.pathname}`, login.searchParams);

  expect(begun.status).toBe(302);
  const [cookie] = begun.headers['set-cookie'] ?? [];
  expect(cookie).toMatch(
    /^carrel_lti_[0-9a-f]{16}=v1\.\S+; Path=\/launch; Max-Age=600; HttpOnly; Secure; SameSite=None; Partitioned$/,
  );
  expect((await browser.get(String(begun.headers.location))).text).toContain('id_token');
});

test('exactly one of 50 racing posts of a valid response launches', async () => {
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId, { user: { id: 'racer' } }));
  if ('ended' in form) throw new Error(form.ended.text);
  const cookies = new Map(browser.cookies);

  const pages = await Promise.all(
    range(50).map(() => {
      const tab = new Browser();
      for (const [key, cookie] of cookies) tab.cookies.set(key, cookie);
      return untilServed(() => tab.post(form.action, form.fields));
    }),
  );

  expect(countBy(pages, ({ status }) => status)).toEqual({ 303: 1, 409: 49 });
  expect(pages.find(({ status }) => status === 409)?.code).toBe('launch_used');
  expect(await tenant.db.tables.ltiLaunches.count({ userId: 'racer' })).toBe(1);
});

test('ten first launches of one person into one new course make one user, one group and one folder', async () => {
  const opened = {
    user: { id: 'twin', email: 'twin@example.org' },
    course: { id: 'new-course', title: 'New' },
    roles: [INSTRUCTOR],
  };

  const pages = await Promise.all(range(10).map(() => follow(new Browser(), at.lms.open(at.clientId, opened))));

  expect(countBy(pages, ({ status }) => status)).toEqual({ 303: 10 });
  expect(await tenant.db.tables.ltiIdentities.count({ subject: 'twin' })).toBe(1);
  expect(await tenant.db.tables.groups.count({ contextId: 'new-course' })).toBe(1);
  expect(await tenant.db.tables.folders.count({ name: 'New', isSystem: true })).toBe(1);
  expect(await tenant.db.tables.permissions.count({ permissionLevel: 'write', userId: await idOf('twin') })).toBe(1);
});

const idOf = async (subject: string): Promise<number> => (await tenant.db.tables.ltiIdentities.find({ subject }))?.userId ?? 0;

test('warm, login and launch are one statement each, without a request to the LMS', async () => {
  const opened = { user: { id: 'regular' } };
  await follow(new Browser(), at.lms.open(at.clientId, opened));
  const asked = at.lms.keySetRequests;

  const { reply, sql } = await tenant.counting(() => follow(new Browser(), at.lms.open(at.clientId, opened)));

  expect(reply.status).toBe(303);
  expect(sql).toHaveLength(2);
  expect(at.lms.keySetRequests).toBe(asked);
});

test('the course is a folder: an instructor uploads, a learner reads, and who becomes a learner writes no more', async () => {
  const course = { id: 'physics-1', title: 'Physics' };
  const enter = async (id: string, role: string) => {
    const page = await follow(new Browser(), at.lms.open(at.clientId, { user: { id }, roles: [role], course }));
    return tenant.anonymous.as(tokenOf(page.headers.location));
  };
  const instructor = await enter('prof', INSTRUCTOR);
  const folder = await tenant.db.tables.folders.find({ name: 'Physics', isSystem: true });
  const upload = (api: typeof instructor, name: string) =>
    api.upload('/files', { file: Buffer.from('E = mc²'), name, fields: { folder_id: folder?.uuid ?? '' } });

  const written = await upload(instructor, 'notes.txt');
  const learner = await enter('student', LEARNER);
  const read = await learner.get(`/files/${written.body.id}`);
  const refused = await upload(learner, 'mine.txt');
  const demoted = await upload(await enter('prof', LEARNER), 'late.txt');

  expect([written.status, read.status, refused.status, demoted.status]).toEqual([201, 200, 403, 403]);
});

test('two courses of one title have two folders', async () => {
  for (const id of ['same-1', 'same-2']) {
    await follow(new Browser(), at.lms.open(at.clientId, { course: { id, title: 'Same' } }));
  }

  const folders = await tenant.db.tables.folders.list({ isSystem: true }, { orderBy: [['id', 'asc']] });
  expect(folders.filter(({ name }) => name.startsWith('Same')).map(({ name }) => name)).toEqual([
    'Same',
    expect.stringMatching(/^Same \([0-9a-f-]{36}\)$/),
  ]);
});

test('a launch with an existing user’s e-mail address creates another user, without access to the former’s files', async () => {
  const { user } = await tenant.user();

  const page = await follow(new Browser(), at.lms.open(at.clientId, { user: { id: 'thief', email: user.email } }));

  const me = await tenant.anonymous.as(tokenOf(page.headers.location)).get('/users/me');
  expect(me.body.id).not.toBe(user.id);
  expect(me.body.email).toMatch(/^[0-9a-f]{32}@lti\.invalid$/);
});

test('a deactivated person is refused with user_inactive', async () => {
  await follow(new Browser(), at.lms.open(at.clientId, { user: { id: 'left' } }));
  await tenant.db.tables.users.update({ id: await idOf('left') }, { isActive: false });

  const page = await follow(new Browser(), at.lms.open(at.clientId, { user: { id: 'left' } }));

  expect([page.status, page.code]).toEqual([403, 'user_inactive']);
});

test('the key set has the keys of active registrations and of tokens, and no private part', async () => {
  const resting = await registeredLms(tenant, at);
  await tenant.db.tables.ltiTools.update({ id: resting.toolId }, { isActive: false });

  const reply = await tenant.anonymous.raw('GET', `${tenant.url}/.well-known/jwks.json`);

  expect([reply.status, reply.headers['cache-control']]).toEqual([200, 'public, max-age=300']);
  expect(reply.body).toEqual({
    keys: [
      { kty: 'RSA', kid: at.keyId, alg: 'RS256', use: 'sig', n: expect.any(String), e: 'AQAB' },
      {
        kty: 'EC',
        crv: 'P-256',
        kid: expect.any(String),
        alg: 'ES256',
        use: 'sig',
        x: expect.any(String),
        y: expect.any(String),
      },
    ],
  });
});

test.each(['/lti/launch', '/launch'])('%s opened directly says to start from the LMS', async (path) => {
  const page = await new Browser().get(`${tenant.url}${path}`);

  expect([page.status, page.code]).toEqual([400, 'start_from_lms']);
  expect(page.text).toContain('Start from your LMS');
  expect(page.headers['content-security-policy']).toBe(REFUSAL_CSP);
});

const LTI_1_1 = {
  lti_message_type: 'basic-lti-launch-request',
  lti_version: 'LTI-1p0',
  oauth_consumer_key: 'k',
  resource_link_id: '1',
};
const LOGIN = { iss: 'https://lms.example.org', login_hint: '2', target_link_uri: 'https://files.example.org/lti/launch' };
const RESPONSE = { state: 'A'.repeat(43), id_token: 'e30.e30.' };

test.each<[string, 'get' | 'post', string, Record<string, string>, string]>([
  ['an LTI 1.1 launch at the launch URL', 'post', '/lti/launch', LTI_1_1, 'lti_1_1_launch'],
  ['an LTI 1.1 launch at the redirect URI', 'post', '/launch', LTI_1_1, 'lti_1_1_launch'],
  ['an LTI 1.1 launch at the login URL', 'post', '/login_initiation', LTI_1_1, 'lti_1_1_launch'],
  ['a login at the launch URL', 'post', '/lti/launch', LOGIN, 'login_misdirected'],
  ['a login at the launch URL by GET', 'get', '/lti/launch', LOGIN, 'login_misdirected'],
  ['a login at the redirect URI', 'post', '/launch', LOGIN, 'login_misdirected'],
  ['a login at the redirect URI by GET', 'get', '/launch', LOGIN, 'login_misdirected'],
  ['a login for an address elsewhere', 'post', '/login_initiation', LOGIN, 'target_link_uri_foreign'],
  ['a launch at the launch URL', 'post', '/lti/launch', RESPONSE, 'launch_misdirected'],
  ['a launch at the login URL', 'post', '/login_initiation', RESPONSE, 'launch_misdirected'],
])(
  '%s gets a page, which any LMS may frame, that says which field takes which address',
  async (_what, method, path, fields, code) => {
    const browser = new Browser();
    const sent = new URLSearchParams(fields);

    const page =
      method === 'get'
        ? await browser.get(`${tenant.url}${path}?${sent.toString()}`)
        : await browser.post(`${tenant.url}${path}`, sent);

    expect([page.status, page.code]).toEqual([400, code]);
    const listed = [...page.text.matchAll(/<dt>([^<]*)<\/dt>\n<dd><code>([^<]*)<\/code>/g)].map(([, field, address]) => [
      field,
      address,
    ]);
    expect(listed).toEqual([
      ['Tool URL (launch URL, target link URI)', `${tenant.url}/lti/launch`],
      ['Initiate login URL (OpenID Connect login URL)', `${tenant.url}/login_initiation`],
      ['Redirection URI', `${tenant.url}/launch`],
      ['Public keyset (JWKS URL)', `${tenant.url}/.well-known/jwks.json`],
    ]);
    expect(page.headers['content-security-policy']).toBe(REFUSAL_CSP);
    expect(page.text).not.toMatch(/<script|<style|\son\w+=/);
  },
);

test('a refusal wears the styles of the page of the course', async () => {
  const launched = await follow(new Browser(), at.lms.open(at.clientId));
  const pages = await Promise.all(
    [`${tenant.url}/lti/launch`, String(launched.headers.location)].map((url) => new Browser().get(url)),
  );
  const [refusal, course] = pages.map(({ text }) => /<link rel="stylesheet" href="(\/assets\/[^"]+\.css)">/.exec(text)?.[1]);

  const { status, headers } = await tenant.anonymous.raw('GET', `${tenant.url}${refusal}`);

  expect(refusal).toBe(course);
  expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
});

test('a post of nothing to the launch URL says to start from the LMS', async () => {
  const page = await new Browser().post(`${tenant.url}/lti/launch`, new URLSearchParams());

  expect([page.status, page.code]).toEqual([400, 'start_from_lms']);
});

test('another host gets 421, another method 405, and Accept: application/json the one shape', async () => {
  const browser = new Browser();
  const foreign = await browser.get(`${tenant.url}/lti/launch`, { host: 'evil.example.org', accept: 'application/json' });
  const method = await tenant.anonymous.raw('DELETE', `${tenant.url}/launch`);
  const json = await browser.get(`${tenant.url}/lti/launch`, { accept: 'application/json' });

  expect([foreign.status, JSON.parse(foreign.text).error]).toEqual([421, 'host_unknown']);
  expect([method.status, method.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  expect(JSON.parse(json.text)).toEqual({ error: 'start_from_lms', message: expect.any(String), request_id: expect.any(String) });
});

test('launches are counted by their result', async () => {
  const counts = async (): Promise<number[]> => {
    const metrics = (await tenant.anonymous.raw('GET', `${tenant.opsUrl}/metrics`)).bytes.toString();
    return ['accepted', 'launch_used'].map((result) =>
      Number(new RegExp(`lti_launches_total\\{result="${result}",program="server"\\} (\\d+)`).exec(metrics)?.[1] ?? 0),
    );
  };
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId));
  if ('ended' in form) throw new Error(form.ended.text);
  const [accepted = 0, used = 0] = await counts();

  for (const _ of range(3)) {
    const tab = new Browser();
    for (const [key, cookie] of browser.cookies) tab.cookies.set(key, cookie);
    await tab.post(form.action, form.fields);
  }

  expect(await counts()).toEqual([accepted + 1, used + 2]);
});
