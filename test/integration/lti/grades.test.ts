import { beforeAll, expect, test } from '@jest/globals';
import { AGS, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { launched, type Launched } from '../../support/lms/launched.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();
let instructor: Launched;
beforeAll(async () => {
  instructor = await launched(tenant, at, { user: { id: 'ada' } });
});

const GRADE = { user_id: 'ben', score: 8.5, score_maximum: 10 };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const claims = (change: (ags: Record<string, unknown>) => void): Fault => ({
  claims: (all) => change(all[AGS] as Record<string, unknown>),
});

test('a grade is pending, with the request to send it in the same transaction of three statements', async () => {
  const { api, grades, launchId } = instructor;
  await api.post(grades, { ...GRADE, user_id: 'warm' });

  const { reply, sql } = await tenant.counting(() => api.post(grades, { ...GRADE, comment: 'Well done' }));

  expect([reply.status, reply.body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      launch_id: launchId,
      line_item_id: null,
      ...GRADE,
      comment: 'Well done',
      timestamp: TIME,
      status: 'pending',
      reason: null,
      attempts: 0,
      submitted_at: null,
      updated_at: TIME,
      etag: expect.any(String),
    },
  ]);
  expect(sql).toHaveLength(3);
  const work = `SELECT kind, queue FROM carrel.work WHERE payload = jsonb_build_object('grade', $1::text)`;
  expect(await tenant.db.query(work, [reply.body.id])).toEqual([{ kind: 'grades.submit', queue: 'grades' }]);
  expect((await api.get(`${grades}/${reply.body.id}`)).body).toEqual(reply.body);
  expect((await api.get(`${grades}/${reply.body.id}`)).headers.etag).toBe(`"${reply.body.etag}"`);

  await tenant.db.query(`UPDATE lti_grades SET status = 'failed' WHERE uuid = $1`, [reply.body.id]);
  const { data } = (await tenant.admin.get('/audit', { query: { target_id: reply.body.id, sort: 'at' } })).body;
  const given = { user_id: 'ben', score: 8.5, score_maximum: 10, launch_id: launchId };
  expect(data).toMatchObject([
    {
      action: 'grade.create',
      actor: { id: (await api.get('/users/me')).body.id },
      target: { type: 'grade' },
      changes: Object.fromEntries(Object.entries(given).map(([name, to]) => [name, { from: null, to }])),
    },
    { action: 'grade.update', actor: { system: true }, changes: { status: { from: 'pending', to: 'failed' } } },
  ]);
});

test('a launch that has grades keeps its row and loses its token', async () => {
  const other = await launched(tenant, at, { user: { id: 'ada' } });
  const token = async () => (await tenant.db.tables.ltiLaunches.find({ launchId: other.launchId }))?.launchToken;
  expect(await token()).toMatch(/^ey/);

  await other.api.post(other.grades, GRADE);

  expect(await token()).toBeNull();
});

test.each([
  ['score', -0.01],
  ['score', 1000],
  ['score', 999.991],
  ['score', 1.005],
  ['score', '8'],
  ['score', null],
  ['score_maximum', 0],
  ['score_maximum', -1],
  ['score_maximum', 1000],
  ['score_maximum', 0.001],
  ['user_id', ''],
  ['user_id', 'jürgen'],
  ['user_id', 'x'.repeat(256)],
  ['comment', 'x'.repeat(10_001)],
  ['timestamp', '2026-01-01T00:00:00.000Z'],
])('%s %j is a 400 that names the field', async (field, value) => {
  const reply = await instructor.api.post(instructor.grades, { ...GRADE, [field]: value });

  expect([reply.status, reply.body.error, reply.body.details[0].field]).toEqual([400, 'validation_failed', field]);
});

test.each([
  [0, 0.01],
  [999.99, 999.99],
  [33.33, 100],
  [0.29, 1],
  [12, 10],
])('a score of %d of %d comes back as it was given', async (score, maximum) => {
  const { body } = await instructor.api.post(instructor.grades, { user_id: 'exact', score, score_maximum: maximum });

  const shown = (await instructor.api.get(`${instructor.grades}/${body.id}`)).body;
  expect([shown.score, shown.score_maximum]).toEqual([score, maximum]);
});

test.each([
  ['without a line item', claims((ags) => void delete ags.lineitem), 422, 'line_item_missing'],
  ["with Moodle's empty line item", claims((ags) => void (ags.lineitem = '')), 422, 'line_item_missing'],
  ['without the claim', { claims: (all) => void delete all[AGS] } satisfies Fault, 422, 'line_item_missing'],
  ['that may only read', claims((ags) => void (ags.scope = [`${AGS}/scope/result.readonly`])), 422, 'score_scope_missing'],
])('a launch %s takes no grade and says why', async (_name, fault, status, code) => {
  const { api, grades } = await launched(tenant, at, { user: { id: 'ada' } }, fault);

  const reply = await api.post(grades, GRADE);

  expect([reply.status, reply.body.error]).toEqual([status, code]);
});

test('a registration that is not active, or has moved to another LMS, takes no grade', async () => {
  const own = await registeredLms(tenant, at);
  const { api, grades } = await launched(tenant, own, { user: { id: 'ada' } });
  const post = async () => (await api.post(grades, GRADE)).body.error;
  const elsewhere = {
    authEndpoint: 'https://x.example/a',
    tokenEndpoint: 'https://x.example/t',
    jwksEndpoint: 'https://x.example/k',
  };
  const other = await tenant.db.tables.ltiPlatforms.insert({ issuer: 'https://x.example', ...elsewhere });

  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });
  const inactive = await post();
  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: true, platformId: other.id });
  const moved = await post();
  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { platformId: own.platformId });

  expect([inactive, moved, await post()]).toEqual(['registration_inactive', 'registration_inactive', undefined]);
});

test('administrators and instructors of the course may grade; learners are refused, others do not find the launch', async () => {
  const { body: grade } = await instructor.api.post(instructor.grades, GRADE);
  const learner = await launched(tenant, at, { user: { id: 'ben' }, roles: [LEARNER] });
  const elsewhere = await launched(tenant, at, { user: { id: 'eve' }, course: { id: 'physics-1', title: 'Physics' } });
  const colleague = await launched(tenant, at, { user: { id: 'col' } });
  // Teaches physics, learns history.
  await launched(tenant, at, { user: { id: 'both' }, course: { id: 'physics-1', title: 'Physics' } });
  const both = await launched(tenant, at, { user: { id: 'both' }, roles: [LEARNER] });
  const { api: member } = await tenant.user({ roles: ['instructor'] });

  const statuses = async (api: typeof member) => [
    (await api.post(instructor.grades, GRADE)).status,
    (await api.get(instructor.grades)).status,
    (await api.get(`${instructor.grades}/${grade.id}`)).status,
  ];

  expect(await statuses(tenant.admin)).toEqual([201, 200, 200]);
  expect(await statuses(colleague.api)).toEqual([201, 200, 200]);
  expect(await statuses(learner.api)).toEqual([403, 403, 403]);
  expect(await statuses(both.api)).toEqual([403, 403, 403]);
  expect(await statuses(elsewhere.api)).toEqual([404, 404, 404]);
  expect(await statuses(member)).toEqual([404, 404, 404]);
  expect(await statuses(tenant.anonymous)).toEqual([401, 401, 401]);
});

test("another tenant's launch, an unknown one, and a grade of another launch are not found", async () => {
  const other = await startTenant();
  const otherCourse = await launched(tenant, at, { user: { id: 'ada' }, course: { id: 'physics-1', title: 'Physics' } });
  const { body: grade } = await instructor.api.post(instructor.grades, GRADE);
  const unknown = '/lti/launches/00000000-0000-4000-8000-000000000000/grades';

  const replies = [
    await other.admin.post(instructor.grades, GRADE),
    await other.admin.get(`${instructor.grades}/${grade.id}`),
    await tenant.admin.post(unknown, GRADE),
    await tenant.admin.get(`${otherCourse.grades}/${grade.id}`),
    await tenant.admin.get('/lti/launches/none/grades'),
  ];
  await other.stop();

  expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 400]);
});

test('the list goes page by page, the newest first, by person and status', async () => {
  const { api, grades } = await launched(tenant, at, { user: { id: 'ada' } });
  for (const score of range(5)) await api.post(grades, { user_id: score === 0 ? 'cleo' : 'dora', score, score_maximum: 5 });
  const scores = (body: { data: { score: number }[] }) => body.data.map(({ score }) => score);

  const first = await api.get(grades, { query: { limit: 3 } });
  const second = await api.get(grades, { query: { limit: 3, cursor: first.body.pagination.next_cursor } });
  const turned = await api.get(grades, { query: { sort: 'timestamp', user_id: 'dora', status: 'pending' } });

  expect([scores(first.body), scores(second.body), scores(turned.body)]).toEqual([
    [4, 3, 2],
    [1, 0],
    [1, 2, 3, 4],
  ]);
  expect([first.body.pagination.has_more, second.body.pagination]).toEqual([
    true,
    { limit: 3, next_cursor: null, has_more: false },
  ]);
  expect(first.headers.link).toContain('rel="next"');
  expect((await api.get(grades, { query: { status: 'submitted' } })).body.data).toEqual([]);
  expect((await api.get(grades, { query: { sort: 'score' } })).status).toBe(400);
});

test('the same Idempotency-Key gives one grade', async () => {
  const { api, grades } = await launched(tenant, at, { user: { id: 'ada' } });
  const post = (body: object) => api.post(grades, body, { headers: { 'Idempotency-Key': 'once' } });

  const replies = [await post(GRADE), await post(GRADE), await post({ ...GRADE, score: 1 })];

  expect(replies.map(({ status }) => status)).toEqual([201, 201, 422]);
  expect(replies[1]?.body).toEqual(replies[0]?.body);
  expect((await api.get(grades)).body.data).toHaveLength(1);
});

test('50 racing grades of one person by two launches have different timestamps, and a later one is always newer', async () => {
  const [one, two] = [instructor, await launched(tenant, at, { user: { id: 'col' } })];
  const before = (await one.api.post(one.grades, { ...GRADE, user_id: 'raced' })).body;

  const replies = await Promise.all(
    range(50).map((score) => {
      const { api, grades } = score % 2 ? one : two;
      return untilServed(() => api.post(grades, { user_id: 'raced', score, score_maximum: 50 }));
    }),
  );
  const after = (await two.api.post(two.grades, { ...GRADE, user_id: 'raced' })).body;

  expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 50 });
  const times = replies.map(({ body }) => Date.parse(body.timestamp)).toSorted((a, b) => a - b);
  expect(new Set(times).size).toBe(50);
  expect(times.filter((time) => time % 1000 !== 0)).toEqual([]);
  expect(times[0]).toBeGreaterThan(Date.parse(before.timestamp));
  expect(Date.parse(after.timestamp)).toBeGreaterThan(times.at(-1) ?? Infinity);
});

test('a correction is newer even after the clock was set back', async () => {
  const { body: first } = await instructor.api.post(instructor.grades, { ...GRADE, user_id: 'clock' });
  await tenant.db.query(`UPDATE lti_grades SET timestamp = timestamp + interval '1 hour' WHERE uuid = $1`, [first.id]);

  const { body: second } = await instructor.api.post(instructor.grades, { ...GRADE, user_id: 'clock' });

  expect(Date.parse(second.timestamp) - Date.parse(first.timestamp)).toBe(3_601_000);
});
