import { expect, test } from '@jest/globals';
import { OPEN_LOGINS_MAX } from '../../../pkg/lti/login/login-state.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { Browser, formOf, toTheForm } from '../../support/lms/browser.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();

/** A link that was opened in a tab, up to the form that its LMS has the browser post. */
async function tab(browser: Browser, id: string) {
  const form = await toTheForm(browser, at.lms.open(at.clientId, { user: { id } }));
  if ('ended' in form) throw new Error(form.ended.text);
  return form;
}

/** Bytes of the Cookie header that the launch would get. */
const cookieBytes = (browser: Browser): number =>
  [...browser.cookies]
    .filter(([, { path }]) => path === '/launch')
    .reduce((sum, [key, { value }]) => sum + key.split(' ')[1]!.length + value.length + 3, 0);

test('the last of 60 open logins stay valid, the Cookie header is bounded, and the newest launches', async () => {
  const browser = new Browser();
  const tabs = [];
  for (const index of range(60)) tabs.push(await tab(browser, `left-open-${index}`));

  expect([...browser.cookies.values()].filter(({ path }) => path === '/launch')).toHaveLength(OPEN_LOGINS_MAX);
  expect(cookieBytes(browser)).toBeLessThan(7500); // of the 8 KiB that proxies take
  const [oldest, newest, within] = [tabs[0]!, tabs[59]!, tabs[60 - OPEN_LOGINS_MAX]!];
  expect((await browser.post(newest.action, newest.fields)).status).toBe(303);
  expect((await browser.post(within.action, within.fields)).status).toBe(303);
  expect((await browser.post(oldest.action, oldest.fields)).code).toBe('state_not_bound');
});

test('a forged list of open logins ends no more logins than allowed, and breaks nothing', async () => {
  const forged = [...range(900).map((index) => index.toString(16).padStart(16, '0')), '../x', 'a; Path=/'].join('.');

  const begun = await new Browser().get(at.lms.open(at.clientId), { cookie: `carrel_lti_logins=${forged}` });

  const cookies = [begun.headers['set-cookie'] ?? []].flat();
  expect(begun.status).toBe(302);
  expect(cookies).toHaveLength(3);
  expect(cookies[2]).toMatch(/^carrel_lti_[0-9a-f]{16}=; Path=\/launch; Max-Age=0;/);
  expect(cookies[1]?.length).toBeLessThan(700);
});

test('all 32 links embedded in one page of a course open, although each login begins before the first is answered', async () => {
  const browser = new Browser();
  const frames = [];
  for (const index of range(32)) frames.push(await tab(browser, `embedded-${index}`));

  const opened = [];
  for (const { action, fields } of frames) opened.push(await browser.post(action, fields));

  expect(opened.map(({ status }) => status)).toEqual(range(32).map(() => 303));
});

test('two tabs that launch at once do not take each other’s login', async () => {
  const browser = new Browser();
  const first = await tab(browser, 'tab-1');
  const second = await tab(browser, 'tab-2');

  const late = await browser.post(second.action, second.fields);
  const early = await browser.post(first.action, first.fields);

  expect([late.status, early.status]).toEqual([303, 303]);
});

test('the id_token of one tab does not launch with the state of another', async () => {
  const browser = new Browser();
  const first = await tab(browser, 'mix-1');
  const second = await tab(browser, 'mix-2');
  const idToken = first.fields.get('id_token') ?? '';
  first.fields.set('id_token', second.fields.get('id_token') ?? '');
  second.fields.set('id_token', idToken);

  const crossed = [await browser.post(first.action, first.fields), await browser.post(second.action, second.fields)];

  expect(crossed.map(({ code }) => code)).toEqual(['nonce_mismatch', 'nonce_mismatch']);
  expect(await tenant.db.tables.ltiLaunches.count({ userId: ['mix-1', 'mix-2'] })).toBe(0);
});

test('a launch that another site has a person post, with a state of its own, is refused', async () => {
  const attackers = await tab(new Browser(), 'attacker');
  const victim = new Browser();
  await tab(victim, 'victim');

  const posted = await victim.post(attackers.action, attackers.fields, { origin: 'https://evil.example.org' });

  expect(posted.code).toBe('state_not_bound');
});

test('a browser that is not bound to its launch gets a link to its LMS, and to no other address in the token', async () => {
  const { action, fields } = await tab(new Browser(), 'unbound');
  const post = async (idToken: string): Promise<string> => {
    fields.set('id_token', idToken);
    const page = await new Browser().post(action, fields);
    expect(page.code).toBe('state_not_bound');
    return page.text;
  };
  const own = fields.get('id_token') ?? '';
  const [head, body = '', signature] = own.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const naming = (more: object): string =>
    [head, Buffer.from(JSON.stringify({ ...claims, ...more })).toString('base64url'), signature].join('.');
  const presentation = {
    'https://purl.imsglobal.org/spec/lti/claim/launch_presentation': { return_url: 'https://evil.example.org/' },
  };
  const link = `<a href="${new URL(at.lms.authEndpoint).origin}/" target="_top">Start again from your LMS</a>`;

  expect(await post(own)).toContain(link);
  const altered = await post(naming(presentation));
  expect(altered).toContain(link);
  expect(altered).not.toContain('evil.example.org');
  for (const token of [naming({ iss: 'https://evil.example.org' }), 'x', '']) expect(await post(token)).not.toContain('<a ');
});

test.each(['cookie', 'storage'])('a login of more than ten minutes ago is state_expired, bound by %s', async (way) => {
  let ahead = 0;
  const timed = await startTenant({ clock: { ...systemClock, now: () => new Date(Date.now() + ahead) } });
  const own = await registeredLms(timed);
  const browser = new Browser();
  const begun = await browser.get(own.lms.open(own.clientId, { storageTarget: '_parent' }));
  const dataOf = (name: string): string =>
    new RegExp(` data-${name}="([^"]*)"`).exec(begun.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const form = formOf(await browser.get(dataOf('next')));
  form.fields.set('stored', dataOf('value'));
  const post = () =>
    way === 'cookie'
      ? browser.post(form.action, form.fields)
      : new Browser().post(`${form.action}/storage`, form.fields, { origin: timed.url });

  ahead = 601_000;
  const late = await post();
  ahead = 0;
  const inTime = await post();
  await timed.stop();
  await own.lms.stop();

  expect([late.status, late.code, inTime.status]).toEqual([400, 'state_expired', 303]);
});
