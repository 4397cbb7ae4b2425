import { expect, test } from '@jest/globals';
import type { GradeView } from '../../../pkg/lti/grades/grades.schema.ts';
import type { ScoreManner } from '../../../pkg/local/demo/lms/ags.ts';
import { AGS } from '../../../pkg/local/demo/lms/claims.ts';
import type { TokenManner } from '../../../pkg/local/demo/lms/token.ts';
import { verifiesStandard } from '../../../pkg/local/demo/standard-webhooks.ts';
import { verifiesHex } from '../../support/fakes/receiver.ts';
import { range, waitFor } from '../../support/wait.ts';
import { type Graded, SECRET, SETTINGS } from '../../support/clients/grading.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker, grading, lms } = gradingSuite(SETTINGS);

const received = (grade: GradeView) => grading.receiver.received.filter(({ data }) => data.id === grade.id);
const requestsOf = (userId: string) => lms.scores.received.filter(({ body }) => body.includes(`"userId":"${userId}"`));
/** The secrets that a reason must never show. */
const tokens = (): string[] =>
  lms.scores.received.map(({ authorization }) => authorization.replace('Bearer ', '')).filter(Boolean);

test('a grade goes into the grade book of a strict LMS, and as grade.submitted to a verifying receiver', async () => {
  const course = await grading.launch();

  const grade = await course.grade('ben', 8.25);
  const shown = await course.submitted(grade);
  const [event] = await waitFor('grade.submitted', () => received(grade).length > 0 && received(grade));

  const { id, launch_id, user_id, score, score_maximum, timestamp } = grade;
  expect(lms.scores.cell('ben')).toMatchObject({ scoreGiven: 8.25, scoreMaximum: 100, comment: 'Good', timestamp, times: 1 });
  expect(JSON.parse(requestsOf('ben')[0]?.body ?? '')).toEqual({
    timestamp,
    scoreGiven: 8.25,
    scoreMaximum: 100,
    comment: 'Good',
    activityProgress: 'Completed',
    gradingProgress: 'FullyGraded',
    userId: 'ben',
  });
  expect(shown).toMatchObject({ timestamp, reason: null, attempts: 0, submitted_at: expect.stringMatching(/Z$/) });
  expect(shown.etag).not.toBe(grade.etag);
  if (!event) throw new Error('no event');
  expect([verifiesHex(event, SECRET), verifiesStandard(event, SECRET)]).toEqual([true, true]);
  expect(event.data).toEqual({ id, launch_id, user_id, score, score_maximum, timestamp, submitted_at: shown.submitted_at });
  expect(lms.tokens.refusals).toEqual([]);
  const metrics = await waitFor('the work to be counted', async () => {
    const now = await worker.metrics();
    return /carrel_work_results_total\{kind="grades.submit",result="done"[^}]*\} 1/.test(now) && now;
  });
  expect(metrics).toMatch(/carrel_grades_total\{[^}]*result="submitted"[^}]*\} 1/);
  expect(metrics).toMatch(/carrel_grade_latency_seconds_count\{[^}]*\} 1/);
});

test('a score for a line item is sent as a grade of a launch is, by the registration of the course', async () => {
  const { at } = await grading.launch({ opened: { course: { id: 'scores', title: 'Scores' } } });
  const { admin } = grading.tenant;
  const { data } = (await admin.get('/lti/contexts', { query: { limit: 200 } })).body;
  const { id } = data.find(({ lms_id }: { lms_id: string }) => lms_id === 'scores');
  const items = `/lti/contexts/${id}/line-items`;
  const item = (await admin.post(items, { label: 'Essay', score_maximum: 10 })).body;

  const grade = (await admin.post(`${items}/${item.id}/scores`, { user_id: 'scored', score: 8, score_maximum: 10 })).body;
  const [event] = await waitFor('grade.submitted', () => received(grade).length > 0 && received(grade));

  expect(lms.scores.cell('scored')).toMatchObject({ lineItem: item.url, scoreGiven: 8, scoreMaximum: 10, times: 1 });
  expect(event?.data).toMatchObject({ id: grade.id, launch_id: null, user_id: 'scored' });
  const [shown] = (await admin.get('/lti/grades', { query: { line_item_id: item.id } })).body.data;
  expect(shown).toMatchObject({ id: grade.id, status: 'submitted', attempts: 0 });
  expect((await admin.get(`${items}/${item.id}/results`)).body.data).toEqual([
    { user_id: 'scored', user: null, result_score: 8, result_maximum: 10, comment: null },
  ]);
  expect(at.lms.results.received).toHaveLength(1);
});

test('twenty grades at once share one token', async () => {
  const course = await grading.launch();
  const before = lms.tokens.requests;

  const grades = await Promise.all(range(20).map((at) => course.grade(`share-${at}`)));
  await Promise.all(grades.map((grade) => course.submitted(grade)));

  expect(lms.tokens.requests - before).toBe(1);
});

test('/scores goes before the query of a line item', async () => {
  const course = await grading.launch({
    fault: {
      claims: (all) => void ((all[AGS] as { lineitem: string }).lineitem = `${lms.issuer}/ags/7/lineitems/9/lineitem?type_id=2`),
    },
  });

  await course.submitted(await course.grade('moodle'));

  expect(requestsOf('moodle').map(({ url }) => url)).toEqual([`${lms.issuer}/ags/7/lineitems/9/lineitem/scores?type_id=2`]);
});

test.each<[TokenManner]>([['text/html'], ['numbers as text'], ['short-lived'], ['no expiry'], ['absurd expiry']])(
  'a token reply that is odd (%s) is taken',
  async (manner) => {
    const course = await grading.launch();
    lms.tokens.manner.set(manner);

    const shown = await course.submitted(await course.grade(`odd ${manner}`));

    expect(shown).toMatchObject({ attempts: 0, reason: null });
  },
);

test.each<[TokenManner, string]>([
  ['down', 'the LMS gave no token: 127.0.0.1 ended the connection before its reply was whole'],
  ['huge', 'the LMS gave no token: 127.0.0.1 sent a reply of more than 65536 bytes'],
  ['page', 'the LMS gave no token: its answer holds no usable access_token'],
  ['error', 'the LMS gave no token: it answered 500 (oops)'],
  ['busy', 'the LMS gave no token: it answered 429'],
  ['as Moodle', 'the LMS gave no token: it answered 400 (Invalid client assertion)'],
  ['no token', 'the LMS gave no token: its answer holds no usable access_token'],
  ['line break', 'the LMS gave no token: its answer holds no usable access_token'],
  ['another scope', 'the LMS gave no token: it did not grant https://purl.imsglobal.org/spec/lti-ags/scope/score'],
  ['mac', 'the LMS gave no token: its token_type is not Bearer'],
])('a token endpoint that is %s is named in the reason, and asked again', async (manner, reason) => {
  const course = await grading.launch();
  lms.tokens.manner.set(manner);

  const grade = await course.grade(`token ${manner}`);
  const waiting = await course.becomes(grade, ({ attempts }) => attempts > 0, 'the first attempt');
  lms.tokens.manner.set('well');

  expect(waiting).toMatchObject({ status: 'pending', reason });
  expect(await course.submitted(grade)).toMatchObject({ reason: null });
  expect(lms.scores.cell(`token ${manner}`)?.times).toBe(1);
});

test('an LMS that sends our assertion back in its error does not get it into the reason', async () => {
  const course = await grading.launch();
  lms.tokens.manner.set('echo');

  const waiting = await course.becomes(await course.grade('echo'), ({ attempts }) => attempts > 0, 'the first attempt');

  expect(waiting.reason).toMatch(/^the LMS gave no token: it answered 400 \(invalid_client: bad: /);
  expect(waiting.reason).not.toMatch(/ey[A-Za-z0-9_-]{20}/);
});

test('a registration without a key says so', async () => {
  const course = await grading.launch({ withKey: false });

  const waiting = await course.becomes(await course.grade('keyless'), ({ attempts }) => attempts > 0, 'the first attempt');

  expect(waiting).toMatchObject({ status: 'pending', reason: 'the LMS gave no token: the registration has no key yet' });
});

test.each<[string, ScoreManner, RegExp]>([
  ['is down', 'down', /^127\.0\.0\.1 ended the connection/],
  ['has lost its answer', 'answer lost', /^127\.0\.0\.1 ended the connection/],
  ['answers 500', { status: 500, text: '<h1>Oops</h1><script>x</script>' }, /^the LMS answered 500: Oops$/],
  ['answers 503', { status: 503, headers: { 'retry-after': '1' } }, /^the LMS answered 503$/],
  ['is busy', { status: 429, headers: { 'retry-after': '1' } }, /^the LMS answered 429$/],
  [
    'sends us to its login page',
    { status: 302, headers: { location: '/login' } },
    /^the LMS answered 302; redirects are not followed$/,
  ],
  ['refuses the token again and again', { status: 403 }, /^the LMS answered 403$/],
])('an LMS that %s gets the score later, once, with the same bytes', async (name, manner, reason) => {
  const course = await grading.launch();
  lms.scores.manner.set(manner);

  const grade = await course.grade(name);
  const waiting = await course.becomes(grade, ({ attempts }) => attempts > 0, 'the first attempt');
  lms.scores.manner.set('well');
  await course.submitted(grade);

  expect(waiting).toMatchObject({ status: 'pending', reason: expect.stringMatching(reason) });
  expect(lms.scores.cell(name)?.times).toBe(1);
  expect(new Set(requestsOf(name).map(({ body }) => body)).size).toBe(1);
  await waitFor('grade.submitted', () => received(grade).length === 1);
});

test('a token that was taken back is replaced within the attempt', async () => {
  const course = await grading.launch();
  await course.submitted(await course.grade('first'));
  const before = lms.tokens.requests;
  lms.scores.manner.set('revoked', 1);

  const shown = await course.submitted(await course.grade('revoked'));

  expect(shown.attempts).toBe(0);
  expect(lms.tokens.requests - before).toBe(1);
  expect(requestsOf('revoked')).toHaveLength(2);
});

test.each<[number, string, string]>([
  [400, 'no such user', 'the LMS answered 400: no such user'],
  [404, '', 'the LMS answered 404'],
  [405, 'POST?\u0000\u202e\n\n', 'the LMS answered 405: POST?'],
  [422, `<p>${'long '.repeat(500)}</p>`, `the LMS answered 422: ${'long '.repeat(40)}…`],
])('%i is for good: the grade failed, with what the LMS said, cut and cleaned', async (status, text, reason) => {
  const course = await grading.launch();
  lms.scores.manner.set({ status, text });

  const grade = await course.grade(`final ${status}`);
  const shown = await course.failed(grade);

  expect(shown).toMatchObject({ reason, attempts: 1, submitted_at: null });
  expect(requestsOf(`final ${status}`)).toHaveLength(1);
});

test('the reason is Moodle’s status line, not its empty body', async () => {
  const course = await grading.launch();
  lms.scores.manner.set({ status: 404, reason: "Not Found: Grade item 7 doesn't exist.", text: '[]' });

  const shown = await course.failed(await course.grade('status line'));

  expect(shown.reason).toBe("the LMS answered 404: Not Found: Grade item 7 doesn't exist.");
});

test('204 is submitted, with a note', async () => {
  const course = await grading.launch();
  lms.scores.manner.set('no content');

  expect(await course.submitted(await course.grade('quiet'))).toMatchObject({
    reason: 'the LMS answered 204: it may have kept a newer score',
  });
});

test('corrections within one second are taken one after the other by an LMS that compares whole seconds', async () => {
  const course = await grading.launch();

  const shown = [];
  for (const score of [1, 2, 3]) shown.push(await course.submitted(await course.grade('hasty', score)));

  const seconds = shown.map(({ timestamp }) => Date.parse(timestamp) / 1000);
  expect(seconds.filter(Number.isInteger)).toHaveLength(3);
  expect(new Set(seconds).size).toBe(3);
  expect(lms.scores.cell('hasty')).toMatchObject({ scoreGiven: 3, times: 3 });
  expect(requestsOf('hasty')).toHaveLength(3);
});

test('a score refused for one that the LMS wrote itself is resent with a later timestamp, as in the event', async () => {
  const course = await grading.launch();
  const first = await course.submitted(await course.grade('touched', 1));
  lms.scores.touch('touched', new Date(Date.parse(first.timestamp) + 1000));

  const given = await course.grade('touched', 2);
  const shown = await course.submitted(given);
  const [event] = await waitFor('grade.submitted', () => received(given).length > 0 && received(given));

  expect(Date.parse(shown.timestamp)).toBeGreaterThan(Date.parse(first.timestamp) + 1000);
  expect(shown).toMatchObject({ reason: null, attempts: 0 });
  expect(lms.scores.cell('touched')).toMatchObject({ scoreGiven: 2, timestamp: shown.timestamp });
  expect(event?.data['timestamp']).toBe(shown.timestamp);
});

test('an LMS whose clock is ahead takes the score once its timestamp is late enough', async () => {
  const course = await grading.launch();
  const first = await course.submitted(await course.grade('ahead', 1));
  lms.scores.touch('ahead', new Date(Date.parse(first.timestamp) + 6000));

  const shown = await course.submitted(await course.grade('ahead', 2));

  expect(Date.parse(shown.timestamp)).toBeGreaterThan(Date.parse(first.timestamp) + 6000);
  expect(lms.scores.cell('ahead')).toMatchObject({ scoreGiven: 2, timestamp: shown.timestamp });
  expect(await course.submitted(await course.grade('ahead', 3))).toMatchObject({ attempts: 0 });
});

test('a 409 that no newer score from Carrel explains is retried, each time later, and reported unchanged', async () => {
  const course = await grading.launch();
  lms.scores.manner.set({ status: 409, text: 'Refusing score with an earlier timestamp' });

  const grade = await course.grade('refused always');
  const waiting = await course.becomes(grade, ({ attempts }) => attempts > 1, 'two attempts');

  expect(waiting).toMatchObject({
    status: 'pending',
    reason: 'the LMS answered 409: Refusing score with an earlier timestamp; it is sent again with a later timestamp',
  });
  const times = requestsOf('refused always').map(({ body }) => Date.parse(JSON.parse(body).timestamp));
  expect(times.slice(0, 2)).toEqual([Date.parse(grade.timestamp), expect.any(Number)]);
  expect(times[1]).toBeGreaterThan(times[0] ?? Infinity);
  lms.scores.manner.set('well');
  await course.submitted(grade);
});

test('a refused older score keeps its time while a newer one waits, and the newer one stands at the end', async () => {
  const course = await grading.launch();
  lms.scores.manner.set({ status: 429 });
  const [older, newer] = [await course.grade('both wait', 3), await course.grade('both wait', 4)];
  for (const grade of [older, newer]) await course.becomes(grade, ({ attempts }) => attempts > 0, 'the first attempt');

  lms.scores.manner.set({ status: 409 });
  const waiting = await course.becomes(older, ({ reason }) => reason?.includes('409') ?? false, 'the refusal');
  lms.scores.manner.set('well');
  await course.submitted(newer);

  expect(waiting).toMatchObject({
    timestamp: older.timestamp,
    reason: 'the LMS answered 409; a newer score of this person is about to be sent',
  });
  await course.becomes(older, ({ status }) => status !== 'pending', 'the end of the older one');
  expect(lms.scores.cell('both wait')?.scoreGiven).toBe(4);
});

test('a 409 after a refusal that cannot have counted is a first sending still', async () => {
  const course = await grading.launch();
  lms.scores.manner.set({ status: 429 });
  const grade = await course.grade('refused first');
  await course.becomes(grade, ({ attempts }) => attempts > 0, 'the first attempt');

  lms.scores.manner.set({ status: 409 }, 1);
  const waiting = await course.becomes(grade, ({ timestamp }) => timestamp !== grade.timestamp, 'a later timestamp');
  lms.scores.manner.set('well');

  expect(Date.parse(waiting.timestamp)).toBeGreaterThan(Date.parse(grade.timestamp));
  await course.submitted(grade);
});

test('an older grade that waited is not sent after a newer one was accepted', async () => {
  const course = await grading.launch();
  lms.scores.manner.set({ status: 503 });
  const older = await course.grade('corrected', 1);
  await course.becomes(older, ({ attempts }) => attempts > 0, 'the first attempt');
  // While the worker holds it, the worker says when it is due next.
  const rest = `UPDATE carrel.work SET due_at = now() + interval '1 hour'
    WHERE payload->>'grade' = $1 AND leased_until IS NULL RETURNING id`;
  await waitFor('the older one to rest', async () => (await platform.pool.query(rest, [older.id])).length > 0);
  lms.scores.manner.set('well');
  await course.submitted(await course.grade('corrected', 2));
  const sent = requestsOf('corrected').length;
  await platform.pool.query(`UPDATE carrel.work SET due_at = now() WHERE payload->>'grade' = $1`, [older.id]);

  expect((await course.failed(older)).reason).toBe('a newer score was submitted before this one');
  expect(requestsOf('corrected')).toHaveLength(sent);
});

test.each([
  ['http://169.254.169.254/latest/lineitem', 'leads to a private address'],
  ['http://10.0.0.1/lineitem', 'leads to a private address'],
])('a line item at %s is never dialled: the grade failed', async (lineitem, reason) => {
  const course = await grading.launch({
    fault: { claims: (all) => void ((all[AGS] as { lineitem: string }).lineitem = lineitem) },
  });

  expect((await course.failed(await course.grade('private'))).reason).toContain(reason);
});

test('Retry-After puts the next attempt off', async () => {
  const course = await grading.launch();
  lms.scores.manner.set({ status: 429, headers: { 'retry-after': '600' } });
  const grade = await course.grade('put off');
  await course.becomes(grade, ({ attempts }) => attempts > 0, 'the first attempt');

  const work = `SELECT extract(epoch FROM due_at - now())::float8 AS wait FROM carrel.work WHERE payload->>'grade' = $1`;
  const wait = await waitFor('the next attempt to be fixed', async () => {
    const [row] = await platform.pool.query<{ wait: number }>(work, [grade.id]);
    return row && row.wait > 0 && row.wait;
  });

  expect(wait).toBeGreaterThan(590);
  expect(await worker.metrics()).toMatch(/carrel_work_waiting_seconds\{[^}]*kind="grades.submit"[^}]*\} [0-9.]+/);
});

test('a registration that is switched off keeps its grades waiting; one that is deleted takes them with it', async () => {
  const [paused, gone]: Graded[] = [await grading.launch(), await grading.launch()];
  if (!paused || !gone) throw new Error('no launch');
  // It refuses all that is sent before the registration is seen to be off: an attempt may be under way just then.
  lms.scores.manner.set({ status: 503 });
  const [waits, goes] = [await paused.grade('paused'), await gone.grade('gone')];
  const { ltiTools } = grading.tenant.db.tables;
  await ltiTools.update({ id: paused.at.toolId }, { isActive: false });
  await ltiTools.delete({ id: gone.at.toolId });

  const left = `SELECT FROM carrel.work WHERE payload->>'grade' = $1`;
  await waitFor('the end of the work', async () => (await platform.pool.query(left, [goes.id])).length === 0);
  const off = await paused.becomes(waits, ({ reason }) => reason === 'the registration of the LMS is not active', 'the reason');
  const sent = [...requestsOf('paused'), ...requestsOf('gone')].length;
  lms.scores.manner.set('well');
  await paused.becomes(waits, ({ attempts }) => attempts > off.attempts + 1, 'two more attempts');
  expect([...requestsOf('paused'), ...requestsOf('gone')]).toHaveLength(sent);

  await ltiTools.update({ id: paused.at.toolId }, { isActive: true });
  await paused.submitted(waits);
  expect(lms.scores.cell('gone')).toBeUndefined();
});

test('no reason of any grade shows a token', async () => {
  const rows = await grading.tenant.db.query<{ reason: string }>('SELECT reason FROM lti_grades WHERE reason IS NOT NULL');

  expect(rows.length).toBeGreaterThan(0);
  expect(tokens().length).toBeGreaterThan(20);
  for (const { reason } of rows) for (const token of tokens()) expect(reason).not.toContain(token);
});

test('the schedule ends: the grade failed after its last attempt', async () => {
  await worker.end('SIGTERM');
  await worker.start({ CARREL_GRADE_RETRY_SECONDS: '0.1,0.1' });
  const course = await grading.launch();
  lms.scores.manner.set({ status: 502 });

  const shown = await course.failed(await course.grade('given up'));

  expect(shown).toMatchObject({ reason: 'given up after 3 attempts: the LMS answered 502', attempts: 3 });
  expect(requestsOf('given up')).toHaveLength(3);
});
