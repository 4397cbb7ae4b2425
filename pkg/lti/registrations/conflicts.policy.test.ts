import { expect, test } from '@jest/globals';
import { relationsOf } from './conflicts.policy.ts';
import { deepLinkingModeOf, endpointsOf } from './presets.ts';

interface Given {
  readonly clientId?: string;
  readonly issuer?: string;
  readonly jwks?: string;
  readonly token?: string;
  readonly deploymentIds?: readonly string[];
}

const registration = (name: string, created: number, spec: Given = {}) => ({
  metadata: { name, uid: name, creationTimestamp: `2026-01-01T00:00:0${created}Z` },
  spec: {
    clientId: spec.clientId ?? name,
    platform: {
      preset: 'generic' as const,
      issuer: spec.issuer ?? 'https://lms.example',
      authEndpoint: 'https://lms.example/a',
      tokenEndpoint: spec.token ?? 'https://lms.example/t',
      jwksEndpoint: spec.jwks ?? 'https://lms.example/k',
    },
    ...(spec.deploymentIds ? { deploymentIds: spec.deploymentIds } : {}),
  },
});

test('the later of two with one client id at one LMS is refused, whatever order they are looked at in', () => {
  const [a, b] = [registration('a', 2, { clientId: 'x' }), registration('b', 1, { clientId: 'x' })];

  expect(relationsOf(a, [a, b]).conflict).toBe(
    "LtiRegistration b already has clientId x of this LMS: add this one's deployments to its deploymentIds",
  );
  expect(relationsOf(b, [a, b]).conflict).toBeUndefined();
});

test('LMSs with one issuer and key sets of their own have many clients; those of one LMS are peers', () => {
  const all = [
    registration('b', 2),
    registration('a', 1),
    registration('c', 3, { jwks: 'https://two.example/k', token: 'https://two.example/t' }),
    registration('d', 4, { issuer: 'https://other.example' }),
  ];

  expect(all.map((one) => relationsOf(one, all).conflict)).toEqual([undefined, undefined, undefined, undefined]);
  const peersOf = (one: (typeof all)[number]) => relationsOf(one, all).peers.map(({ metadata }) => metadata.name);
  expect(all.map(peersOf)).toEqual([['a', 'b'], ['a', 'b'], ['c'], ['d']]);
});

test('one issuer and key set with another endpoint is one LMS that is described in two ways', () => {
  const [a, b] = [registration('a', 1), registration('b', 2, { token: 'https://lms.example/other' })];

  expect(relationsOf(b, [a, b]).conflict).toBe(
    'LtiRegistration a is for the same LMS (same issuer and jwksEndpoint), but has another tokenEndpoint: ' +
      'use the same one in both, or give each the jwksEndpoint of its own LMS',
  );
});

test('one client id at LMSs with different issuers tells nothing apart, and need not', () => {
  const all = [registration('a', 1, { clientId: 'x' }), registration('b', 2, { clientId: 'x', issuer: 'https://other.example' })];

  expect(all.map((one) => relationsOf(one, all).conflict)).toEqual([undefined, undefined]);
});

const OF = 'LtiRegistration a, of another LMS with this issuer, has clientId x too';
const UNTOLD = `${OF}: only deployments tell their launches apart. List the deployments of each in its spec.deploymentIds`;

test.each([
  ['both list their own', ['1', '2'], ['3'], undefined],
  ['both list one', ['1', '2'], ['3', '2'], `${OF}, and lists deployment 2: only one of them can have it`],
  ['the later lists none', ['1'], undefined, UNTOLD],
  ['the earlier lists none', [], ['1'], UNTOLD],
])('of two LMSs with one issuer that gave one client id, where %s', (_what, ofA, ofB, conflict) => {
  const a = registration('a', 1, { clientId: 'x', deploymentIds: ofA });
  const b = registration('b', 2, { clientId: 'x', jwks: 'https://two.example/k', ...(ofB ? { deploymentIds: ofB } : {}) });

  expect([a, b].map((one) => relationsOf(one, [a, b]).conflict)).toEqual([undefined, conflict]);
});

test('a registration that is rejected or terminating conflicts with no other', () => {
  const first = registration('a', 1, { clientId: 'x' });
  const refused = registration('b', 2, { clientId: 'x' });
  const third = registration('c', 3, { clientId: 'x', jwks: 'https://two.example/k', deploymentIds: ['1'] });
  const going = { ...first, metadata: { ...first.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } };

  expect([refused, third].map((one) => relationsOf(one, [going, refused, third]).conflict)).toEqual([
    undefined,
    UNTOLD.replace('LtiRegistration a', 'LtiRegistration b'),
  ]);
  expect(relationsOf(third, [first, refused, third]).conflict).toBe(UNTOLD);
});

test('a registration without a client id conflicts with no other', () => {
  const { clientId: _, ...spec } = registration('a', 1).spec;
  const [a, b] = [1, 2].map((age) => ({ ...registration(`without-${age}`, age, { jwks: `https://lms.example/${age}` }), spec }));
  const later = registration('c', 3);

  const relations = relationsOf(
    later,
    [a, b, later].filter((one) => one !== undefined),
  );

  expect([relations.conflict, relations.peers.map(({ metadata }) => metadata.name)]).toEqual([undefined, ['c']]);
});

test.each([
  ['moodle', 'https://m.example/', 'https://m.example/mod/lti/auth.php', 'https://m.example/mod/lti/certs.php'],
  [
    'canvas',
    'https://canvas.instructure.com',
    'https://sso.canvaslms.com/api/lti/authorize_redirect',
    'https://sso.canvaslms.com/api/lti/security/jwks',
  ],
  [
    'canvas',
    'https://canvas.school.example',
    'https://canvas.school.example/api/lti/authorize_redirect',
    'https://canvas.school.example/api/lti/security/jwks',
  ],
  [
    'blackboard',
    'https://blackboard.com',
    'https://developer.blackboard.com/api/v1/gateway/oidcauth',
    'https://developer.blackboard.com/api/v1/management/applications/id%201/jwks.json',
  ],
  ['brightspace', 'https://d.example', 'https://d.example/d2l/lti/authenticate', 'https://d.example/d2l/.well-known/jwks'],
] as const)('the preset %s of %s knows its endpoints', (preset, issuer, authEndpoint, jwksEndpoint) => {
  const { spec } = registration('a', 1);
  const given = { ...spec, clientId: 'id 1', platform: { preset, issuer } };

  expect(endpointsOf(given)).toMatchObject({ authEndpoint, jwksEndpoint });
  expect(deepLinkingModeOf(given)).toBe('FormPost');
});

test('an endpoint that is named goes before the preset’s, and the generic preset answers by query', () => {
  const { spec } = registration('a', 1);

  expect(endpointsOf({ ...spec, platform: { ...spec.platform, preset: 'moodle' } }).authEndpoint).toBe('https://lms.example/a');
  expect([deepLinkingModeOf(spec), deepLinkingModeOf({ ...spec, deepLinkingResponseMode: 'FormPost' })]).toEqual([
    'Query',
    'FormPost',
  ]);
});
