import { expect, test } from '@jest/globals';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { GIB, MIB } from '../../../pkg/runtime/bytes.ts';
import { tenantRole, usageOf } from '../../../pkg/store/postgres/provisioning.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite({ name: 'Biology', limits: { user: 2_000, tenant: 30_000, ip: 400_000 } });

const setLimits = (of: TestTenant, storage: number | null, files: number | null) =>
  of.rows.pool.query('UPDATE carrel.tenants SET storage_limit = $2, files_limit = $3 WHERE role = $1', [
    tenantRole(of.slug),
    storage,
    files,
  ]);
const show = async (of: TestTenant = tenant) => (await of.admin.get('/settings/tenant')).body;

test('administrators see what the resource sets, and what is used of it, by one statement', async () => {
  await tenant.restart({
    CARREL_TENANT_RESOURCE: 'faculty/biology',
    CARREL_LTI_URL: 'https://lti.biology.example.org',
    CARREL_LIMIT_DATABASE_BYTES: 50 * GIB,
    CARREL_DEFAULT_USER_QUOTA_BYTES: 10 * GIB,
    CARREL_MAX_UPLOAD_BYTES: GIB,
    CARREL_TRASH_RETENTION_SECONDS: 7 * 86_400,
    CARREL_VERSIONS_KEEP: 20,
    CARREL_VERSIONS_DAYS: 365,
  });
  await setLimits(tenant, 5 * MIB, 400);
  await syncHelpers(tenant.rows, [{ kind: 'pdf_optimize', url: 'https://pdf.example.com', token: null }]);
  const { body: folder } = await tenant.admin.post('/folders', { name: 'Cells' });
  await tenant.admin.upload('/files', { name: 'a.txt', file: Buffer.alloc(3_000), fields: { folder_id: folder.id } });
  await tenant.admin.get('/me');
  const { reply, sql } = await tenant.counting(() => tenant.admin.get('/settings/tenant'));
  const counted = await usageOf({ pool: tenant.rows.pool, slug: tenant.slug });

  expect([reply.status, sql.length]).toEqual([200, 1]);
  expect(reply.body).toEqual({
    resource: 'faculty/biology',
    slug: tenant.slug,
    display_name: 'Biology',
    administrators: [tenant.administrator.email],
    addresses: { app: tenant.url, lti: 'https://lti.biology.example.org', api: tenant.apiUrl },
    limits: {
      storage: { limit: 5 * MIB, used: 3_000 },
      files: { limit: 400, used: counted.entries },
      database: { limit: 50 * GIB, used: expect.any(Number) },
      default_user_quota: 10 * GIB,
      max_upload_size: GIB,
      requests: { per_user_per_minute: 2_000, per_tenant_per_minute: 30_000, per_address_per_hour: 400_000 },
    },
    retention: { trash_seconds: 7 * 86_400, versions_keep: 20, versions_days: 365 },
    helpers: { translate: false, pdf_optimize: true, pdf_translate: false },
  });
  expect([counted.bytes, counted.entries]).toEqual([3_000, 2]);
  // Whatever writes meanwhile may fill a page.
  const { used } = reply.body.limits.database;
  expect([used > 0, Math.abs(used - counted.databaseBytes) <= MIB]).toEqual([true, true]);
});

test('a limit or a helper service that the operator writes is shown at the next request', async () => {
  await setLimits(tenant, null, null);
  await syncHelpers(tenant.rows, []);
  const without = await show();
  await setLimits(tenant, 0, 7);
  await syncHelpers(tenant.rows, [{ kind: 'translate', url: 'https://translate.example.com', token: null }]);
  const changed = await show();
  await setLimits(tenant, null, null);
  const [before, after] = [without, changed].map(({ limits: { storage, files }, helpers }) => [
    storage.limit,
    files.limit,
    helpers,
  ]);

  expect(before).toEqual([null, null, { translate: false, pdf_optimize: false, pdf_translate: false }]);
  expect(after).toEqual([0, 7, { translate: true, pdf_optimize: false, pdf_translate: false }]);
});

test('a tenant sees its own limits and use, not those of another', async () => {
  const other = await startTenant();
  await setLimits(other, 11, 12);
  await setLimits(tenant, 21, 22);
  const [own, others] = [await show(), await show(other)];
  await setLimits(tenant, null, null);
  await other.stop();

  expect([own.limits.storage.limit, own.limits.files.limit]).toEqual([21, 22]);
  expect([others.limits.storage, others.limits.files]).toEqual([
    { limit: 11, used: 0 },
    { limit: 12, used: 0 },
  ]);
  expect(others).toMatchObject({ resource: null, display_name: null, retention: { versions_days: null } });
});

test('no secret and no address of a store or a helper service is shown', async () => {
  const token = 'a-token-that-nobody-may-see';
  const url = 'https://helper-that-nobody-may-see.example.com/base';
  await syncHelpers(
    tenant.rows,
    (['translate', 'pdf_optimize', 'pdf_translate'] as const).map((kind) => ({ kind, url, token })),
  );
  const text = JSON.stringify(await show());
  await syncHelpers(tenant.rows, []);
  const { config } = tenant;
  const [database, redis] = [config.CARREL_DATABASE_URL, config.CARREL_REDIS_URL].map((address) => new URL(address));
  const addresses = [database?.host, redis?.host, new URL(config.CARREL_S3_ENDPOINT).host, new URL(url).host];
  const hidden = [
    token,
    database?.password,
    redis?.password,
    config.CARREL_S3_BUCKET,
    config.CARREL_S3_SECRET_ACCESS_KEY,
    (JSON.parse(config.CARREL_SIGNING_KEYS) as { keys: { d: string }[] }).keys[0]?.d,
    (JSON.parse(tenant.env['CARREL_DATA_KEYS'] ?? '') as { keys: { key: string }[] }).keys[0]?.key,
    tenant.administrator.password,
  ];

  expect(text).toContain('"translate":true');
  expect([...addresses, ...hidden].filter((secret) => secret === undefined || secret === '')).toEqual([]);
  expect(text.split(/["/]/).filter((part) => addresses.includes(part))).toEqual([]);
  expect(hidden.filter((secret) => secret !== undefined && text.includes(secret))).toEqual([]);
});

test('only administrators see it', async () => {
  const { api } = await tenant.user({ roles: ['instructor'] });
  const replies = [await api.get('/settings/tenant'), await tenant.anonymous.get('/settings/tenant')];

  expect(replies.map(({ status, body }) => [status, body.error])).toEqual([
    [403, 'forbidden'],
    [401, 'unauthenticated'],
  ]);
});
