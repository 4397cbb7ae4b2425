import { expect, test } from '@jest/globals';
import { AGS } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import type { ServiceManner } from '../../../pkg/local/demo/lms/service.ts';
import type { TokenManner } from '../../../pkg/local/demo/lms/token.ts';
import { ags, coursesOf, ITEM } from './line-items.ts';

const { tenant, at } = lmsSuite();
const course = coursesOf(tenant, () => at);

test.each<[string, ServiceManner, number, string, RegExp]>([
  ['a token that is never taken', { status: 401 }, 502, 'lms_failed', /Authorization/],
  ['a scope that is not granted', { status: 403 }, 409, 'lms_service_missing', /line items \(https:.*lineitem\.readonly\)/],
  ['a method that is not offered', { status: 405 }, 409, 'lms_service_missing', /GET for line items/],
  ['a course that is gone', { status: 404 }, 502, 'lms_failed', /new launch/],
  ['a bad request', { status: 400, text: '{"error":"<b>no</b> such\\u0007 thing"}' }, 422, 'lms_refused', /400 \(.*no such/],
  ['a limit', { status: 429, headers: { 'retry-after': '7' } }, 503, 'lms_unavailable', /429/],
  ['maintenance', { status: 503 }, 503, 'lms_unavailable', /503/],
  ['an error', { status: 500, text: 'oops' }, 502, 'lms_failed', /500 \(oops\)/],
  ['a proxy that waited', { status: 504 }, 504, 'lms_timeout', /in time/],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1/' } }, 502, 'lms_failed', /redirects/],
  ['a log-in page', 'html', 502, 'lms_failed', /not JSON/],
  ['no list', { status: 200, text: '{"lineItems":[]}' }, 502, 'lms_failed', /not a list/],
  ['nothing', { status: 200 }, 502, 'lms_failed', /not a list/],
  ['a line item without an address', { status: 200, text: '[{"label":"a"}]' }, 502, 'lms_failed', /no address/],
  [
    'a line item elsewhere',
    { status: 200, text: '[{"id":"https://elsewhere.example.org/1"}]' },
    502,
    'lms_failed',
    /another host/,
  ],
  ['64 MiB', 'huge', 502, 'lms_failed', /more than/],
  ['a dropped connection', 'down', 503, 'lms_unavailable', /reached/],
])('an LMS that answers a list with %s is a clear error', async (_, manner, status, code, message) => {
  const { api, items } = await course();
  at.lms.lineItems.manner.set(manner);
  const { status: got, body, headers } = await api.get(items);
  at.lms.lineItems.manner.set('well');

  expect([got, body.error, body.message]).toEqual([status, code, expect.stringMatching(message)]);
  expect(body.message).not.toMatch(/[<\p{Cc}]/u);
  if (code === 'lms_unavailable')
    expect(Number(headers['retry-after'])).toBe(typeof manner === 'object' && 'headers' in manner ? 7 : 30);
  expect((await api.get(items)).status).toBe(200);
});

test('a new line item for a link that is none of this tool in the course is refused as the LMS refuses it', async () => {
  const { api, items } = await course();

  const { status, body } = await api.post(items, { ...ITEM, resource_link_id: 'elsewhere' });

  expect([status, body.error]).toEqual([422, 'lms_refused']);
  expect(body.message).toMatch(/404.*resourceLinkId is not a link.*this tool does not have/);
});

test.each<[TokenManner, number, string, RegExp]>([
  ['another scope', 409, 'lms_service_missing', /did not grant .*lineitem\.readonly/],
  ['error', 502, 'lms_failed', /no token: it answered 500/],
  ['as Moodle', 502, 'lms_failed', /Invalid client assertion/],
  ['echo', 502, 'lms_failed', /invalid_client/],
  ['no token', 502, 'lms_failed', /access_token/],
  ['busy', 503, 'lms_unavailable', /429/],
  ['down', 503, 'lms_unavailable', /no token/],
])('a token end point that answers with %j is a clear error', async (manner, status, code, message) => {
  const own = await registeredLms(tenant, at);
  const { api, items } = await course({ of: own });
  at.lms.tokens.manner.set(manner);
  const { status: got, body } = await api.get(items);
  at.lms.tokens.manner.set('well');

  expect([got, body.error, body.message]).toEqual([status, code, expect.stringMatching(message)]);
  expect(body.message).not.toMatch(/ey[A-Za-z0-9_-]{20}/);
  expect((await api.get(items)).status).toBe(200);
});

test.each<[string, Fault, 'GET' | 'POST', RegExp]>([
  ['without services', { claims: (claims) => delete claims[AGS] }, 'GET', /did not allow/],
  ['without line items', ags((claim) => delete claim['lineitems']), 'GET', /no address/],
  ['with an empty address', ags((claim) => (claim['lineitems'] = '')), 'POST', /no address/],
  ['with other scopes', ags((claim) => (claim['scope'] = [SCOPE.score])), 'GET', /did not allow.*scope\/lineitem\)/],
  [
    'with the read-only scope',
    ags((claim) => (claim['scope'] = [SCOPE.lineItemReadOnly])),
    'POST',
    /did not allow.*scope\/lineitem\)/,
  ],
])('a course that was launched %s says which service is missing', async (_, fault, method, message) => {
  const { api, items } = await course({ fault });
  const asked = at.lms.lineItems.received.length;

  const { status, body } = method === 'GET' ? await api.get(items) : await api.post(items, ITEM);

  expect([status, body.error, body.message]).toEqual([409, 'lms_service_missing', expect.stringMatching(message)]);
  expect(at.lms.lineItems.received).toHaveLength(asked);
});

test('a change whose answer is lost says that it may have been made', async () => {
  const { api, items } = await course();
  at.lms.lineItems.manner.set('down', 1);

  const { status, body } = await api.post(items, ITEM);

  expect([status, body.error, body.message]).toEqual([503, 'lms_unavailable', expect.stringMatching(/may have made/)]);
});
