import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LtiRefusalCode } from '../../../pkg/lti/refusal.ts';
import { Browser, follow, toTheForm } from '../../support/lms/browser.ts';
import { FAULTS, ODDITIES } from '../../support/lms/faults.ts';
import { startTenant, type TestTenant } from '../../support/server.ts';
import { registeredLms, type Registration } from './registration.ts';

let tenant: TestTenant;
let at: Registration;
beforeAll(async () => {
  tenant = await startTenant();
  at = await registeredLms(tenant);
});
afterAll(async () => {
  await tenant.stop();
  await at.lms.stop();
});

/** Each broken rule, and the code that says so. */
const REFUSED: Readonly<Record<keyof typeof FAULTS, LtiRefusalCode>> = {
  'login without iss': 'iss_missing',
  'login by an unknown issuer': 'issuer_unknown',
  'login by the issuer with a slash at the end': 'issuer_unknown',
  'login with an unknown client_id': 'client_id_unknown',
  'login without login_hint': 'login_hint_missing',
  'login without target_link_uri': 'target_link_uri_missing',
  'login to open another site': 'target_link_uri_foreign',
  'login to open what is no address': 'target_link_uri_foreign',
  'login with iss twice': 'parameter_repeated',
  'an error of the LMS': 'platform_error',
  'no state': 'state_missing',
  'a state that is none of ours': 'state_malformed',
  'a state of another browser': 'state_not_bound',
  'state twice': 'parameter_repeated',
  'no id_token': 'id_token_missing',
  'id_token twice': 'parameter_repeated',
  'an id_token that is no JWT': 'id_token_malformed',
  'an id_token of two parts': 'id_token_malformed',
  'an id_token whose claims are no JSON': 'id_token_malformed',
  'an id_token whose header is no JSON': 'id_token_malformed',
  'alg none': 'alg_refused',
  'alg HS256 with the public key as secret': 'alg_refused',
  'an extension that must be understood': 'crit_refused',
  'no kid': 'kid_missing',
  'a kid that is a number': 'kid_missing',
  'a key that is not published': 'key_unknown',
  'a key of another under the published id': 'signature_invalid',
  'a key of 1024 bits': 'key_unfit',
  'a key for encryption': 'key_unfit',
  'an algorithm that is not the key’s': 'key_unfit',
  'changed claims': 'signature_invalid',
  'a cut signature': 'signature_invalid',
  'no signature': 'signature_invalid',
  'no iss': 'issuer_mismatch',
  'another iss': 'issuer_mismatch',
  'no aud': 'audience_mismatch',
  'another aud': 'audience_mismatch',
  'other audiences': 'audience_mismatch',
  'several audiences without azp': 'azp_missing',
  'another azp': 'azp_mismatch',
  'no exp': 'exp_missing',
  'an exp that is text': 'exp_missing',
  'an expired id_token': 'id_token_expired',
  'no iat': 'iat_missing',
  'an id_token of the future': 'iat_in_future',
  'an id_token that does not hold yet': 'not_yet_valid',
  'no nonce': 'nonce_missing',
  'another nonce': 'nonce_mismatch',
  'no sub': 'anonymous_launch',
  'an empty sub': 'anonymous_launch',
  'a sub of 256 characters': 'sub_invalid',
  'a sub beyond ASCII': 'sub_invalid',
  'no message type': 'message_type_missing',
  'a message type that is not taken': 'message_type_unsupported',
  'no version': 'version_unsupported',
  'LTI 1.1': 'version_unsupported',
  'no deployment id': 'deployment_id_missing',
  'a deployment id of 256 characters': 'deployment_id_missing',
  'an unknown deployment': 'unknown_deployment',
  'no target': 'target_link_uri_missing',
  'a target on another site': 'target_link_uri_foreign',
  'no resource link': 'resource_link_missing',
  'a resource link without id': 'resource_link_missing',
  'no roles': 'roles_missing',
  'roles that are no list': 'roles_missing',
  'a context without id': 'context_invalid',
};

const sessions = (): Promise<number> => tenant.db.tables.sessions.count({});

/** Keys that join the set after it was fetched would be unknown for a minute: each such fault has an LMS of its own. */
const WANTS_FRESH_KEYS: readonly string[] = ['a key of 1024 bits', 'a key for encryption', 'a key that is not published'];

test.each(Object.entries(REFUSED))('%s is refused as %s and leaves no session, launch or person', async (name, code) => {
  const own = WANTS_FRESH_KEYS.includes(name) ? await registeredLms(tenant) : at;
  const before = await sessions();
  const person = `person ${name}`.replaceAll(/[^ -~]/g, '');

  const page = await follow(new Browser(), own.lms.open(own.clientId, { user: { id: person } }, FAULTS[name as keyof typeof FAULTS]));

  if (own !== at) await own.lms.stop();
  expect(page.code).toBe(code);
  expect(Math.floor(page.status / 100)).toBe(4);
  expect(page.headers.location).toBeUndefined();
  expect(await sessions()).toBe(before);
  expect(await tenant.db.tables.ltiLaunches.count({ userId: person })).toBe(0);
  expect(await tenant.db.tables.ltiIdentities.count({ subject: person })).toBe(0);
});

test.each(Object.entries(ODDITIES))('%s is odd but valid', async (_name, oddity) => {
  const page = await follow(new Browser(), at.lms.open(at.clientId, {}, oddity));

  expect([page.status, page.code]).toEqual([303, undefined]);
});

test('a response that launched already is launch_used, also with a new cookie jar that holds the same cookie', async () => {
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId));
  if ('ended' in form) throw new Error(form.ended.text);
  const thief = new Browser();
  for (const [key, cookie] of browser.cookies) thief.cookies.set(key, cookie);

  const first = await browser.post(form.action, form.fields);
  const again = await browser.post(form.action, form.fields);
  const stolen = await thief.post(form.action, form.fields);

  expect([first.status, again.code, stolen.code]).toEqual([303, 'state_not_bound', 'launch_used']);
});

test('a valid response in a browser that did not begin it, or with a changed cookie, is refused', async () => {
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId));
  if ('ended' in form) throw new Error(form.ended.text);

  const foreign = await new Browser().post(form.action, form.fields);
  for (const [key, cookie] of browser.cookies) browser.cookies.set(key, { ...cookie, value: `${cookie.value.slice(0, -4)}AAAA` });
  const forged = await browser.post(form.action, form.fields);

  expect([foreign.code, forged.code]).toEqual(['state_not_bound', 'state_forged']);
});

test('two active registrations of one issuer need a client_id, and each takes only its own id_token', async () => {
  const second = await registeredLms(tenant, at);
  const nameless = { login: (parameters: URLSearchParams) => parameters.delete('client_id') };

  const ambiguous = await follow(new Browser(), at.lms.open(at.clientId, {}, nameless));
  const named = await follow(new Browser(), at.lms.open(second.clientId));
  const crossed = await follow(new Browser(), at.lms.open(at.clientId, {}, { claims: (claims) => void (claims.aud = second.clientId) }));
  await tenant.db.tables.ltiTools.delete({ id: second.toolId });

  expect([ambiguous.code, named.status, crossed.code]).toEqual(['client_id_needed', 303, 'audience_mismatch']);
});

test('a registration that is switched off between login and launch lets nobody in', async () => {
  const own = await registeredLms(tenant);
  const browser = new Browser();
  const form = await toTheForm(browser, own.lms.open(own.clientId));
  if ('ended' in form) throw new Error(form.ended.text);

  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });
  const page = await browser.post(form.action, form.fields);
  await own.lms.stop();

  expect([page.status, page.code]).toEqual([403, 'registration_inactive']);
});

test('a body that is no form is a readable 415', async () => {
  const page = await new Browser().post(`${tenant.url}/launch`, new URLSearchParams(), { 'content-type': 'application/json' });

  expect([page.status, page.code]).toEqual([415, 'unsupported_media_type']);
});
