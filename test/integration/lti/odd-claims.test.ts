import { expect, test } from '@jest/globals';
import { Browser, follow, type PageShown } from '../../support/lms/browser.ts';
import { AGS, type Claims, INSTRUCTOR, LTI, NRPS } from '../../../pkg/local/demo/lms/claims.ts';
import { deepLinking, SETTINGS } from '../../../pkg/local/demo/lms/deep-linking.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { inParallel, range } from '../../support/wait.ts';

/**
 * Messages that an LMS has signed and that have in each place each value that is odd: all are judged, and none is an internal
 * error.
 */
const { tenant, at } = lmsSuite();

const nested = (levels: number): unknown => (levels === 0 ? [] : [nested(levels - 1)]);
const NUMBERS = [0, -1, 1.5, 1e308];
const TEXTS = [
  '',
  ' ',
  ',',
  '%',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e',
  'x'.repeat(5_000),
  'https://[',
  'javascript:1',
  '$Context.id',
];
const LISTS = [[], [null], [[]], ['\0'], ['\ud800'], [{}], nested(80)];
const OBJECTS = [{}, { id: null }, { id: '\0' }, { '\0': '\0' }];
const VALUES: readonly unknown[] = [null, true, false, ...NUMBERS, ...TEXTS, ...LISTS, ...OBJECTS];

/** The path of a claim: of the claim itself, or of a member of it. */
type Path = readonly [claim: string, member?: string];
const lti = (name: string, ...members: string[]): Path[] => [
  [`${LTI}/${name}`],
  ...members.map((member): Path => [`${LTI}/${name}`, member]),
];

/** Claims without which a launch still succeeds. */
const OPTIONAL: readonly Path[] = [
  ...['name', 'given_name', 'family_name', 'middle_name', 'email', 'locale', 'picture'].map((name): Path => [name]),
  ...lti('context', 'title', 'label', 'type').slice(1),
  ...lti('resource_link', 'title', 'description').slice(1),
  ...lti('custom', 'carrel_target', 'carrel_course_history').slice(1),
  ...lti('launch_presentation', 'return_url', 'locale', 'document_target').slice(1),
  ...lti('tool_platform', 'url', 'guid', 'name').slice(1),
  ...lti('lis', 'person_sourcedid'),
  ...lti('role_scope_mentor'),
  ...lti('platformnotificationservice', 'platform_notification_service_url', 'notice_types_supported', 'scope').slice(1),
  ...['scope', 'lineitem', 'lineitems'].map((member): Path => [AGS, member]),
  ...['context_memberships_url', 'service_versions'].map((member): Path => [NRPS, member]),
  ['http://www.brightspace.com', 'Context.id.history'],
  ['https://lms.example.org/claim'],
];

/** Claims for which a launch may be refused. */
const REQUIRED: readonly Path[] = [
  ...['iss', 'aud', 'azp', 'exp', 'iat', 'nbf', 'nonce', 'sub'].map((name): Path => [name]),
  ...['message_type', 'version', 'deployment_id', 'target_link_uri', 'roles'].flatMap((name) => lti(name)),
  ...lti('resource_link', 'id'),
  ...lti('context', 'id'),
  ...['custom', 'launch_presentation', 'tool_platform', 'platformnotificationservice'].flatMap((name) => lti(name)),
  [AGS],
  [NRPS],
  ['http://www.brightspace.com'],
];

function put(claims: Claims, [claim, member]: Path, value: unknown): void {
  if (member === undefined) claims[claim] = value;
  else claims[claim] = { ...(claims[claim] as object), [member]: value };
}

const valueAt = (index: number): unknown => VALUES[index % VALUES.length];

/** So many messages that each place has had each value once: each has another value in each place. */
const squares = (paths: readonly Path[]): Fault[] =>
  VALUES.map((_, shift) => ({ claims: (claims) => paths.forEach((path, index) => put(claims, path, valueAt(index + shift))) }));
/** Returns, for each path and value, a message that is odd in nothing else. */
const singles = (paths: readonly Path[]): Fault[] =>
  paths.flatMap((path) => VALUES.map((value) => ({ claims: (claims: Claims) => put(claims, path, value) })));

/** The statuses, without those that are an answer, of all messages; each with its number. */
async function unanswered(faults: readonly Fault[], send: (fault: Fault) => Promise<PageShown>): Promise<unknown[]> {
  const found: unknown[] = [];
  await inParallel([...faults.entries()], 6, async ([index, fault]) => {
    const { status, code } = await send(fault);
    const isAnswer = status === 303 || (status >= 400 && status < 500 && code !== undefined);
    if (!isAnswer) found.push([index, status, code]);
  });
  return found;
}

const opened = { roles: [INSTRUCTOR], course: { id: 'odd', title: 'Odd' } };
const launch = (fault: Fault) => follow(new Browser(), at.lms.open(at.clientId, opened, fault));

test('a launch whose optional claims are odd opens the tool', async () => {
  const statuses = new Set<number>();
  const found = await unanswered(squares(OPTIONAL), async (fault) => {
    const page = await launch(fault);
    statuses.add(page.status);
    return page;
  });

  expect(found).toEqual([]);
  expect([...statuses]).toEqual([303]);
});

test('a launch one of whose claims is odd opens the tool or is refused with a code', async () => {
  expect(await unanswered(singles(REQUIRED), launch)).toEqual([]);
});

test('a deep linking request whose settings are odd is answered or refused with a code', async () => {
  const members = [
    'deep_link_return_url',
    'accept_types',
    'accept_media_types',
    'accept_presentation_document_targets',
    'accept_multiple',
  ];
  const more = ['accept_lineitem', 'auto_create', 'title', 'text', 'data'];
  const paths = [...members, ...more].map((member): Path => [SETTINGS, member]);
  const faults = singles([[SETTINGS], ...paths]);

  expect(
    await unanswered(
      faults.map((fault) => deepLinking(at.lms.issuer, {}, fault)),
      launch,
    ),
  ).toEqual([]);
});

test('notices with one odd claim are stored, or refused with a code, and valid ones beside them are stored', async () => {
  const paths: readonly Path[] = [
    ...['iss', 'aud', 'azp', 'exp', 'iat', 'nbf', 'nonce', 'sub'].map((name): Path => [name]),
    ...['version', 'deployment_id', 'roles'].flatMap((name) => lti(name)),
    ...lti('notice', 'id', 'type', 'timestamp'),
    ...lti('context', 'id', 'title'),
    ...lti('origin_contexts'),
  ];
  const copied = { [`${LTI}/context`]: { id: 'new' }, [`${LTI}/origin_contexts`]: ['old'] };
  const notice = (fault: Fault = {}) => ({ jwt: at.lms.notice(at.clientId, 'LtiContextCopyNotice', copied, fault) });
  const odd = singles(paths).map((fault) => notice(fault));

  const batches = range(Math.ceil(odd.length / 99)).map((batch) => [notice(), ...odd.slice(batch * 99, (batch + 1) * 99)]);
  const replies = await Promise.all(batches.map((notices) => tenant.anonymous.post(`${tenant.url}/notices`, { notices })));

  expect(replies.map(({ status }) => status)).toEqual(batches.map(() => 200));
  const judged = replies.flatMap(({ body }) => body.refused.map(({ error }: { error: string }) => error));
  expect(judged.filter((code: string) => code === 'internal')).toEqual([]);
});

test('a review of a hand-in whose person is odd is opened or refused with a code', async () => {
  const review = (fault: Fault): Fault => ({
    claims: (claims) => {
      claims[`${LTI}/message_type`] = 'LtiSubmissionReviewRequest';
      claims[`${LTI}/for_user`] = { user_id: 'ben' };
      fault.claims?.(claims);
    },
  });

  expect(await unanswered(singles(lti('for_user', 'user_id', 'name')).map(review), launch)).toEqual([]);
});
