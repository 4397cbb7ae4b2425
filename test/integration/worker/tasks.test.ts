import { describe, expect, test } from '@jest/globals';
import { payloadSchema } from '../../../pkg/events/catalogue.ts';
import { jobMetrics } from '../../../pkg/jobs/metrics.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { JobStore } from '../../../pkg/store/postgres/job-store.ts';
import type { Api } from '../../support/clients/api.ts';
import { addMetadata, tagFiles } from '../../support/data/tags-and-metadata.ts';
import { range, untilServed, waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { faultsOf, objectCount, quotaOf } from '../content/tenant-state.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);

/** A job once it has ended. */
const endOf = (api: Api, id: string) =>
  waitFor('the end of the job', async () => {
    const { body } = await api.get(`/jobs/${id}`);
    return body.ended_at === null ? undefined : body;
  });

test('an own trash that is emptied loses what its owner deleted by then, with objects and quota, and nothing else', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  await addWebhook(tenant, { events: ['file.deleted'] });
  const folder = async (name: string, parent_id: string | null = null): Promise<string> =>
    (await ada.api.post('/folders', { name, parent_id })).body.id;
  const upload = async ({ api } = ada, name = 'a', folder_id?: string): Promise<string> =>
    (await api.upload('/files', { name, file: Buffer.from('x'), fields: folder_id === undefined ? {} : { folder_id } })).body.id;
  const top = await folder('top');
  const sub = await folder('sub', top);
  const files = [await upload(ada, 'a', sub), await upload(ada, 'b', top), await upload(ada, 'c'), await upload(ada, 'live')];
  await ada.api.upload(`/files/${files[2]}`, { method: 'PUT', name: 'c', file: Buffer.from('second') });
  await ada.api.post(`/folders/${top}/permissions`, { permission_level: 'write', user_id: bob.user.id });
  const bobs = [await upload(bob, 'bob’s', top), await upload(bob, 'own')];
  const deleted = [`/files/${files[1]}`, `/folders/${sub}`, `/folders/${top}`, `/files/${files[2]}`];
  for (const path of deleted) await ada.api.delete(path);
  await bob.api.delete(`/files/${bobs[1]}`);
  const events = (await writtenEvents(tenant)).length;

  const { body: job } = await ada.api.delete('/trash');
  const end = await endOf(ada.api, job.id);
  expect(end).toMatchObject({ state: 'succeeded', progress: { done: 4, total: 4, failed: 0 }, error: null, cancelable: false });
  const items = (await ada.api.get(`/jobs/${job.id}/items`)).body.data;
  expect(items.map(({ target, state }: Record<string, Record<string, string>>) => [target?.type, target?.name, state])).toEqual([
    ['file', 'b', 'succeeded'],
    ['file', 'c', 'succeeded'],
    ['folder', 'sub', 'succeeded'],
    ['folder', 'top', 'succeeded'],
  ]);
  expect((await ada.api.get('/trash')).body.data).toEqual([]);
  expect((await bob.api.get('/trash')).body.data.map(({ id }: { id: string }) => id)).toEqual([bobs[1]]);
  expect([await quotaOf(tenant, ada.user.id), await quotaOf(tenant, bob.user.id)]).toEqual([1, 1]);
  expect((await writtenEvents(tenant)).length).toBe(events);
  await waitFor('the purge of the objects', async () => (await objectCount(tenant)) === 2);
  expect(await faultsOf(tenant)).toEqual([]);
  await platform.pool.query("UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND kind = 'tasks.expire'", [
    `tenant_${tenant.slug}`,
  ]);
  await waitFor('the job to expire', async () => (await ada.api.get(`/jobs/${job.id}`)).status === 404);
  expect(await tenant.db.query('SELECT FROM task_items i WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.id = i.task_id)')).toEqual(
    [],
  );
});

test('an own trash that is emptied while the worker is killed is empty in the end, and each item counts once', async () => {
  const { api, user } = await tenant.user();
  await tenant.db.query(
    `INSERT INTO folders (uuid, name, path, owner_id, deleted_at, expires_at)
     SELECT gen_random_uuid(), 'f' || n, '/f' || n, u.id, now() - interval '1 minute', now() + interval '1 day'
     FROM users u, generate_series(1, 30) n
     WHERE u.uuid = $1`,
    [user.id],
  );
  const [locked, killed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = tenant.db.transaction(async (tx) => {
    await tx.query("SELECT FROM folders WHERE name = 'f11' FOR UPDATE");
    locked.resolve();
    await killed.promise;
  });
  await locked.promise;

  const { id } = (await api.delete('/trash')).body;
  await waitFor('the ten before the one that is held', async () => (await api.get(`/jobs/${id}`)).body.progress.done === 10);
  await worker.end('SIGKILL');
  killed.resolve();
  await holding;
  const { body: later } = await api.post('/folders', { name: 'deleted later' });
  await api.delete(`/folders/${later.id}`);
  const { body: joined } = await api.delete('/trash');
  await worker.start();

  expect(joined.id).toBe(id);
  expect((await endOf(api, id)).progress).toEqual({ done: 31, total: 31, failed: 0, skipped: 0 });
  expect(await tenant.db.query('SELECT FROM folders WHERE owner_id = (SELECT id FROM users WHERE uuid = $1)', [user.id])).toEqual(
    [],
  );
});

test('50 items restored while their trash is emptied are each there or gone, as reply, job and quota say', async () => {
  const { api, user } = await tenant.user();
  const upload = async (name: string, fields = {}): Promise<string> =>
    `/files/${(await untilServed(() => api.upload('/files', { name, file: Buffer.from('x'), fields }))).body.id}`;
  const folder = async (name: string): Promise<string> => {
    const { id } = (await untilServed(() => api.post('/folders', { name }))).body;
    await upload('in it', { folder_id: id });
    return `/folders/${id}`;
  };
  const paths = await Promise.all(range(50).map((n) => (n % 5 === 0 ? folder(`d${n}`) : upload(`f${n}`))));
  await Promise.all(paths.map((path) => untilServed(() => api.delete(path))));

  const restore = (path: string) => untilServed(() => api.post(`${path}/restore`));
  const [job, ...restored] = await Promise.all([untilServed(() => api.delete('/trash')), ...paths.map(restore)]);
  const end = await endOf(api, job.body.id);

  const live = await Promise.all(paths.map(async (path) => (await api.get(path)).status));
  expect(live).toEqual(restored.map(({ status }) => status));
  expect(live.filter((status) => ![200, 404].includes(status))).toEqual([]);
  expect(end).toMatchObject({ state: 'succeeded', progress: { done: end.progress.total } });
  expect(end.progress.total - end.progress.failed).toBe(live.filter((status) => status === 404).length);
  expect(await quotaOf(tenant, user.id)).toBe(live.filter((status) => status === 200).length);
  expect((await api.get('/trash')).body.data).toEqual([]);
  expect(await faultsOf(tenant)).toEqual([]);
});

describe('a folder that is copied', () => {
  /** Returns the number of objects once no purge of another test runs. */
  const objectsLeft = async (): Promise<number> => {
    const purges = () => tenant.db.query("SELECT FROM carrel.work WHERE kind = 'objects.purge'");
    await waitFor('the purges before', async () => (await purges()).length === 0);
    return objectCount(tenant);
  };
  type Person = Awaited<ReturnType<typeof tenant.user>>;
  const folder = async ({ api }: Person, name: string, parent_id: string | null = null): Promise<string> =>
    (await api.post('/folders', { name, parent_id })).body.id;
  const upload = async ({ api }: Person, folder_id: string, name: string, content = 'x'): Promise<string> =>
    (await api.upload('/files', { name, file: Buffer.from(content), fields: { folder_id } })).body.id;
  const grant = async (by: Person, id: string, to: Person): Promise<string> =>
    (await by.api.post(`/folders/${id}/permissions`, { permission_level: 'read', user_id: to.user.id })).body.id;
  /** Ada's folder `src`, which Bob reads. */
  const shared = async (): Promise<{ ada: Person; bob: Person; src: string; granted: string }> => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const src = await folder(ada, 'src');
    return { ada, bob, src, granted: await grant(ada, src, bob) };
  };
  const copy = async ({ api }: Person, id: string, name = 'copy') =>
    (await api.post(`/folders/${id}/copy`, { parent_id: null, name })).body;
  const filesOf = async ({ user }: Person) =>
    tenant.db.query<{ path: string; size: number; version: number }>(
      `SELECT f.path, f.size, f.version_number AS version FROM files f JOIN users u ON u.id = f.owner_id WHERE u.uuid = $1
       ORDER BY f.path`,
      [user.id],
    );
  /** Locks rows until it is released. */
  const held = async (sql: string, id?: string): Promise<{ release(): Promise<void> }> => {
    const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = tenant.db.transaction(async (tx) => {
      await tx.query(sql, id === undefined ? [] : [id]);
      locked.resolve();
      await over.promise;
    });
    await Promise.race([locked.promise, holding]);
    return { release: async () => (over.resolve(), holding) };
  };

  test('is the copier’s: its live items with metadata, their own tags, present contents and one event a file', async () => {
    const { ada, bob, src } = await shared();
    const deep = await folder(ada, 'deep', await folder(ada, 'sub', src));
    const files = [await upload(ada, src, 'a', '1'), await upload(ada, deep, 'b', '22'), await upload(ada, deep, 'gone')];
    await upload(ada, await folder(ada, 'trashed', src), 'c');
    await ada.api.upload(`/files/${files[1]}`, { method: 'PUT', name: 'b', file: Buffer.from('second') });
    await ada.api.delete(`/files/${files[2]}`);
    await ada.api.delete(`/folders/${(await ada.api.get('/folders', { query: { q: 'trashed' } })).body.data[0].id}`);
    await addMetadata(tenant, files, [{ key: 'course', value: 'history' }]);
    await tagFiles(tenant, ada.user.id, ['adas'], files);
    await tagFiles(tenant, bob.user.id, ['bobs'], files);
    await tenant.db.query('DELETE FROM webhooks');
    await addWebhook(tenant, { events: ['file.created'] });
    const before = (await writtenEvents(tenant)).length;

    const job = await copy(bob, src);
    const end = await endOf(bob.api, job.id);

    expect(end).toMatchObject({ state: 'succeeded', progress: { done: 4, total: 4, failed: 0 }, result: job.result });
    expect(await filesOf(bob)).toEqual([
      { path: '/copy/a', size: 1, version: 1 },
      { path: '/copy/sub/deep/b', size: 6, version: 1 },
    ]);
    const { data } = (await bob.api.get('/files', { query: { owner: bob.user.id, include: 'tags,metadata', sort: 'name' } }))
      .body;
    expect((await bob.api.get(`/files/${data[1].id}/download`)).bytes.toString()).toBe('second');
    expect(data.map((file: { tags: { name: string }[] }) => file.tags.map(({ name }) => name))).toEqual([['bobs'], ['bobs']]);
    expect(data.map((file: { metadata: { value: string }[] }) => file.metadata.map(({ value }) => value))).toEqual([
      ['history'],
      ['history'],
    ]);
    expect((await ada.api.get(`/folders/${job.result.folder_id}`)).status).toBe(404);
    expect(await quotaOf(tenant, bob.user.id)).toBe(7 + 2 * 1024); // two entries of metadata
    const events = (await writtenEvents(tenant)).slice(before);
    expect(events.map(({ event, data: { name, owner_id } }) => [event, name, owner_id])).toEqual([
      ['file.created', 'a', bob.user.id],
      ['file.created', 'b', bob.user.id],
    ]);
    expect(
      events.flatMap(({ payload }) => payloadSchema('file.created').safeParse(JSON.parse(payload)).error?.issues ?? []),
    ).toEqual([]);
    expect(await tenant.db.query('SELECT FROM storage_reservations')).toEqual([]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('is not begun while the jobs of the copier have a million items; their trash can be emptied all the same', async () => {
    const { bob, src } = await shared();
    const job = await copy(bob, src);
    await endOf(bob.api, job.id);
    await tenant.db.query('UPDATE tasks SET total = 1000000 WHERE uuid = $1', [job.id]);

    const replies = [await bob.api.post(`/folders/${src}/copy`, { name: 'again' }), await bob.api.delete('/trash')];

    expect(replies.map(({ status }) => status)).toEqual([409, 202]);
    expect(replies[0]?.body.message).toContain('have 1000000 items');
  });

  test('fills the copier’s quota exactly, and what did not fit is copied when it is tried again', async () => {
    const { ada, bob, src } = await shared();
    for (const [name, content] of Object.entries({ a: '333', b: '4444', c: '22' })) await upload(ada, src, name, content);
    const quota = (bytes: number) => tenant.db.query('UPDATE users SET storage_quota = $2 WHERE uuid = $1', [bob.user.id, bytes]);
    await quota(5);

    const job = await copy(bob, src);
    const end = await endOf(bob.api, job.id);
    const failed = (await bob.api.get(`/jobs/${job.id}/items`, { query: { state: 'failed' } })).body.data;
    await quota(9);
    const retry = (await bob.api.post(`/jobs/${job.id}/retry`)).body;

    expect(end).toMatchObject({ state: 'succeeded', progress: { done: 3, total: 3, failed: 1 } });
    expect(failed.map(({ target, error }: Record<string, Record<string, string>>) => [target?.name, error?.code])).toEqual([
      ['b', 'quota_exceeded'],
    ]);
    expect(await endOf(bob.api, retry.id)).toMatchObject({
      retry_of: job.id,
      state: 'succeeded',
      progress: { done: 1, total: 1, failed: 0 },
    });
    expect((await filesOf(bob)).map(({ path }) => path)).toEqual(['/copy/a', '/copy/b', '/copy/c']);
    expect(await quotaOf(tenant, bob.user.id)).toBe(9);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('by a worker that is killed when the contents are copied and the files are not made has each file once', async () => {
    const ada = await tenant.user();
    const src = await folder(ada, 'src');
    await upload(ada, src, 'f');
    await tenant.db.query(
      `WITH one AS (SELECT f.* FROM files f JOIN folders d ON d.id = f.folder_id WHERE d.uuid = $1), more AS (
         INSERT INTO files (uuid, name, path, size, checksum, owner_id, folder_id, blob_container, blob_name)
         SELECT gen_random_uuid(), 'f' || n, '/src/f' || n, 1, checksum, owner_id, folder_id, blob_container, blob_name
         FROM one, generate_series(1, 119) n
         RETURNING id, size, checksum, blob_name, owner_id
       ), version AS (
         INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by)
         SELECT id, 1, size, checksum, blob_name, owner_id FROM more
       ) UPDATE users SET storage_used = storage_used + 119 WHERE id = (SELECT owner_id FROM one)`,
      [src],
    );
    const objects = await objectsLeft();
    const quota = await held('LOCK TABLE storage_reservations IN SHARE MODE');
    const job = await copy(ada, src);
    const target = await held('SELECT FROM folders WHERE uuid = $1 FOR UPDATE', job.result.folder_id);
    await quota.release();

    await waitFor('the contents of the first 100', async () => (await objectCount(tenant)) === objects + 100);
    await worker.end('SIGKILL');
    await target.release();
    const gone = await folder(ada, 'gone before it begins');
    const unable = await copy(ada, gone, 'copy of what is gone');
    await ada.api.delete(`/folders/${gone}`, { query: { permanent: true } });
    await worker.start();

    expect(await endOf(ada.api, unable.id)).toMatchObject({
      state: 'failed',
      error: { code: 'not_found' },
      progress: { total: 0 },
    });
    expect(await endOf(ada.api, job.id)).toMatchObject({ state: 'succeeded', progress: { done: 120, total: 120, failed: 0 } });
    expect((await filesOf(ada)).filter(({ path }) => path.startsWith('/copy/'))).toHaveLength(120);
    expect(await quotaOf(tenant, ada.user.id)).toBe(240);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('does no more than the session that requested it could, whatever its account may do', async () => {
    const { ada, src } = await shared();
    await upload(ada, src, 'a', 'x');
    await worker.end('SIGTERM');
    const job = await copy(ada, src);
    const [task] = await tenant.db.query<{ could: string[] }>(
      `SELECT arguments -> 'permissions' AS could FROM tasks WHERE uuid = $1`,
      [job.id],
    );
    // The session of a launch that may write folders but no files would have requested it so.
    const could = `'["read:files", "read:folders", "write:folders"]'`;
    await tenant.db.query(`UPDATE tasks SET arguments = jsonb_set(arguments, '{permissions}', ${could}) WHERE uuid = $1`, [
      job.id,
    ]);
    await worker.start();

    expect(task?.could).toContain('write:files');
    expect(await endOf(ada.api, job.id)).toMatchObject({ state: 'failed', error: { code: 'forbidden' }, progress: { total: 0 } });
    expect((await filesOf(ada)).filter(({ path }) => path.startsWith('/copy/'))).toEqual([]);
  });

  test('makes no file once it is canceled, or once the copier may not read it any more', async () => {
    const { ada, bob, src, granted } = await shared();
    await upload(ada, src, 'a', 'secret');
    const objects = await objectsLeft();
    platform.stores.signal('versitygw', 'SIGSTOP');
    const [canceled, revoked] = [await copy(ada, src), await copy(bob, src)];
    await waitFor('both to copy contents', async () => (await tenant.db.query('SELECT FROM storage_reservations')).length === 2);

    const cancel = await ada.api.post(`/jobs/${canceled.id}/cancel`);
    await ada.api.delete(`/folders/${src}/permissions/${granted}`);
    platform.stores.signal('versitygw', 'SIGCONT');
    const end = await endOf(bob.api, revoked.id);

    expect([cancel.status, cancel.body.state]).toEqual([202, 'canceled']);
    expect(end).toMatchObject({ state: 'succeeded', progress: { done: 1, total: 1, failed: 1 } });
    expect((await bob.api.get(`/jobs/${revoked.id}/items`)).body.data[0].error.code).toBe('not_found');
    await waitFor('what was copied for nothing to go', async () => (await objectCount(tenant)) === objects);
    await waitFor('the quota', async () => (await tenant.db.query('SELECT FROM storage_reservations')).length === 0);
    expect([await filesOf(bob), (await filesOf(ada)).length]).toEqual([[], 1]);
    expect((await ada.api.get(`/jobs/${canceled.id}`)).body).toMatchObject({ state: 'canceled', progress: { done: 0 } });
    expect(await faultsOf(tenant)).toEqual([]);
  });
});

test('the worker counts how jobs of people end, how long they wait and take, and whose work it does', async () => {
  const { api } = await tenant.user();
  const { body: job } = await api.post('/batch', {
    operation: 'delete',
    items: [{ type: 'file', id: '00000000-0000-4000-8000-000000000000' }],
  });
  await endOf(api, job.id);
  const series = async (name: string, ...labels: string[]): Promise<number> => {
    const lines = (await worker.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
    return Number(
      lines
        .find((line) => labels.every((label) => line.includes(label)))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  };

  await waitFor(
    'the end to be counted',
    async () => (await series('carrel_jobs_ended_total', 'kind="batch"', 'state="succeeded"')) > 0,
  );
  for (const time of ['wait', 'duration'])
    expect(await series(`carrel_jobs_${time}_seconds_count`, 'kind="batch"')).toBeGreaterThan(0);
  expect(await series('carrel_work_tenant_results_total', `tenant="${tenant.slug}"`, 'result="done"')).toBeGreaterThan(0);
  expect(await series('carrel_work_tenant_seconds_total', `tenant="${tenant.slug}"`)).toBeGreaterThan(0);
});

test('a tenant whose work is due is named with how much it is, and for how long', async () => {
  await worker.end('SIGTERM');
  await platform.pool.query(
    `INSERT INTO carrel.work (tenant, kind, payload, due_at) SELECT $1, 'nobody.does', '{}', now() - interval '1 hour'
     FROM generate_series(1, 3)`,
    [`tenant_${tenant.slug}`],
  );
  const metrics = createMetrics('worker');
  jobMetrics(metrics, new Map([['one', new JobStore(platform.pool)]]));

  const text = await metrics.metrics();

  expect(text).toMatch(new RegExp(`^carrel_work_tenant_due\\{shard="one",tenant="${tenant.slug}"[^}]*\\} [3-9]`, 'm'));
  expect(text).toMatch(
    new RegExp(`^carrel_work_tenant_oldest_seconds\\{shard="one",tenant="${tenant.slug}"[^}]*\\} 36\\d\\d`, 'm'),
  );
  await platform.pool.query(`DELETE FROM carrel.work WHERE kind = 'nobody.does'`);
  await worker.start();
});
