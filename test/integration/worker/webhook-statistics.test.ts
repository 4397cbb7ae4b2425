import { expect, test } from '@jest/globals';
import { range, waitFor } from '../../support/wait.ts';
import { emitGrades } from '../../support/clients/webhooks.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';

/**
 * Allows one attempt more than the receiver refuses: on a busy machine it may refuse one delivery again before it sees another.
 */
const { platform, tenant, receiver, worker } = webhookSuite({ CARREL_WEBHOOK_RETRY_SECONDS: range(5).fill(0.05).join(',') });
const HOUR_MS = 3_600_000;

const register = async (url = receiver.url): Promise<string> =>
  (await tenant.admin.post('/webhooks', { url, events: ['grade.submitted'] })).body.id;
const statistics = async (id: string) => (await tenant.admin.get(`/webhooks/${id}/statistics`)).body;
const NOTHING = { sent: 0, failed: 0, p50_ms: null, p95_ms: null };

/** Returns the result of `work` and the hour. Repeats it when an hour ended meanwhile. */
async function withinAnHour<T>(work: () => Promise<T>): Promise<T & { hour: string }> {
  for (;;) {
    const hour = Math.floor(Date.now() / HOUR_MS);
    const result = await work();
    if (Math.floor(Date.now() / HOUR_MS) === hour) return { ...result, hour: new Date(hour * HOUR_MS).toISOString() };
  }
}

const addHour = (endpoint: string, hoursAgo: number) =>
  platform.pool.query(
    `INSERT INTO carrel.delivery_statistics (tenant, endpoint, hour, sent, failed, latency)
     VALUES ($1, $2, date_trunc('hour', now(), 'UTC') - make_interval(hours => $3), 10, 1, array_fill(0, ARRAY[20]) || 10)`,
    [`tenant_${tenant.slug}`, endpoint, hoursAgo],
  );

test('each attempt counts once, with its outcome and how long the receiver took, for its own webhook', async () => {
  const other = await register(`${receiver.url}?other`);
  await tenant.admin.patch(`/webhooks/${other}`, { active: false });
  const { before, shown, hour } = await withinAnHour(async () => {
    const id = await register();
    const none = await statistics(id);
    receiver.answer({ status: 500 }, 5);
    await emitGrades(tenant, 30, 30);
    const found = await waitFor('all attempts', async () => {
      const now = await statistics(id);
      return now.last_24_hours.sent === 35 && now;
    });
    await tenant.admin.patch(`/webhooks/${id}`, { active: false });
    return { before: none, shown: found };
  });

  const counted = { sent: 35, failed: 5, p50_ms: expect.any(Number), p95_ms: expect.any(Number) };
  expect(before).toEqual({ last_24_hours: NOTHING, last_7_days: NOTHING, hours: [] });
  expect(shown).toEqual({ last_24_hours: counted, last_7_days: counted, hours: [{ hour, ...counted }] });
  expect(shown.hours[0].p50_ms).toBeLessThanOrEqual(shown.hours[0].p95_ms);
  expect((await statistics(other)).hours).toEqual([]);
});

test('a receiver that never answered has failures, and no time of an answer', async () => {
  const id = await register();
  await receiver.down();
  await emitGrades(tenant, 2, 2);

  await waitFor('all attempts', async () => (await statistics(id)).last_24_hours.sent === 12);

  expect((await statistics(id)).last_7_days).toEqual({ sent: 12, failed: 12, p50_ms: null, p95_ms: null });
  await receiver.up();
});

test('a day is the hour that runs and 23 before it, a week 167; what is older than eight days is deleted', async () => {
  const { id, shown } = await withinAnHour(async () => {
    const made = await register();
    for (const hoursAgo of [0, 23, 24, 167, 168, 9 * 24]) await addHour(made, hoursAgo);
    return { id: made, shown: await statistics(made) };
  });

  expect([shown.last_24_hours.sent, shown.last_7_days.sent, shown.last_7_days.failed, shown.hours.length]).toEqual([
    20, 40, 4, 4,
  ]);
  // The bucket ends at 1,024 ms.
  expect([shown.last_7_days.p50_ms, shown.last_7_days.p95_ms]).toEqual([874, 1_009]);
  await worker.end('SIGTERM');
  await worker.start();
  await waitFor('the oldest to go', async () => {
    const rows = await tenant.db.query('SELECT FROM carrel.delivery_statistics WHERE endpoint = $1', [id]);
    return rows.length === 5;
  });
});
