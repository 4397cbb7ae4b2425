import { expect, test } from '@jest/globals';
import { NRPS } from '../../../pkg/local/demo/lms/claims.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import type { ServiceManner } from '../../../pkg/local/demo/lms/service.ts';
import type { TokenAnswer, TokenManner } from '../../../pkg/local/demo/lms/token.ts';
import { rosterCourse, stateOf } from '../../support/clients/rosters.ts';
import { range } from '../../support/wait.ts';
import { rosterSuite } from './roster-suite.ts';

/**
 * Rosters that are refused: of each the rule that it breaks, where that stands or who was seen to break it, and the code of the
 * job.
 */
const { tenant, at } = rosterSuite();

type Row<Manner> = readonly [what: string, source: string, manner: Manner, code: string, message: RegExp];

const ok = (text: string | Buffer): ServiceManner => ({ status: 200, text });
const people = (members: unknown): ServiceManner => ok(JSON.stringify({ id: 'x', members }));
const latin1 = Buffer.from('{"members":[{"user_id":"ada","name":"J\u00f6rg"}]}', 'latin1');

const ROSTERS: readonly Row<ServiceManner>[] = [
  ['JSON that ends early', 'RFC 8259', ok('{"members":[{"user_id":"a"}'), 'lms_failed', /not JSON/],
  ['a login page', 'Moodle', 'html', 'lms_failed', /not JSON/],
  ['names in ISO 8859-1', 'RFC 8259 §8.1', ok(latin1), 'lms_failed', /UTF-8/],
  ['JSON that is nested 200,000 deep', 'RFC 8259 §9', ok('['.repeat(200_000) + ']'.repeat(200_000)), 'lms_failed', /nested/],
  ['nothing', 'NRPS 2.0 §2.2', ok(''), 'lms_failed', /not a list of members/],
  ['the list alone', 'NRPS 2.0 §2.2', ok('[{"user_id":"a"}]'), 'lms_failed', /not a list of members/],
  ['members that are an object', 'NRPS 2.0 §2.2', people({ 0: { user_id: 'a' } }), 'lms_failed', /not a list of members/],
  ['nobody', 'NRPS 2.0 §2.2', people([]), 'lms_failed', /names nobody/],
  ['people without ids', 'NRPS 2.0 §2.3', people([{ name: 'Ada' }, { user_id: null }]), 'lms_failed', /names nobody/],
  [
    'ids that cannot be stored',
    'NRPS 2.0 §2.3',
    people([{ user_id: 'a\0' }, { user_id: 'x'.repeat(300) }]),
    'lms_failed',
    /names nobody/,
  ],
  [
    'people of another course',
    'NRPS 2.0 §2.2',
    ok('{"context":{"id":"x"},"members":[{"user_id":"a"}]}'),
    'lms_failed',
    /another course/,
  ],
  ['64 MiB', 'a bound of ours', 'huge', 'lms_failed', /more than/],
  ['a part of a page', 'RFC 9110 §15.3.7', { status: 206, text: '{"members":[{"user_id":"a"}]}' }, 'lms_failed', /status 206/],
  ['that it works on it', 'RFC 9110 §15.3.3', { status: 202, text: '{"members":[{"user_id":"a"}]}' }, 'lms_failed', /status 202/],
  ['pages in a circle', 'NRPS 2.0 §2.4.2', 'link loops', 'lms_failed', /loop/],
  ['pages without end', 'NRPS 2.0 §2.4.2', 'endless links', 'lms_failed', /no new person/],
  ['a next page at a host inside', 'NRPS 2.0 §2.4.2', { next: 'http://169.254.169.254/members' }, 'lms_failed', /another host/],
  ['a next page that is a file', 'NRPS 2.0 §2.4.2', { next: 'file:///etc/passwd' }, 'lms_failed', /another host/],
  [
    'a next page with a password',
    'NRPS 2.0 §2.4.2',
    { next: 'http://ada:secret@127.0.0.1/members' },
    'lms_failed',
    /another host/,
  ],
  ['a redirect', 'Security Framework 1.1', { status: 301, headers: { location: '/elsewhere' } }, 'lms_failed', /redirects/],
  ['that its token is none', 'Learn-LTI', { status: 401 }, 'lms_failed', /Authorization/],
  ['that its scope is not granted', 'Canvas', { status: 403 }, 'lms_service_missing', /contextmembership\.readonly/],
  ['that the course is gone', 'RFC 9110 §15.5.5', { status: 404 }, 'lms_failed', /new launch/],
  ['that it takes no GET', 'RFC 9110 §15.5.6', { status: 405 }, 'lms_service_missing', /GET for members/],
  ['a bad request', 'Schoology', { status: 400, text: 'limit is not supported' }, 'lms_refused', /limit is not supported/],
  ['that it is busy', 'RFC 6585 §4', { status: 429, headers: { 'retry-after': '5' } }, 'lms_unavailable', /429/],
  ['maintenance', 'RFC 9110 §15.6.4', { status: 503, text: '<h1>Back soon</h1>' }, 'lms_unavailable', /Back soon/],
  ['an error', 'RFC 9110 §15.6.1', { status: 500, text: 'oops' }, 'lms_failed', /500 \(oops\)/],
  ['a gateway that waited', 'RFC 9110 §15.6.5', { status: 504 }, 'lms_timeout', /in time/],
  ['the end of the connection', 'RFC 9112 §9.6', 'down', 'lms_unavailable', /reached/],
  ['half a page, and the end of the connection', 'RFC 9112 §8', { cut: 20, as: 'lost' }, 'lms_unavailable', /reached/],
];

test.each(ROSTERS.map((row) => [row[0], row[1], row] as const))(
  'a roster that is answered with %s (%s) fails with a code, and changes nothing',
  async (_what, _source, [, , manner, code, message]) => {
    const { sync, id, enrolMany } = await rosterCourse(tenant, at);
    enrolMany(2);
    const before = await stateOf(tenant, id);
    at.lms.members.manner.set(manner);

    const { state, error } = await sync().finally(() => at.lms.members.manner.set('well'));

    expect([state, error.code, error.message]).toEqual(['failed', code, expect.stringMatching(message)]);
    expect(await stateOf(tenant, id)).toBe(before);
  },
);

const TOKENS: readonly Row<TokenManner | TokenAnswer>[] = [
  ['a page', 'RFC 6749 §5.1', 'page', 'lms_failed', /access_token/],
  ['no token', 'RFC 6749 §5.1', 'no token', 'lms_failed', /access_token/],
  ['a token that would end the header', 'RFC 6750 §2.1', 'line break', 'lms_failed', /access_token/],
  ['another scope', 'RFC 6749 §5.1', 'another scope', 'lms_service_missing', /contextmembership\.readonly/],
  [
    'an unknown client',
    'RFC 6749 §5.2',
    { status: 401, text: '{"error":"invalid_client"}' },
    'lms_failed',
    /401 \(invalid_client\)/,
  ],
  ['words of Moodle', 'Moodle', 'as Moodle', 'lms_failed', /Invalid client assertion/],
  ['that it is busy', 'RFC 6585 §4', 'busy', 'lms_unavailable', /429/],
  ['the end of the connection', 'RFC 9112 §9.6', 'down', 'lms_unavailable', /no token/],
];

test.each(TOKENS.map((row) => [row[0], row[1], row] as const))(
  'a roster whose token is answered with %s (%s) fails with a code, and no member is asked for',
  async (_what, _source, [, , manner, code, message]) => {
    const { sync } = await rosterCourse(tenant, await registeredLms(tenant, at));
    const asked = at.lms.members.received.length;
    at.lms.tokens.manner.set(manner);

    const { state, error } = await sync().finally(() => at.lms.tokens.manner.set('well'));

    expect([state, error.code, error.message]).toEqual(['failed', code, expect.stringMatching(message)]);
    expect(at.lms.members.received).toHaveLength(asked);
  },
);

test.each<[string, unknown]>([
  ['no service of members', undefined],
  ['no address of members', { service_versions: ['2.0'] }],
  ['an empty address of members', { context_memberships_url: '' }],
  ['an address of members that is script', { context_memberships_url: 'javascript:alert(1)' }],
])('a course that was launched with %s has no roster to take over, and says so', async (_what, claim) => {
  const { api, members } = await rosterCourse(tenant, at, {
    claims: (claims) => (claim === undefined ? delete claims[NRPS] : (claims[NRPS] = claim)),
  });

  const { status, body } = await api.post(`${members}/sync`);

  expect([status, body.error, body.message]).toEqual([
    409,
    'lms_service_missing',
    expect.stringContaining('context_memberships_url'),
  ]);
});

test('a roster whose pages name more and more people in the wrong place skips them, with the count of each reason', async () => {
  const { sync, teacher, people: known } = await rosterCourse(tenant, at);
  const odd = range(30).map((number) => ({ user_id: number % 2 ? 'jürgen' : '', roles: ['Learner'] }));
  at.lms.members.manner.set(people([{ user_id: teacher, roles: ['Instructor'] }, ...odd]), 1);

  const { state, result } = await sync();

  expect([state, result.skipped]).toEqual([
    'succeeded',
    [
      { reason: 'no_user_id', count: 15 },
      { reason: 'user_id_invalid', count: 15 },
    ],
  ]);
  expect(await known()).toHaveLength(1);
});
