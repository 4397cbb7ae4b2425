import { afterEach, expect, test } from '@jest/globals';
import { REGISTRATION_ERRORS, type RegistrationErrorCode } from '../../../pkg/lti/dynamic-registration/registration-error.ts';
import { PlatformRequests } from '../../../pkg/lti/dynamic-registration/platform-requests.ts';
import { guardedClient } from '../../../pkg/net/client.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { Browser } from '../../support/lms/browser.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { asTheOperator, requestsOf } from '../../support/lms/operator-made.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { newLink, pressed, registered, shownPage } from './registering.ts';
import { changedDesk, inTool, instead, set, TOOL, without, type Change } from './registration-changes.ts';

const tenant = serverSuite();
const lms = fixture(
  () => Lms.start(),
  (running) => running.stop(),
);

/** A tenant has a bound of links, and of registrations that wait for the operator. */
afterEach(async () => {
  await tenant.db.query('DELETE FROM lti_registration_links WHERE used_at IS NULL');
  await tenant.rows.pool.query('DELETE FROM carrel.registration_requests WHERE tenant = $1', [`tenant_${tenant.slug}`]);
});

/**
 * Broken configurations: the rule, the change that breaks it, the code. Sources: LTI Dynamic Registration 1.0 §3.5, OpenID
 * Connect Discovery 1.0 §3.
 */
const CONFIGURATIONS: readonly (readonly [string, Change, RegistrationErrorCode])[] = [
  ['no JSON', instead({ type: 'text/html', body: '<h1>Log in</h1>' }), 'configuration_invalid'],
  ['a list', instead({ body: [] }), 'configuration_invalid'],
  ['null', instead({ body: 'null' }), 'configuration_invalid'],
  ['nothing', instead({ body: '' }), 'configuration_invalid'],
  ['more than 256 KiB', instead({ body: { padding: 'x'.repeat(300_000) } }), 'configuration_invalid'],
  ['401', instead({ status: 401, body: { error: 'unauthorized' } }), 'configuration_refused'],
  ['404', instead({ status: 404, body: 'Not found' }), 'configuration_refused'],
  ['500', instead({ status: 500, body: 'oops' }), 'configuration_refused'],
  ['204', instead({ status: 204 }), 'configuration_refused'],
  [
    'a redirect to an address inside',
    instead({ status: 302, headers: { location: 'http://169.254.169.254/' } }),
    'configuration_redirected',
  ],
  ['a permanent redirect', instead({ status: 308, headers: { location: '/other' } }), 'configuration_redirected'],
  ['no issuer', without('issuer'), 'configuration_invalid'],
  ['an issuer that is a number', set('issuer', 7), 'configuration_invalid'],
  ['an issuer at another host', set('issuer', 'https://lms.example.org'), 'issuer_foreign'],
  [
    'an issuer at another port',
    (json) => void (json['issuer'] = new URL(String(json['issuer'])).origin.slice(0, -1)),
    'issuer_foreign',
  ],
  [
    'Canvas’ issuer with endpoints elsewhere',
    (json) =>
      void Object.assign(json, { issuer: 'https://canvas.instructure.com', token_endpoint: 'https://evil.example.org/token' }),
    'issuer_foreign',
  ],
  ['Blackboard’s issuer from elsewhere', set('issuer', 'https://blackboard.com'), 'issuer_foreign'],
  ['an issuer with a user name', set('issuer', 'https://ada@lms.example.org'), 'endpoint_refused'],
  ['an issuer of 501 characters', set('issuer', `https://lms.example.org/${'x'.repeat(477)}`), 'endpoint_refused'],
  ['no authorization_endpoint', without('authorization_endpoint'), 'configuration_invalid'],
  ['an authorization_endpoint that is script', set('authorization_endpoint', 'javascript:alert(1)'), 'endpoint_refused'],
  ['an authorization_endpoint by plain http', set('authorization_endpoint', 'http://lms.example.org/auth'), 'endpoint_refused'],
  ['no token_endpoint', without('token_endpoint'), 'configuration_invalid'],
  ['a token_endpoint at a cloud’s metadata service', set('token_endpoint', 'https://169.254.169.254/token'), 'endpoint_refused'],
  ['a token_endpoint in a private network', set('token_endpoint', 'https://10.0.0.5/token'), 'endpoint_refused'],
  ['a token_endpoint with a fragment', set('token_endpoint', 'https://lms.example.org/token#x'), 'endpoint_refused'],
  ['no jwks_uri', without('jwks_uri'), 'configuration_invalid'],
  ['a jwks_uri in a private network in another notation', set('jwks_uri', 'https://0x0a000005/jwks'), 'endpoint_refused'],
  ['a jwks_uri of IPv6 inside', set('jwks_uri', 'https://[fd00::1]/jwks'), 'endpoint_refused'],
  ['no registration_endpoint', without('registration_endpoint'), 'configuration_invalid'],
  ['a registration_endpoint that is a file', set('registration_endpoint', 'file:///etc/passwd'), 'endpoint_refused'],
  ['a registration_endpoint in a private network', set('registration_endpoint', 'https://192.168.0.1/'), 'endpoint_refused'],
  [
    'a registration_endpoint with a port that does not exist',
    set('registration_endpoint', 'https://lms.example.org:99999/'),
    'endpoint_refused',
  ],
  ['no private_key_jwt', set('token_endpoint_auth_methods_supported', ['client_secret_basic']), 'platform_unsupported'],
  ['no RS256 for assertions', set('token_endpoint_auth_signing_alg_values_supported', ['HS256']), 'platform_unsupported'],
  ['no id_token', set('response_types_supported', ['code']), 'platform_unsupported'],
  ['no algorithm that is accepted', set('id_token_signing_alg_values_supported', ['HS256', 'none']), 'platform_unsupported'],
  ['an authorization_server of 501 characters', set('authorization_server', 'x'.repeat(501)), 'configuration_invalid'],
];

test.each(CONFIGURATIONS)(
  'a configuration that is or has %s is refused, and the LMS is not asked to register',
  async (_name, change, code) => {
    const desk = changedDesk(lms, { configuration: change });

    const page = await shownPage(desk, await newLink(tenant));

    expect([page.status, page.code]).toEqual([REGISTRATION_ERRORS[code].status, code]);
    expect(desk.requests.map(({ path }) => path)).toEqual(['/openid-configuration']);
  },
);

/** Broken answers. Sources: LTI Dynamic Registration 1.0 §3.6.2, RFC 7591 §3.2; what LMSs answer to what they do not take. */
const ANSWERS: readonly (readonly [string, Change, RegistrationErrorCode, string])[] = [
  ['no JSON', instead({ type: 'text/html', body: '<h1>Done</h1>' }), 'registration_answer_invalid', 'not a JSON object'],
  ['nothing', instead({ body: '' }), 'registration_answer_invalid', 'not a JSON object'],
  ['more than 256 KiB', instead({ body: 'x'.repeat(300_000) }), 'registration_answer_invalid', 'more than 262144 bytes'],
  ['no client_id', without('client_id'), 'registration_answer_invalid', 'client_id'],
  ['an empty client_id', set('client_id', ''), 'registration_answer_invalid', 'client_id'],
  ['a client_id of 256 characters', set('client_id', 'c'.repeat(256)), 'registration_answer_invalid', 'client_id'],
  ['a client_id with a line break', set('client_id', 'a\nb'), 'registration_answer_invalid', 'client_id'],
  ['a client_id that is an object', set('client_id', { id: 'x' }), 'registration_answer_invalid', 'client_id'],
  ['another issuer', set('issuer', 'https://evil.example.org'), 'registration_answer_invalid', 'issuer'],
  [
    'redirect_uris without ours',
    set('redirect_uris', ['https://evil.example.org/launch']),
    'registration_answer_invalid',
    'redirect_uris',
  ],
  [
    'another way to sign in',
    set('token_endpoint_auth_method', 'client_secret_post'),
    'registration_answer_invalid',
    'private_key_jwt',
  ],
  [
    'a deployment id of 256 characters',
    inTool((tool) => (tool['deployment_id'] = 'd'.repeat(256))),
    'registration_answer_invalid',
    'deployment_id',
  ],
  [
    'a deployment id that is a list',
    inTool((tool) => (tool['deployment_id'] = ['1'])),
    'registration_answer_invalid',
    'deployment_id',
  ],
  ['a tool configuration that is text', set(TOOL, 'x'), 'registration_answer_invalid', 'lti-tool-configuration'],
  ['a redirect', instead({ status: 303, headers: { location: 'http://127.0.0.1:1/' } }), 'registration_refused', '303'],
  ['202', instead({ status: 202 }), 'registration_refused', '202'],
  [
    '400 by one word',
    instead({ status: 400, type: 'text/plain', body: 'invalid_redirect_uris' }),
    'registration_refused',
    'invalid_redirect_uris',
  ],
  [
    '422 by a list of errors',
    instead({ status: 422, body: { errors: ['scope is unknown'] } }),
    'registration_refused',
    'scope is unknown',
  ],
  [
    '500 with markup',
    instead({ status: 500, type: 'text/html', body: '<script>alert(1)</script><p>Fatal <b>error</b></p>' }),
    'registration_refused',
    'Fatal error',
  ],
  [
    '401',
    instead({ status: 401, type: 'text/plain', body: 'token_already_used' }),
    'registration_token_refused',
    'token_already_used',
  ],
  ['403', instead({ status: 403, body: { error: 'insufficient_scope' } }), 'registration_token_refused', 'insufficient_scope'],
];

test.each(ANSWERS)(
  'an answer that is or has %s is refused in words, and leaves nothing but the link',
  async (_name, change, code, words) => {
    const desk = changedDesk(lms, { answer: change });
    const link = await newLink(tenant);

    const page = await registered(tenant, desk, link);
    desk.answer = () => undefined;

    expect([page.status, page.code]).toEqual([REGISTRATION_ERRORS[code].status, code]);
    expect(page.text).toContain(words);
    expect(page.text).not.toContain('<script>alert');
    expect(await requestsOf(tenant)).toEqual([]);
    expect((await registered(tenant, desk, link)).status).toBe(200);
  },
);

test('the words of an LMS that repeats the registration token are shown without it', async () => {
  const desk = changedDesk(lms);
  const link = desk.open(await newLink(tenant));
  const token = link.searchParams.get('registration_token') ?? '';
  desk.answer = instead({ status: 400, type: 'text/plain', body: `bad token ${token}` }) as typeof desk.answer;

  const page = await pressed(tenant, await new Browser().get(link));

  expect([page.code, token.length > 0, page.text.includes(token)]).toEqual(['registration_refused', true, false]);
  expect(page.text).toContain('bad token …');
});

test.each([
  ['nothing', '', 'start_at_lms'],
  ['no openid_configuration', '?registration_token=x', 'start_at_lms'],
  ['an openid_configuration that is no address', '?openid_configuration=hello', 'configuration_address_refused'],
  ['an openid_configuration that is a file', '?openid_configuration=file:///etc/passwd', 'configuration_address_refused'],
  ['an openid_configuration in a private network', '?openid_configuration=https://10.0.0.5/', 'configuration_address_refused'],
  [
    'an openid_configuration at a cloud’s metadata service',
    '?openid_configuration=http://169.254.169.254/latest',
    'configuration_address_refused',
  ],
  [
    'an openid_configuration with a password',
    '?openid_configuration=https://a:b@lms.example.org/',
    'configuration_address_refused',
  ],
  ['an openid_configuration that nobody serves', '?openid_configuration=http://127.0.0.1:1/', 'configuration_unreachable'],
  [
    'two openid_configurations',
    '?openid_configuration=https://a.example&openid_configuration=https://b.example',
    'parameter_repeated',
  ],
  [
    'a registration_token with a line break',
    '?openid_configuration=https://a.example&registration_token=a%0Ab',
    'registration_token_invalid',
  ],
  [
    'a registration_token of 9,000 characters',
    `?openid_configuration=https://a.example&registration_token=${'a'.repeat(9000)}`,
    'registration_token_invalid',
  ],
])('a link that is opened with %s is %s', async (_name, query, code) => {
  const page = await new Browser().get(`${await newLink(tenant)}${query}`);

  expect([page.code, page.status >= 400]).toEqual([code, true]);
});

test.each(['x', 'a'.repeat(43), `${'a'.repeat(42)}%20`, '%00', '..%2F..'])(
  'the token %s is no link, and costs at most one statement',
  async (token) => {
    const { reply, sql } = await tenant.counting(() =>
      new Browser().get(`${tenant.url}/register/${token}?openid_configuration=https://a.example`),
    );

    expect([reply.status, reply.code]).toEqual([
      404,
      token.includes('%2F') || token === '%00' ? expect.anything() : 'link_unknown',
    ]);
    expect(sql.length).toBeLessThanOrEqual(1);
  },
);

test('an LMS that is silent is configuration_timeout', async () => {
  lms.paths.set('/silent', () => undefined);
  const allow = parseAllowedRanges('127.0.0.0/8');
  const client = guardedClient({ allow, clock: systemClock, metrics: createMetrics('test') });
  const requests = new PlatformRequests({ client, allow, configurationMs: 200 });

  const failure = await requests.configuration(`${lms.issuer}/silent`, undefined).catch((error: unknown) => error);
  await client.close();

  expect(failure).toMatchObject({ status: 504, code: 'configuration_timeout' });
});

test('an LMS with other addresses than its registration is issuer_conflict; another audience of tokens is not', async () => {
  const first = changedDesk(lms);
  await registered(tenant, first);
  await asTheOperator(tenant);
  const other = changedDesk(lms, { configuration: set('token_endpoint', `${lms.issuer}/other-token`) });
  const refused = await shownPage(other, await newLink(tenant));
  const audience = changedDesk(lms, { configuration: set('authorization_server', 'https://audience.example.org') });

  const taken = await registered(tenant, audience);

  expect([refused.status, refused.code, taken.status]).toEqual([409, 'issuer_conflict', 200]);
  expect((await requestsOf(tenant)).map(({ wanted }) => wanted.tokenAudience)).toEqual([null]);
});

test('a client id that is registered here, or waits for the operator, is client_id_taken', async () => {
  const first = changedDesk(lms);
  await registered(tenant, first);
  const again = changedDesk(lms, { answer: set('client_id', first.tools[0]?.clientId) });

  const waiting = await registered(tenant, again);
  await asTheOperator(tenant);
  const taken = await registered(tenant, again);

  expect([waiting.code, taken.code]).toEqual(['client_id_taken', 'client_id_taken']);
  expect(await requestsOf(tenant)).toEqual([]);
});

test('an LMS that does not answer when the button is pressed was sent nothing', async () => {
  const own = await Lms.start();
  const desk = new RegistrationDesk(own, FACES.sakai);
  const page = await shownPage(desk, await newLink(tenant));
  await own.stop();

  const done = await pressed(tenant, page);

  expect([done.status, done.code]).toEqual([503, 'registration_unreachable']);
});
