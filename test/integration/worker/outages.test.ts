import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { WAKE_CHANNEL } from '../../../pkg/store/redis/redis.ts';
import { freePort } from '../../support/backends/ports.ts';
import { range, waitFor } from '../../support/wait.ts';
import { startReceiver } from '../../support/fakes/receiver.ts';
import { addWebhook, emitGrades } from '../../support/clients/webhooks.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { platformSuite } from '../../support/suites/worker-suite.ts';

const platform = platformSuite();

test('a worker that never had a Redis stops on SIGTERM', async () => {
  const redis = { ...platform.stores.redis, adminUrl: `redis://127.0.0.1:${await freePort()}` };
  const worker = await startWorkerProcess({ ...platform, stores: { ...platform.stores, redis } });

  expect(await worker.end('SIGTERM')).toBe(0);
});

test('statements of a tenant that wait for locks let no lease of another lapse', async () => {
  const [locking, healthy] = [await platform.tenant(), await platform.tenant()];
  const asked: ServerResponse[] = [];
  const receiver = createServer((request, response) => {
    request.resume();
    if (request.url === '/healthy') asked.push(response);
    else response.writeHead(204).end();
  });
  const port = await freePort();
  await once(receiver.listen(port, '127.0.0.1'), 'listening');
  // Fewer connections than the locking tenant has places.
  const worker = await startWorkerProcess(platform, { CARREL_DATABASE_POOL_SIZE: '3', CARREL_WEBHOOK_TIMEOUT_SECONDS: '60' });
  const delivery = async () => {
    const [row] = await healthy.db.query<{ state: string; until: Date | null; hasLapsed: boolean | null }>(
      'SELECT state, leased_until AS until, leased_until < now() AS "hasLapsed" FROM carrel.deliveries',
    );
    return row;
  };
  try {
    await addWebhook(healthy, { url: `http://127.0.0.1:${port}/healthy` });
    const endpoints = await Promise.all(range(8).map(() => addWebhook(locking, { url: `http://127.0.0.1:${port}/` })));
    await emitGrades(healthy, 1);
    await waitFor('the delivery to be sent', () => asked.length > 0);
    const first = (await delivery())?.until?.getTime() ?? 0;
    let hasLapsed = false;

    await locking.db.transaction(async (tx) => {
      await tx.query('LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE');
      await locking.db.query(
        `WITH event AS (INSERT INTO carrel.events (uuid, event, payload) VALUES (gen_random_uuid(), 'x', '{}') RETURNING id)
         INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, unnest($1::uuid[]) FROM event`,
        [endpoints],
      );
      await locking.redis.publish(WAKE_CHANNEL, '');
      await waitFor('the lease to lapse, or to be kept for twice its time', async () => {
        const row = await delivery();
        hasLapsed ||= row?.hasLapsed === true;
        return hasLapsed || (row?.until?.getTime() ?? 0) > first + 8_000;
      });
    });
    asked.forEach((response) => response.writeHead(204).end());
    await waitFor('the delivery to be over', async () => (await delivery())?.state === 'delivered');

    expect({ hasLapsed, sent: asked.length }).toEqual({ hasLapsed: false, sent: 1 });
  } finally {
    await worker.end('SIGKILL');
    receiver.closeAllConnections();
    receiver.close();
  }
});

test('connections on which Postgres no longer answers delay a delivery by seconds, not by a minute', async () => {
  const [tenant, receiver] = [await platform.tenant(), await startReceiver()];
  const worker = await startWorkerProcess(platform);
  const backends: number[] = [];
  try {
    await addWebhook(tenant, { url: receiver.url });
    await emitGrades(tenant, 1);
    await waitFor('a delivery', () => receiver.received.length === 1);
    const idle = await platform.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE usename = $1 AND state = 'idle' AND query ~ 'carrel.(work|deliveries) '`,
      [new URL(platform.workerUrl).username],
    );
    backends.push(...idle.map(({ pid }) => pid));
    backends.forEach((pid) => process.kill(pid, 'SIGSTOP'));

    const ids = await emitGrades(tenant, 1);

    await waitFor('the next delivery', () => receiver.received.length === 2, 45_000);
    expect(backends).not.toEqual([]);
    expect(receiver.received[1]?.id).toBe(ids[0]);
  } finally {
    backends.forEach((pid) => process.kill(pid, 'SIGCONT'));
    await worker.end('SIGKILL');
    await receiver.close();
  }
});

test('a delivery whose row is locked for longer than its lease is sent once, and delays no other outcome', async () => {
  const [locked, other] = [await platform.tenant(), await platform.tenant()];
  const asked: ServerResponse[] = [];
  const receiver = createServer((request, response) => void request.resume().on('end', () => asked.push(response)));
  const port = await freePort();
  await once(receiver.listen(port, '127.0.0.1'), 'listening');
  const worker = await startWorkerProcess(platform);
  const deliveries = (): Promise<{ tenant: string; state: string; statuses: number[] }[]> =>
    platform.pool.query(
      `SELECT substr(tenant, 8) AS tenant, state, jsonb_path_query_array(log, '$[*].status_code') AS statuses
       FROM carrel.deliveries ORDER BY id`,
    );
  const endedOf = async ({ slug }: typeof other) =>
    (await deliveries()).filter(({ tenant, state }) => tenant === slug && state !== 'pending').length;
  const tenants = [locked.slug, other.slug];
  try {
    for (const tenant of [locked, other]) await addWebhook(tenant, { url: `http://127.0.0.1:${port}/` });
    await emitGrades(locked, 1);
    await emitGrades(other, 4);
    await waitFor('all five requests', () => asked.length === 5);

    await platform.pool.transaction(async (tx) => {
      await tx.query('SELECT FROM carrel.deliveries WHERE tenant = $1 FOR UPDATE', [`tenant_${locked.slug}`]);
      const since = performance.now();
      asked.forEach((response) => response.writeHead(204).end());
      // While the other row is locked; backlog.test.ts says how soon.
      await waitFor("the outcomes of the other's", async () => (await endedOf(other)) === 4, 60_000);
      await waitFor('the lease and the lock time-out to pass', () => performance.now() > since + 6_000);
    });
    await waitFor('the outcome of the locked one', async () => (await endedOf(locked)) === 1);

    const own = (await deliveries()).filter(({ tenant }) => tenants.includes(tenant));
    expect(own.map(({ state, statuses }) => ({ state, statuses }))).toEqual(
      range(5).map(() => ({ state: 'delivered', statuses: [204] })),
    );
    expect(asked).toHaveLength(5);
  } finally {
    await worker.end('SIGKILL');
    receiver.closeAllConnections();
    receiver.close();
  }
});
