import { expect, test } from '@jest/globals';
import { range } from '../../support/wait.ts';
import { Browser, follow, type PageShown, toTheForm } from '../../support/lms/browser.ts';
import { LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { FAULTS, ODDITIES } from '../../../pkg/local/demo/lms/faults.ts';
import { LAUNCH_ERRORS } from '../../../pkg/lti/launch-error.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { REFUSED } from './refused.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();

/** Rows of everything that a launch makes. */
const traces = async (): Promise<Record<string, number>> => {
  const { sessions, ltiLaunches, ltiIdentities, users, groups, folders, permissions } = tenant.db.tables;
  const tables = Object.entries({ sessions, ltiLaunches, ltiIdentities, users, groups, folders, permissions });
  return Object.fromEntries(await Promise.all(tables.map(async ([name, table]) => [name, await table.count({})] as const)));
};

/** Keys that join the set after it was fetched would be unknown for a minute: each such fault has an LMS of its own. */
const WANTS_FRESH_KEYS: readonly string[] = ['a key of 1024 bits', 'a key for encryption', 'a key that is not published'];

test.each(Object.entries(REFUSED))('%s is refused as %s and leaves no session, launch, person or course', async (name, code) => {
  const own = WANTS_FRESH_KEYS.includes(name) ? await registeredLms(tenant) : at;
  const before = await traces();

  const page = await follow(new Browser(), own.lms.open(own.clientId, {}, FAULTS[name as keyof typeof FAULTS]));

  if (own !== at) await own.lms.stop();
  expect([page.status, page.code]).toEqual([LAUNCH_ERRORS[code].status, code]);
  expect(page.headers.location).toBeUndefined();
  expect(await traces()).toEqual(before);
});

test.each(Object.entries(ODDITIES))('%s is odd but valid', async (_name, oddity) => {
  const page = await follow(new Browser(), at.lms.open(at.clientId, {}, oddity));

  expect([page.status, page.code]).toEqual([303, undefined]);
});

test('a response that launched already is launch_used: in its browser, in one with its cookie, and in any other', async () => {
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId));
  if ('ended' in form) throw new Error(form.ended.text);
  const thief = new Browser();
  for (const [key, cookie] of browser.cookies) thief.cookies.set(key, cookie);

  const first = await browser.post(form.action, form.fields);
  const { reply: again, sql } = await tenant.counting(() => browser.post(form.action, form.fields));
  const stolen = await thief.post(form.action, form.fields);
  const foreign = await new Browser().post(form.action, form.fields);

  expect([first.status, again.status, again.code, stolen.code, foreign.code]).toEqual([
    303,
    409,
    'launch_used',
    'launch_used',
    'launch_used',
  ]);
  expect(sql).toHaveLength(1);
});

test('a user who returns to a used launch is offered the way to the course; a bearer of its state alone is not', async () => {
  const back = 'https://lms.example.org/mod/lti/return.php?course=2&sesskey=k3yOfAda';
  const presented = {
    claims: (claims: Record<string, unknown>) => void (claims[`${LTI}/launch_presentation`] = { return_url: back }),
  };
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId, {}, presented));
  if ('ended' in form) throw new Error(form.ended.text);
  await browser.post(form.action, form.fields);
  const another = new URLSearchParams(form.fields);
  another.set('id_token', 'e30.e30.');

  const again = await browser.post(form.action, form.fields);
  const curious = await browser.post(form.action, another);

  expect([again.code, curious.code]).toEqual(['launch_used', 'launch_used']);
  expect(again.text).toContain(`<a href="${back.replace('&', '&amp;')}" target="_top">Back to the course</a>`);
  expect(curious.text).not.toContain('lms.example.org');
});

/** Returns the sealed text with one bit flipped. */
function changed(sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  return bytes.toString('base64url');
}

test('a valid response in a browser that did not begin it, or with a changed cookie, is refused', async () => {
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId));
  if ('ended' in form) throw new Error(form.ended.text);

  const foreign = await new Browser().post(form.action, form.fields);
  for (const [key, cookie] of browser.cookies) browser.cookies.set(key, { ...cookie, value: changed(cookie.value) });
  const forged = await browser.post(form.action, form.fields);

  expect([foreign, forged].map(({ status, code }) => [status, code])).toEqual([
    [400, 'state_not_bound'],
    [400, 'state_forged'],
  ]);
});

test('two active registrations of one issuer need a client_id, and each takes only its own id_token', async () => {
  const second = await registeredLms(tenant, at);
  const nameless = { login: (parameters: URLSearchParams) => parameters.delete('client_id') };

  const ambiguous = await follow(new Browser(), at.lms.open(at.clientId, {}, nameless));
  const named = await follow(new Browser(), at.lms.open(second.clientId));
  const crossed = await follow(
    new Browser(),
    at.lms.open(at.clientId, {}, { claims: (claims) => void (claims.aud = second.clientId) }),
  );
  await tenant.db.tables.ltiTools.delete({ id: second.toolId });

  expect([ambiguous.status, ambiguous.code, named.status]).toEqual([400, 'client_id_needed', 303]);
  expect([crossed.status, crossed.code]).toEqual([401, 'audience_mismatch']);
});

test('a registration that is deactivated between login and launch refuses the launch', async () => {
  const own = await registeredLms(tenant);
  const browser = new Browser();
  const form = await toTheForm(browser, own.lms.open(own.clientId));
  if ('ended' in form) throw new Error(form.ended.text);

  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });
  const page = await browser.post(form.action, form.fields);
  await own.lms.stop();

  expect([page.status, page.code]).toEqual([403, 'registration_inactive']);
});

/** Up to the form of a launch that is about to be posted. */
async function aboutToLaunch(by: Registration): Promise<() => Promise<PageShown>> {
  const browser = new Browser();
  const form = await toTheForm(browser, by.lms.open(by.clientId));
  if ('ended' in form) throw new Error(form.ended.text);
  return () => browser.post(form.action, form.fields);
}

const setTool = ({ toolId }: Registration, changes: string) =>
  tenant.db.query(`UPDATE lti_tools SET ${changes} WHERE id = $1`, [toolId]);
const setPlatform = ({ platformId }: Registration, changes: string) =>
  tenant.db.query(`UPDATE lti_platforms SET ${changes} WHERE id = $1`, [platformId]);

test.each<[string, (own: Registration) => Promise<unknown>, string]>([
  ['has the keys of another', (own) => setPlatform(own, `jwks_endpoint = '${at.lms.jwksEndpoint}'`), 'key_unknown'],
  ['has another issuer', (own) => setPlatform(own, `issuer = 'https://moved.example'`), 'issuer_mismatch'],
  ['has another client id', (own) => setTool(own, `client_id = 'now ' || id`), 'audience_mismatch'],
  ['is of another platform', (own) => setTool(own, `platform_id = ${at.platformId}`), 'key_unknown'],
  [
    'lists no deployment',
    (own) => tenant.db.query('DELETE FROM lti_deployments WHERE tool_id = $1', [own.toolId]),
    'unknown_deployment',
  ],
  ['is deactivated', (own) => setTool(own, 'is_active = false'), 'registration_inactive'],
  ['is of a deactivated platform', (own) => setPlatform(own, 'is_active = false'), 'registration_inactive'],
  ['is deleted', (own) => tenant.db.query('DELETE FROM lti_tools WHERE id = $1', [own.toolId]), 'registration_inactive'],
])(
  'a registration that somebody has launched by, and that then %s, refuses the next launch at once',
  async (_name, change, code) => {
    const own = await registeredLms(tenant);
    await follow(new Browser(), own.lms.open(own.clientId));
    const post = await aboutToLaunch(own);
    await change(own);
    const before = await traces();

    const page = await post();
    await own.lms.stop();

    expect(page.code).toBe(code);
    expect(await traces()).toEqual(before);
  },
);

test('a corrected registration accepts the next launch at once, and forgets the refusal it had recorded', async () => {
  const own = await registeredLms(tenant);
  const [first, second] = [await aboutToLaunch(own), await aboutToLaunch(own)];
  await setTool(own, `client_id = 'mistyped'`);
  const refused = await first();
  await setTool(own, `client_id = '${own.clientId}'`);

  const { reply: accepted, sql } = await tenant.counting(second);
  await own.lms.stop();

  expect([refused.code, accepted.status]).toEqual(['audience_mismatch', 303]);
  expect(sql.filter((text) => text.includes('unknown_values'))).toEqual([]);
});

test('a body that is not a form is a readable 415', async () => {
  const page = await new Browser().post(`${tenant.url}/launch`, new URLSearchParams(), { 'content-type': 'application/json' });

  expect([page.status, page.code]).toEqual([415, 'unsupported_media_type']);
});

test.each([
  [900, 400, 'state_missing'],
  [80_000, 413, 'payload_too_large'],
  [300_000, 413, 'payload_too_large'],
])('a form that repeats one parameter %i times is read at once, or refused', async (times, status, code) => {
  const fields = new URLSearchParams(range(times).map((): [string, string] => ['a', '']));

  const page = await new Browser().post(`${tenant.url}/launch`, fields);

  expect([page.status, page.code]).toEqual([status, code]);
});

test('an older response posted again is refused before it changes anything, although it names the course otherwise', async () => {
  const course = (title: string) => ({ course: { id: 'renamed', title } });
  const browser = new Browser();
  const older = await toTheForm(browser, at.lms.open(at.clientId, course('Older')));
  if ('ended' in older) throw new Error(older.ended.text);
  const cookies = new Map(browser.cookies);
  await browser.post(older.action, older.fields);
  await follow(new Browser(), at.lms.open(at.clientId, course('Newer')));
  for (const [key, cookie] of cookies) browser.cookies.set(key, cookie);

  const { reply: again, sql } = await tenant.counting(() => browser.post(older.action, older.fields));

  expect([again.status, again.code, sql.length]).toEqual([409, 'launch_used', 3]);
  expect((await tenant.db.tables.groups.find({ contextId: 'renamed' }))?.name).toBe('Newer');
});
