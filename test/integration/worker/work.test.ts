import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, test } from '@jest/globals';
import { markedProcesses } from '../../../pkg/local/processes.ts';
import { JobRequests } from '../../../pkg/events/job-requests.ts';
import { WorkerNotifier } from '../../../pkg/events/worker-notifier.ts';
import { VersionSchedule } from '../../../pkg/content/model/files/version-schedule.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { type Sql, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { insertJob, JobStore } from '../../../pkg/store/postgres/job-store.ts';
import { MARKER_KEY } from '../../../pkg/store/s3/content-key.ts';
import { writeMarker } from '../../../pkg/store/s3/owner-marker.ts';
import { newKey } from '../../../pkg/store/s3/objects.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';
import { faultsOf, objectCount } from '../content/tenant-state.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();

const workLeft = async (kind = 'objects.purge'): Promise<number> => {
  const [row] = await platform.pool.query<{ count: number }>('SELECT count(*) AS count FROM carrel.work WHERE kind = $1', [kind]);
  return row?.count ?? -1;
};

async function tenantWithObjects(count: number): Promise<{ tenant: TestTenant; keys: string[] }> {
  const tenant = await platform.tenant();
  const keys = range(count).map(() => newKey(systemRandom));
  await inParallel(keys, 8, (key) => tenant.objects.put(key, Buffer.from('x')));
  return { tenant, keys };
}

test('objects deleted for ever are purged from the bucket, and nothing else is', async () => {
  const tenant = await platform.tenant();
  const { api } = await tenant.user();
  const { body: gone } = await api.upload('/files', { file: Buffer.from('a'), name: 'a' });
  const { body: kept } = await api.upload('/files', { file: Buffer.from('b'), name: 'b' });
  await api.upload(`/files/${gone.id}`, { method: 'PUT', file: Buffer.from('a2'), name: 'a' });

  await api.delete(`/files/${gone.id}`, { query: { permanent: true } });

  await waitFor('the purge', async () => (await objectCount(tenant)) === 1);
  expect((await api.get(`/files/${kept.id}/download`)).bytes.toString()).toBe('b');
  await waitFor('the end of the work', async () => (await workLeft()) === 0);
});

test('a worker killed in the middle of a purge loses nothing: the next one goes on', async () => {
  const { tenant, keys } = await tenantWithObjects(120);
  const spared = newKey(systemRandom);
  await tenant.objects.put(spared, Buffer.from('x'));
  // Purges of nothing between them: the worker is killed long before their end.
  const between = (key: string): string[] => [key, ...range(4).map(() => newKey(systemRandom))];
  await tenant.db.transaction(async (tx) => {
    for (const key of keys.flatMap(between)) await insertJob(tx, { kind: 'objects.purge', payload: { keys: [key] } });
  });
  await waitFor('the first ones to go', async () => (await workLeft()) < 580);

  const leased = () => platform.pool.query('SELECT FROM carrel.work WHERE leased_until > now()');
  await waitFor('work under way', async () => (await leased()).length > 0);
  await worker.end('SIGKILL');
  const leftByTheDead = await workLeft();
  await worker.start();

  await waitFor('the purge', async () => (await workLeft()) === 0);
  expect(leftByTheDead).toBeGreaterThan(0);
  expect(await objectCount(tenant)).toBe(1);
});

test('a Redis that loses everything in the middle loses no job', async () => {
  const { tenant, keys } = await tenantWithObjects(60);
  await tenant.db.transaction(async (tx) => {
    for (const key of keys) await insertJob(tx, { kind: 'objects.purge', payload: { keys: [key] } });
  });
  await waitFor('the first ones to go', async () => (await workLeft()) < 50);
  await Promise.all([platform.stores.kill('valkey'), platform.stores.kill('valkey-queue')]);

  await waitFor('the purge', async () => (await workLeft()) === 0);
  expect(await objectCount(tenant)).toBe(0);
});

test('a Redis that is frozen delays the work until shortly after it thaws', async () => {
  const { tenant, keys } = await tenantWithObjects(40);
  await tenant.db.transaction(async (tx) => {
    for (const key of keys) await insertJob(tx, { kind: 'objects.purge', payload: { keys: [key] } });
  });
  await waitFor('the first ones to go', async () => (await workLeft()) < 35);
  const signal = (name: NodeJS.Signals): void =>
    (['valkey', 'valkey-queue'] as const).forEach((of) => platform.stores.signal(of, name));
  signal('SIGSTOP');
  // Longer than most commands' time-outs: nearly every connection of the worker has given up by then.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  signal('SIGCONT');

  await waitFor('the purge', async () => (await workLeft()) === 0);
  expect(await objectCount(tenant)).toBe(0);
});

test('S3 that is unavailable delays the work', async () => {
  const { tenant, keys } = await tenantWithObjects(3);
  await platform.stores.kill('versitygw');
  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'objects.purge', payload: { keys } }));
  await waitFor('the purge', async () => (await workLeft()) === 0);
  expect(await objectCount(tenant)).toBe(0);
});

test('a sweep deletes what no row knows of that day, and keeps what a row knows and what Carrel never wrote', async () => {
  const tenant = await platform.tenant();
  const { api } = await tenant.user();
  const { body: kept } = await api.upload('/files', { file: Buffer.from('kept'), name: 'kept' });
  const [asked] = await tenant.db.query<{ day: string; hours: number }>(
    `SELECT payload->>'day' AS day, extract(epoch FROM due_at - now())::float8 / 3600 AS hours FROM carrel.work
     WHERE kind = 'objects.sweep'`,
  );
  const day = asked?.day ?? '';
  for (const _ of range(3)) await tenant.objects.put(`${day}/${newKey(systemRandom)}`, Buffer.from('orphan'));
  await tenant.objects.put(`20200101/${newKey(systemRandom)}`, Buffer.from('of another day'));

  const half = await halfUpload(tenant, `${day}/${newKey(systemRandom)}`);
  const somebodyElses = [`${day}/report.pdf`, `${day}/ab/scan.pdf`];
  for (const key of somebodyElses) await tenant.objects.put(key, Buffer.from('a person’s own'));

  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'objects.sweep', payload: { day } }));

  await waitFor('the sweep', async () => (await objectCount(tenant)) === 2 + somebodyElses.length);
  expect(asked?.hours).toBeGreaterThan(25);
  expect(await half.isThere()).toBe(false);
  expect((await api.get(`/files/${kept.id}/download`)).status).toBe(200);
});

test('after 30 days in the trash items are deleted for ever, with objects and quota; newer or restored ones stay', async () => {
  const tenant = await platform.tenant();
  const { api, user } = await tenant.user();
  const folder = async (name: string, parent_id: string | null = null): Promise<string> =>
    (await api.post('/folders', { name, parent_id })).body.id;
  const upload = async (name: string, folder_id?: string): Promise<string> =>
    (await api.upload('/files', { name, file: Buffer.from('x'), fields: folder_id === undefined ? {} : { folder_id } })).body.id;
  const [old, kept, live] = [await folder('old'), await folder('kept'), await folder('live')];
  const inside = [await upload('in old', await folder('sub', old)), await upload('in kept', kept), await upload('in live', live)];
  const files = [await upload('old'), await upload('new'), await upload('restored')];
  for (const id of [old, kept]) await api.delete(`/folders/${id}`);
  for (const id of files) await api.delete(`/files/${id}`);
  const [scheduled] = await tenant.db.query<{ days: number }>(
    `SELECT extract(epoch FROM due_at - date_trunc('day', requested_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')::float8 / 86400
       AS days
     FROM carrel.work WHERE kind = 'trash.empty' LIMIT 1`,
  );
  const age = (table: string, id: string) =>
    tenant.db.query(
      `UPDATE ${table} SET deleted_at = deleted_at - interval '40 days', expires_at = expires_at - interval '40 days'
       WHERE uuid = $1`,
      [id],
    );
  await tenant.db.query(
    `UPDATE folders SET deleted_at = deleted_at - interval '40 days', expires_at = expires_at - interval '40 days'
     WHERE trashed_with = (SELECT id FROM folders WHERE uuid = $1)`,
    [old],
  );
  await tenant.db.query(
    `UPDATE files SET deleted_at = deleted_at - interval '40 days', expires_at = expires_at - interval '40 days' WHERE uuid = $1`,
    [inside[0]],
  );
  await age('folders', old);
  await age('files', files[0] ?? '');
  await age('files', files[2] ?? '');
  await api.post(`/files/${files[2]}/restore`);

  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'trash.empty', payload: {} }));
  await waitFor('the purge of the objects', async () => (await objectCount(tenant)) === 4);

  expect(Math.round(scheduled?.days ?? 0)).toBe(31);
  const trash = (await api.get('/trash', { query: { sort: 'name' } })).body.data;
  expect(trash.map(({ name }: { name: string }) => name)).toEqual(['kept', 'new']);
  expect(await Promise.all([inside[2], files[2]].map(async (id) => (await api.get(`/files/${id}`)).status))).toEqual([200, 200]);
  expect((await api.post(`/folders/${old}/restore`)).status).toBe(404);
  await waitFor('the quota to be shown', async () => (await api.get(`/users/${user.id}`)).body.storage_used === 4);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('versions beyond the number or age to keep go for ever; the current one and those sharing its object stay', async () => {
  const tenant = await platform.tenant();
  const { api, user } = await tenant.user();
  const file = async (name: string, versions: number): Promise<string> => {
    const { id } = (await api.upload('/files', { name, file: Buffer.from('1') })).body;
    for (let n = 2; n <= versions; n += 1)
      await api.upload(`/files/${id}`, { method: 'PUT', name, file: Buffer.from('x'.repeat(n)) });
    return id;
  };
  const [many, few, trashed] = [await file('many', 6), await file('few', 2), await file('trashed', 4)];
  await api.post(`/files/${many}/versions/2/restore`);
  await api.delete(`/files/${trashed}`);
  const numbers = async (id: string): Promise<number[]> =>
    (await api.get(`/files/${id}/versions`)).body.data.map(({ version_number: number }: { version_number: number }) => number);
  const scheduled = await tenant.db.query(
    `SELECT DISTINCT payload, due_at = date_trunc('day', requested_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
       + interval '1 day' AS "isTonight"
     FROM carrel.work WHERE kind = 'versions.expire'`,
  );

  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'versions.expire', payload: { keep: 3, days: null } }));
  await waitFor('the purge of versions 1, 3 and 4', async () => (await objectCount(tenant)) === 9);
  const first = [await numbers(many), await numbers(few)];
  await platform.pool.query(
    `UPDATE "tenant_${tenant.slug}".file_versions SET created_at = created_at - interval '8 days' WHERE version_number IN (2, 7)`,
  );
  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'versions.expire', payload: { keep: null, days: 7 } }));
  await waitFor('the purge of version 6 of one file and 1 of the other', async () => (await objectCount(tenant)) === 7);

  expect(scheduled).toEqual([{ payload: { keep: 50, days: null }, isTonight: true }]);
  expect(first).toEqual([
    [7, 6, 5],
    [2, 1],
  ]);
  const deleted = `
    SELECT count(*) AS entries FROM audit_entries WHERE action = 'version.delete' AND is_system AND target_id = $1`;
  expect(await tenant.db.query(deleted, [many])).toEqual([{ entries: 5 }]);
  expect(await numbers(many)).toEqual([7, 5]);
  expect(await numbers(few)).toEqual([2]);
  expect((await api.get(`/files/${many}/download`)).bytes.toString()).toBe('xx');
  await api.post(`/files/${trashed}/restore`);
  expect(await numbers(trashed)).toEqual([4, 3, 2, 1]);
  await waitFor('the quota to be shown', async () => (await api.get(`/users/${user.id}`)).body.storage_used === 2 + 5 + 2 + 10);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('versions replaced on a day are checked in the night after, and again when the days to keep them are over', async () => {
  const tenant = await platform.tenant();
  const clock = { ...systemClock, now: () => new Date('2031-05-06T07:08:09Z') };
  const jobs = new JobRequests({ notifier: new WorkerNotifier({ redis: tenant.redis, log: silentLogger }) });
  const schedule = new VersionSchedule({ db: tenant.db, jobs, clock, settings: { versions: { keep: 3, days: 10 } } });
  await Promise.all([schedule.ensure(), schedule.ensure()]);

  expect(
    await tenant.db.query(`SELECT payload, due_at AS due FROM carrel.work WHERE kind = 'versions.expire' ORDER BY due_at`),
  ).toEqual([
    { payload: { keep: 3, days: 10 }, due: new Date('2031-05-07T00:00:00Z') },
    { payload: { keep: null, days: 10 }, due: new Date('2031-05-17T00:00:00Z') },
  ]);
});

test('a sweep deletes nothing where the marker says that the objects are another tenant’s, or says nothing', async () => {
  const tenant = await platform.tenant();
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  await tenant.objects.put(`${day}/${newKey(systemRandom)}`, Buffer.from('perhaps of another tenant'));
  const role = `tenant_${tenant.slug}`;
  const refused = async (): Promise<number> =>
    Number(/carrel_sweeps_refused_total(?:\{[^}]*\})? (\d+)/.exec(await worker.metrics())?.[1] ?? 0);
  const before = await refused();

  await writeMarker(tenant.objects, 'tenant 1 of another installation');
  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'objects.sweep', payload: { day } }));
  await waitFor('the refusal', async () => (await refused()) === before + 1);
  await tenant.objects.delete([MARKER_KEY]);
  // The refusal is counted before the worker says when the job is due next.
  const again = 'UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND leased_until IS NULL RETURNING id';
  await waitFor('the refused job to rest', async () => (await platform.pool.query(again, [role])).length > 0);
  await waitFor('another refusal', async () => (await refused()) === before + 2);

  expect(await objectCount(tenant)).toBe(1);
  await platform.pool.query('DELETE FROM carrel.work WHERE tenant = $1', [role]);
});

/** A multipart upload that nobody goes on with. */
async function halfUpload({ config }: TestTenant, key: string): Promise<{ isThere(): Promise<boolean> }> {
  const Bucket = config.CARREL_S3_BUCKET;
  const credentials = { accessKeyId: config.CARREL_S3_ACCESS_KEY_ID, secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY };
  const client = new S3Client({
    endpoint: config.CARREL_S3_ENDPOINT,
    region: config.CARREL_S3_REGION,
    forcePathStyle: true,
    credentials,
  });
  await client.send(new CreateMultipartUploadCommand({ Bucket, Key: key }));
  const isThere = async (): Promise<boolean> => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    return Uploads.length > 0;
  };
  expect(await isThere()).toBe(true);
  return { isThere };
}

test("one tenant's backlog does not hold up another", async () => {
  const [busy, quiet] = [await platform.tenant(), await tenantWithObjects(1)];
  await busy.db.query(
    `INSERT INTO carrel.work (kind, payload) SELECT 'objects.purge',
       jsonb_build_object('keys', jsonb_build_array('20200101/' || n)) FROM generate_series(1, 5000) n`,
  );
  await waitFor('the backlog to be under way', async () => (await workLeft()) < 4990);

  await quiet.tenant.db.transaction((tx) => insertJob(tx, { kind: 'objects.purge', payload: { keys: quiet.keys } }));

  await waitFor('the other purge', async () => (await objectCount(quiet.tenant)) === 0);
  expect(await workLeft()).toBeGreaterThan(0);
  await platform.pool.query(`DELETE FROM carrel.work WHERE tenant = $1`, [`tenant_${busy.slug}`]);
});

/** Pages that the statement of `work` reads by Postgres' own count: others read the same table at the same time. */
async function pagesOf(pool: SqlPool, work: (explained: Sql) => Promise<unknown>): Promise<number> {
  const lines: string[] = [];
  await work({
    query: async (sql, params) => {
      const plan = await pool.query<Record<string, string>>(`EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${sql}`, params);
      lines.push(...plan.map((row) => String(row['QUERY PLAN'])));
      return [];
    },
  });
  // The outermost node's count holds those below it.
  const counts = lines
    .filter((line) => line.includes('Buffers: shared'))
    .map((line) => [...line.matchAll(/(?:hit|read)=(\d+)/g)]);
  return Math.max(...counts.map((found) => found.reduce((sum, [, count]) => sum + Number(count), 0)));
}

test('finding due work does not walk over 2,000 tenants whose work is for tomorrow', async () => {
  const pool = new SqlPool({ url: platform.stores.postgres.operator, poolSize: 1, log: silentLogger });
  await pool.query(
    `INSERT INTO carrel.work (tenant, kind, payload, due_at)
     SELECT 'tenant_later' || t, 'objects.sweep', '{"day":"20200101"}', now() + interval '1 day'
     FROM generate_series(1, 2000) t, generate_series(1, 2)`,
  );
  const look = { limit: 64, perTenant: 4 };
  const found = await new JobStore(pool).dueTenants(look); // skips dead index entries, and marks them
  // The least of three: an older snapshot may keep dead entries from being skipped.
  const looks: number[] = [];
  for (const _ of range(3)) looks.push(await pagesOf(pool, (explained) => new JobStore(explained).dueTenants(look)));
  await pool.query(`DELETE FROM carrel.work WHERE tenant LIKE 'tenant_later%'`);
  await pool.close();

  expect(found).toEqual([]);
  expect(Math.min(...looks)).toBeLessThan(250); // a walk reads 14,000, one without the index 320
});

test('the worker is of the run of the tests, so that one that is interrupted leaves none', () => {
  const run = process.env['CARREL_TEST_RUN'];
  const mine = markedProcesses().filter(({ environment }) => environment['CARREL_PLATFORM_KEYS'] === platform.platformKeys);
  const workers = mine.filter(({ environment }) => environment['CARREL_EGRESS_ALLOW'] === '127.0.0.0/8');

  expect(run).toMatch(/^\d+-\d+$/);
  expect(workers.length).toBeGreaterThan(0);
  expect(new Set(workers.map(({ environment }) => environment['CARREL_TEST_RUN']))).toEqual(new Set([run]));
});

test('a graceful stop ends with 0', async () => {
  expect(await worker.end('SIGTERM')).toBe(0);
  await worker.start();
});
