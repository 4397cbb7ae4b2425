import { expect, test } from '@jest/globals';
import type { Api } from '../../support/api.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/webhooks.ts';
import { platformTenant, workerSuite } from '../../support/worker-suite.ts';
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
  await platform.pool.query("UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND kind = 'tasks.expire'", [`tenant_${tenant.slug}`]);
  await waitFor('the job to expire', async () => (await ada.api.get(`/jobs/${job.id}`)).status === 404);
  expect(await tenant.db.query('SELECT FROM task_items i WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.id = i.task_id)')).toEqual([]);
});

test('an own trash that is emptied while the worker is killed is empty in the end, and each item counts once', async () => {
  const { api, user } = await tenant.user();
  await tenant.db.query(
    `INSERT INTO folders (uuid, name, path, owner_id, deleted_at, expires_at)
     SELECT gen_random_uuid(), 'f' || n, '/f' || n, u.id, now() - interval '1 minute', now() + interval '1 day' FROM users u, generate_series(1, 30) n
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
  await worker.start();

  expect((await endOf(api, id)).progress).toEqual({ done: 30, total: 30, failed: 0 });
  expect(await tenant.db.query('SELECT FROM folders WHERE owner_id = (SELECT id FROM users WHERE uuid = $1)', [user.id])).toEqual([]);
});

test('50 files that are restored while their trash is emptied are each there or gone, as reply, job and quota say', async () => {
  const { api, user } = await tenant.user();
  const files = await Promise.all(
    range(50).map(async (n) => (await api.upload('/files', { name: `f${n}`, file: Buffer.from('x') })).body.id as string),
  );
  await Promise.all(files.map((id) => api.delete(`/files/${id}`)));

  const [job, ...restored] = await Promise.all([api.delete('/trash'), ...files.map((id) => api.post(`/files/${id}/restore`))]);
  const end = await endOf(api, job.body.id);

  const live = (await api.get('/files', { query: { limit: 200 } })).body.data.map(({ id }: { id: string }) => id) as string[];
  expect(restored.map(({ status }, at) => [status, live.includes(files[at] ?? '')])).toEqual(
    restored.map(({ status }) => [status === 200 ? 200 : 404, status === 200]),
  );
  expect(end).toMatchObject({ state: 'succeeded', progress: { done: end.progress.total } });
  expect(end.progress.total - end.progress.failed).toBe(50 - live.length);
  expect(await quotaOf(tenant, user.id)).toBe(live.length);
  expect((await api.get('/trash')).body.data).toEqual([]);
  expect(await faultsOf(tenant)).toEqual([]);
});
