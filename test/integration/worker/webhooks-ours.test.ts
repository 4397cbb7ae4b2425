import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { formatSealingKeys } from '../../../pkg/runtime/sealing.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { startReceiver } from '../../support/receiver.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook, emitGrades, sealOf } from '../../support/webhooks.ts';
import { webhookSuite } from '../../support/worker-suite.ts';

/** What goes wrong on our side of a delivery. One attempt each: the next would be in ten minutes. */
const SETTINGS = { CARREL_WEBHOOK_TIMEOUT_SECONDS: '6', CARREL_WEBHOOK_RETRY_SECONDS: '600' };

const { platform, worker, tenant, receiver } = webhookSuite(SETTINGS);

/** The worker anew, with other settings or keys. */
async function restart(settings: Readonly<Record<string, string>> = {}, platformKeys?: string): Promise<void> {
  await worker.end('SIGTERM');
  await worker.start(settings, platformKeys);
}

interface Row {
  readonly state: string;
  readonly leases: number;
  readonly log: readonly { readonly status_code: number | null; readonly error: string | null }[];
  /** Seconds, by Postgres' clock. */
  readonly wait: number | null;
}

const deliveries = (endpoint: string): Promise<Row[]> =>
  tenant.db.query(
    `SELECT state, attempts AS leases, log, extract(epoch FROM due_at - now())::float8 AS wait
     FROM carrel.deliveries WHERE endpoint = $1 ORDER BY id`,
    [endpoint],
  );

const tried = (endpoint: string, count: number): Promise<Row[]> =>
  waitFor(`an attempt of each of ${count} deliveries`, async () => {
    const rows = await deliveries(endpoint);
    return rows.length === count && rows.every(({ log }) => log.length > 0) && rows;
  });

test('an attempt that nobody foresaw is written and put off, says nothing of the receiver, and does not block those beside it', async () => {
  const broken = await addWebhook(tenant, { url: receiver.url });
  const headers = sealOf(tenant).seal(broken, 'headers', 'null');
  await tenant.db.query('UPDATE webhooks SET headers = $2 WHERE uuid = $1', [broken, headers]);
  await emitGrades(tenant, 10);
  await addWebhook(tenant, { url: receiver.url });

  const ids = await emitGrades(tenant, 5);

  await waitFor('the 5 of the healthy one', () => receiver.received.length === 5);
  expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  for (const { state, log, wait } of await tried(broken, 15)) {
    expect({ state, log }).toEqual({
      state: 'pending',
      log: [{ at: expect.stringMatching(/Z$/), status_code: null, error: 'internal error' }],
    });
    expect(wait).toBeGreaterThan(400);
  }
  expect(await tenant.db.tables.webhooks.find({ uuid: broken })).toMatchObject({ failingSince: null, lastDeliveryAt: null, active: true });
});

test('a worker without the right key puts deliveries off, without an end and without a word on the receiver; the right one then delivers', async () => {
  await restart({}, formatSealingKeys([{ id: 'p1', key: systemRandom.bytes(32) }]));
  const endpoint = await addWebhook(tenant, { url: receiver.url });
  await tenant.db.query(`UPDATE webhooks SET failing_since = now() - interval '6 days' WHERE uuid = $1`, [endpoint]);
  await emitGrades(tenant, 1);

  const [put] = await waitFor('the third attempt to be put off', async () => {
    const rows = await deliveries(endpoint);
    return rows.every(({ leases, wait }) => leases >= 3 && (wait ?? 0) > 0) && rows;
  });
  expect(put).toMatchObject({ state: 'pending', log: [] });
  expect(await tenant.db.tables.webhooks.find({ uuid: endpoint })).toMatchObject({ active: true, lastDeliveryAt: null });
  await restart();

  await waitFor('the delivery', () => receiver.received.length === 1);
});

test.each([-2, 2])('a worker whose clock is %i hours off keeps the schedule', async (hours) => {
  const shifted = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [Date.now()] : given)); }
      static now() { return Real.now() + ${hours * 3_600_000}; }
    };`;
  await restart({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shifted)}` });
  const endpoint = await addWebhook(tenant, { url: receiver.url });
  receiver.answer({ status: 500 });
  await emitGrades(tenant, 1);

  const [row] = await tried(endpoint, 1);

  expect(row).toMatchObject({ state: 'pending', leases: 1 });
  expect(row?.wait).toBeGreaterThan(600 * 0.8 - 60);
  expect(row?.wait).toBeLessThan(600 * 1.2);
  await restart();
});

test('a Redis that loses everything while 8 requests are running repeats none of them', async () => {
  await restart({ CARREL_WEBHOOK_TIMEOUT_SECONDS: '30' });
  const endpoint = await addWebhook(tenant, { url: receiver.url });
  receiver.answer('stall', 8);
  const ids = await emitGrades(tenant, 8);
  await waitFor('8 requests', () => receiver.received.length === 8);
  const [other, beside] = [await platform.tenant(), await startReceiver()];
  await addWebhook(other, { url: beside.url });

  const redis = new Redis(platform.stores.redis.adminUrl);
  await redis.flushall();
  redis.disconnect();
  await emitGrades(other, 1);

  await waitFor("another's delivery after it", () => beside.received.length === 1, 20_000); // while the 8 are still under way
  const rows = await tried(endpoint, 8);
  expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(rows.map(({ leases }) => leases)).toEqual(range(8).map(() => 1));
  await beside.close();
});
