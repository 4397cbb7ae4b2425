import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import type { ServiceManner } from '../../../pkg/local/demo/lms/service.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';
import { ags, all, coursesOf } from './line-items.ts';

const { tenant, at } = lmsSuite();
const course = coursesOf(tenant, () => at);
const GRADE = { user_id: 'ben', score: 8.5, score_maximum: 10 };

/** Makes the LMS answer the next request of results with these. */
const holding = (...results: unknown[]): void => at.lms.results.manner.set({ status: 200, text: JSON.stringify(results) }, 1);

test('results are shown with the user of this tenant, if the person has one', async () => {
  const { api, lmsId, items, make } = await course();
  const { id } = await make();
  await launched(tenant, at, { course: { id: lmsId, title: lmsId }, user: { id: 'ben', name: 'Ben Adeyemi' }, roles: [LEARNER] });
  // With its first token the LMS fetches our keys, which takes a statement of its own.
  await api.get(`${items}/${id}/results`);
  holding(
    { id: 'x', userId: 'ben', resultScore: 8.5, resultMaximum: 10, comment: 'Good', timestamp: '2026-01-31T13:00:00+01:00' },
    { userId: 'cyd', resultScore: 0 },
    { userId: 7, resultScore: null, resultMaximum: '5', comment: '' },
  );

  const { reply, sql } = await tenant.counting(() => api.get(`${items}/${id}/results`));

  expect([reply.status, reply.body.data]).toEqual([
    200,
    [
      {
        user_id: 'ben',
        user: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Ben Adeyemi' },
        result_score: 8.5,
        result_maximum: 10,
        comment: 'Good',
        scored_at: '2026-01-31T12:00:00.000Z',
      },
      { user_id: 'cyd', user: null, result_score: 0, result_maximum: 1, comment: null },
      { user_id: '7', user: null, result_score: null, result_maximum: 5, comment: null },
    ],
  ]);
  expect(sql).toHaveLength(4);
});

test('results are requested below the path of the line item, before its query, with the scope of results alone', async () => {
  const address = `${at.lms.issuer}/ags/somewhere/lineitems/8?type_id=3`;
  const { api, items } = await course({ fault: ags((claim) => (claim['lineitem'] = address)) });
  const [{ id } = { id: '' }] = await all(api, items, {});

  expect((await api.get(`${items}/${id}/results`, { query: { user_id: 'a&b', limit: '7' } })).body.data).toEqual([]);

  const { url, authorization } = at.lms.results.received.at(-1) ?? { url: '', authorization: '' };
  expect(url).toBe(`${at.lms.issuer}/ags/somewhere/lineitems/8/results?type_id=3&user_id=a%26b&limit=7`);
  expect(Object.values(SCOPE).filter((scope) => typeof at.lms.tokens.caller(authorization, [scope]) === 'object')).toEqual([
    SCOPE.result,
  ]);
});

test('all pages of results are read, also for one person where the LMS returns those of all', async () => {
  const { api, items, make } = await course();
  const { id } = await make();
  const path = `${items}/${id}/results`;
  holding(...range(5).map((number) => ({ userId: `p${number}`, resultScore: number, resultMaximum: 10 })));
  const first = (await api.get(path, { query: { limit: '2' } })).body;
  holding(...range(5).map((number) => ({ userId: `p${number}`, resultScore: number, resultMaximum: 10 })));
  const second = (await api.get(path, { query: { limit: '2', cursor: first.pagination.next_cursor } })).body;
  holding({ userId: 'ben' }, { userId: 'cyd' });
  const ofOne = (await api.get(path, { query: { user_id: 'cyd' } })).body;

  const people = [first, second, ofOne].map(({ data }) => data.map(({ user_id }: { user_id: string }) => user_id));
  expect(people).toEqual([['p0', 'p1'], ['p2', 'p3'], ['cyd']]);
});

test.each<[ServiceManner, number, string]>([
  [{ status: 200, text: '[{"resultScore":1}]' }, 502, 'lms_failed'],
  [{ status: 200, text: '{}' }, 502, 'lms_failed'],
  [{ status: 404 }, 404, 'not_found'],
  [{ status: 503 }, 503, 'lms_unavailable'],
  ['html', 502, 'lms_failed'],
])('results that are answered with %j are a clear error', async (manner, status, code) => {
  const { api, items, make } = await course();
  const { id } = await make();
  at.lms.results.manner.set(manner, 1);

  const { status: got, body } = await api.get(`${items}/${id}/results`);

  expect([got, body.error]).toEqual([status, code]);
});

test('a course that was launched without the scope of results or of scores says so', async () => {
  const { api, lmsId, items, make } = await course();
  const { id } = await make();
  await launched(
    tenant,
    at,
    { course: { id: lmsId, title: lmsId } },
    ags((claim) => (claim['scope'] = [SCOPE.lineItem])),
  );

  const replies = [await api.get(`${items}/${id}/results`), await api.post(`${items}/${id}/scores`, GRADE)];

  expect(replies.map(({ status, body }) => [status, body.error, body.message])).toEqual([
    [409, 'lms_service_missing', expect.stringContaining(SCOPE.result)],
    [409, 'lms_service_missing', expect.stringContaining(SCOPE.score)],
  ]);
});

test('a score for a line item is a grade without a launch, has its job, and is in the list of grades', async () => {
  const { api, id: context, items, make } = await course();
  const { id, url } = await make();

  const { status, body } = await api.post(`${items}/${id}/scores`, { ...GRADE, comment: 'Well done' });

  expect([status, body]).toEqual([
    201,
    {
      id: expect.any(String),
      launch_id: null,
      line_item_id: id,
      ...GRADE,
      comment: 'Well done',
      timestamp: expect.any(String),
      status: 'pending',
      reason: null,
      attempts: 0,
      submitted_at: null,
      updated_at: expect.any(String),
      etag: expect.any(String),
    },
  ]);
  const work = `SELECT kind, queue FROM carrel.work WHERE payload = jsonb_build_object('grade', $1::text)`;
  expect(await tenant.db.query(work, [body.id])).toEqual([{ kind: 'grades.submit', queue: 'grades' }]);
  expect(await tenant.db.query('SELECT line_item AS address FROM lti_grades WHERE uuid = $1', [body.id])).toEqual([
    { address: url },
  ]);
  for (const query of [
    {},
    { line_item_id: id },
    { context_id: context },
    { context_id: context, user_id: 'ben', status: 'pending' },
  ])
    expect((await api.get('/lti/grades', { query })).body.data).toEqual([body]);
  for (const query of [{ user_id: 'cyd' }, { status: 'failed' }, { context_id: id }, { line_item_id: context }])
    expect((await api.get('/lti/grades', { query })).body.data).toEqual([]);
});

test('grades of a launch and of a line item do not mix, and scores of one cell are in order', async () => {
  const { api, lmsId, items } = await course();
  const { launchId, grades } = await launched(tenant, at, { course: { id: lmsId, title: lmsId } });
  const { data } = (await api.get(items)).body;
  const scores = `${items}/${data[0].id}/scores`;

  const ofLaunch = (await api.post(grades, GRADE)).body;
  const given = await Promise.all(range(5).map(async () => (await api.post(scores, GRADE)).body));

  expect((await api.get(grades)).body.data).toEqual([ofLaunch]);
  expect((await api.get('/lti/grades', { query: { launch_id: launchId } })).body.data).toEqual([ofLaunch]);
  expect((await api.get(`${grades}/${given[0].id}`)).status).toBe(404);
  const times = [ofLaunch, ...given].map(({ timestamp }) => timestamp);
  expect(new Set(times).size).toBe(6);
  expect(Math.min(...times.map((time) => Date.parse(time)))).toBe(Date.parse(ofLaunch.timestamp));
});

test('a repeated POST of a score with its Idempotency-Key is one grade', async () => {
  const { api, items, make } = await course();
  const { id } = await make();
  const post = () => api.post(`${items}/${id}/scores`, GRADE, { headers: { 'idempotency-key': 'score' } });

  const [first, second] = [await post(), await post()];

  expect([first.status, second.body]).toEqual([201, first.body]);
  expect((await api.get('/lti/grades', { query: { line_item_id: id } })).body.data).toHaveLength(1);
});

test('results, scores and grades of one course are for its instructors and administrators alone', async () => {
  const [one, other] = [await course(), await course()];
  const { id } = await one.make();
  const grade = (await one.api.post(`${one.items}/${id}/scores`, GRADE)).body;
  const learner = await launched(tenant, at, { course: { id: one.lmsId, title: one.lmsId }, roles: [LEARNER] });
  const elsewhere = await startTenant();
  const statuses = async (api: Api, items: string) => [
    (await api.get(`${items}/${id}/results`)).status,
    (await api.post(`${items}/${id}/scores`, GRADE)).status,
  ];
  try {
    expect(await statuses(other.api, one.items)).toEqual([404, 404]);
    expect(await statuses(other.api, other.items)).toEqual([404, 404]);
    expect(await statuses(learner.api, one.items)).toEqual([403, 403]);
    expect(await statuses(elsewhere.admin, one.items)).toEqual([404, 404]);
    expect((await elsewhere.admin.get('/lti/grades')).body.data).toEqual([]);
  } finally {
    await elsewhere.stop();
  }
  const listed = async (api: Api) => (await api.get('/lti/grades', { query: { line_item_id: id } })).body.data;
  expect([await listed(other.api), await listed(tenant.admin)]).toEqual([[], [grade]]);
  expect((await learner.api.get('/lti/grades')).status).toBe(403);
});

test('a score of a registration that is switched off is refused', async () => {
  const own = await registeredLms(tenant, at);
  const { api, items, make } = await course({ of: own });
  const { id } = await make();
  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });

  const { status, body } = await api.post(`${items}/${id}/scores`, GRADE);

  expect([status, body.error]).toEqual([409, 'registration_inactive']);
});

test.each([
  ['score', -1],
  ['score', 1000],
  ['score_maximum', 0],
  ['user_id', ''],
  ['launch_id', 'x'],
])('a score whose %s is %j is a 400 that names the field', async (field, value) => {
  const { api, items, make } = await course();
  const { id } = await make();

  const { status, body } = await api.post(`${items}/${id}/scores`, { ...GRADE, [field]: value });

  expect([status, body.details[0].field]).toEqual([400, field]);
});
