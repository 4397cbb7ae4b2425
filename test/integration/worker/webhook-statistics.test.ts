import { expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait.ts';
import { emitGrades } from '../../support/webhooks.ts';
import { webhookSuite } from '../../support/worker-suite.ts';

const { platform, tenant, receiver, worker } = webhookSuite({ CARREL_WEBHOOK_RETRY_SECONDS: '0.05' });
const HOUR_MS = 3_600_000;

const register = async (url = receiver.url): Promise<string> =>
  (await tenant.admin.post('/webhooks', { url, events: ['grade.submitted'] })).body.id;
const statistics = async (id: string) => (await tenant.admin.get(`/webhooks/${id}/statistics`)).body;
const NOTHING = { sent: 0, failed: 0, p50_ms: null, p95_ms: null };

const addHour = (endpoint: string, hoursAgo: number) =>
  platform.pool.query(
    `INSERT INTO carrel.delivery_statistics (tenant, endpoint, hour, sent, failed, latency)
     VALUES ($1, $2, date_trunc('hour', now(), 'UTC') - make_interval(hours => $3), 10, 1, array_fill(0, ARRAY[20]) || 10)`,
    [`tenant_${tenant.slug}`, endpoint, hoursAgo],
  );

test('each attempt counts once, with its outcome and how long the receiver took, for its own webhook', async () => {
  const [id, other] = [await register(), await register(`${receiver.url}?other`)];
  expect(await statistics(id)).toEqual({ last_24_hours: NOTHING, last_7_days: NOTHING, hours: [] });
  await tenant.admin.patch(`/webhooks/${other}`, { active: false });
  receiver.answer({ status: 500 }, 5);
  await emitGrades(tenant, 30, 30);

  const shown = await waitFor('all attempts', async () => {
    const found = await statistics(id);
    return found.last_24_hours.sent === 35 && found;
  });

  const counted = { sent: 35, failed: 5, p50_ms: expect.any(Number), p95_ms: expect.any(Number) };
  const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
  expect(shown).toEqual({ last_24_hours: counted, last_7_days: counted, hours: [{ hour: hour.toISOString(), ...counted }] });
  expect(shown.hours[0].p50_ms).toBeLessThanOrEqual(shown.hours[0].p95_ms);
  expect((await statistics(other)).hours).toEqual([]);
});

test('a receiver that never answered has failures, and no time of an answer', async () => {
  const id = await register();
  await receiver.down();
  await emitGrades(tenant, 2, 2);

  await waitFor('four attempts', async () => (await statistics(id)).last_24_hours.sent === 4);

  expect((await statistics(id)).last_7_days).toEqual({ sent: 4, failed: 4, p50_ms: null, p95_ms: null });
  await receiver.up();
});

test('a day is the hour that runs and 23 before it, a week 167; what is older than eight days is deleted', async () => {
  const id = await register();
  for (const hoursAgo of [0, 23, 24, 167, 168, 9 * 24]) await addHour(id, hoursAgo);

  const shown = await statistics(id);

  expect([shown.last_24_hours.sent, shown.last_7_days.sent, shown.last_7_days.failed, shown.hours.length]).toEqual([20, 40, 4, 4]);
  // The bucket ends at 1,024 ms.
  expect([shown.last_7_days.p50_ms, shown.last_7_days.p95_ms]).toEqual([874, 1_009]);
  await worker.end('SIGTERM');
  await worker.start();
  await waitFor('the oldest to go', async () => {
    const rows = await tenant.db.query('SELECT FROM carrel.delivery_statistics WHERE endpoint = $1', [id]);
    return rows.length === 5;
  });
});
