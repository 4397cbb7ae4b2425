import { beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { TargetKeys } from '../../../pkg/lti/links/target-keys.ts';
import { WebhookSeal } from '../../../pkg/webhooks/sealing.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { Sealer, tenantDataKey, type SealingKey } from '../../../pkg/runtime/sealing.ts';
import { resealTenant } from '../../../pkg/tenantdata/sealed-columns.ts';
import { type Sql, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { newTenant, operatorSide } from '../../support/backends/tenant.ts';
import { range, waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  ready,
  registrationOf,
  secretValues,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { runOperator } from '../../support/cluster/operator-in-process.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const [old, young] = ['old', 'young'].map((id) => ({ id, key: random.bytes(32) })) as [SealingKey, SealingKey];
const { cluster, stores: running, namespace } = operatorSuite({ ownStores: true, operator: false });
let pool: SqlPool;

beforeAll(() => {
  pool = new SqlPool({ url: running.postgres.operator, poolSize: 4, log });
  cluster.onClose(() => pool.close());
});

function operatorWith(...platformKeys: SealingKey[]) {
  let output = '';
  const log = pino({ base: null }, { write: (line) => void (output += line) });
  const metrics = createMetrics('operator');
  const { end } = runOperator(cluster, { stores: running, platformKeys, log, metrics, firstResealWaitMs: 500 });
  return { end, metrics, output: () => output };
}

/** Key ids of all that is sealed in the registry and in these schemas. */
async function keysInUse(slugs: readonly string[]): Promise<string[]> {
  const columns = slugs.flatMap((slug) => [
    ...['secret', 'previous_secret', 'headers'].map((column) => `SELECT ${column} FROM "tenant_${slug}".webhooks`),
    ...['lti_tools', 'lti_tool_keys'].map((table) => `SELECT private_key FROM "tenant_${slug}".${table}`),
  ]);
  const rows = await pool.query<{ key: string }>(
    `SELECT DISTINCT split_part(sealed, '.', 2) AS key
     FROM (SELECT sealed FROM registry.secrets UNION ALL ${columns.join(' UNION ALL ')}) s WHERE sealed IS NOT NULL ORDER BY 1`,
  );
  return rows.map(({ key }) => key);
}

const keysOfWebhooks = async (slug: string): Promise<string[]> =>
  (await pool.query<{ key: string }>(`SELECT DISTINCT split_part(secret, '.', 2) AS key FROM "tenant_${slug}".webhooks`)).map(
    ({ key }) => key,
  );

test('an older platform key is replaced everywhere, an Event says when it is unused, and then it can be removed', async () => {
  const [key, gone] = [
    { namespace, name: unique() },
    { namespace, name: unique() },
  ];
  const first = operatorWith(old);
  for (const each of [key, gone]) {
    await cluster.tenants.create(tenantOf(namespace, each.name));
    await ready(cluster.tenants, each);
    const tenantRef = { name: each.name };
    const hook = { tenantRef, url: 'https://example.com/', events: ['file.created'] };
    await cluster.webhooks.create(webhookOf(namespace, each.name, hook));
    const platform = { preset: 'moodle', issuer: 'https://moodle.example' };
    await cluster.registrations.create(registrationOf(namespace, each.name, { tenantRef, platform, clientId: 'x' }));
    await Promise.all([ready(cluster.webhooks, each), ready(cluster.registrations, each)]);
  }
  // Its data are retained.
  await cluster.tenants.delete(gone);
  await waitFor('the Tenant to be gone', async () => (await cluster.tenants.find(gone)) === undefined);
  // A value that no key opens blocks nothing. A tenant's role can write such a value.
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const tenant = new SqlPool({ url, poolSize: 1, log });
  await tenant.query(
    `INSERT INTO webhooks (uuid, url, events, secret)
     VALUES (gen_random_uuid(), 'https://a.example', '{file.created}', 'v1.old.${'x'.repeat(60)}')`,
  );
  const people = (): Promise<unknown> => tenant.query('SELECT uuid, password_hash, revision FROM users ORDER BY id');
  const before = { people: await people(), admin: await secretValues(cluster, namespace, `${key.name}-admin`) };
  expect(await keysInUse([key.name, gone.name])).toEqual(['old']);
  await first.end();
  // This is the state after a rotation of the data key, before the values are sealed again.
  await pool.query(
    `INSERT INTO registry.credentials (tenant_id, name, changed_at, step_at, generation) SELECT id, 'data', now(), now(), 1
     FROM registry.tenants WHERE slug = $1`,
    [key.name],
  );

  const rotating = operatorWith(young, old);
  const event = await waitFor('the Event at the Lease', async () => {
    const events = await cluster.of(children.EVENT).list({ namespace: 'carrel-system' });
    return events.find(({ reason }) => reason === 'PlatformKeysResealed');
  });
  const metrics = await rotating.metrics.metrics();
  await tenant.query(`DELETE FROM webhooks WHERE url = 'https://a.example'`);
  const inUse = await keysInUse([key.name, gone.name]);
  await rotating.end();
  const after = operatorWith(young);
  for (const kind of ['tenants', 'webhooks', 'registrations'] as const)
    await cluster[kind].patch(key, { metadata: { annotations: { touched: 'yes' } } } as never);
  await cluster.tenants.create(tenantOf(namespace, gone.name));
  await ready(cluster.tenants, gone);
  await condition(cluster.registrations, key, 'Ready', 'True');

  expect(event).toMatchObject({
    type: 'Normal',
    regarding: { kind: 'Lease', name: 'carrel-operator' },
    note: 'everything is sealed with platform key young; old can be removed from CARREL_PLATFORM_KEYS',
  });
  expect(inUse).toEqual(['young', 'young~1']);
  for (const line of [
    'carrel_older_platform_keys_needed{program="operator"} 0',
    'carrel_reseal_tenants_left{program="operator"} 0',
  ])
    expect(metrics).toContain(line);
  expect(Number(/carrel_resealed_values_total\S* (\d+)/.exec(metrics)?.[1])).toBeGreaterThanOrEqual(10);
  expect({ people: await people(), admin: await secretValues(cluster, namespace, `${key.name}-admin`) }).toEqual(before);
  expect(after.output()).not.toContain('to open a sealed value');
  await tenant.close();
  await after.end();
}, 360_000);

test('a tenant whose servers do not get the keys keeps its values and holds up no other; then its turn comes', async () => {
  const [held, other] = [
    { namespace, name: unique() },
    { namespace, name: unique() },
  ];
  const first = operatorWith(old);
  for (const each of [held, other]) {
    await cluster.tenants.create(tenantOf(namespace, each.name));
    await ready(cluster.tenants, each);
    const hook = { tenantRef: { name: each.name }, url: 'https://example.com/', events: ['file.created'] };
    await cluster.webhooks.create(webhookOf(namespace, each.name, hook));
    await ready(cluster.webhooks, each);
  }
  await first.end();
  // It is not accepted, so its pods stay those of the former key.
  await cluster.tenants.patch(held, { spec: { image: 'elsewhere.example/carrel:1' } } as never);

  const rotating = operatorWith(young, old);
  const needed = async (): Promise<string | undefined> =>
    /carrel_older_platform_keys_needed\S* (\d)/.exec(await rotating.metrics.metrics())?.[1];
  await waitFor('the other tenant to be resealed', async () => (await keysOfWebhooks(other.name)).join() === 'young');
  const passes = rotating.output().split('pass finished').length;
  await waitFor('another pass', () => rotating.output().split('pass finished').length > passes);
  const meanwhile = { held: await keysOfWebhooks(held.name), needed: await needed() };
  await cluster.tenants.patch(held, { spec: { image: null } } as never);
  await waitFor('nothing to need the older key', async () => (await needed()) === '0');
  await rotating.end();

  expect(meanwhile).toEqual({ held: ['old'], needed: '1' });
  expect(rotating.output()).toContain(`"tenants":["${held.name}"]`);
  expect(await keysOfWebhooks(held.name)).toEqual(['young']);
}, 360_000);

test('resealing ends while the tenant still writes values of the former key, and within the sealing budget', async () => {
  const { shard } = await operatorSide(running);
  const login = await newTenant(running, shard, '78');
  const sql = new SqlPool({ url: login.url, poolSize: 2, log });
  const dataKeys = [young, old].map((platform) => tenantDataKey(platform, '78'));
  const formerly = new WebhookSeal({ sealer: new Sealer([dataKeys[1] as SealingKey], random), tenantId: '78' });
  const insert = async (count: number): Promise<void> => {
    const uuids = range(count).map(() => random.uuid());
    await sql.query(
      `INSERT INTO webhooks (uuid, url, events, secret) SELECT u, 'https://a.example', '{file.created}', s
       FROM unnest($1::uuid[], $2::text[]) AS v (u, s)`,
      [uuids, uuids.map((uuid) => formerly.seal(uuid, 'secret', 'whsec_x'))],
    );
  };
  await insert(300);
  const of = { tenantId: '78', slug: login.slug, keyId: 'young', sealer: new Sealer(dataKeys, random) };
  // Two values more for each one that is sealed again.
  const whileWritten: Sql = {
    query: async (text, params) => {
      if (text.startsWith('UPDATE')) await insert(2);
      return pool.query(text, params);
    },
  };

  const few = await resealTenant(pool, of, { most: 100 });
  const chased = await resealTenant(whileWritten, of);
  const rest = await resealTenant(pool, of);
  const clean = await resealTenant(pool, of);

  expect(few.resealed).toBeGreaterThanOrEqual(100);
  expect(few.resealed).toBeLessThan(300);
  expect(chased.resealed).toBeGreaterThan(0);
  expect(rest.resealed).toBeGreaterThan(0);
  expect(clean).toMatchObject({ resealed: 0, unopenable: 0 });
  await sql.close();
}, 360_000);

test('two operators that reseal at once lose no value, and a newer one is not overwritten', async () => {
  const { shard } = await operatorSide(running);
  const login = await newTenant(running, shard, '77');
  const sql = new SqlPool({ url: login.url, poolSize: 4, log });
  const dataKeys = [young, old].map((platform) => tenantDataKey(platform, '77'));
  const [keyYoung, keyOld] = dataKeys as [SealingKey, SealingKey];
  const formerly = new WebhookSeal({ sealer: new Sealer([keyOld], random), tenantId: '77' });
  const webhooks = range(120).map((n) => ({ uuid: random.uuid(), plain: `whsec_${n}` }));
  for (const { uuid, plain } of webhooks) {
    const values = [uuid, formerly.seal(uuid, 'secret', plain)];
    await sql.query(
      `INSERT INTO webhooks (uuid, url, events, secret) VALUES ($1, 'https://a.example', '{file.created}', $2)`,
      values,
    );
  }
  const of = { tenantId: '77', slug: login.slug, keyId: 'young', sealer: new Sealer(dataKeys, random) };

  const passes = await Promise.all([resealTenant(pool, of), resealTenant(pool, of)]);
  const again = await resealTenant(pool, of);

  const now = new WebhookSeal({ sealer: new Sealer([keyYoung], random), tenantId: '77' });
  const rows = await sql.query<{ uuid: string; secret: string }>('SELECT uuid, secret FROM webhooks');
  expect(passes.every(({ unopenable }) => unopenable === 0)).toBe(true);
  expect(again).toMatchObject({ resealed: 0, unopenable: 0 });
  expect(new Map(rows.map(({ uuid, secret }) => [uuid, now.open(uuid, 'secret', secret)]))).toEqual(
    new Map(webhooks.map(({ uuid, plain }) => [uuid, plain])),
  );
  const changes = async (): Promise<number> =>
    (await sql.query(`SELECT FROM audit_entries WHERE action = 'webhook.update'`)).length;
  expect(await changes()).toBe(0);
  // The tenant's own role cannot pass a change off as resealing.
  const [{ uuid } = { uuid: '' }] = webhooks;
  await sql.query(`UPDATE webhooks SET secret = 'mine' WHERE uuid = $1 AND set_config('carrel.resealing', 'on', true) = 'on'`, [
    uuid,
  ]);
  expect(await changes()).toBe(1);
  await sql.close();
});

test('resealing leaves the key of placed links the same, and only the new data key opens it', async () => {
  const { shard } = await operatorSide(running);
  const login = await newTenant(running, shard, '79');
  const sql = new SqlPool({ url: login.url, poolSize: 1, log });
  const dataKeys = [young, old].map((platform) => tenantDataKey(platform, '79'));
  const [keyYoung, keyOld] = dataKeys as [SealingKey, SealingKey];
  const keysBy = (...keys: SealingKey[]) => new TargetKeys({ sealer: new Sealer(keys, random), random, tenantId: '79' });
  const made = await keysBy(keyOld).current(sql);

  const before = await keysBy(keyYoung).find(sql, made.id);
  const { unopenable } = await resealTenant(pool, {
    tenantId: '79',
    slug: login.slug,
    keyId: 'young',
    sealer: new Sealer(dataKeys, random),
  });
  const after = await keysBy(keyYoung).find(sql, made.id);

  expect([before, unopenable, after]).toEqual([undefined, 0, made]);
  expect(await keysBy(keyYoung).current(sql)).toEqual(made);
  await sql.close();
});
