import { expect, test } from '@jest/globals';
import type { LaunchErrorCode } from '../../../pkg/lti/launch-error.ts';
import { Browser, formOf, type PageShown, toTheForm } from '../../support/lms/browser.ts';
import { INSTRUCTOR, type Launch } from '../../../pkg/local/demo/lms/claims.ts';
import { FAULTS, type Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { REFUSED } from './refused.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();

/** The CSP source of the build's scripts and styles. */
const files = (): string => `${new URL(tenant.url).host}/assets/`;

/** Returns the attributes that a page of the exchange passes to its script. */
function exchangeOf({ text }: PageShown): Record<string, string> {
  const [, attributes = ''] = /<main id="exchange"([^>]*)>/.exec(text) ?? [];
  const unescaped = (value: string): string =>
    value
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  return Object.fromEntries(
    [...attributes.matchAll(/ data-(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescaped(value)]),
  );
}

/** A browser that keeps no cookie goes as far as the tool's question to the platform's frame. `kept`: what the platform keeps. */
async function toTheQuestion(opened: Partial<Launch> = {}, fault: Fault = {}, by = at) {
  const begun = await new Browser().get(by.lms.open(by.clientId, { storageTarget: 'keeper', ...opened }, fault));
  const put = exchangeOf(begun);
  const response = formOf(await new Browser().get(put['next'] ?? ''));
  const asked = await new Browser().post(response.action, response.fields);
  return { begun, put, kept: put['value'] ?? '', response, asked };
}

/** Our page's script posts what the platform's frame gave. */
function answer(asked: PageShown, stored: string, headers: Record<string, string> = { origin: tenant.url }): Promise<PageShown> {
  const { action, fields } = formOf(asked);
  fields.set('stored', stored);
  return new Browser().post(new URL(action, asked.url), fields, headers);
}

test('if the LMS offers storage, login initiation puts the sealed login into its frame and continues to the LMS', async () => {
  const { begun, put } = await toTheQuestion();

  expect(begun.status).toBe(200);
  expect(put).toEqual({
    step: 'put',
    frame: 'keeper',
    origin: at.lms.issuer,
    key: expect.stringMatching(/^carrel_lti_[0-9a-f]{16}$/),
    value: expect.stringMatching(/^v1\./),
    next: expect.stringContaining(`${at.lms.authEndpoint}?`),
  });
  expect(begun.headers['content-security-policy']).toBe(
    `default-src 'none'; script-src ${files()}; style-src ${files()}; base-uri 'none'; form-action 'none'; frame-ancestors ` +
      "*; require-trusted-types-for 'script'",
  );
  expect([begun.headers['cache-control'], begun.headers['referrer-policy']]).toEqual(['no-store', 'no-referrer']);
  expect(begun.headers['set-cookie']).toHaveLength(2);
});

test('without the cookie the launch reads the frame and uses the stored login', async () => {
  const { asked, kept, put } = await toTheQuestion({ user: { id: 'cookieless' }, roles: [INSTRUCTOR] });
  const question = exchangeOf(asked);

  const launched = await answer(asked, kept);

  expect(question).toEqual({ step: 'get', frame: 'keeper', origin: at.lms.issuer, key: put['key'] });
  expect(asked.headers['content-security-policy']).toBe(
    `default-src 'none'; script-src ${files()}; style-src ${files()}; base-uri 'none'; form-action 'self' ${tenant.url}; ` +
      `frame-ancestors *; require-trusted-types-for 'script'`,
  );
  // A form of a page with `no-referrer` would be posted with `Origin: null`.
  expect(asked.headers['referrer-policy']).toBe('same-origin');
  expect([launched.status, launched.code]).toEqual([303, undefined]);
  expect(String(launched.headers.location)).toMatch(new RegExp(`^${tenant.url}/lti/entry\\?token=ey`));
  expect(await tenant.db.tables.ltiLaunches.count({ userId: 'cookieless' })).toBe(1);
});

test('warm, a launch by storage costs one statement more than one by cookie, and asks no LMS', async () => {
  const opened = { user: { id: 'regular' } };
  const launch = async (): Promise<PageShown> => {
    const { asked, kept } = await toTheQuestion(opened);
    return answer(asked, kept);
  };
  await launch();
  const keySets = at.lms.keySetRequests;

  const { reply, sql } = await tenant.counting(launch);

  expect([reply.status, sql.length, at.lms.keySetRequests]).toEqual([303, 3, keySets]);
});

test('the cookie has priority: the frame is not read', async () => {
  const browser = new Browser();
  const begun = await browser.get(at.lms.open(at.clientId, { storageTarget: '_parent' }));
  const response = formOf(await browser.get(exchangeOf(begun)['next'] ?? ''));

  const launched = await browser.post(response.action, response.fields);

  expect(launched.status).toBe(303);
});

test('an LMS whose issuer has the 500 characters that a registration may have launches so too', async () => {
  const own = await registeredLms(tenant);
  const issuer = `https://lms.example.org/${'i'.repeat(476)}`;
  await tenant.db.tables.ltiPlatforms.update({ id: own.platformId }, { issuer });
  const named: Fault = {
    login: (parameters) => parameters.set('iss', issuer),
    claims: (claims) => void (claims['iss'] = issuer),
  };

  const { asked, kept } = await toTheQuestion({}, named, own);
  const launched = await answer(asked, kept);

  await own.lms.stop();
  expect([asked.code, launched.status, launched.code]).toEqual([undefined, 303, undefined]);
});

test('the cookie wins over what the storage gave, at /launch/storage too', async () => {
  const browser = new Browser();
  const begun = await browser.get(at.lms.open(at.clientId, { storageTarget: '_parent' }));
  const response = formOf(await browser.get(exchangeOf(begun)['next'] ?? ''));
  response.fields.set('stored', 'nonsense');

  const launched = await browser.post(`${response.action}/storage`, response.fields, { origin: tenant.url });

  expect(launched.status).toBe(303);
});

const noSession = async <T>(work: () => Promise<T>): Promise<T> => {
  const before = await tenant.db.tables.sessions.count({});
  const result = await work();
  expect(await tenant.db.tables.sessions.count({})).toBe(before);
  return result;
};

test.each<[string, Record<string, string>, string]>([
  ['another site', { origin: 'https://evil.example.org' }, 'origin_foreign'],
  ['the LMS itself', { origin: 'LMS' }, 'origin_foreign'],
  ['a sandboxed frame', { origin: 'null' }, 'origin_foreign'],
  ['this host on another port', { origin: 'http://127.0.0.1:1' }, 'origin_foreign'],
  ['two sites at once', { origin: 'OWN, https://evil.example.org' }, 'origin_foreign'],
  ['no Origin', {}, 'origin_missing'],
])('a valid answer posted by %s is refused, and still launches from our own page', async (_, headers, code) => {
  const { asked, kept } = await toTheQuestion();
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('LMS', at.lms.issuer).replace('OWN', tenant.url)]),
  );

  const refused = await noSession(() => answer(asked, kept, sent));

  expect([refused.status, refused.code]).toEqual([403, code]);
  expect((await answer(asked, kept)).status).toBe(303);
});

test.each<[string, (kept: string, other: string) => string, string]>([
  ['nothing, since the platform is silent', () => '', 'state_not_bound'],
  ['the value of another login', (_, other) => other, 'storage_forged'],
  ['a changed value', (kept) => `${kept.slice(0, -6)}AAAAAA`, 'storage_forged'],
  ['what nobody sealed', () => 'hello', 'storage_forged'],
  ['a value under an unknown key', (kept) => kept.replace('v1.test.', 'v1.other.'), 'storage_forged'],
])('%s is refused as it is', async (_, stored, code) => {
  const { asked, kept } = await toTheQuestion();
  const other = await toTheQuestion();

  const refused = await noSession(() => answer(asked, stored(kept, other.kept)));

  expect([refused.status, refused.code]).toEqual([400, code]);
});

test('the value of the cookie does not pass for that of the storage', async () => {
  const browser = new Browser();
  const begun = await browser.get(at.lms.open(at.clientId, { storageTarget: '_parent' }));
  const response = formOf(await browser.get(exchangeOf(begun)['next'] ?? ''));
  const [cookie] = [...browser.cookies.entries()].filter(([key]) => !key.endsWith('carrel_lti_logins'));

  const asked = await new Browser().post(response.action, response.fields);
  const refused = await noSession(() => answer(asked, cookie?.[1].value ?? ''));

  expect(refused.code).toBe('storage_forged');
});

test('an answer is taken once, and by which way it launched does not matter', async () => {
  const { asked, kept } = await toTheQuestion();

  const first = await answer(asked, kept);
  const again = await noSession(() => answer(asked, kept));

  expect([first.status, again.status, again.code]).toEqual([303, 409, 'launch_used']);
});

test('exactly one of 40 racing posts of a response, half by cookie and half by storage, launches', async () => {
  const browser = new Browser();
  const begun = await browser.get(at.lms.open(at.clientId, { storageTarget: '_parent', user: { id: 'two-ways' } }));
  const { next = '', value = '' } = exchangeOf(begun);
  const response = formOf(await browser.get(next));
  const asked = await new Browser().post(response.action, response.fields);
  const byCookie = (): Promise<PageShown> => {
    const tab = new Browser();
    for (const [key, cookie] of browser.cookies) tab.cookies.set(key, cookie);
    return tab.post(response.action, response.fields);
  };

  const pages = await Promise.all(
    range(40).map((index) => untilServed(() => (index % 2 === 0 ? byCookie() : answer(asked, value)))),
  );

  expect(countBy(pages, ({ status }) => status)).toEqual({ 303: 1, 409: 39 });
  expect(await tenant.db.tables.ltiLaunches.count({ userId: 'two-ways' })).toBe(1);
});

/**
 * Faults that the page which asks for the platform's storage refuses already, because it needs the registration that the
 * id_token names. The login is not known yet, so an issuer is judged by itself.
 */
const BEFORE_THE_QUESTION: Readonly<Partial<Record<keyof typeof FAULTS, LaunchErrorCode>>> = {
  'an error of the LMS': 'platform_error',
  'no id_token': 'id_token_missing',
  'an id_token that is no JWT': 'id_token_malformed',
  'an id_token of two parts': 'id_token_malformed',
  'an id_token of four parts': 'id_token_malformed',
  'an id_token whose claims are no JSON': 'id_token_malformed',
  'claims that are nested 10,000 deep': 'id_token_malformed',
  'no iss': 'issuer_unknown',
  'another iss': 'issuer_unknown',
  'an iss with a slash at the end': 'issuer_unknown',
  'an iss in a list': 'issuer_unknown',
  'no state': 'state_missing',
};

/** Launches of the table of broken launches that fail after the question. Tests above cover faults of the state. */
const AFTER_THE_QUESTION = Object.entries(REFUSED).filter(([name]) => {
  const fault: Fault = FAULTS[name as keyof typeof FAULTS];
  const ownKeys = fault.signer !== undefined && fault.signer !== 'impostor';
  return fault.login === undefined && !ownKeys && !(name in BEFORE_THE_QUESTION) && !/state|twice/.test(name);
});

test.each(AFTER_THE_QUESTION)('by storage too, %s is refused as %s', async (name, code) => {
  const { asked, kept } = await toTheQuestion({}, FAULTS[name as keyof typeof FAULTS]);

  const refused = await noSession(() => answer(asked, kept));

  expect(refused.code).toBe(code);
});

test.each(Object.entries(BEFORE_THE_QUESTION))(
  '%s is reported before the platform’s storage is read, as %s',
  async (name, code) => {
    const { asked } = await noSession(() => toTheQuestion({}, FAULTS[name as keyof typeof FAULTS]));

    expect(asked.code).toBe(code);
  },
);

test('a state whose frame was changed is another state', async () => {
  const { asked, kept } = await toTheQuestion();
  const { action, fields } = formOf(asked);
  fields.set('state', `${fields.get('state')?.split('.')[0]}.${Buffer.from('_parent').toString('base64url')}`);
  fields.set('stored', kept);

  const refused = await noSession(() => new Browser().post(new URL(action, asked.url), fields, { origin: tenant.url }));

  expect(refused.code).toBe('storage_forged');
});

test('without lti_storage_target no storage is read: the error says that the cookie is missing', async () => {
  const form = await toTheForm(new Browser(), at.lms.open(at.clientId));
  if ('ended' in form) throw new Error(form.ended.text);

  const page = await new Browser().post(form.action, form.fields);

  expect([page.status, page.code]).toEqual([400, 'state_not_bound']);
});

test('values in the pages are escaped', async () => {
  const frame = `"><script>alert('x')</script>`;

  const begun = await new Browser().get(at.lms.open(at.clientId, { storageTarget: frame }));

  expect(begun.text).not.toContain('<script>alert');
  expect(exchangeOf(begun)['frame']).toBe(frame);
});
