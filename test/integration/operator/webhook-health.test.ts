import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Observed } from '../../../pkg/kube/object.ts';
import type { Webhook } from '../../../pkg/operator/kinds.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { connectRedis, type Redis } from '../../../pkg/store/redis/redis.ts';
import { type Receiver, startReceiver } from '../../support/fakes/receiver.ts';
import { range, waitFor } from '../../support/wait.ts';
import { emitGrades } from '../../support/clients/webhooks.ts';
import { startWorkerProcess, type WorkerProcess } from '../../support/programs/worker-process.ts';
import { difference, writes } from '../../support/cluster/apiserver-metrics.ts';
import { children, condition, conditionOf, ready, unique, webhookOf } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

/** Stores of the test's own: a worker handles what all tenants of a shard left it. */
const { cluster, stores: running, namespace, readyTenant, databaseUrl } = operatorSuite({ ownStores: true, shardPollMs: 500 });
let worker: WorkerProcess;
let receiver: Receiver;
let tenant: string;
let pool: SqlPool;
let outbox: { db: Database; redis: Redis };

beforeAll(async () => {
  const key = await readyTenant();
  tenant = key.name;
  outbox = {
    db: new Database({ url: await databaseUrl(key), poolSize: 2, log: silentLogger }),
    redis: connectRedis({ url: running.redis.adminUrl, prefix: '', log: silentLogger }),
  };
  pool = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger });
  cluster.onClose(() => Promise.all([outbox.db.close(), outbox.redis.close(), pool.close()]));
  receiver = await startReceiver();
  cluster.onClose(() => receiver.close());
  const workerUrl = readFileSync(join(running.shardsDir, 'main', 'worker-url'), 'utf8').trim();
  worker = await startWorkerProcess(
    { stores: running, workerUrl, platformKeys: running.platformKeys },
    { CARREL_WEBHOOK_RETRY_SECONDS: range(200).fill(0.3).join(',') },
  );
  cluster.onClose(() => worker.end('SIGTERM'));
}, 180_000);

async function newHook(): Promise<{ key: { namespace: string; name: string }; status(): Promise<Webhook['status']> }> {
  const key = { namespace, name: unique() };
  const spec = { tenantRef: { name: tenant }, url: receiver.url, events: ['grade.submitted'] };
  await cluster.webhooks.create(webhookOf(namespace, key.name, spec));
  await ready(cluster.webhooks, key);
  // It is written after the status, and counted with the writes.
  await waitFor('its Event', async () => {
    const events = await cluster.of(children.EVENT).list({ namespace });
    return events.some(
      ({ reason, regarding }) => reason === 'Ready' && regarding?.kind === 'Webhook' && regarding.name === key.name,
    );
  });
  return { key, status: async () => (await cluster.webhooks.get(key)).status };
}

const until = (
  what: string,
  hook: { status(): Promise<Webhook['status']> },
  is: (status: NonNullable<Webhook['status']>) => boolean,
) =>
  waitFor(what, async () => {
    const status = await hook.status();
    return status && is(status) ? status : undefined;
  });

const changes = async (): Promise<number> =>
  (await pool.query<{ count: number }>('SELECT count(*) AS count FROM carrel.webhook_health'))[0]?.count ?? -1;

test('the status shows the first delivery, failing and recovery; between changes of health nothing is written', async () => {
  const hook = await newHook();

  await emitGrades(outbox, 1);
  const well = await until('the first delivery in the status', hook, ({ lastDeliveryTime }) => lastDeliveryTime !== undefined);
  receiver.answer({ status: 503 });
  await emitGrades(outbox, 1);
  const failing = await until('failing since', hook, ({ failingSince }) => failingSince !== undefined);
  receiver.answer({ status: 204 });
  const recovered = await until('the recovery', hook, ({ failingSince }) => failingSince === undefined);
  await waitFor('the changes to be read', async () => (await changes()) === 0);
  const before = { writes: await writes(cluster), rows: await outbox.db.tables.webhooks.list({}) };
  const arrived = receiver.received.length;
  await emitGrades(outbox, 50);
  await waitFor('50 more deliveries', () => receiver.received.length >= arrived + 50);
  await waitFor(
    'them to end',
    async () => (await outbox.db.query(`SELECT FROM carrel.deliveries WHERE state = 'pending'`)).length === 0,
  );

  expect(well).toMatchObject({ endpointId: expect.any(String), lastStatusCode: 204 });
  expect(failing).toMatchObject({ endpointId: well.endpointId, lastStatusCode: 503 });
  expect(recovered).toMatchObject({ lastStatusCode: 204 });
  expect(await outbox.db.tables.webhooks.list({})).toEqual(before.rows);
  expect(await changes()).toBe(0);
  expect(difference(before.writes, await writes(cluster))).toEqual({});
});

test('a change of an endpoint that is nobody’s, or that names another’s Webhook, writes nothing', async () => {
  const hook = await newHook();
  await waitFor('the changes to be read', async () => (await changes()) === 0);
  const before = await writes(cluster);
  const insert = `
    INSERT INTO carrel.webhook_health (tenant, endpoint, managed_ref, noted_at)
    VALUES ($1, gen_random_uuid(), $2, now() - interval '2 hours')`;

  await pool.query(insert, ['tenant_other', `${namespace}/${hook.key.name}`]);
  await pool.query(insert, ['tenant_other', 'nowhere/nothing']);

  await waitFor('it to be deleted', async () => (await changes()) === 0);
  expect(difference(before, await writes(cluster))).toEqual({});
});

/** The last one: its Webhook is Ready a second time, and the count of that Event is written half a minute after the first. */
test('a receiver that answers 410 makes the Webhook not ready, with the reason, until the resource changes', async () => {
  const hook = await newHook();
  receiver.answer({ status: 410 });
  await emitGrades(outbox, 1);

  const disabled: Observed<Webhook> = await condition(cluster.webhooks, hook.key, 'Ready', 'False', 'Disabled');
  receiver.answer({ status: 204 });
  await cluster.webhooks.patch(hook.key, { spec: { headers: { 'X-Team': 'new' } } });
  const enabled = await ready(cluster.webhooks, hook.key);
  await emitGrades(outbox, 1);

  expect(disabled.status).toMatchObject({ disabledReason: 'the receiver answered 410 Gone', lastStatusCode: 410 });
  expect(conditionOf(disabled, 'Ready')?.message).toBe(
    'Synced: the receiver answered 410 Gone; to start again, change the resource, or set spec.active to false and then to true',
  );
  expect(enabled.status?.disabledReason).toBeUndefined();
  await until('the delivery after that', hook, ({ lastStatusCode }) => lastStatusCode === 204);
});
