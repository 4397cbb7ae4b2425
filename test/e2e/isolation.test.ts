import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Api } from '../support/clients/api.ts';
import { demoTenant, type DemoTenant } from '../support/programs/demo-tenant.ts';
import { getJson, kubectlOk, platform, secretValues } from '../support/programs/platform.ts';
import { abuseRedis } from '../support/fakes/hostile-redis.ts';
import { startReceiver } from '../support/fakes/receiver.ts';
import { waitFor } from '../support/wait.ts';

/**
 * Two tenants, and every key that one of them holds, tried on the other for real. The router's Gateway exposes both, so they
 * share the API host.
 */
const where = await platform();
const exposure = { type: 'Gateway', gateway: { name: 'carrel', namespace: 'carrel-system' } };
let ours: DemoTenant;
let theirs: DemoTenant;
let theirFile: { id: string; url: string };

beforeAll(async () => {
  [ours, theirs] = await Promise.all([demoTenant(where, { exposure }), demoTenant(where, { exposure })]);
  const uploaded = await theirs.admin.upload('/files', { file: Buffer.from('theirs'), name: 'secret.txt' });
  if (uploaded.status !== 201) throw new Error(`the upload answered ${uploaded.status}`);
  theirFile = uploaded.body;
}, 120_000);

afterAll(() => kubectlOk(where, ['delete', 'namespace', '--wait=false', ours.namespace, theirs.namespace]));

async function database(tenant: DemoTenant): Promise<{ client: pg.Client; role: string }> {
  const { url = '' } = await secretValues(where, tenant.namespace, `${tenant.name}-database`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { client, role: decodeURIComponent(new URL(url).username) };
}

async function storage(tenant: DemoTenant): Promise<{ client: S3Client; bucket: string }> {
  const values = await secretValues(where, tenant.namespace, `${tenant.name}-storage`);
  const { endpoint = '', bucket = '', accessKeyId = '', secretAccessKey = '', region = 'us-east-1' } = values;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  });
  return { client, bucket };
}

async function redis(tenant: DemoTenant): Promise<{ client: Redis; prefix: string }> {
  const { url = '' } = await secretValues(where, tenant.namespace, `${tenant.name}-redis`);
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, enableReadyCheck: false });
  await client.connect();
  return { client, prefix: `t:${new URL(url).username.replace(/^tenant_/, '')}:` };
}

test('a token of one tenant is refused by another, and X-Tenant-ID does not help', async () => {
  const token = ours.admin;
  const address = `${theirs.apiUrl}/files/${theirFile.id}`;
  const { status } = await getJson<{ status: { tenantId: string } }>(where, 'tenant', ours.name, '-n', ours.namespace);

  const as = (tenantId: string) => ({ headers: { 'x-tenant-id': tenantId } });
  expect((await token.get(address)).status).toBe(401);
  expect((await token.get(address, as(status.tenantId))).status).toBe(401);
  expect((await token.get(address, as(theirs.name))).status).toBe(401);
  expect((await theirs.admin.get(address, as(status.tenantId))).status).toBe(403);
  expect((await theirs.admin.get(address)).status).toBe(200);
});

test('at the shared API host X-Tenant-ID leads to its tenant, by slug and number, as far as the token does', async () => {
  const { status } = await getJson<{ status: { tenantId: string } }>(where, 'tenant', theirs.name, '-n', theirs.namespace);
  const address = `http://api.localhost:${where.port}/api/v1/files/${theirFile.id}`;
  const answers = async (api: Api, tenantId?: string) =>
    (await api.get(address, { headers: tenantId === undefined ? {} : { 'x-tenant-id': tenantId } })).status;

  for (const { name } of [ours, theirs])
    await waitFor(`the router to see the route of ${name}`, async () => (await answers(theirs.admin, name)) !== 404);

  const own = [await answers(theirs.admin, theirs.name), await answers(theirs.admin, status.tenantId)];
  const foreign = [await answers(theirs.admin, ours.name), await answers(ours.admin, theirs.name)];
  const nobody = [await answers(theirs.admin, 'nobody'), await answers(theirs.admin)];

  expect([own, foreign, nobody]).toEqual([
    [200, 200],
    [401, 401],
    [404, 404],
  ]);
});

test('the file of one tenant is not found by its id in another', async () => {
  expect((await ours.admin.get(`/files/${theirFile.id}`)).status).toBe(404);
});

test("a tenant's SQL role reads and writes its own schema, and nothing of another's", async () => {
  const mine = await database(ours);
  const other = await database(theirs);
  const refused = (sql: string): Promise<string> =>
    mine.client.query(sql).then(
      () => 'allowed',
      (error: { code: string }) => error.code,
    );

  expect((await mine.client.query('SELECT count(*)::int AS n FROM users')).rows).toEqual([{ n: expect.any(Number) }]);
  expect(await refused(`SELECT * FROM "${other.role}".users`)).toBe('42501');
  expect(await refused(`SET ROLE "${other.role}"`)).toBe('42501');
  expect(await refused('SET ROLE carrel_worker')).toBe('42501');
  expect(await refused('SELECT * FROM registry.tenants')).toBe('42501');
  expect(await refused('CREATE TABLE mine (id int)')).toBe('42501');
  expect(await refused('CREATE TABLE public.mine (id int)')).toBe('42501');
  expect(await refused('CREATE SCHEMA mine')).toBe('42501');
  expect(await refused(`INSERT INTO carrel.work (tenant, kind, payload) VALUES ('${other.role}', 'clear_cache', '{}')`)).toBe(
    '42501',
  );
  expect((await mine.client.query('SELECT DISTINCT tenant FROM carrel.work WHERE tenant <> current_user')).rows).toEqual([]);
  await Promise.all([mine.client.end(), other.client.end()]);
});

test("a tenant's storage key opens its own bucket only", async () => {
  const mine = await storage(ours);
  const other = await storage(theirs);
  const tryAt = (bucket: string, command: (bucket: string) => Promise<unknown>): Promise<number> =>
    command(bucket).then(
      () => 200,
      (error: { $metadata?: { httpStatusCode?: number } }) => error.$metadata?.httpStatusCode ?? 0,
    );
  const list = (Bucket: string) => mine.client.send(new ListObjectsV2Command({ Bucket }));
  const put = (Bucket: string) => mine.client.send(new PutObjectCommand({ Bucket, Key: 'intruder', Body: 'x' }));
  const [object] = (await other.client.send(new ListObjectsV2Command({ Bucket: other.bucket }))).Contents ?? [];
  const get = (Bucket: string) => mine.client.send(new GetObjectCommand({ Bucket, Key: object?.Key ?? 'none' }));

  expect(await tryAt(mine.bucket, list)).toBe(200);
  expect(await tryAt(other.bucket, list)).toBe(403);
  expect(await tryAt(other.bucket, put)).toBe(403);
  expect(object?.Key).toEqual(expect.any(String));
  expect(await tryAt(other.bucket, get)).toBe(403);
  mine.client.destroy();
  other.client.destroy();
});

test("a tenant's Redis user reaches its own keys only, and no command that lists keys", async () => {
  const mine = await redis(ours);
  const other = await redis(theirs);
  const refused = (...command: [string, ...string[]]): Promise<string> =>
    mine.client.call(...command).then(
      () => 'allowed',
      (error: Error) => error.message.split(' ')[0] ?? '',
    );

  expect(await mine.client.set(`${mine.prefix}probe`, '1', 'EX', 5)).toBe('OK');
  for (const command of [
    ['GET', `${other.prefix}probe`],
    ['SET', `${other.prefix}probe`, '1'],
    ['MGET', `${mine.prefix}probe`, `${other.prefix}probe`],
    ['FCALL', 'carrel_lookup', '1', `${other.prefix}probe`, 'v', '60', 'now', '0', '0'],
    ['EVAL', 'while true do end', '0'],
    ['EVAL', "redis.call('set', KEYS[1], 'x') while true do end", '1', `${mine.prefix}probe`],
    ['EVALSHA', '0'.repeat(40), '0'],
    ['SCRIPT', 'LOAD', 'while true do end'],
    ['FUNCTION', 'LOAD', 'REPLACE', '#!lua name=carrel'],
    ['FUNCTION', 'FLUSH'],
    ['FUNCTION', 'KILL'],
    ['SCAN', '0'],
    ['KEYS', '*'],
    ['RANDOMKEY'],
    ['FLUSHALL'],
    ['CONFIG', 'GET', '*'],
    ['ACL', 'LIST'],
    ['CLIENT', 'LIST'],
    ['PUBLISH', 'other', 'x'],
    ['SUBSCRIBE', 'carrel:wake'],
    ['MONITOR'],
  ] satisfies [string, ...string[]][]) {
    expect({ command, answer: await refused(...(command as [string, ...string[]])) }).toEqual({ command, answer: 'NOPERM' });
  }
  mine.client.disconnect();
  other.client.disconnect();
});

test('a tenant that fills Redis and reads no replies holds up neither another’s webhook nor a new Tenant', async () => {
  const { url = '' } = await secretValues(where, ours.namespace, `${ours.name}-redis`);
  const receiver = await startReceiver();
  const hook = { url: receiver.url, events: ['file.created'], secret: 'a-webhook-secret-of-forty-characters-and-more' };
  const made = await theirs.admin.post('/webhooks', hook);
  const abuse = await abuseRedis(url);
  try {
    await abuse.filled;
    const uploaded = await theirs.admin.upload('/files', { file: Buffer.from('x'), name: 'meanwhile.txt' });
    const newTenant = demoTenant(where);
    await waitFor('the webhook', () => receiver.received.length > 0, 20_000);
    const fresh = await newTenant;
    await kubectlOk(where, ['delete', 'namespace', '--wait=false', fresh.namespace]);

    expect([made.status, uploaded.status]).toEqual([201, 201]);
    expect((await theirs.admin.get(`/files/${theirFile.id}`)).status).toBe(200);
  } finally {
    await abuse.stop();
    await theirs.admin.delete(`/webhooks/${made.body.id}`);
    await receiver.close();
  }
}, 180_000);
