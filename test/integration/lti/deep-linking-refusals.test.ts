import { beforeEach, expect, test } from '@jest/globals';
import { LAUNCH_ERRORS, type LaunchErrorCode } from '../../../pkg/lti/launch-error.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { DAY_MS } from '../../../pkg/runtime/time.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { Browser, toTheForm } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { deepLinking, SETTINGS } from '../../../pkg/local/demo/lms/deep-linking.ts';
import { FAULTS, type Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { asked, delivered, picking } from '../../support/lms/picked.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { startTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { REFUSED } from './refused.ts';

const { tenant, at } = lmsSuite();

const traces = async (): Promise<number[]> => {
  const { sessions, ltiLaunches, users, groups } = tenant.db.tables;
  return Promise.all([sessions.count({}), ltiLaunches.count({}), users.count({}), groups.count({})]);
};

const setting = (name: string, value: unknown): Record<string, unknown> => ({ [name]: value });
const back = (url: unknown): Record<string, unknown> => setting('deep_link_return_url', url);

test.each<[string, Record<string, unknown>, LaunchErrorCode]>([
  ['no return URL', back(undefined), 'deep_link_return_url_missing'],
  ['an empty return URL', back(''), 'deep_link_return_url_missing'],
  ['a return URL that is a number', back(7), 'deep_link_return_url_refused'],
  ['a return URL that is none', back('/deep-links/return'), 'deep_link_return_url_refused'],
  ['a return URL that runs a script', back('javascript:alert(1)//https://lms.example.org'), 'deep_link_return_url_refused'],
  ['a return URL that holds a page', back('data:text/html,<script>alert(1)</script>'), 'deep_link_return_url_refused'],
  ['a return URL in plain http', back('http://lms.example.org/return'), 'deep_link_return_url_refused'],
  ['a return URL that only looks like loopback', back('http://127.0.0.1.example.org/return'), 'deep_link_return_url_refused'],
  ['a return URL with a password', back('https://lms.example.org:x@evil.example.org/'), 'deep_link_return_url_refused'],
  ['a return URL with a line break', back('https://lms.example.org/\nreturn'), 'deep_link_return_url_refused'],
  ['a return URL whose host ends a directive of CSP', back('https://a;script-src/'), 'deep_link_return_url_refused'],
  ['a return URL of 2,049 characters', back(`https://lms.example.org/${'x'.repeat(2025)}`), 'deep_link_return_url_refused'],
  ['no accept_types', setting('accept_types', undefined), 'accept_types_missing'],
  ['accept_types that are text', setting('accept_types', 'link'), 'accept_types_missing'],
  ['empty accept_types', setting('accept_types', []), 'accept_types_missing'],
  ['accept_types of numbers', setting('accept_types', ['link', 1]), 'accept_types_missing'],
  ['no targets', setting('accept_presentation_document_targets', undefined), 'accept_targets_missing'],
  ['targets that are text', setting('accept_presentation_document_targets', 'iframe'), 'accept_targets_missing'],
  ['media types that are none', setting('accept_media_types', 'pictures'), 'accept_media_types_invalid'],
  ['media types that are a number', setting('accept_media_types', 1), 'accept_media_types_invalid'],
  ['media types with a number', setting('accept_media_types', ['image/*', 1]), 'accept_media_types_invalid'],
  ['accept_multiple "perhaps"', setting('accept_multiple', 'perhaps'), 'accept_multiple_invalid'],
  ['accept_multiple 1', setting('accept_multiple', 1), 'accept_multiple_invalid'],
  ['accept_lineitem "no"', setting('accept_lineitem', 'no'), 'accept_lineitem_invalid'],
  ['auto_create {}', setting('auto_create', {}), 'auto_create_invalid'],
  ['data that is no text', setting('data', { id: 1 }), 'deep_linking_data_invalid'],
])('a deep linking request with %s is refused and leaves nothing', async (_name, settings, code) => {
  const before = await traces();

  const page = await asked(at, settings);

  expect([page.status, page.code, page.headers.location]).toEqual([LAUNCH_ERRORS[code].status, code, undefined]);
  expect(await traces()).toEqual(before);
});

test.each([undefined, null, 'iframe', ['link']])('settings that are %j are deep_linking_settings_missing', async (settings) => {
  const claims: Fault = { claims: (all) => void (all[SETTINGS] = settings) };

  expect((await asked(at, {}, {}, claims)).code).toBe('deep_linking_settings_missing');
});

/**
 * Faults that do not apply: a rule of links, which a deep linking request does not have; or keys that join the set after it was
 * fetched, which are unknown for a minute.
 */
const OTHERWISE = ['no target', 'a key of 1024 bits', 'a key for encryption', 'a key that is not published'];

test.each(Object.entries(REFUSED).filter(([name, code]) => code !== 'resource_link_missing' && !OTHERWISE.includes(name)))(
  'a deep linking request is verified as a launch is: %s is %s',
  async (name, code) => {
    const fault: Fault = FAULTS[name as keyof typeof FAULTS];

    expect((await asked(at, {}, {}, fault)).code).toBe(code);
  },
);

test.each<[string, Record<string, unknown>, Fault]>([
  ['a target that is ours', {}, { claims: (all) => void (all[`${LTI}/target_link_uri`] = `${tenant.url}/lti/launch`) }],
  [
    'no target and null for what it does not say',
    { accept_multiple: null, accept_media_types: null, data: null, accept_lineitem: '' },
    {},
  ],
  ['text for true and false', { accept_multiple: 'False', auto_create: 'true', accept_lineitem: 'TRUE' }, {}],
  ['types that nobody knows', { accept_types: ['x-future', 'ltiAssetProcessor'] }, {}],
  ['settings that nobody knows', { extension: { deep: [1] }, title: 7 }, {}],
  ['no course', {}, { claims: (all) => void delete all[`${LTI}/context`] }],
])('a deep linking request with %s is odd but valid', async (_name, settings, more) => {
  expect((await asked(at, settings, {}, more)).status).toBe(303);
});

test('a link that the policy of share links forbids is refused with the rule, and other answers stay possible', async () => {
  const picker = await picking(tenant, at);
  const { body: file } = await picker.api.upload('/files', { file: Buffer.from('x'), name: 'shared.txt' });
  const refusals = [];
  for (const share_links of [{ password_required: true }, { password_required: false, enabled: false }]) {
    await tenant.admin.patch('/settings', { share_links });
    const { status, body } = await picker.answer([{ type: 'link', file_id: file.id }]);
    refusals.push([status, body.error, body.message.split(':')[0]]);
  }
  const { body: shares } = await picker.api.get(`/files/${file.id}/shares`);
  const { items } = await delivered(at, await picker.answer([{ type: 'ltiResourceLink', file_id: file.id }]));
  await tenant.admin.patch('/settings', { share_links: { enabled: true } });

  expect(refusals).toEqual([
    [422, 'share_policy', 'password_required'],
    [422, 'share_policy', 'disabled'],
  ]);
  expect([shares.data, items.map(({ type }) => type)]).toEqual([[], ['ltiResourceLink']]);
});

test('a link from the picker ends as late as the policy of share links allows', async () => {
  const picker = await picking(tenant, at);
  const { body: file } = await picker.api.upload('/files', { file: Buffer.from('x'), name: 'shared.txt' });
  await tenant.admin.patch('/settings', { share_links: { max_days: 7 } });
  await delivered(at, await picker.answer([{ type: 'link', file_id: file.id }]));
  const [share] = (await picker.api.get(`/files/${file.id}/shares`)).body.data;
  await tenant.admin.patch('/settings', { share_links: { max_days: null } });

  expect(Date.parse(share.expires_at) - Date.parse(share.created_at)).toBe(7 * DAY_MS);
});

test.each([
  [['ltiResourceLink', 'file'], 403],
  [['link'], 403],
  [['image', 'html'], 403],
  [['file'], 303],
  [['file', 'link', 'html'], 303],
])('a learner who is asked for %j gets %i', async (accept_types, status) => {
  const page = await asked(at, { accept_types }, { roles: [LEARNER] });

  expect([page.status, page.code]).toEqual([status, status === 403 ? 'picker_not_for_learners' : undefined]);
});

test.each<[string, Record<string, unknown>, string[]]>([
  ['only instructors may answer', {}, [LEARNER]],
  ['breaks a rule', { accept_types: [] }, [INSTRUCTOR]],
])('a request that %s ends with a way back, since its LMS waits', async (_why, settings, roles) => {
  const page = await asked(at, settings, { roles, returnUrl: 'https://lms.example.org/course?id=2&back' });

  expect(page.status).toBeGreaterThanOrEqual(400);
  expect(page.text).toContain('<a href="https://lms.example.org/course?id=2&amp;back" target="_top">Back to the course</a>');
});

test('a deep linking response that is posted again opens no second picker', async () => {
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId, { roles: [INSTRUCTOR] }, deepLinking(at.lms.issuer)));
  if ('ended' in form) throw new Error(form.ended.text);

  const pages = [await browser.post(form.action, form.fields), await browser.post(form.action, form.fields)];

  expect(pages.map(({ status, code }) => [status, code])).toEqual([
    [303, undefined],
    [409, 'launch_used'],
  ]);
});

test('one of 20 racing answers to a request is given; the others, and the picker reopened, are picker_answered', async () => {
  const picker = await picking(tenant, at);

  const replies = await Promise.all(range(20).map(() => untilServed(() => picker.answer([]))));
  const page = await new Browser().get(picker.page);

  expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 1, 409: 19 });
  expect(replies.find(({ status }) => status === 409)?.body.error).toBe('picker_answered');
  expect([page.status, page.code]).toEqual([409, 'picker_answered']);
});

test('an answer that was lost on its way is given again for the same Idempotency-Key', async () => {
  const picker = await picking(tenant, at);
  const key = { headers: { 'idempotency-key': systemRandom.uuid() } };

  const [first, again] = [await picker.answer([], key), await picker.answer([], key)];

  expect([again.status, again.body]).toEqual([201, first.body]);
  expect((await delivered(at, again)).items).toEqual([]);
});

test('a request is closed to other sessions: of a colleague, another launch of the person, or an administrator', async () => {
  const picker = await picking(tenant, at, {}, { user: { id: 'asker' } });
  const same = await launched(tenant, at, { user: { id: 'asker' }, roles: [INSTRUCTOR] });
  const colleague = await launched(tenant, at, { roles: [INSTRUCTOR] });
  const path = `/lti/launches/${picker.launchId}/picker`;

  for (const api of [same.api, colleague.api, tenant.admin]) {
    expect((await api.get(path)).status).toBe(404);
    expect((await api.post(`${path}/answer`, { items: [] })).status).toBe(404);
  }
  expect((await tenant.anonymous.post(`${path}/answer`, { items: [] })).status).toBe(401);
  expect((await picker.show()).body.answered_at).toBeNull();
});

test('a launch that asks for no content has no picker', async () => {
  const { api, launchId } = await launched(tenant, at);
  const page = await new Browser().get(`${tenant.url}/lti/picker?launch=${launchId}`);

  expect([page.status, page.code]).toEqual([400, 'picker_not_requested']);
  expect((await api.get(`/lti/launches/${launchId}/picker`)).status).toBe(404);
  expect((await api.post(`/lti/launches/${launchId}/picker/answer`, { items: [] })).status).toBe(404);
});

test('a registration that was switched off since answers nothing', async () => {
  const another = await registeredLms(tenant, at);
  const picker = await picking(tenant, another);
  await tenant.db.tables.ltiTools.update({ id: another.toolId }, { isActive: false });

  const { status, body } = await picker.answer([]);

  expect([status, body.error]).toEqual([409, 'registration_inactive']);
});

test('the picker may be framed by its LMS and the site that waits for the answer, and may send forms nowhere else', async () => {
  const { page } = await picking(tenant, at, back('https://school.example.org:8443/return?x=1'));

  const { status, headers, text } = await new Browser().get(page);

  const sites = `https://school.example.org:8443 ${at.lms.issuer}`;
  const files = `${new URL(tenant.url).host}/assets/`;
  expect([status, headers['content-security-policy']]).toEqual([
    200,
    `default-src 'none'; script-src ${files}; style-src ${files}; font-src ${files}; connect-src 'self'; ` +
      `img-src 'self'; media-src 'self'; ` +
      `base-uri 'none'; form-action ${sites}; frame-ancestors ${sites}; require-trusted-types-for 'script'`,
  ]);
  expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|javascript:|https?:\/\//);
});

/** A tenant whose server's clock is ahead. */
let ahead = 0;
const timed = fixture(
  () => startTenant({ clock: { ...systemClock, now: () => new Date(Date.now() + ahead) } }),
  (started) => started.stop(),
);
const own = fixture(
  () => registeredLms(timed),
  ({ lms }) => lms.stop(),
);
beforeEach(() => void (ahead = 0));

test('an hour after the launch the picker is over: its page is entry_expired, and it is neither shown nor answered', async () => {
  const picker = await picking(timed, own);
  ahead = 3_601_000;

  const page = await new Browser().get(picker.page);
  const [shown, answered] = [await picker.show(), await picker.answer([])];

  expect([page.status, page.code, shown.status, answered.status, answered.body.error]).toEqual([
    401,
    'entry_expired',
    401,
    401,
    'unauthenticated',
  ]);
});

test('a link given to an LMS ends with its time, the file, its giver’s right to read it, or their account', async () => {
  const instructor = await launched(timed, own, { user: { id: 'lender' } });
  const picker = await picking(timed, own, {}, { user: { id: 'giver' } });
  const { body: me } = await picker.api.get('/users/me');
  const given = async (name: string, by = picker.api): Promise<{ id: string; url: string; grant: string | undefined }> => {
    const { body } = await by.upload('/files', { file: Buffer.from(name), name });
    const lending = { user_id: me.id, permission_level: 'read' };
    const grant = by === picker.api ? undefined : (await by.post(`/files/${body.id}/permissions`, lending)).body.id;
    const again = await picking(timed, own, {}, { user: { id: 'giver' } });
    const { items } = await delivered(own, await again.answer([{ type: 'file', file_id: body.id }]));
    return { id: body.id, url: items[0]?.url ?? '', grant };
  };
  const [kept, trashed, lent] = [await given('kept.txt'), await given('trashed.txt'), await given('lent.txt', instructor.api)];
  const fetched = async (...urls: string[]) =>
    Promise.all(urls.map(async (url) => (await timed.anonymous.raw('GET', url)).status));

  const before = await fetched(kept.url, trashed.url, lent.url);
  await picker.api.delete(`/files/${trashed.id}`);
  await instructor.api.delete(`/files/${lent.id}/permissions/${lent.grant}`);
  const after = await fetched(kept.url, trashed.url, lent.url, `${kept.url.slice(0, -4)}AAAA`);
  ahead = 23 * 3_600_000;
  const late = await fetched(kept.url);
  ahead = 24 * 3_600_000 + 1000;
  const tooLate = await fetched(kept.url);
  ahead = 0;
  await timed.admin.patch(`/users/${me.id}`, { is_active: false });
  const inactive = await fetched(kept.url);

  expect({ before, after, late, tooLate, inactive }).toEqual({
    before: [200, 200, 200],
    after: [200, 404, 404, 404],
    late: [200],
    tooLate: [404],
    inactive: [404],
  });
});
