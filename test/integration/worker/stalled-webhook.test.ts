import { expect, test } from '@jest/globals';
import { range, waitFor } from '../../support/wait.ts';
import { emitGrades } from '../../support/clients/webhooks.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';

// The default time of a receiver, so that no attempt ends while the test measures a wait.
const { platform, tenant, receiver, worker } = webhookSuite({ CARREL_WEBHOOK_TIMEOUT_SECONDS: '15' });
const WAITS = 50;
/** Below it a ratio says what else the machine does. Who waits for an attempt of the stalled one waits 15 s. */
const FLOOR_MS = 8_000;

const register = async (url: string, event: string): Promise<string> =>
  (await tenant.admin.post('/webhooks', { url, events: [event] })).body.id;

/** So many deliveries of the webhook that are due for a while already. */
const addDue = (endpoint: string, count: number) =>
  platform.pool.query(
    `WITH event AS (
       INSERT INTO carrel.events (tenant, uuid, event, payload) SELECT $1, gen_random_uuid(), 'user.created', '{}'
       FROM generate_series(1, $3::int) RETURNING id
     )
     INSERT INTO carrel.deliveries (tenant, event_id, endpoint, due_at) SELECT $1, id, $2, now() - interval '1 hour' FROM event`,
    [`tenant_${tenant.slug}`, endpoint, count],
  );

/** Sends the other webhook events, each after the last has arrived. Returns the second longest wait. */
async function wait(): Promise<number> {
  const waits: number[] = [];
  for (const _ of range(WAITS)) {
    const since = performance.now();
    const [id] = await emitGrades(tenant, 1);
    await waitFor('the event', () => receiver.received.some((delivery) => delivery.id === id));
    waits.push(performance.now() - since);
  }
  return waits.toSorted((a, b) => b - a)[1] ?? Infinity;
}

const underWay = async (endpoint: string): Promise<number> =>
  (await tenant.db.query('SELECT FROM carrel.deliveries WHERE endpoint = $1 AND leased_until > now()', [endpoint])).length;

test('a webhook with a silent receiver and thousands of waiting deliveries does not delay another’s events', async () => {
  await register(receiver.url, 'grade.submitted');
  const alone = await wait();
  const stalled = await register(receiver.stallingUrl, 'user.created');
  await addDue(stalled, 5_000);
  await waitFor('attempts of the stalled one', async () => (await underWay(stalled)) >= 8);

  const beside = await wait();

  expect(beside).toBeLessThan(Math.max(3 * alone, FLOOR_MS));
  expect(await underWay(stalled)).toBeGreaterThan(0);
});

test('a webhook whose attempts took long and failed has one at a time, and all that wait once one succeeds', async () => {
  await worker.end('SIGTERM');
  await worker.start({ CARREL_WEBHOOK_TIMEOUT_SECONDS: '2' });
  const id = await register(receiver.url, 'grade.submitted');
  receiver.answer('stall', 9);
  await addDue(id, 40);
  await waitFor('the first attempts', () => receiver.received.length >= 8);
  const sent = () =>
    tenant.db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM carrel.deliveries WHERE endpoint = $1 AND state = 'delivered'`,
      [id],
    );

  await waitFor('what has not been tried yet', async () => ((await sent())[0]?.n ?? 0) >= 31);

  // The next one after the first ones failed was alone until it failed too.
  const [ninth, tenth] = receiver.received.slice(8);
  expect(ninth && tenth && tenth.at - ninth.at).toBeGreaterThan(1_000);
});
