import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import type { LinkManner } from '../../../pkg/local/demo/lms/paging.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import { call } from '../../support/lms/service-tool.ts';
import { startReceiver } from '../../support/fakes/receiver.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';
import { ags, all, type Course, coursesOf, ITEM } from './line-items.ts';

const { tenant, at } = lmsSuite();
const course = coursesOf(tenant, () => at);
const LINE_ITEM = 'application/vnd.ims.lis.v2.lineitem+json';

test('a line item is made in the LMS, shown, listed, changed and deleted there', async () => {
  const { api, items } = await course();
  const whole = {
    ...ITEM,
    resource_id: 'essay-1',
    tag: 'grade',
    resource_link_id: 'link-1',
    start_at: '2026-01-31T12:00:00.000Z',
    end_at: '2026-02-28T12:00:00.000Z',
  };

  const made = await api.post(items, whole);
  const path = `${items}/${made.body.id}`;
  const shown = await api.get(path);
  const listed = await all(api, items, {});
  const { resource_link_id: _, tag: __, ...less } = whole;
  const changed = await api.put(path, { ...less, label: 'Report' });
  const deleted = await api.delete(path);

  expect([made.status, made.body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: expect.stringContaining(`${at.lms.issuer}/ags/`),
      ...whole,
      etag: expect.any(String),
    },
  ]);
  expect([shown.status, shown.body, shown.headers.etag]).toEqual([200, made.body, `"${made.body.etag}"`]);
  expect(listed.map(({ label }) => label)).toEqual(['Files', 'Essay']);
  expect(listed[1]).toEqual(made.body);
  expect([changed.status, changed.body]).toEqual([200, { ...made.body, label: 'Report', tag: null, etag: expect.any(String) }]);
  expect([deleted.status, (await api.get(path)).status]).toEqual([204, 404]);
  expect((await all(api, items, {})).map(({ label }) => label)).toEqual(['Files']);
});

test('a list of known line items takes three statements, and ids stay as they are, however many read at once', async () => {
  const { api, items, make } = await course();
  await make();

  const lists = await Promise.all(range(8).map(async () => (await api.get(items)).body.data.map(({ id }: { id: string }) => id)));
  const { sql } = await tenant.counting(() => api.get(items));

  expect(lists[0]).toHaveLength(2);
  for (const ids of lists) expect(ids).toEqual(lists[0]);
  expect(sql).toHaveLength(3);
});

test('a change sends back what the LMS keeps and we do not know', async () => {
  const { api, items, make } = await course();
  const { id, url } = await make({ resource_link_id: 'link-1' });
  const extension = { 'https://lms.example.org/extension': { due: ['a', 1, null] }, gradesReleased: true };
  const { authorization } = at.lms.lineItems.received.at(-1) ?? { authorization: '' };
  const headers = { authorization, 'content-type': LINE_ITEM };
  await call('PUT', url, headers, { id: url, label: 'Essay', scoreMaximum: 10, resourceLinkId: 'link-1', ...extension });

  const { status } = await api.put(`${items}/${id}`, { ...ITEM, label: 'Report' });

  expect(status).toBe(200);
  const sent = at.lms.lineItems.received.at(-1);
  expect([sent?.method, JSON.parse(sent?.body ?? '')]).toEqual([
    'PUT',
    { id: url, label: 'Report', scoreMaximum: 10, resourceLinkId: 'link-1', ...extension },
  ]);
});

test('If-Match compares with what the LMS has now, and a link cannot be changed', async () => {
  const { api, items, make } = await course();
  const { id, etag } = await make();
  const path = `${items}/${id}`;
  const put = (label: string, tag: string) => api.put(path, { ...ITEM, label }, { headers: { 'if-match': `"${tag}"` } });

  const first = await put('Report', etag);

  expect([first.status, (await put('Paper', etag)).status, (await put('Paper', first.body.etag)).status]).toEqual([
    200, 412, 200,
  ]);
  expect((await api.delete(path, { headers: { 'if-match': `"${etag}"` } })).status).toBe(412);
  expect((await api.put(path, { ...ITEM, resource_link_id: 'another' })).body).toMatchObject({
    error: 'validation_failed',
    details: [{ field: 'resource_link_id' }],
  });
});

test.each<[LinkManner | 'well']>([
  ['well'],
  ['odd quotes'],
  ['no quotes'],
  ['relative link'],
  ['several links'],
  ['link drops filters'],
])('pages whose link is of the form %j are all read, whatever their size and ours', async (manner) => {
  const { make, labels } = await course();
  const made = range(7).map((number) => `Essay ${number}`);
  for (const label of made) await make({ label, resource_id: 'essays' });
  at.lms.lineItems.manner.set(manner);
  at.lms.lineItems.pageSize = 3;
  try {
    for (const limit of ['1', '2', '5', '7', '200']) expect(await labels({ limit })).toEqual(['Files', ...made]);
    expect(await labels({ limit: '2', resource_id: 'essays' })).toEqual(made);
    expect(await labels({ limit: '2', resource_id: 'other' })).toEqual([]);
  } finally {
    at.lms.lineItems.manner.set('well');
    at.lms.lineItems.pageSize = 50;
  }
});

test('filters are heeded, also where the LMS passes over them', async () => {
  const { make, labels } = await course();
  await make({ label: 'A', tag: 'grade', resource_id: '1' });
  await make({ label: 'B', tag: 'originality', resource_id: '1', resource_link_id: 'link-1' });

  expect(await labels({ tag: 'grade' })).toEqual(['A']);
  expect(await labels({ resource_id: '1', tag: 'originality' })).toEqual(['B']);
  expect(await labels({ resource_link_id: 'link-1' })).toEqual(['Files', 'B']);
});

test('pages that lead round in a circle, on for ever or to another host are no list, and no other host is asked', async () => {
  const { api, items } = await course();
  const receiver = await startReceiver();
  const answers: unknown[] = [];
  try {
    for (const manner of [
      'link loops',
      { next: receiver.url },
      { next: 'http://169.254.169.254/latest' },
      { next: 'file:///etc/passwd' },
    ] as const) {
      at.lms.lineItems.manner.set(manner);
      const { status, body } = await api.get(items);
      answers.push([status, body.error]);
    }
    at.lms.lineItems.manner.set('endless links');
    const asked = at.lms.lineItems.received.length;
    const { body } = await api.get(items);
    const after = await api.get(items, { query: { cursor: body.pagination.next_cursor } });
    answers.push([after.status, after.body.error], at.lms.lineItems.received.length - asked);
  } finally {
    at.lms.lineItems.manner.set('well');
    await receiver.close();
  }

  expect(answers).toEqual([...range(5).map(() => [502, 'lms_failed']), 40]);
  expect(receiver.received).toEqual([]);
});

test('a cursor that was changed, or is of another course or other filters, is refused before anything is asked', async () => {
  const [one, other] = [await course(), await course()];
  await one.make();
  const cursor = (await one.api.get(one.items, { query: { limit: '1' } })).body.pagination.next_cursor;
  const [place, skip, proof] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const forged = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const asked = at.lms.lineItems.received.length;
  const get = ({ api, items }: Course, query: Record<string, string>) => api.get(items, { query: { limit: '1', ...query } });

  const refused = await Promise.all([
    get(other, { cursor }),
    get(one, { cursor, tag: 'grade' }),
    get(one, { cursor: forged(['/admin', skip, proof]) }),
    get(one, { cursor: forged([place, 7, proof]) }),
    get(one, { cursor: forged([place, skip, '0'.repeat(64)]) }),
    get(one, { cursor: forged([place, skip]) }),
    get(one, { cursor: 'x' }),
  ]);

  expect(refused.map(({ status, body }) => [status, body.details?.[0].field])).toEqual(refused.map(() => [400, 'cursor']));
  expect(at.lms.lineItems.received).toHaveLength(asked);
  expect((await get(one, { cursor })).status).toBe(200);
});

test('concurrent requests share one token, a revoked one is renewed once, and reading asks for the read-only scope', async () => {
  const own = await registeredLms(tenant, at);
  const { api, items } = await course({ of: own });
  const before = at.lms.tokens.requests;
  const statuses = await Promise.all(range(10).map(async () => (await api.get(items)).status));
  const shared = at.lms.tokens.requests - before;
  const { authorization } = at.lms.lineItems.received.at(-1) ?? { authorization: '' };
  const granted = Object.values(SCOPE).filter((scope) => typeof at.lms.tokens.caller(authorization, [scope]) === 'object');

  at.lms.lineItems.manner.set('revoked', 1);
  const renewed = await api.get(items);
  at.lms.lineItems.manner.set({ status: 401 });
  const asked = at.lms.lineItems.received.length;
  await api.post(items, ITEM);
  at.lms.lineItems.manner.set('well');

  expect([statuses, shared, granted]).toEqual([range(10).map(() => 200), 1, [SCOPE.lineItemReadOnly]]);
  expect([renewed.status, at.lms.tokens.requests - before]).toEqual([200, 4]);
  expect(at.lms.lineItems.received.slice(asked).map(({ method }) => method)).toEqual(['POST', 'POST']);
});

test('a course with the read-only scope alone, and one with the other alone, can be read', async () => {
  for (const scope of [SCOPE.lineItemReadOnly, SCOPE.lineItem])
    expect(await (await course({ fault: ags((claim) => (claim['scope'] = [scope])) })).labels()).toEqual(['Files']);
});

test('a line item whose address has a query is shown, changed and deleted at just that address', async () => {
  const address = `${at.lms.issuer}/ags/somewhere/lineitems/7?type_id=3&a=%2F`;
  const { api, items } = await course({ fault: ags((claim) => (claim['lineitem'] = address)) });
  const [{ id } = { id: '' }] = await all(api, items, {});

  const put = await api.put(`${items}/${id}`, ITEM);

  expect([put.status, put.body.url]).toEqual([200, address]);
  expect((await api.delete(`${items}/${id}`)).status).toBe(204);
  expect(at.lms.lineItems.received.slice(-3).map(({ method, url }) => [method, url])).toEqual(
    ['GET', 'PUT', 'DELETE'].map((method) => [method, address]),
  );
});

test('a line item that the LMS no longer has is 404 to a reader, and already deleted to a deleter', async () => {
  const { api, items, make } = await course();
  const { id, url } = await make();
  const { authorization } = at.lms.lineItems.received.at(-1) ?? { authorization: '' };
  expect((await call('DELETE', url, { authorization })).status).toBe(204);

  const replies = [await api.get(`${items}/${id}`), await api.put(`${items}/${id}`, ITEM), await api.delete(`${items}/${id}`)];

  expect(replies.map(({ status }) => status)).toEqual([404, 404, 204]);
  expect(await tenant.db.query('SELECT FROM lti_line_items WHERE uuid = $1', [id])).toEqual([]);
});

test('a repeated POST with its Idempotency-Key makes one line item', async () => {
  const { api, items, labels } = await course();
  const post = () => api.post(items, ITEM, { headers: { 'idempotency-key': 'once' } });

  const [first, second] = [await post(), await post()];

  expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
  expect(await labels()).toEqual(['Files', 'Essay']);
});

test('ids of one course are none of another, and nobody but its instructors and administrators reaches a line item', async () => {
  const [one, other] = [await course(), await course()];
  const { id } = await one.make();
  const learner = await launched(tenant, at, { course: { id: one.lmsId, title: one.lmsId }, roles: [LEARNER] });
  const elsewhere = await startTenant();
  const paths = [one.items, `${one.items}/${id}`];
  const asked = at.lms.lineItems.received.length;
  const statuses = async (api: Api, path: string) => [
    (await api.get(path)).status,
    (await (path === one.items ? api.post(path, ITEM) : api.put(path, ITEM))).status,
  ];
  try {
    for (const path of paths) {
      expect(await statuses(other.api, path)).toEqual([404, 404]);
      expect(await statuses(learner.api, path)).toEqual([403, 403]);
      expect(await statuses(elsewhere.admin, path)).toEqual([404, 404]);
    }
    expect(await statuses(other.api, `${other.items}/${id}`)).toEqual([404, 404]);
    expect((await other.api.delete(`${other.items}/${id}`)).status).toBe(404);
  } finally {
    await elsewhere.stop();
  }
  expect(at.lms.lineItems.received).toHaveLength(asked);
  expect((await tenant.admin.get(`${one.items}/${id}`)).status).toBe(200);
});

test.each([
  ['label', ''],
  ['label', 'x'.repeat(256)],
  ['label', 'a\u202eb'],
  ['label', undefined],
  ['score_maximum', 0],
  ['score_maximum', -1],
  ['score_maximum', 1_000_001],
  ['score_maximum', '10'],
  ['score_maximum', undefined],
  ['resource_id', ''],
  ['tag', 'x'.repeat(256)],
  ['resource_link_id', null],
  ['start_at', 'tomorrow'],
  ['end_at', '2026-02-30T00:00:00Z'],
  ['url', 'https://lms.example.org/'],
])('%s %j is a 400 that names the field, and nothing is asked', async (field, value) => {
  const { api, items } = await course();
  const asked = at.lms.lineItems.received.length;

  const { status, body } = await api.post(items, { ...ITEM, [field]: value });

  expect([status, body.error, body.details.map((detail: { field: string }) => detail.field)]).toEqual([
    400,
    'validation_failed',
    [field],
  ]);
  expect(at.lms.lineItems.received).toHaveLength(asked);
});

test('odd values of an LMS are shown as far as they can be', async () => {
  const { api, items, make } = await course();
  const { id, url } = await make();
  const odd = {
    id: url,
    label: 7,
    scoreMaximum: '12.5',
    resourceId: '',
    tag: null,
    resourceLinkId: 3,
    startDateTime: 'soon',
    endDateTime: '2026-02-28T12:00:00+02:00',
    extra: { a: 1 },
  };
  at.lms.lineItems.manner.set({ status: 200, text: `\uFEFF${JSON.stringify(odd)}` }, 1);

  expect((await api.get(`${items}/${id}`)).body).toEqual({
    id,
    url,
    label: '7',
    score_maximum: 12.5,
    resource_id: null,
    tag: null,
    resource_link_id: '3',
    start_at: null,
    end_at: '2026-02-28T10:00:00.000Z',
    etag: expect.any(String),
  });
});
