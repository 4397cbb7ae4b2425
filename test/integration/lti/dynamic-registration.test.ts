import { afterEach, expect, test } from '@jest/globals';
import { fixture } from '../../support/suites/fixture.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { requestRegistration } from '../../../pkg/lti/dynamic-registration/links.sql.ts';
import { WAITING_MAX } from '../../../pkg/lti/dynamic-registration/registration-limits.ts';
import type { WantedRegistration } from '../../../pkg/lti/registrations/wanted-registration.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { asTheOperator, requestsOf } from '../../support/lms/operator-made.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';
import { newLink, pressed, registered, shownPage } from './registering.ts';

const tenant = serverSuite({ name: 'Biology' });
const lms = fixture(
  () => Lms.start(),
  (running) => running.stop(),
);
const TOOL = 'https://purl.imsglobal.org/spec/lti-tool-configuration';

/** Registers in the way of Sakai, which adds no steps of its own. */
const newDesk = (): RegistrationDesk => new RegistrationDesk(lms, FACES.sakai);

afterEach(() => tenant.rows.pool.query('DELETE FROM carrel.registration_requests WHERE tenant = $1', [`tenant_${tenant.slug}`]));

test('the page shows what will be registered and sends nothing; the button registers exactly that', async () => {
  const desk = newDesk();
  const link = await newLink(tenant, 'Sakai <b>of</b> the university');

  const { reply: page, sql } = await tenant.counting(() => shownPage(desk, link));
  const beforeButton = { tools: desk.tools.length, waiting: await requestsOf(tenant) };
  const done = await pressed(tenant, page);

  expect(page.status).toBe(200);
  expect(sql).toHaveLength(2);
  for (const shown of [
    lms.issuer,
    `${tenant.url}/lti/launch`,
    `${tenant.url}/launch`,
    `${tenant.url}/.well-known/jwks.json`,
    'send grades',
    'Biology',
  ])
    expect(page.text).toContain(shown);
  expect(page.text).toContain('Sakai &lt;b&gt;of&lt;/b&gt; the university');
  expect(page.headers['content-security-policy']).toContain(`script-src ${new URL(tenant.url).host}/assets/;`);
  expect(page.headers['referrer-policy']).toBe('no-referrer');
  expect(page.text).toMatch(/<link rel="stylesheet"/);
  expect(beforeButton).toEqual({ tools: 0, waiting: [] });
  expect([done.status, done.code]).toEqual([200, undefined]);
  expect(done.text).toContain('id="close"');
  const [tool] = desk.tools;
  expect(tool?.body).toMatchObject({
    client_name: 'Biology',
    initiate_login_uri: `${tenant.url}/login_initiation`,
    redirect_uris: [`${tenant.url}/launch`],
    jwks_uri: `${tenant.url}/.well-known/jwks.json`,
    scope: FACES.sakai.scopes.join(' '),
    [TOOL]: {
      domain: new URL(tenant.url).host,
      target_link_uri: `${tenant.url}/lti/launch`,
      custom_parameters: { carrel_link_history: '$ResourceLink.id.history', carrel_course_history: '$Context.id.history' },
      messages: [
        { type: 'LtiResourceLinkRequest' },
        { type: 'LtiDeepLinkingRequest', placements: ['ContentArea', 'RichTextEditor'] },
        { type: 'LtiSubmissionReviewRequest' },
      ],
    },
  });
  expect((await requestsOf(tenant)).map(({ wanted }) => wanted)).toEqual([
    {
      preset: 'sakai',
      issuer: lms.issuer,
      name: 'Sakai <b>of</b> the university',
      authEndpoint: lms.authEndpoint,
      tokenEndpoint: lms.tokenEndpoint,
      jwksEndpoint: lms.jwksEndpoint,
      tokenAudience: null,
      clientId: tool?.clientId,
      deploymentId: tool?.deploymentId,
    },
  ]);
});

test('a Canvas without Dynamic Registration reads the configuration of the tool at an address', async () => {
  const { status, headers, body } = await tenant.anonymous.raw('GET', `${tenant.url}/lti/canvas.json`);

  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(body).toMatchObject({
    title: 'Biology',
    oidc_initiation_url: `${tenant.url}/login_initiation`,
    target_link_uri: `${tenant.url}/lti/launch`,
    public_jwk_url: `${tenant.url}/.well-known/jwks.json`,
    custom_fields: { carrel_link_history: '$ResourceLink.id.history', carrel_course_history: '$Context.id.history' },
  });
  const [{ settings }] = body.extensions;
  expect(settings.placements.map(({ placement }: { placement: string }) => placement)).toEqual([
    'course_navigation',
    'link_selection',
    'assignment_selection',
    'editor_button',
    'homework_submission',
  ]);
});

test('the reply to the link is the only place that has its token', async () => {
  const link = await newLink(tenant);
  const token = link.split('/').at(-1) ?? '';

  const stored = await tenant.db.query<{ row: string }>('SELECT l::text AS row FROM lti_registration_links l');

  expect(token).toHaveLength(43);
  expect(stored.filter(({ row }) => row.includes(token))).toEqual([]);
});

test('a link lives for 24 hours; then it is expired, before the LMS is asked anything', async () => {
  const desk = newDesk();
  const before = Date.now();
  const { body } = await tenant.admin.post('/lti/registration-links', {});
  const page = await shownPage(desk, body.url);
  await tenant.db.query(`UPDATE lti_registration_links SET expires_at = now() - interval '1 second' WHERE used_at IS NULL`);

  const shown = await shownPage(desk, body.url);
  const button = await pressed(tenant, page);

  expect(Date.parse(body.expires_at) - before).toBeGreaterThan(86_390_000);
  expect(Date.parse(body.expires_at) - before).toBeLessThan(86_430_000);
  expect([shown.status, shown.code, button.status, button.code]).toEqual([410, 'link_expired', 410, 'link_expired']);
  expect(desk.requests.map(({ path }) => path)).toEqual(['/openid-configuration']);
});

test('an expired link is deleted a day later, by the next one; one that is used stays', async () => {
  const desk = newDesk();
  const [expired, used] = [await newLink(tenant), await newLink(tenant)];
  await registered(tenant, desk, used);
  await tenant.db.query(`UPDATE lti_registration_links SET expires_at = now() - interval '25 hours'`);

  await newLink(tenant);

  expect([(await shownPage(desk, expired)).code, (await shownPage(desk, used)).code]).toEqual(['link_unknown', 'link_used']);
});

test('a link ends with the rights of its maker, before the page and before the button', async () => {
  const desk = newDesk();
  const { api, user } = await tenant.user({ roles: ['admin'] });
  const links = [
    (await api.post('/lti/registration-links', {})).body.url,
    (await api.post('/lti/registration-links', {})).body.url,
  ];
  const page = await shownPage(desk, links[0]);
  await tenant.admin.patch(`/users/${user.id}`, { roles: ['member'] });

  const refused = [await pressed(tenant, page), await shownPage(desk, links[1])];
  await tenant.admin.patch(`/users/${user.id}`, { roles: ['admin'] });

  expect([page.status, ...refused.map(({ code }) => code), desk.tools.length]).toEqual([200, 'link_unknown', 'link_unknown', 0]);
  expect((await pressed(tenant, page)).status).toBe(200);
});

test('a tenant has at most 50 links that wait: one more is a conflict, until one is used or ends', async () => {
  await tenant.db.query('DELETE FROM lti_registration_links WHERE used_at IS NULL');
  const link = await newLink(tenant);
  for (const _ of range(49)) await newLink(tenant);

  const refused = await tenant.admin.post('/lti/registration-links', {});
  await registered(tenant, newDesk(), link);
  const again = await tenant.admin.post('/lti/registration-links', {});
  await tenant.db.query('DELETE FROM lti_registration_links WHERE used_at IS NULL');

  expect([refused.status, refused.body.error, again.status]).toEqual([409, 'conflict', 201]);
});

test('a link is used once: a second page, and a button of another page, are link_used', async () => {
  const desk = newDesk();
  const link = await newLink(tenant);
  const [first, second] = [await shownPage(desk, link), await shownPage(desk, link)];

  const done = await pressed(tenant, first);
  const refused = [await pressed(tenant, second), await shownPage(desk, link)];

  expect(done.status).toBe(200);
  expect(refused.map(({ status, code }) => [status, code])).toEqual([
    [409, 'link_used'],
    [409, 'link_used'],
  ]);
  expect(desk.tools).toHaveLength(1);
});

test('the button pressed again, at once or later, shows the same registration and registers nothing more', async () => {
  const desk = newDesk();
  const page = await shownPage(desk, await newLink(tenant));

  const pages = await Promise.all(range(5).map(() => pressed(tenant, page)));
  await asTheOperator(tenant);
  const later = await pressed(tenant, page);

  expect(new Set([...pages, later].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect([later.status, desk.tools.length, await requestsOf(tenant)]).toEqual([200, 1, []]);
});

test('one of 8 people who register by one link at once succeeds, and the others read that the link is busy', async () => {
  const desk = newDesk();
  const link = await newLink(tenant);
  const pages = await Promise.all(range(8).map(() => shownPage(desk, link)));
  const { promise, resolve } = Promise.withResolvers<void>();
  desk.pause = promise;

  let replied = 0;
  const buttons = pages.map((page) => pressed(tenant, page).finally(() => (replied += 1)));
  await waitFor('one registration to arrive at the LMS', async () => desk.requests.some(({ path }) => path === '/registrations'));
  // Whoever comes when it has ended reads that the link is used.
  await waitFor('the others to be refused', () => replied === buttons.length - 1);
  const meanwhile = await shownPage(desk, link);
  resolve();
  const replies = await Promise.all(buttons);

  expect(meanwhile.status).toBe(200);
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(new Set(replies.filter(({ status }) => status !== 200).map(({ code }) => code))).toEqual(new Set(['link_busy']));
  expect([desk.tools.length, (await requestsOf(tenant)).length]).toEqual([1, 1]);
});

test('two links of one LMS at once give two registrations, which launch beside each other', async () => {
  const desk = newDesk();
  const links = [await newLink(tenant), await newLink(tenant)];

  const replies = await Promise.all(links.map((link) => registered(tenant, desk, link)));
  await asTheOperator(tenant);

  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  const { data } = (await tenant.admin.get('/lti/registrations', { query: { limit: '200' } })).body;
  const ids = data.map(({ client_id }: { client_id: string }) => client_id);
  expect(ids).toEqual(expect.arrayContaining(desk.tools.map(({ clientId }) => clientId)));
});

test('as many registrations as may wait for the operator find a slot each, although they end at once', async () => {
  const wanted = { clientId: 'waiting' } as WantedRegistration;

  const found = await Promise.all(
    range(WAITING_MAX).map(() => tenant.db.transaction((tx) => requestRegistration(tx, systemRandom.uuid(), wanted))),
  );
  const oneMore = await requestRegistration(tenant.db.tables, systemRandom.uuid(), wanted);

  expect([countBy(found, String), oneMore]).toEqual([{ true: WAITING_MAX }, false]);
});

test('a registration that is interrupted leaves the link for another try, with a new page', async () => {
  const desk = newDesk();
  const link = await newLink(tenant);
  const page = await shownPage(desk, link);
  desk.answer = () => 'gone';

  const lost = await pressed(tenant, page);
  desk.answer = () => undefined;
  const again = await registered(tenant, desk, link);

  expect([lost.status, lost.code, again.status]).toEqual([504, 'registration_unanswered', 200]);
  expect(lost.text).toContain('delete it there');
  expect((await requestsOf(tenant)).map(({ wanted }) => wanted.clientId)).toEqual([desk.tools[1]?.clientId]);
});

test('an attempt of a server that died holds the link for a minute at most', async () => {
  const desk = newDesk();
  const link = await newLink(tenant);
  const page = await shownPage(desk, link);
  const hold = (until: string) =>
    tenant.db.query(
      `UPDATE lti_registration_links SET attempt = gen_random_uuid(), attempt_until = now() + $1::interval WHERE used_at IS NULL`,
      [until],
    );
  await hold('59 seconds');

  const busy = await pressed(tenant, page);
  await hold('-1 second');
  const free = await pressed(tenant, page);

  expect([busy.code, free.status]).toEqual(['link_busy', 200]);
});

test('the registration that was shown is sent: a configuration that changes meanwhile changes nothing', async () => {
  const desk = newDesk();
  const page = await shownPage(desk, await newLink(tenant));
  desk.configuration = (configuration) =>
    void (configuration['registration_endpoint'] = 'https://evil.example.org/registrations');

  const done = await pressed(tenant, page);

  expect([done.status, desk.requests.map(({ path }) => path)]).toEqual([200, ['/openid-configuration', '/registrations']]);
});

test('a form that is not of this page, of another link, of another tenant or older than an hour registers nothing', async () => {
  const desk = newDesk();
  const [link, other] = [await newLink(tenant), await newLink(tenant)];
  const page = await shownPage(desk, link);
  const foreign = await startTenant();
  const plan = /name="plan" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const altered = page.text.replace(plan, `${plan.slice(0, -2)}AA`);

  try {
    const replies = [
      await pressed(tenant, { ...page, text: altered }),
      await pressed(tenant, { ...page, text: page.text.replace(plan, '') }),
      await pressed(tenant, { ...page, text: page.text.replaceAll(link.split('/').at(-1) ?? '', other.split('/').at(-1) ?? '') }),
      await pressed(tenant, {
        ...page,
        text: (await shownPage(desk, await newLink(foreign))).text.replace(/\/register\/[\w-]+/, new URL(link).pathname),
      }),
    ];

    expect(replies.map(({ status, code }) => [status, code])).toEqual(replies.map(() => [400, 'form_invalid']));
    expect([desk.tools, await requestsOf(tenant)]).toEqual([[], []]);
    expect((await pressed(tenant, page)).status).toBe(200);
  } finally {
    await foreign.stop();
  }
});

test('only administrators make links, and a name is text that can be seen', async () => {
  const { api } = await tenant.user();

  const replies = [
    await tenant.anonymous.post('/lti/registration-links', {}),
    await api.post('/lti/registration-links', {}),
    await tenant.admin.post('/lti/registration-links', { platform_name: '' }),
    await tenant.admin.post('/lti/registration-links', { platform_name: 'x'.repeat(256) }),
    await tenant.admin.post('/lti/registration-links', { platform_name: 'a\u202Eb' }),
    await tenant.admin.post('/lti/registration-links', { issuer: 'https://lms.example.org' }),
  ];

  expect(replies.map(({ status }) => status)).toEqual([401, 403, 400, 400, 400, 400]);
});

test('a tenant leaves registrations for the operator in 20 slots of its own, and reads nobody else’s', async () => {
  const desk = newDesk();
  await tenant.db.query(
    `INSERT INTO carrel.registration_requests (slot, id, wanted) SELECT s, gen_random_uuid(), '{"clientId": "waiting"}'
     FROM generate_series(0, 19) s`,
  );
  const link = await newLink(tenant);
  const full = await registered(tenant, desk, link);
  const other = await startTenant();

  try {
    const write = (columns: string, values: string) =>
      other.db.query(`INSERT INTO carrel.registration_requests (${columns}) VALUES (${values})`);

    expect([full.status, full.code]).toEqual([409, 'too_many_registrations']);
    expect(await other.db.query('SELECT FROM carrel.registration_requests')).toEqual([]);
    await expect(write('tenant, slot, id, wanted', `'tenant_${tenant.slug}', 0, gen_random_uuid(), '{}'`)).rejects.toThrow(
      /permission denied/,
    );
    await expect(write('slot, id, wanted', `20, gen_random_uuid(), '{}'`)).rejects.toThrow(/check constraint/);
    await expect(write('slot, id, wanted', `0, gen_random_uuid(), jsonb_build_object('x', repeat('x', 17000))`)).rejects.toThrow(
      /check constraint/,
    );
    await expect(other.db.query('DELETE FROM carrel.registration_requests')).rejects.toThrow(/permission denied/);
    await expect(other.db.query(`UPDATE carrel.registration_requests SET wanted = '{}'`)).rejects.toThrow(/permission denied/);
    await tenant.rows.pool.query('DELETE FROM carrel.registration_requests WHERE tenant = $1', [`tenant_${tenant.slug}`]);
    expect((await registered(tenant, desk, link)).status).toBe(200);
  } finally {
    await other.stop();
  }
});
