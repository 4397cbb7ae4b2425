import { expect, test } from '@jest/globals';
import { Browser, follow } from '../../support/lms/browser.ts';
import { AGS, type Claims, INSTRUCTOR, LEARNER, LTI, NRPS } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import { LAUNCH_ERRORS, type LaunchErrorCode } from '../../../pkg/lti/launch-error.ts';

/**
 * Sends what 1EdTech's suite sends to a tool for its certification (LTI Advantage Conformance Certification Guide 1.3,
 * §6.1.1–6.1.3), as far as libraries publish it: the list of the guide in ltix and hypothesis/lms, what the suite sends for
 * each in hypothesis/lms and Packback/lti-1-3-php-library, the tests that came later in atomic_lti. Words and values are ours.
 */
const { tenant, at } = lmsSuite();

const MEMBERSHIP = 'http://purl.imsglobal.org/vocab/lis/v2/membership';
const INSTITUTION = 'http://purl.imsglobal.org/vocab/lis/v2/institution/person';
const ALL_NAMES = { name: 'Iris May Bell', given_name: 'Iris', middle_name: 'May', family_name: 'Bell' };
const ADDRESS = 'iris@certified.example.org';

const changed = (change: (claims: Claims) => void): Fault => ({ claims: change });
const without = (...names: string[]): Fault => changed((claims) => names.forEach((name) => delete claims[name]));
const lti = (name: string): string => `${LTI}/${name}`;

type Bad = readonly [rule: string, source: string, fault: Fault, code: LaunchErrorCode];

const BAD: readonly Bad[] = [
  ['no key id', 'guide §6.1.1', { header: (header) => void delete header.kid }, 'kid_missing'],
  ['a key id that is not published', 'guide §6.1.1', { header: (header) => void (header.kid = 'of-another-set') }, 'key_unknown'],
  ['another version', 'guide §6.1.1', changed((claims) => (claims[lti('version')] = '11.3')), 'version_unsupported'],
  ['no version', 'guide §6.1.1', without(lti('version')), 'version_unsupported'],
  ['JSON that is no message', 'guide §6.1.1', changed(onlyAName), 'issuer_mismatch'],
  [
    'claims of everybody missing',
    'guide §6.1.1',
    without('aud', 'iss', 'sub', lti('deployment_id'), lti('roles')),
    'issuer_mismatch',
  ],
  [
    'times of 1970',
    'guide §6.1.1',
    changed((claims) => void Object.assign(claims, { iat: 11111, exp: 22222 })),
    'id_token_expired',
  ],
  ['no message type', 'guide §6.1.1', without(lti('message_type')), 'message_type_missing'],
  ['no roles', 'guide §6.1.1', without(lti('roles')), 'roles_missing'],
  ['no deployment id', 'guide §6.1.1', without(lti('deployment_id')), 'deployment_id_missing'],
  ['no resource link', 'guide §6.1.1', without(lti('resource_link')), 'resource_link_missing'],
  ['nobody', 'guide §6.1.1', without('sub'), 'anonymous_launch'],
  ['a token of two parts', 'Packback', { token: (token) => token.split('.').slice(0, 2).join('.') }, 'id_token_malformed'],
];

function onlyAName(claims: Claims): void {
  for (const name of Object.keys(claims)) delete claims[name];
  claims['name'] = 'no message';
}

const traces = () => Promise.all([tenant.db.tables.sessions.count({}), tenant.db.tables.users.count({})]);

test.each(
  BAD.flatMap(([rule, source, fault, code]) =>
    [INSTRUCTOR, LEARNER].map((role) => [role.split('#')[1], rule, source, code, role, fault] as const),
  ),
)('a bad launch as %s, with %s (%s), is refused as %s', async (_who, _rule, _source, code, role, fault) => {
  const before = await traces();

  const page = await follow(new Browser(), at.lms.open(at.clientId, { roles: [role] }, fault));

  expect([page.status, page.code]).toEqual([LAUNCH_ERRORS[code].status, code]);
  expect(await traces()).toEqual(before);
});

test('thirteen bad launches are known', () => expect(BAD).toHaveLength(13));

/** The result of a launch: the person's name and role in the course, and the course's title. */
interface Seen {
  readonly name: string | null;
  readonly email: string | null;
  readonly role: 'instructor' | 'learner' | null;
  readonly course: string | null;
}

type Good = readonly [what: string, source: string, roles: readonly string[], fault: Fault, seen: Seen];

const COURSE = 'Natural History';
const person = (said: object): Fault => changed((claims) => void Object.assign(claims, said));
const everything = person({ ...ALL_NAMES, email: ADDRESS });
const nothingElse = changed((claims) => {
  for (const name of [AGS, NRPS, lti('context'), lti('custom'), lti('launch_presentation')]) delete claims[name];
});
const emailWithoutCourse = changed((claims) => (delete claims[lti('context')], void (claims['email'] = ADDRESS)));
const both: Seen = { name: ALL_NAMES.name, email: ADDRESS, role: 'instructor', course: COURSE };
const asLearner = (seen: Seen): Seen => ({ ...seen, role: 'learner' });

/** Nine launches, which are sent for a teacher (§6.1.2) and for a student (§6.1.3). */
const NINE = (section: string, role: string, more: string, seen: Seen): readonly Good[] => [
  ['all of a person', section, [role], everything, seen],
  ['several roles', section, [role, more, `${INSTITUTION}#Other`], everything, seen],
  ['a short role', section, [role.split('#')[1] ?? ''], everything, seen],
  ['a role that nobody knows', section, [role, 'http://purl.imsglobal.org/vocab/lis/v2/unknown#Unknown'], everything, seen],
  ['a role that is empty', section, [''], everything, asLearner(seen)],
  ['an e-mail address and no name', section, [role], person({ email: ADDRESS }), { ...seen, name: null }],
  ['names and no e-mail address', section, [role], person(ALL_NAMES), { ...seen, email: null }],
  ['nothing about the person', section, [role], {}, { ...seen, name: null, email: null }],
  ['an e-mail address and no course', section, [role], emailWithoutCourse, { ...seen, name: null, role: null, course: null }],
];

const GOOD: readonly Good[] = [
  ...NINE('guide §6.1.2', INSTRUCTOR, `${INSTITUTION}#Faculty`, both),
  ...NINE('guide §6.1.3', LEARNER, `${INSTITUTION}#Student`, asLearner(both)),
  ['nothing but a resource link', 'atomic_lti', [LEARNER], nothingElse, { name: null, email: null, role: null, course: null }],
  [
    'the service of members alone',
    'atomic_lti',
    [INSTRUCTOR],
    changed((claims) => (Object.assign(claims, ALL_NAMES), delete claims[AGS])),
    { ...both, email: null },
  ],
  [
    'the services of grades without a line item',
    'hypothesis/lms',
    [`${MEMBERSHIP}/Instructor#TeachingAssistant`],
    changed((claims) => {
      Object.assign(claims, ALL_NAMES);
      const { lineitems } = claims[AGS] as { lineitems: string };
      claims[AGS] = { scope: [SCOPE.lineItem, SCOPE.result, SCOPE.score], lineitems };
    }),
    { ...both, email: null },
  ],
];

test.each(
  GOOD.map((row, index) => [row[2].map((role) => role.split('#')[1] ?? role).join(), row[0], row[1], index, row] as const),
)(
  'a good launch as %s with %s (%s) opens the tool, and what it says of the person is kept',
  async (_roles, _what, _source, index, [, , roles, fault, seen]) => {
    const course = { id: `certified-${index}`, title: COURSE };

    const { api, launchId } = await launched(tenant, at, { user: { id: `certified-${index}` }, roles, course }, fault);

    const { body } = await api.get(`/lti/launches/${launchId}`);
    const [known] = await tenant.db.query<{ email: string | null; role: Seen['role'] }>(
      `SELECT i.lms_email AS email, m.role FROM lti_identities i
       LEFT JOIN lti_members m ON m.subject = i.subject WHERE i.subject = $1`,
      [`certified-${index}`],
    );
    expect({ name: body.user.name, ...known, course: body.context?.title ?? null }).toEqual(seen);
    expect(body.roles).toEqual(roles.filter((role) => role !== ''));
    expect(body.resource_link.id).toBe('link-1');
  },
);

test('twenty-one good launches are known', () => expect(GOOD).toHaveLength(21));
