import { expect, test } from '@jest/globals';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import type { ServiceManner } from '../../../pkg/local/demo/lms/service.ts';
import type { TokenAnswer, TokenManner } from '../../../pkg/local/demo/lms/token.ts';
import { coursesOf, ITEM } from './line-items.ts';

/**
 * Services of an LMS that are broken, beside those of line-items-refusals.test.ts: of each the rule that it breaks, where that
 * stands or who was seen to break it, and our answer.
 */
const { tenant, at } = lmsSuite();
const course = coursesOf(tenant, () => at);

type Row<Manner> = readonly [what: string, source: string, manner: Manner, status: number, code: string, message: RegExp];

const ok = (text: string | Buffer, headers: Record<string, string> = {}): ServiceManner => ({ status: 200, text, headers });
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const lineItem = (more = ''): string => `{"id":"${at.lms.issuer}/ags/x/lineitems/1","label":"a","scoreMaximum":1${more}}`;
const inAWeek = (): string => new Date(Date.now() + 7 * 86_400_000).toUTCString();
const latin1 = Buffer.from('[{"id":"https://lms.example.org/1","label":"Pr\u00fcfung"}]', 'latin1');
const utf16 = Buffer.from('\uFEFF[]', 'utf16le');

/** Faults of any request; of a list unless another is named. */
const LISTS: readonly Row<() => ServiceManner>[] = [
  ['JSON that ends early', 'RFC 8259', () => ok('[{"id":"x"'), 502, 'lms_failed', /not JSON/],
  ['JSON with more behind it', 'RFC 8259', () => ok('[] []'), 502, 'lms_failed', /not JSON/],
  ['a number', 'AGS 2.0 §3.2.4', () => ok('7'), 502, 'lms_failed', /not a list/],
  ['null', 'AGS 2.0 §3.2.4', () => ok('null'), 502, 'lms_failed', /not a list/],
  ['a list of null', 'AGS 2.0 §3.2.4', () => ok('[null]'), 502, 'lms_failed', /no address/],
  ['a list of lists', 'AGS 2.0 §3.2.4', () => ok('[[]]'), 502, 'lms_failed', /no address/],
  ['an address that is a number', 'AGS 2.0 §3.2.5', () => ok('[{"id":7}]'), 502, 'lms_failed', /no address/],
  ['an address that is script', 'AGS 2.0 §3.2.5', () => ok('[{"id":"javascript:alert(1)"}]'), 502, 'lms_failed', /no address/],
  [
    'an address that is too long',
    'AGS 2.0 §3.2.5',
    () => ok(`[{"id":"${at.lms.issuer}/${'x'.repeat(3_000)}"}]`),
    502,
    'lms_failed',
    /no address/,
  ],
  [
    'letters of ISO 8859-1',
    'RFC 8259 §8.1',
    () => ok(latin1, { 'content-type': 'application/json; charset=iso-8859-1' }),
    502,
    'lms_failed',
    /UTF-8/,
  ],
  [
    'letters of UTF-16',
    'RFC 8259 §8.1',
    () => ok(utf16, { 'content-type': 'application/json; charset=utf-16' }),
    502,
    'lms_failed',
    /UTF-8/,
  ],
  [
    'a line item that is nested 200,000 deep',
    'RFC 8259 §9',
    () => ok(`[${lineItem(`,"x":${nested(200_000)}`)}]`),
    502,
    'lms_failed',
    /nested/,
  ],
  ['a list that is nested 400,000 deep', 'RFC 8259 §9', () => ok(nested(400_000)), 502, 'lms_failed', /nested|no address/],
  [
    'a compressed answer that nobody asked for',
    'RFC 9110 §12.5.3',
    () => ok(Buffer.from([31, 139, 8, 0, 255]), { 'content-encoding': 'gzip' }),
    502,
    'lms_failed',
    /UTF-8/,
  ],
  ['no content', 'AGS 2.0 §3.2.4', () => ({ status: 204 }), 502, 'lms_failed', /status 204/],
  ['a list that it still makes', 'RFC 9110 §15.3.3', () => ({ status: 202, text: '[]' }), 502, 'lms_failed', /status 202/],
  ['a list of another', 'RFC 9110 §15.3.4', () => ({ status: 203, text: '[]' }), 502, 'lms_failed', /status 203/],
  ['a part of a list', 'RFC 9110 §15.3.7', () => ({ status: 206, text: '[]' }), 502, 'lms_failed', /status 206/],
  ['a status that nobody knows', 'RFC 9110 §15', () => ({ status: 299, text: '[]' }), 502, 'lms_failed', /status 299/],
  ['that it is too early', 'RFC 8470 §5.2', () => ({ status: 425 }), 503, 'lms_unavailable', /425/],
  ['that nothing has changed', 'RFC 9110 §15.4.5', () => ({ status: 304 }), 502, 'lms_failed', /304/],
  [
    'a redirect to its login page',
    'Canvas',
    () => ({ status: 303, headers: { location: '/login' } }),
    502,
    'lms_failed',
    /redirects/,
  ],
  [
    'a permanent redirect to a host inside',
    'RFC 9110 §15.4.9',
    () => ({ status: 308, headers: { location: 'http://169.254.169.254/' } }),
    502,
    'lms_failed',
    /redirects/,
  ],
  ['that it is gone', 'RFC 9110 §15.5.11', () => ({ status: 410 }), 502, 'lms_failed', /new launch/],
  ['that it waited for us', 'RFC 9110 §15.5.9', () => ({ status: 408 }), 504, 'lms_timeout', /in time/],
  ['that it cannot do that', 'RFC 9110 §15.6.2', () => ({ status: 501 }), 409, 'lms_service_missing', /GET/],
  [
    'that its server is a teapot',
    'RFC 2324',
    () => ({ status: 418, text: 'short and stout' }),
    422,
    'lms_refused',
    /418.*short and stout/,
  ],
  ['a media type that it does not have', 'AGS 2.0 §3.2.3', () => ({ status: 406 }), 422, 'lms_refused', /406/],
  [
    'a gateway without a server behind it',
    'RFC 9110 §15.6.3',
    () => ({ status: 502, text: '<h1>Bad Gateway</h1>' }),
    502,
    'lms_failed',
    /502 \(Bad Gateway\)/,
  ],
  ['a status of a proxy', 'Cloudflare', () => ({ status: 520 }), 502, 'lms_failed', /520/],
  ['a cut connection', 'RFC 9112 §8', () => ({ cut: 1, as: 'lost' }), 503, 'lms_unavailable', /reached/],
  ['half of its answer', 'RFC 9112 §8', () => ({ cut: 1, as: 'ended' }), 502, 'lms_failed', /not JSON/],
];

const named = (row: Row<unknown>): readonly [string, string] => [row[0], row[1]];

test.each(LISTS.map((row) => [...named(row), row] as const))(
  'an LMS that answers with %s (%s) is refused with a code',
  async (_what, _source, row) => {
    const [, , manner, status, code, message] = row;
    const { api, items } = await course();
    at.lms.lineItems.manner.set(manner(), 1);

    const { status: got, body } = await api.get(items);

    expect([got, body.error, body.message]).toEqual([status, code, expect.stringMatching(message)]);
    expect((await api.get(items)).status).toBe(200);
  },
);

test.each<[string, string, () => string | undefined, number | 'a day' | 'at most']>([
  ['seconds', 'RFC 9110 §10.2.3', () => '12', 12],
  ['none', 'RFC 9110 §10.2.3', () => undefined, 30],
  ['a date', 'RFC 9110 §10.2.3', inAWeek, 3600],
  ['a date of the past', 'RFC 9110 §10.2.3', () => 'Wed, 21 Oct 2015 07:28:00 GMT', 30],
  ['more than an hour', 'RFC 9110 §10.2.3', () => '86400', 3600],
  ['a fraction', 'RFC 9110 §10.2.3', () => '0.5', 30],
  ['less than nothing', 'RFC 9110 §10.2.3', () => '-5', 30],
  ['words', 'RFC 9110 §10.2.3', () => 'soon', 30],
])(
  'an LMS that is busy and says %s (%s) is unavailable for that long, its token end point too',
  async (_what, _source, says, seconds) => {
    const [own, header] = [await registeredLms(tenant, at), says()];
    const { api, items } = await course({ of: own });
    const busy = { status: 429, ...(header === undefined ? {} : { headers: { 'retry-after': header } }) };
    at.lms.tokens.manner.set(busy, 1);
    const token = await api.get(items);
    at.lms.lineItems.manner.set(busy, 1);
    const list = await api.get(items);

    for (const { status, body, headers } of [token, list])
      expect([status, body.error, Number(headers['retry-after'])]).toEqual([503, 'lms_unavailable', seconds]);
  },
);

const json = (body: unknown): TokenAnswer => ({
  status: 200,
  text: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});
const TOKEN = { access_token: 'x', token_type: 'Bearer', expires_in: 3600 };

/** Source: Security Framework 1.1 §4.1, RFC 6749 §5. */
const TOKENS: readonly Row<TokenManner | TokenAnswer>[] = [
  ['a page', 'RFC 6749 §5.1', 'page', 502, 'lms_failed', /access_token/],
  ['nothing', 'RFC 6749 §5.1', { status: 200 }, 502, 'lms_failed', /access_token/],
  ['no content', 'RFC 6749 §5.1', { status: 204 }, 502, 'lms_failed', /204/],
  ['a list', 'RFC 6749 §5.1', json([TOKEN]), 502, 'lms_failed', /access_token/],
  ['a token that is a number', 'RFC 6749 §5.1', json({ ...TOKEN, access_token: 7 }), 502, 'lms_failed', /access_token/],
  ['an empty token', 'RFC 6749 §5.1', json({ ...TOKEN, access_token: '' }), 502, 'lms_failed', /access_token/],
  [
    'a token of 8,193 characters',
    'RFC 6750 §2.1',
    json({ ...TOKEN, access_token: 'x'.repeat(8_193) }),
    502,
    'lms_failed',
    /access_token/,
  ],
  ['a token that would end the header', 'RFC 6750 §2.1', 'line break', 502, 'lms_failed', /access_token/],
  ['a token of another type', 'RFC 6749 §7.1', 'mac', 502, 'lms_failed', /token_type/],
  ['more than 64 KiB', 'RFC 6749 §5.1', 'huge', 502, 'lms_failed', /65536/],
  [
    'an unknown client',
    'RFC 6749 §5.2',
    { status: 401, text: '{"error":"invalid_client"}' },
    502,
    'lms_failed',
    /401 \(invalid_client\)/,
  ],
  ['a forbidden client', 'Blackboard', { status: 403, text: '{"error":"access_denied"}' }, 502, 'lms_failed', /403/],
  [
    'a scope that it does not have',
    'RFC 6749 §5.2',
    { status: 400, text: '{"error":"invalid_scope"}' },
    409,
    'lms_service_missing',
    /invalid_scope.*lineitem/,
  ],
  ['an address that is not there', 'Learn-LTI', { status: 404, text: 'no such page' }, 502, 'lms_failed', /404 \(no such page\)/],
  [
    'a redirect',
    'Security Framework 1.1 §4.1',
    { status: 307, headers: { location: 'http://169.254.169.254/token' } },
    502,
    'lms_failed',
    /307/,
  ],
  ['maintenance', 'RFC 9110 §15.6.4', { status: 503, text: '<p>Back soon</p>' }, 503, 'lms_unavailable', /503 \(Back soon\)/],
  ['that it is too early', 'RFC 8470 §5.2', { status: 425 }, 503, 'lms_unavailable', /425/],
  ['that it waited for us', 'RFC 9110 §15.5.9', { status: 408 }, 504, 'lms_timeout', /in time/],
  ['a gateway that waited', 'RFC 9110 §15.6.5', { status: 504 }, 504, 'lms_timeout', /in time/],
];

test.each(TOKENS.map((row) => [...named(row), row] as const))(
  'a token end point that answers with %s (%s) is refused with a code',
  async (_what, _source, row) => {
    const [, , manner, status, code, message] = row;
    const { api, items } = await course({ of: await registeredLms(tenant, at) });
    const asked = at.lms.lineItems.received.length;
    at.lms.tokens.manner.set(manner, 1);

    const { status: got, body } = await api.get(items);

    expect([got, body.error, body.message]).toEqual([status, code, expect.stringMatching(message)]);
    expect(at.lms.lineItems.received).toHaveLength(asked);
    expect((await api.get(items)).status).toBe(200);
  },
);

test.each([401, 403])(
  'a token that the LMS answers with %i, since it has expired there, is renewed once, and the request succeeds',
  async (status) => {
    const { api, items } = await course();
    await api.get(items);
    const [asked, tokens] = [at.lms.lineItems.received.length, at.lms.tokens.requests];
    at.lms.lineItems.manner.set({ status, text: '{"errors":[{"message":"Invalid access token"}]}' }, 1);

    expect((await api.get(items)).status).toBe(200);

    expect([at.lms.lineItems.received.length - asked, at.lms.tokens.requests - tokens]).toEqual([2, 1]);
  },
);

/** Faults of a new line item: as far as we know, the LMS has created it. */
test.each<[string, string, () => ServiceManner]>([
  ['nothing', 'AGS 2.0 §3.2.5', () => ({ status: 201 })],
  ['a page', 'AGS 2.0 §3.2.5', () => ({ status: 201, text: '<h1>Created</h1>' })],
  ['a line item without an address', 'AGS 2.0 §3.2.5', () => ({ status: 201, text: '{"label":"Essay"}' })],
  ['a line item that is nested 200,000 deep', 'RFC 8259 §9', () => ({ status: 201, text: lineItem(`,"x":${nested(200_000)}`) })],
])('a new line item that is answered with %s (%s) is a failure that says it may be there', async (_what, _source, manner) => {
  const { api, items } = await course();
  at.lms.lineItems.manner.set(manner(), 1);

  const { status, body } = await api.post(items, ITEM);

  expect([status, body.error, body.message]).toEqual([502, 'lms_failed', expect.stringMatching(/may have made/)]);
});

test('a line item is deleted whatever the LMS says beside its 200', async () => {
  const { api, items, make, labels } = await course();
  const { id } = await make();
  at.lms.lineItems.manner.set(ok('<h1>Deleted</h1>'), 1);

  const { status } = await api.delete(`${items}/${id}`);

  expect([status, (await api.get(`${items}/${id}`)).status]).toEqual([204, 404]);
  expect(await labels()).toContain(ITEM.label); // this LMS only said so
});

test.each<[string, string, () => ServiceManner]>([
  ['a person whose id has a NUL in it', 'RFC 8259 §7', () => ok('[{"userId":"a\\u0000b","resultScore":1}]')],
  ['a person whose id is half a character', 'RFC 8259 §8.2', () => ok('[{"userId":"\\ud800","resultScore":1}]')],
  [
    'people that nobody here knows',
    'AGS 2.0 §3.3',
    () => ok('[{"userId":"nobody","resultScore":1},{"userId":"none","resultScore":2}]'),
  ],
])('results of %s (%s) are shown as far as they can be', async (_what, _source, manner) => {
  const { api, items, make } = await course();
  const { id } = await make();
  at.lms.results.manner.set(manner(), 1);

  const { status, body } = await api.get(`${items}/${id}/results`);

  expect(status).toBe(200);
  expect(
    body.data.every(({ user, user_id }: { user: unknown; user_id: string }) => user === null && user_id.isWellFormed()),
  ).toBe(true);
});
