import { expect, test } from '@jest/globals';
import { relationsOf } from './conflicts.policy.ts';
import { deepLinkingModeOf, endpointsOf } from './presets.ts';

const registration = (name: string, created: number, spec: { clientId?: string; issuer?: string; jwks?: string } = {}) => ({
  metadata: { name, uid: name, creationTimestamp: `2026-01-01T00:00:0${created}Z` },
  spec: {
    clientId: spec.clientId ?? name,
    platform: {
      preset: 'generic' as const,
      issuer: spec.issuer ?? 'https://lms.example',
      authEndpoint: 'https://lms.example/a',
      tokenEndpoint: 'https://lms.example/t',
      jwksEndpoint: spec.jwks ?? 'https://lms.example/k',
    },
  },
});

test('the later of two with one client id is refused, whatever order they are looked at in', () => {
  const [a, b] = [registration('a', 2, { clientId: 'x' }), registration('b', 1, { clientId: 'x' })];

  expect(relationsOf(a, [a, b]).conflict).toBe('LtiRegistration b has clientId x already');
  expect(relationsOf(b, [a, b]).conflict).toBeUndefined();
});

test('one issuer with the same endpoints may have many clients, which are peers', () => {
  const all = [registration('b', 2), registration('a', 1), registration('c', 3, { issuer: 'https://other.example' })];

  expect(all.map((one) => relationsOf(one, all).conflict)).toEqual([undefined, undefined, undefined]);
  expect(relationsOf(registration('b', 2), all).peers.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
});

test('a registration that is rejected or terminating conflicts with no other', () => {
  const first = registration('a', 1, { clientId: 'x' });
  const refused = registration('b', 2, { clientId: 'x', issuer: 'https://two.example', jwks: 'https://two.example/1' });
  const third = registration('c', 3, { issuer: 'https://two.example', jwks: 'https://two.example/2' });
  const going = { ...first, metadata: { ...first.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } };

  expect(relationsOf(third, [first, refused, third]).conflict).toBeUndefined();
  expect(relationsOf(third, [going, refused, third]).conflict).toBe(
    'LtiRegistration b names other endpoints for issuer https://two.example',
  );
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
  expect([deepLinkingModeOf(spec), deepLinkingModeOf({ ...spec, deepLinkingResponseMode: 'FormPost' })]).toEqual(['Query', 'FormPost']);
});
