import { beforeAll, expect, test } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  conditionOf,
  ready,
  secretValues,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { goneOf, hook, rowOf, sealerOf } from './managed-rows.ts';

const { cluster, namespace, readyTenant, databaseUrl } = operatorSuite();
let tenant: string;
let tenantId: string;
let sql: SqlPool;

beforeAll(async () => {
  const key = await readyTenant();
  tenant = key.name;
  tenantId = (await cluster.tenants.get(key)).status?.tenantId ?? '';
  sql = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  cluster.onClose(() => sql.close());
}, 180_000);

test('a Webhook becomes an endpoint of its tenant, with a generated secret that is sealed there', async () => {
  const key = { namespace, name: unique() };
  await cluster.webhooks.create(
    webhookOf(namespace, key.name, { ...hook, tenantRef: { name: tenant }, headers: { 'X-Team': 'a' } }),
  );

  const webhook = await ready(cluster.webhooks, key);
  const row = await rowOf(sql, 'webhooks', `${namespace}/${key.name}`);
  const { secret = '' } = (await secretValues(cluster, namespace, `${key.name}-webhook`)) ?? {};

  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(row).toMatchObject({
    uuid: webhook.status?.endpointId,
    url: hook.url,
    events: hook.events,
    active: true,
    managed_by: 'kubernetes',
  });
  expect(row?.['secret']).not.toContain(secret);
  expect(
    sealerOf(tenantId).open(String(row?.['secret']), [tenantId, 'webhooks', webhook.status?.endpointId ?? '', 'secret']),
  ).toBe(secret);
});

test("a Webhook's generated Secret comes back as it was when it is deleted or edited", async () => {
  const key = { namespace, name: unique() };
  const secretKey = { namespace, name: `${key.name}-webhook` };
  await cluster.webhooks.create(webhookOf(namespace, key.name, { ...hook, tenantRef: { name: tenant } }));
  await ready(cluster.webhooks, key);
  const before = await secretValues(cluster, namespace, secretKey.name);

  await cluster.of(children.SECRET).delete(secretKey);
  await waitFor(
    'the Secret',
    async () => (await secretValues(cluster, namespace, secretKey.name))?.['secret'] === before?.['secret'],
  );
  await cluster.of(children.SECRET).patch(secretKey, { data: { secret: Buffer.from('mine').toString('base64') } });
  await waitFor(
    'the Secret',
    async () => (await secretValues(cluster, namespace, secretKey.name))?.['secret'] === before?.['secret'],
  );
});

test('a Webhook with a secret of its own waits for it, follows it, and signs with both for a while', async () => {
  const key = { namespace, name: unique() };
  const secretKey = { namespace, name: unique() };
  const spec = { ...hook, tenantRef: { name: tenant }, secretRef: { name: secretKey.name, key: 'token' } };
  await cluster.webhooks.create(webhookOf(namespace, key.name, spec));

  const waiting = await condition(cluster.webhooks, key, 'Synced', 'False', 'SecretMissing');
  await cluster.of(children.SECRET).create({ metadata: secretKey, stringData: { token: 'first' } });
  await ready(cluster.webhooks, key);
  await cluster.of(children.SECRET).patch(secretKey, { stringData: { token: 'second' } });
  const row = await waitFor('the overlap', async () => {
    const found = await rowOf(sql, 'webhooks', `${namespace}/${key.name}`);
    return found?.['previous_secret'] ? found : undefined;
  });

  expect(conditionOf(waiting, 'Synced')?.message).toBe(
    `spec.secretRef: there is no Secret ${secretKey.name} in namespace ${namespace}`,
  );
  const opened = (column: string): string =>
    sealerOf(tenantId).open(String(row[column]), [tenantId, 'webhooks', String(row['uuid']), column]);
  expect([opened('secret'), opened('previous_secret')]).toEqual(['second', 'first']);
});

test('a Webhook to a literal private address is refused', async () => {
  const key = { namespace, name: unique() };
  await cluster.webhooks.create(
    webhookOf(namespace, key.name, { ...hook, tenantRef: { name: tenant }, url: 'https://169.254.169.254/latest' }),
  );

  const webhook = await condition(cluster.webhooks, key, 'Accepted', 'False', 'AddressRefused');

  expect(conditionOf(webhook, 'Ready')).toMatchObject({ status: 'False', reason: 'AddressRefused' });
  expect(conditionOf(webhook, 'Stalled')).toMatchObject({ status: 'True', reason: 'AddressRefused' });
  expect(conditionOf(webhook, 'Accepted')?.message).toBe(
    'address_refused: spec.url leads to a private address (169.254.169.254)',
  );
});

test('a Webhook whose address nobody can dial is refused', async () => {
  const key = { namespace, name: unique() };
  await cluster.webhooks.create(
    webhookOf(namespace, key.name, { ...hook, tenantRef: { name: tenant }, url: 'https://example.com:99999/' }),
  );

  const webhook = await condition(cluster.webhooks, key, 'Accepted', 'False', 'AddressInvalid');

  expect(conditionOf(webhook, 'Accepted')?.message).toBe('spec.url is not a valid address');
});

test('each Webhook beyond the 50 of a tenant, those of REST included, says so and is made when there is room', async () => {
  const crowded = unique();
  await cluster.tenants.create(tenantOf(namespace, crowded));
  await ready(cluster.tenants, { namespace, name: crowded });
  const { url = '' } = (await secretValues(cluster, namespace, `${crowded}-database`)) ?? {};
  const own = new SqlPool({ url, poolSize: 1, log: silentLogger });
  await own.query(
    `INSERT INTO webhooks (uuid, url, events, secret) SELECT gen_random_uuid(), 'https://example.com', '{file.created}', 's'
     FROM generate_series(1, 49)`,
  );
  const names = range(5).map(() => unique());
  await Promise.all(
    names.map((name) => cluster.webhooks.create(webhookOf(namespace, name, { ...hook, tenantRef: { name: crowded } }))),
  );
  const reasons = async (): Promise<(string | undefined)[]> =>
    Promise.all(names.map(async (name) => conditionOf(await cluster.webhooks.get({ namespace, name }), 'Synced')?.reason));

  await waitFor('the word on each', async () =>
    isDeepStrictEqual(
      countBy(await reasons(), (reason) => reason ?? ''),
      { Synced: 1, TooManyWebhooks: 4 },
    ),
  );
  const at = (await reasons()).findIndex((reason) => reason === 'TooManyWebhooks');
  const refused = { namespace, name: names[at] ?? '' };

  expect(await own.query('SELECT count(*) AS count FROM webhooks')).toEqual([{ count: 50 }]);
  const webhook = await cluster.webhooks.get(refused);
  expect(conditionOf(webhook, 'Synced')?.message).toBe('The tenant has 50 webhooks, the maximum; delete one first.');
  expect(conditionOf(webhook, 'Ready')).toMatchObject({ status: 'False', reason: 'TooManyWebhooks' });
  await own.query(`DELETE FROM webhooks WHERE managed_by IS NULL`);
  await cluster.webhooks.patch(refused, { metadata: { annotations: { look: 'again' } } });
  await ready(cluster.webhooks, refused);
  await own.close();
});

test('a Webhook may come before its Tenant, and its row goes with it', async () => {
  const key = { namespace, name: unique() };
  const late = unique();
  await cluster.webhooks.create(webhookOf(namespace, key.name, { ...hook, tenantRef: { name: late } }));

  const early = await condition(cluster.webhooks, key, 'Accepted', 'False', 'TenantNotFound');
  expect(conditionOf(early, 'Stalled')).toMatchObject({ status: 'False' });
  await cluster.tenants.create(tenantOf(namespace, late));
  await ready(cluster.webhooks, key);
  await cluster.webhooks.delete(key);
  await goneOf(cluster.webhooks, key);

  expect(await rowOf(sql, 'webhooks', `${namespace}/${key.name}`)).toBeUndefined();
});
