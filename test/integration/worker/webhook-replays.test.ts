import { expect, test } from '@jest/globals';
import { verifiesStandard } from '../../../pkg/local/demo/standard-webhooks.ts';
import { range, waitFor } from '../../support/wait.ts';
import { emitGrades } from '../../support/clients/webhooks.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';

// A receiver that stalls does so for longer than a busy machine takes to look at what that leads to.
const { platform, tenant, receiver, worker } = webhookSuite({
  CARREL_WEBHOOK_RETRY_SECONDS: '0.05',
  CARREL_WEBHOOK_TIMEOUT_SECONDS: '60',
});
const MINUTE_MS = 60_000;
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

const register = async (url = receiver.url) => (await tenant.admin.post('/webhooks', { url, events: ['grade.submitted'] })).body;
const jobOf = async (id: string) => (await tenant.admin.get(`/jobs/${id}`)).body;
const endOf = (id: string) =>
  waitFor('the end of the replay', async () => {
    const job = await jobOf(id);
    return job.ended_at !== null && job;
  });

/** So many events whose delivery has ended in `state`, a minute ago. */
async function addEnded(endpoint: string, count: number, state = 'failed'): Promise<void> {
  await platform.pool.query(
    `WITH event AS (
       INSERT INTO carrel.events (tenant, uuid, event, payload, created_at)
       SELECT $1, gen_random_uuid(), 'grade.submitted', '{"event":"grade.submitted","data":{}}', now() - interval '1 minute'
       FROM generate_series(1, $3::int)
       RETURNING id, created_at
     )
     INSERT INTO carrel.deliveries (tenant, event_id, endpoint, state, due_at, created_at, ended_at)
     SELECT $1, id, $2, $4, NULL, created_at, now() FROM event`,
    [`tenant_${tenant.slug}`, endpoint, count, state],
  );
}

/** Returns how often each event of the webhook was made due again. */
const repeats = (endpoint: string) =>
  tenant.db.query<{ made: number; events: number }>(
    `SELECT made, count(*)::int AS events FROM (
       SELECT count(*)::int - 1 AS made FROM carrel.deliveries WHERE endpoint = $1 GROUP BY event_id
     ) e GROUP BY made ORDER BY made`,
    [endpoint],
  );

test('a replay sends what did not arrive, each event once, with its id and bytes and a signature of now', async () => {
  const { id, secret } = await register();
  receiver.answer({ status: 500 });
  const before = await emitGrades(tenant, 40);
  await waitFor('both attempts of each', () => receiver.received.length === 80 && receiver.received);
  await waitFor(
    'failures',
    async () => (await tenant.db.query("SELECT FROM carrel.deliveries WHERE state = 'failed'")).length === 40,
  );
  const bodies = new Map(receiver.received.map((delivery) => [delivery.id, delivery.body]));
  receiver.answer({ status: 204 });
  const until = new Date().toISOString();
  const [later] = await emitGrades(tenant, 1);

  const { status, body: job } = await tenant.admin.post(`/webhooks/${id}/replays`, { since: ago(10 * MINUTE_MS), until });
  const ended = await endOf(job.id);
  const taken = await waitFor('all of them', () => {
    const all = receiver.received.filter((delivery) => delivery.taken);
    return all.length === 41 && all;
  });

  expect([status, job.kind, job.result]).toEqual([202, 'replay', { webhook_id: id, since: job.result.since, until }]);
  expect(ended).toMatchObject({ state: 'succeeded', progress: { done: 40, total: 40, failed: 0, skipped: 0 }, error: null });
  expect(new Set(taken.map((delivery) => delivery.id))).toEqual(new Set([...before, later]));
  for (const delivery of taken.filter((each) => each.id !== later)) {
    expect(delivery.body).toBe(bodies.get(delivery.id));
    expect(verifiesStandard(delivery, secret)).toBe(true);
  }
  const { body: again } = await tenant.admin.post(`/webhooks/${id}/replays`, { since: ago(10 * MINUTE_MS), until });
  expect((await endOf(again.id)).progress).toMatchObject({ done: 0, total: 0 });
});

test('an event of now overtakes a replay of thousands; what a cancelled replay has made due is what it counts', async () => {
  const { id } = await register();
  await addEnded(id, 6_000);
  const { body: job } = await tenant.admin.post(`/webhooks/${id}/replays`, { since: ago(10 * MINUTE_MS) });
  for (const after of [20, 60, 100]) {
    await waitFor('so many of them', async () => (await jobOf(job.id)).progress.done >= after);
    const earlier = receiver.received.length;
    const [live] = await emitGrades(tenant, 1);

    const others = await waitFor('the event of now', () => {
      const at = receiver.received.findIndex((delivery) => delivery.id === live);
      return at >= 0 && at - earlier;
    });

    // At most 16 are due at once; 160 in a second go on while this process is slow to emit. Behind all of them it would be
    // thousands.
    expect(others).toBeLessThan(2_000);
  }
  const canceled = await tenant.admin.post(`/jobs/${job.id}/cancel`);
  const { done } = canceled.body.progress;

  expect(canceled).toMatchObject({ status: 202, body: { state: 'canceled', progress: { total: 6_000 } } });
  expect(done).toBeLessThan(5_500); // the event of now came in the midst of them
  await waitFor('the worker to be idle', async () => (await waiting()).length === 0);
  expect(await repeats(id)).toEqual([
    { made: 0, events: 6_003 - done },
    { made: 1, events: done },
  ]);
});

test('a replay whose worker is killed goes on, and makes no event due twice', async () => {
  const { id } = await register();
  await addEnded(id, 300, 'delivered');
  const { body: job } = await tenant.admin.post(`/webhooks/${id}/replays`, { since: ago(10 * MINUTE_MS), status: 'delivered' });
  for (const after of [50]) {
    await waitFor('so many of them', async () => (await jobOf(job.id)).progress.done >= after);
    await worker.end('SIGKILL');
    await worker.start();
  }

  expect(await endOf(job.id)).toMatchObject({ state: 'succeeded', progress: { done: 300, total: 300 } });
  expect(await repeats(id)).toEqual([{ made: 1, events: 300 }]);
});

test('a refusing receiver gets a replay in small parts; its webhook can be disabled meanwhile, as the job says', async () => {
  const { id } = await register(receiver.stallingUrl);
  await addEnded(id, 500);
  const { body: job } = await tenant.admin.post(`/webhooks/${id}/replays`, { since: ago(10 * MINUTE_MS) });
  await waitFor('the first of them', async () => (await jobOf(job.id)).progress.done === 16);
  await waitFor(
    'the replay to pause',
    async () => (await tenant.db.query(`${WAITING} AND due_at > now() + interval '1 s'`)).length > 0,
  );

  await tenant.admin.patch(`/webhooks/${id}`, { active: false });

  expect(await endOf(job.id)).toMatchObject({ state: 'failed', error: { code: 'conflict' }, progress: { done: 16, total: 500 } });
});

test('however many replays are requested at once, each event is sent again by one of them', async () => {
  const { id } = await register();
  await addEnded(id, 100);

  const replies = await Promise.all(
    range(200).map(() => tenant.admin.post(`/webhooks/${id}/replays`, { since: ago(10 * MINUTE_MS) })),
  );
  const requested = replies.filter(({ status }) => status === 202);
  const ended = await Promise.all(requested.map(({ body }) => endOf(body.id)));

  // A person has ten jobs at once at most; some end meanwhile, and a busy server may refuse.
  expect(replies.filter(({ status }) => ![202, 409, 503].includes(status))).toEqual([]);
  expect(requested.length).toBeGreaterThan(0);
  expect(ended.map(({ state }) => state)).toEqual(requested.map(() => 'succeeded'));
  expect(ended.reduce((sum, { progress }) => sum + progress.done, 0)).toBe(100);
  expect(await repeats(id)).toEqual([{ made: 1, events: 100 }]);
});

test('a webhook that is deleted during its replay gets nothing more of it, and the job says that it is gone', async () => {
  const { id } = await register();
  await addEnded(id, 1_000);
  const { body: job } = await tenant.admin.post(`/webhooks/${id}/replays`, { since: ago(10 * MINUTE_MS) });
  await waitFor('the first of them', async () => (await jobOf(job.id)).progress.done >= 16);

  await tenant.admin.delete(`/webhooks/${id}`);

  const { state, error, progress } = await endOf(job.id);
  expect([state, error.code, progress.total]).toEqual(['failed', 'not_found', 1_000]);
  expect(await repeats(id)).toEqual([
    { made: 0, events: 1_000 - progress.done },
    { made: 1, events: progress.done },
  ]);
});

test('a time that is empty or older than any delivery, and a webhook that is not active, are refused', async () => {
  const { id } = await register();
  const replay = async (body: object) => {
    const reply = await tenant.admin.post(`/webhooks/${id}/replays`, body);
    return [reply.status, reply.body.error];
  };

  expect(await replay({ since: ago(1_000), until: ago(2_000) })).toEqual([400, 'validation_failed']);
  expect(await replay({ since: ago(31 * 24 * 60 * MINUTE_MS) })).toEqual([400, 'validation_failed']);
  expect(await replay({ since: ago(-MINUTE_MS), until: ago(-2 * MINUTE_MS) })).toEqual([400, 'validation_failed']);
  expect((await replay({ since: ago(MINUTE_MS), until: ago(-MINUTE_MS) }))[0]).toBe(202);
  await tenant.admin.patch(`/webhooks/${id}`, { active: false });
  expect(await replay({ since: ago(MINUTE_MS) })).toEqual([409, 'conflict']);
});

const WAITING = "SELECT FROM carrel.work WHERE kind = 'tasks.replay'";
const waiting = () => tenant.db.query(WAITING);
