import { afterEach, expect, test } from '@jest/globals';
import { fixture } from '../../support/suites/fixture.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { asTheOperator, requestsOf } from '../../support/lms/operator-made.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { registered } from './registering.ts';
import { changedDesk, inPlatform, inTool, PLATFORM, set, TOOL, without, type Change } from './registration-changes.ts';

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

/** Cases that real LMSs send, and cases that the documents leave open. */
const ODD: readonly (readonly [string, { configuration?: Change; answer?: Change }])[] = [
  [
    'messages as texts',
    {
      configuration: inPlatform(
        (platform) => (platform['messages_supported'] = ['LtiResourceLinkRequest', 'LtiDeepLinkingRequest']),
      ),
    },
  ],
  [
    'messages with placements null',
    {
      configuration: inPlatform(
        (platform) => (platform['messages_supported'] = [{ type: 'LtiDeepLinkingRequest', placements: null }]),
      ),
    },
  ],
  [
    'messages that are no messages',
    {
      configuration: inPlatform((platform) => (platform['messages_supported'] = [null, 7, { type: 7 }, 'LtiDeepLinkingRequest'])),
    },
  ],
  ['no platform configuration', { configuration: without(PLATFORM) }],
  ['a product that nobody knows', { configuration: inPlatform((platform) => (platform['product_family_code'] = 'ilias')) }],
  ['a product that is a number', { configuration: inPlatform((platform) => (platform['product_family_code'] = 7)) }],
  [
    'no lists of what it supports',
    {
      configuration: (json) => {
        for (const name of Object.keys(json)) if (name.endsWith('_supported') && name !== 'scopes_supported') delete json[name];
      },
    },
  ],
  [
    'empty lists of what it supports',
    {
      configuration: (json) => {
        for (const name of Object.keys(json)) if (name.endsWith('_supported') && name !== 'scopes_supported') json[name] = [];
      },
    },
  ],
  [
    'scopes that nobody knows',
    { configuration: (json) => void (json['scopes_supported'] as string[]).push('openid', 'https://lms.example.org/scope/x') },
  ],
  ['an authorization_server that is no URL', { configuration: set('authorization_server', 'canvas.instructure.com') }],
  ['an empty authorization_server', { configuration: set('authorization_server', '') }],
  [
    '4,000 scopes',
    {
      configuration: (json) =>
        void (json['scopes_supported'] = [
          ...(json['scopes_supported'] as string[]),
          ...Array.from({ length: 4000 }, (_, at) => `https://lms.example.org/scope/${at}`),
        ]),
    },
  ],
  ['fields that nobody knows', { configuration: set('https://lms.example.org/x', { deep: [1] }) }],
  ['a byte order mark', { configuration: (json) => ({ body: `\uFEFF${JSON.stringify(json)}` }) }],
  ['JSON as text/plain', { configuration: (json) => ({ type: 'text/plain', body: json }) }],
  ['200 in place of 201', { answer: (json) => ({ status: 200, body: json }) }],
  ['an answer as text/html', { answer: (json) => ({ type: 'text/html', body: json }) }],
  ['a client_id that is a number', { answer: set('client_id', 10_000_000_000_001) }],
  ['a deployment id that is a number', { answer: inTool((tool) => (tool['deployment_id'] = 7)) }],
  ['an empty deployment id', { answer: inTool((tool) => (tool['deployment_id'] = '')) }],
  ['no tool configuration', { answer: without(TOOL) }],
  ['no scope', { answer: without('scope') }],
  ['an empty scope', { answer: set('scope', '') }],
  ['scopes as a list', { answer: (json) => void (json['scope'] = String(json['scope']).split(' ')) }],
  ['application_type as a list', { answer: set('application_type', ['web']) }],
  ['mangled custom parameters', { answer: inTool((tool) => (tool['custom_parameters'] = { carrel_link_history: null, x: 7 })) }],
  ['claims that were not asked', { answer: inTool((tool) => (tool['claims'] = ['email', 'picture'])) }],
  ['no redirect_uris', { answer: without('redirect_uris') }],
  [
    'messages that are no messages',
    { answer: inTool((tool) => (tool['messages'] = [null, 'LtiDeepLinkingRequest', { type: 'LtiDeepLinkingRequest' }])) },
  ],
];

test.each(ODD)('a registration with %s is odd but valid', async (_name, changes) => {
  const desk = changedDesk(lms, changes);

  const page = await registered(tenant, desk);

  expect([page.status, page.code]).toEqual([200, undefined]);
  expect(await requestsOf(tenant)).toHaveLength(1);
});

test('only what was asked counts as granted, and the page names what was not', async () => {
  const desk = changedDesk(lms, {
    answer: set('scope', 'https://purl.imsglobal.org/spec/lti-ags/scope/score https://lms.example.org/admin'),
  });

  const page = await registered(tenant, desk);
  await asTheOperator(tenant);

  const { data } = (await tenant.admin.get('/lti/registrations', { query: { limit: '200' } })).body;
  const shown = data.find(({ client_id }: { client_id: string }) => client_id === desk.tools[0]?.clientId);
  expect(shown.registered).toMatchObject({
    scopes_granted: ['https://purl.imsglobal.org/spec/lti-ags/scope/score'],
    pending: true,
  });
  expect(shown.registered.scopes_asked).toHaveLength(5);
  expect(page.text).toMatch(/did not allow the tool to<\/h2>\n<ul>\n(<li>.*<\/li>\n)*<li>read who is in a course<\/li>/);
});
