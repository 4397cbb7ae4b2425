import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, tenantSealer } from '../../../pkg/runtime/sealing.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { resealTenant } from '../../../pkg/tenantdata/sealed-columns.ts';
import { verifiesStandard } from '../../../pkg/local/demo/standard-webhooks.ts';
import { verifiesHex } from '../../support/fakes/receiver.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook, emitGrades, type WebhookOptions } from '../../support/clients/webhooks.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';

const SETTINGS = { CARREL_WEBHOOK_RETRY_SECONDS: range(200).fill(0.3).join(',') };

const { platform, worker, tenant, receiver } = webhookSuite(SETTINGS);

const hook = async (options: WebhookOptions = {}): Promise<string> => addWebhook(tenant, { url: receiver.url, ...options });

const emit = (count: number): Promise<string[]> => emitGrades(tenant, count);

const deliveries = (endpoint: string) =>
  tenant.db.query<{ state: string; log: { at: string; status_code: number | null; error: string | null }[]; wait: number }>(
    `SELECT state, log, extract(epoch FROM due_at - now())::float8 AS wait FROM carrel.deliveries WHERE endpoint = $1
     ORDER BY id`,
    [endpoint],
  );

const endpointRow = async (uuid: string) => tenant.db.tables.webhooks.find({ uuid });

/** Every event has been taken, and whatever came twice carried the same bytes. */
async function allArrive(ids: readonly string[]): Promise<void> {
  const taken = (): Set<string> => new Set(receiver.received.filter((each) => each.taken).map(({ id }) => id));
  await waitFor(`all of ${ids.length} deliveries`, () => ids.every((id) => taken().has(id)));
  expect(new Set(receiver.received.map(({ id, body }) => `${id} ${body}`)).size).toBe(
    new Set(receiver.received.map(({ id }) => id)).size,
  );
}

test('each of the six events arrives and verifies, with the endpoint’s own headers', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  await hook({ secret, headers: { Authorization: 'Bearer mine', 'Webhook-Id': 'forged' } });
  const { api, user } = await tenant.user();
  await tenant.admin.patch(`/users/${user.id}`, { display_name: 'New' });
  const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'a' });
  await api.patch(`/files/${file.id}`, { name: 'b' });
  await api.delete(`/files/${file.id}`);
  await emit(1);

  await waitFor('six deliveries', () => receiver.received.length === 6);

  const names = ['file.created', 'file.deleted', 'file.updated', 'grade.submitted', 'user.created', 'user.updated'];
  expect(receiver.received.map(({ event }) => event).toSorted()).toEqual(names);
  for (const each of receiver.received) {
    expect([verifiesHex(each, secret), verifiesStandard(each, secret), verifiesHex(each, 'other')]).toEqual([true, true, false]);
    expect(Object.keys(JSON.parse(each.body) as object)).toEqual(['event', 'timestamp', 'data']);
    expect(each.headers).toMatchObject({ authorization: 'Bearer mine', 'content-type': 'application/json' });
    expect(each.id).not.toBe('forged');
  }
  await waitFor('the count of them', async () =>
    /carrel_webhook_deliveries_total\{[^}]*result="delivered"[^}]*\} \d/.test(await worker.metrics()),
  );
});

test('an event of 200 KiB arrives with its exact bytes', async () => {
  const endpoint = await hook({ secret: 'a secret' });
  const payload = JSON.stringify({
    event: 'grade.submitted',
    timestamp: new Date().toISOString(),
    data: { id: 'é'.repeat(100_000) },
  });
  await tenant.db.query(
    `WITH event AS (INSERT INTO carrel.events (uuid, event, payload) VALUES (gen_random_uuid(), 'grade.submitted', $1)
       RETURNING id)
     INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $2 FROM event`,
    [payload, endpoint],
  );

  const [large] = await waitFor('the delivery', () => receiver.received.length > 0 && receiver.received);

  expect(large?.body).toBe(payload);
  expect(large && verifiesHex(large, 'a secret')).toBe(true);
});

test('while a rotation overlaps, both secrets verify', async () => {
  await hook({ secret: 'new secret', previousSecret: 'old secret' });
  await emit(1);
  const [delivery] = await waitFor('the delivery', () => receiver.received.length > 0 && receiver.received);
  const standard = (secret: string): boolean =>
    delivery !== undefined && verifiesStandard(delivery, `whsec_${Buffer.from(secret).toString('base64')}`);
  expect([standard('new secret'), standard('old secret'), standard('none')]).toEqual([true, true, false]);
});

test('the worker opens values of a replaced data key and of its successor before it hears of the rotation', async () => {
  const { tenantId } = tenant;
  await hook({ secret: 'a secret' });
  await emit(1);
  await waitFor('a delivery', () => receiver.received.length === 1);
  const sealer = tenantSealer(parseSealingKeys(platform.platformKeys), tenantId, systemRandom, 1);
  await resealTenant(platform.pool, { tenantId, slug: tenant.slug, sealer, keyId: sealer.keyId });
  await emit(1);

  await waitFor('another delivery', () => receiver.received.length === 2);

  expect(receiver.received.map((each) => verifiesHex(each, 'a secret'))).toEqual([true, true]);
});

test('with the receiver down, then failing, then up no delivery is missing, and the row shows its health', async () => {
  const endpoint = await hook();
  await receiver.down();
  const ids = await emit(10);
  await waitFor('the failure to be noted', async () => (await endpointRow(endpoint))?.failingSince != null);
  receiver.answer({ status: 500 }, 5);
  await receiver.up();

  await allArrive(ids);
  await waitFor('the recovery to be noted', async () => (await endpointRow(endpoint))?.failingSince === null);
  await waitFor('the outcomes to be written', async () =>
    (await deliveries(endpoint)).every(({ state }) => state === 'delivered'),
  );
  const refused = (await deliveries(endpoint)).find(({ log }) => log[0]?.status_code === null);
  expect(refused?.log[0]).toEqual({ at: expect.stringMatching(/Z$/), status_code: null, error: expect.any(String) });
  expect(refused?.log.at(-1)).toMatchObject({ status_code: 204, error: null });
  expect(await endpointRow(endpoint)).toMatchObject({ active: true, lastStatusCode: 204 });
});

test('a worker killed in the middle loses none', async () => {
  await hook();
  const ids = await emit(60);
  await waitFor('the first ones', () => receiver.received.length > 5);
  await worker.end('SIGKILL');
  await worker.start();
  await allArrive(ids);
});

test('a Redis that loses everything under 100 changes loses none of them', async () => {
  await hook();
  const emitting = emit(100);
  await waitFor('the first ones', () => receiver.received.length > 5);
  await Promise.all([platform.stores.kill('valkey'), platform.stores.kill('valkey-queue')]);
  await allArrive(await emitting);
});

test('410 disables the endpoint at once and cancels what waits for it', async () => {
  const endpoint = await hook();
  receiver.answer({ status: 410 });
  await emit(1);
  await waitFor('the endpoint to be disabled', async () => (await endpointRow(endpoint))?.active === false);
  expect(await endpointRow(endpoint)).toMatchObject({ disabledReason: 'the receiver answered 410 Gone', lastStatusCode: 410 });
  expect(await deliveries(endpoint)).toMatchObject([{ state: 'failed', log: [{ status_code: 410 }] }]);
  expect(await emit(1)).toEqual([]);
});

test('an endpoint that has failed for 5 days is disabled with the reason', async () => {
  const endpoint = await hook();
  await tenant.db.query(`UPDATE webhooks SET failing_since = now() - interval '5 days 1 minute' WHERE uuid = $1`, [endpoint]);
  receiver.answer({ status: 503 });
  await emit(1);
  const row = await waitFor('the endpoint to be disabled', async () => {
    const found = await endpointRow(endpoint);
    return found?.active === false && found;
  });
  expect(row.disabledReason).toMatch(/^every delivery has failed since /);
  await waitFor('the rest to be canceled', async () => (await deliveries(endpoint)).every(({ state }) => state === 'canceled'));
});

test('a success since the first failure that was noted keeps the endpoint, noted or not', async () => {
  const endpoint = await hook();
  await allArrive(await emit(1));
  await waitFor('the success to be noted', async () => (await endpointRow(endpoint))?.lastStatusCode === 204);
  await tenant.db.query(
    `UPDATE webhooks SET failing_since = now() - interval '6 days', last_delivery_at = now() - interval '6 days' WHERE uuid = $1`,
    [endpoint],
  );
  receiver.answer({ status: 503 });
  const [id] = await emit(1);
  const row = await waitFor('the failure to be noted', async () => {
    const found = await endpointRow(endpoint);
    return found?.lastStatusCode === 503 && found;
  });
  receiver.answer({ status: 204 });
  expect(row).toMatchObject({ active: true, disabledReason: null });
  expect(Date.now() - (row.failingSince?.getTime() ?? 0)).toBeLessThan(3_600_000);
  await waitFor('the next attempt', () => receiver.received.some((one) => one.id === id && one.taken));
});

test('Retry-After puts the next attempt off', async () => {
  const endpoint = await hook();
  receiver.answer({ status: 429, headers: { 'retry-after': '600' } });
  await emit(1);
  const [delivery] = await waitFor('the attempt', async () => {
    const found = await deliveries(endpoint);
    return found[0]?.log.length === 1 && found;
  });
  expect(delivery?.wait).toBeGreaterThan(590);
});

test('a tenant whose schema is older than the worker, without the descriptions of webhooks, gets its events', async () => {
  const older = await platform.tenant();
  await addWebhook(older, { url: receiver.url });
  await platform.pool.query(`ALTER TABLE "${tenantRole(older.slug)}".webhooks DROP COLUMN description CASCADE`);

  const [id] = await emitGrades(older, 1);

  await waitFor('the event', () => receiver.received.some((each) => each.id === id && each.taken));
});
