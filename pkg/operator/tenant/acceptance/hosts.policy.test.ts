import { expect, test } from '@jest/globals';
import { hostRefusalOf, parseAllowedHosts, parseHosts, slugOfDefaultHost } from './hosts.policy.ts';

const rules = {
  baseDomain: 'files.example',
  apiHost: 'rest.example.org',
  allowedHosts: parseAllowedHosts('example.org, schools=school.example, other=other.example'),
  reservedHosts: ['lms.files.example'],
};

const refusal = (app: string, lti = app, more: Partial<typeof rules> = {}, slug = 'north'): string | undefined => {
  const found = hostRefusalOf({ slug, namespace: 'schools', hosts: { app, lti } }, { ...rules, ...more });
  return found && `${found.reason}: ${found.message}`;
};

const ADVICE =
  "in namespace schools: north.files.example and lti.north.files.example are this tenant's; this namespace may use " +
  'hosts under example.org, school.example. ' +
  "The platform's operator allows domains in CARREL_ALLOWED_HOSTS";

test.each([
  ['north.files.example', 'lti.north.files.example'],
  ['lti.north.files.example', 'north.files.example'],
  ['example.org', 'a.b.example.org'],
  ['school.example', 'lti.school.example'],
])("%s and %s may be a tenant's", (app, lti) => {
  expect(refusal(app, lti)).toBeUndefined();
});

test.each([
  ['south.files.example', 'HostNotAllowed: spec.hosts: south.files.example belongs to the slug south; choose another host'],
  [
    'lti.south.files.example',
    'HostNotAllowed: spec.hosts: lti.south.files.example belongs to the slug south; choose another host',
  ],
  ['lti.files.example', 'HostNotAllowed: spec.hosts: lti.files.example belongs to the slug lti; choose another host'],
  ['api.files.example', 'HostReserved: api.files.example is the shared API host; take another'],
  ['rest.example.org', 'HostReserved: rest.example.org is the shared API host; take another'],
  ['files.example', 'HostReserved: files.example is the base domain itself; take another'],
  ['lms.files.example', 'HostReserved: this operator reserves the host lms.files.example; take another'],
])('%s is refused even where every host is allowed', (host, message) => {
  const any = { allowedHosts: parseAllowedHosts('*') };

  expect(refusal(host, 'x.example.org', any)).toBe(message);
  expect(refusal('x.example.org', host, any)).toBe(message);
});

test.each([
  'argocd.corp.example',
  'a.south.files.example',
  'x.north.files.example',
  'badexample.org',
  'x.other.example',
  '10.0.0.1',
])('%s is refused where its domain is not allowed the namespace', (host) => {
  expect(refusal(host)).toBe(`HostNotAllowed: spec.hosts: ${host} is not allowed ${ADVICE}`);
});

test('a slug whose own host is reserved must name others', () => {
  expect(refusal('lms.files.example', 'lti.lms.files.example', {}, 'lms')).toBe(
    'HostReserved: this operator reserves the host lms.files.example; set spec.hosts, since lms would be there',
  );
});

test('without base domain and allowed domains no host is allowed', () => {
  const none = { baseDomain: undefined, apiHost: undefined, allowedHosts: [] };

  expect(
    hostRefusalOf(
      { slug: 'north', namespace: 'schools', hosts: { app: 'a.example', lti: 'a.example' } },
      { ...none, reservedHosts: [] },
    ),
  ).toEqual({
    reason: 'HostNotAllowed',
    message:
      "spec.hosts: a.example is not allowed in namespace schools. The platform's operator allows domains in CARREL_ALLOWED_HOSTS",
  });
});

test.each([
  ['north.files.example', 'north'],
  ['lti.north.files.example', 'north'],
  ['lti.lti.files.example', 'lti'],
  ['n.files.example', undefined],
  ['1north.files.example', undefined],
  ['a.lti.north.files.example', undefined],
  ['northfiles.example', undefined],
])('%s is the default host of slug %s', (host, slug) => {
  expect(slugOfDefaultHost(host, 'files.example')).toBe(slug);
});

test.each([
  ['', []],
  ['*', [{ namespace: undefined, suffix: '*' }]],
  [
    'team=*, Example.org,',
    [
      { namespace: 'team', suffix: '*' },
      { namespace: undefined, suffix: 'example.org' },
    ],
  ],
])('allowed hosts %j are read', (text, entries) => {
  expect(parseAllowedHosts(text)).toEqual(entries);
});

test.each(['*.example.org', '.example.org', 'https://example.org', 'a=b=c', '=example.org', 'team='])(
  'the entry %s is refused',
  (text) => {
    expect(() => parseAllowedHosts(text)).toThrow(`${text} is neither a domain, nor namespace=domain, nor *`);
  },
);

test('reserved hosts are compared without case, and an invalid host name is refused', () => {
  expect(parseHosts(' LMS.Files.Example, a.example,')).toEqual(['lms.files.example', 'a.example']);
  for (const text of ['https://a.example', '*.a.example', 'a.example:443', 'a.example.', 'a b', `${'a'.repeat(64)}.example`])
    expect(() => parseHosts(text)).toThrow(`${text} is no host name`);
});
