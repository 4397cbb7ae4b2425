import { beforeAll, expect, test } from '@jest/globals';
import { batchEnd, filesOf, foldersOf, jobEnd } from '../../support/clients/batches.ts';
import { addMetadata, tagFiles } from '../../support/data/tags-and-metadata.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { faultsOf, objectCount, quotaOf } from '../content/tenant-state.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
type Person = Awaited<ReturnType<typeof tenant.user>>;

beforeAll(() => addWebhook(tenant, { events: ['file.created'] }));

const fileOf = async ({ api }: Person, name: string, folder_id?: string, content = 'x'): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(content), fields: folder_id === undefined ? {} : { folder_id } })).body
    .id;
const folderOf = async ({ api }: Person, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const reservations = ({ user }: Person): Promise<unknown[]> =>
  tenant.db.query('SELECT r.bytes FROM storage_reservations r JOIN users u ON u.id = r.user_id WHERE u.uuid = $1', [user.id]);
/** Returns the paths of all live items of a person. */
const pathsOf = async ({ user }: Person): Promise<string[]> => {
  const rows = await tenant.db.query<{ path: string }>(
    `SELECT f.path FROM files f JOIN users u ON u.id = f.owner_id WHERE u.uuid = $1 AND f.deleted_at IS NULL
     UNION ALL SELECT d.path || '/' FROM folders d JOIN users u ON u.id = d.owner_id WHERE u.uuid = $1 AND d.deleted_at IS NULL`,
    [user.id],
  );
  return rows.map(({ path }) => path).toSorted();
};

test('files are copied to the requester with content, metadata and own tags, each with one event', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const [shared, hidden, own] = [
    await fileOf(ada, 'a.txt', undefined, 'four'),
    await fileOf(ada, 'h'),
    await fileOf(bob, 'b.txt'),
  ];
  await ada.api.post(`/files/${shared}/permissions`, { permission_level: 'read', user_id: bob.user.id });
  await ada.api.put(`/files/${shared}/metadata/course`, { value: 'History' });
  const { id: tag_id } = (await bob.api.post('/tags', { name: 'Mine' })).body;
  await bob.api.put(`/files/${shared}/tags/${tag_id}`);
  const there = await folderOf(bob, 'there');
  const before = (await writtenEvents(tenant)).length;

  const end = await batchEnd(bob.api, {
    operation: 'copy',
    items: filesOf([shared, hidden, own]),
    arguments: { folder_id: there },
  });

  expect(end.progress).toEqual({ done: 3, total: 3, failed: 1, skipped: 0 });
  expect([shared, hidden, own].map((id) => end.items.get(id))).toEqual(['succeeded', 'not_found', 'succeeded']);
  const copy = end.results.get(shared)?.['copy_id'];
  expect((await bob.api.get(`/files/${copy}`)).body).toMatchObject({ path: '/there/a.txt', size: 4, owner: { id: bob.user.id } });
  expect((await bob.api.get(`/files/${copy}/download`)).bytes.toString()).toBe('four');
  expect((await bob.api.get(`/files/${copy}/metadata`)).body.data).toEqual([
    expect.objectContaining({ key: 'course', value: 'History' }),
  ]);
  expect((await bob.api.get(`/tags/${tag_id}`)).body.files_count).toBe(2);
  const events = (await writtenEvents(tenant)).slice(before);
  expect(events.map(({ event, data }) => `${event} ${String(data['name'])} ${String(data['owner_id'])}`)).toEqual([
    `file.created a.txt ${bob.user.id}`,
    `file.created b.txt ${bob.user.id}`,
  ]);
  expect(await quotaOf(tenant, bob.user.id)).toBe(1 + 1 + 4 + 1_024);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a folder is copied with all below it, item by item, and what is named and below it goes with it, once', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const [top, there] = [await folderOf(ada, 'top'), await folderOf(ada, 'there')];
  const sub = await folderOf(ada, 'sub', top);
  const deep = await folderOf(ada, 'deep', sub);
  const [inDeep, inTop, apart] = [await fileOf(ada, 'a', deep), await fileOf(ada, 'b', top), await fileOf(ada, 'c')];
  const empty = await folderOf(ada, 'empty', top);
  const items = [...filesOf([apart, inDeep]), ...foldersOf([sub, top])];

  const dry = await batchEnd(ada.api, { operation: 'copy', items, arguments: { folder_id: there }, dry_run: true });
  const end = await batchEnd(ada.api, { operation: 'copy', items, arguments: { folder_id: there } });

  for (const { progress, items: ended } of [dry, end]) {
    expect(progress).toEqual({ done: 7, total: 7, failed: 0, skipped: 0 });
    expect(new Set(ended.keys())).toEqual(new Set([top, sub, deep, empty, inDeep, inTop, apart]));
  }
  expect((await pathsOf(ada)).filter((path) => path.startsWith('/there/'))).toEqual([
    '/there/',
    '/there/c',
    '/there/top/',
    '/there/top/b',
    '/there/top/empty/',
    '/there/top/sub/',
    '/there/top/sub/deep/',
    '/there/top/sub/deep/a',
  ]);
  expect(end.results.get(top)).toEqual({
    copy_id: (await ada.api.get('/folders', { query: { q: 'top', parent_id: there } })).body.data[0]?.id,
  });

  const again = await batchEnd(ada.api, { operation: 'copy', items: foldersOf([top]), arguments: { folder_id: there } });
  expect([again.items.get(top), again.items.get(sub), again.items.get(inTop)]).toEqual([
    'name_conflict',
    'not_found',
    'not_found',
  ]);
  const renamed = await batchEnd(ada.api, { operation: 'copy', items, arguments: { folder_id: there, on_conflict: 'rename' } });
  expect(renamed.progress).toEqual({ done: 7, total: 7, failed: 0, skipped: 0 });
  expect((await pathsOf(ada)).filter((path) => path.startsWith('/there/'))).toEqual(
    expect.arrayContaining(['/there/c (1)', '/there/top (1)/sub/deep/a', '/there/top (1)/b']),
  );

  const itself = await batchEnd(ada.api, { operation: 'copy', items: foldersOf([top]), arguments: { folder_id: sub } });
  expect([...itself.items]).toEqual([[top, 'conflict']]);
  const unseen = await batchEnd(bob.api, { operation: 'copy', items: foldersOf([top]), arguments: { folder_id: null } });
  expect([...unseen.items]).toEqual([[top, 'not_found']]);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('files beyond the quota fail, smaller ones behind them are copied, and a retry tries the failed ones', async () => {
  const ada = await tenant.user();
  const top = await folderOf(ada, 'top');
  const [large, small] = [await fileOf(ada, 'large', top, 'x'.repeat(4_000)), await fileOf(ada, 'small', top)];
  await tenant.db.query('UPDATE users SET storage_quota = 7000 WHERE uuid = $1', [ada.user.id]);

  const request = { operation: 'copy', items: foldersOf([top]), arguments: { folder_id: null, on_conflict: 'rename' } };
  const dry = await batchEnd(ada.api, { ...request, dry_run: true });
  const end = await batchEnd(ada.api, request);
  for (const { items } of [dry, end]) expect([items.get(large), items.get(small)]).toEqual(['quota_exceeded', 'succeeded']);
  await tenant.db.query('UPDATE users SET storage_quota = 100000 WHERE uuid = $1', [ada.user.id]);
  const { body: retry } = await ada.api.post(`/jobs/${end.id}/retry`, { codes: ['quota_exceeded'] });

  expect((await jobEnd(ada.api, retry.id)).progress).toEqual({ done: 1, total: 1, failed: 0, skipped: 0 });
  expect(await pathsOf(ada)).toEqual(['/top (1)/', '/top (1)/large', '/top (1)/small', '/top/', '/top/large', '/top/small']);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('copies of which none fits leave nothing reserved', async () => {
  const ada = await tenant.user();
  const ids = await Promise.all(range(3).map((n) => fileOf(ada, `f${n}`, undefined, 'x'.repeat(1_000))));
  const there = await folderOf(ada, 'there');
  await tenant.db.query('UPDATE users SET storage_quota = 3000 WHERE uuid = $1', [ada.user.id]);

  const request = { operation: 'copy', items: filesOf(ids), arguments: { folder_id: there } };
  const { progress } = await batchEnd(ada.api, request);

  expect(progress).toEqual({ done: 3, total: 3, failed: 3, skipped: 0 });
  expect(await reservations(ada)).toEqual([]);
});

test('with room for three more files, three are copied, and the others fail by themselves', async () => {
  const ada = await tenant.user();
  const ids = await Promise.all(range(7).map((n) => fileOf(ada, `f${n}`)));
  const there = await folderOf(ada, 'there');
  const count = (entries: number): Promise<unknown> =>
    tenant.db.query('UPDATE users SET entries = entries + $2 WHERE uuid = $1', [ada.user.id, entries]);
  const counted = 500_000 - 8 - 3;
  await count(counted);

  const request = { operation: 'copy', items: filesOf(ids), arguments: { folder_id: there, on_conflict: 'rename' } };
  const [end, none] = [await batchEnd(ada.api, request), await batchEnd(ada.api, request)];

  expect(end.progress).toEqual({ done: 7, total: 7, failed: 4, skipped: 0 });
  expect(none.progress).toEqual({ done: 7, total: 7, failed: 7, skipped: 0 });
  expect(new Set([...end.items.values(), ...none.items.values()])).toEqual(new Set(['succeeded', 'quota_exceeded']));
  await count(-counted);
  expect(await reservations(ada)).toEqual([]);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a batch whose worker is killed copies none twice, and a cancelled one leaves no object behind', async () => {
  const ada = await tenant.user();
  const [src, there] = [await folderOf(ada, 'src'), await folderOf(ada, 'there')];
  const ids = await Promise.all(range(40).map((n) => fileOf(ada, `f${n}`, src)));
  await tagFiles(tenant, ada.user.id, ['one'], ids.slice(0, 3));
  await addMetadata(tenant, ids.slice(0, 3), [{ key: 'k', value: 'v' }]);
  const request = { operation: 'copy', items: foldersOf([src]), arguments: { folder_id: there, on_conflict: 'rename' } };

  const isCopying = async (): Promise<boolean> => (await tenant.db.query('SELECT FROM storage_reservations')).length > 0;

  // The store answers nobody meanwhile: else all would be copied before a busy machine looks.
  platform.stores.signal('versitygw', 'SIGSTOP');
  const { body: job } = await ada.api.post('/batch', request);
  await waitFor('contents to be copied', isCopying);
  platform.stores.signal('versitygw', 'SIGCONT');
  await worker.end('SIGKILL');
  await worker.start();
  expect((await jobEnd(ada.api, job.id)).progress).toEqual({ done: 41, total: 41, failed: 0, skipped: 0 });
  expect((await pathsOf(ada)).filter((path) => path.startsWith('/there/src/f'))).toHaveLength(40);

  platform.stores.signal('versitygw', 'SIGSTOP');
  const { body: other } = await ada.api.post('/batch', request);
  await waitFor('contents to be copied', isCopying);
  const canceled = await ada.api.post(`/jobs/${other.id}/cancel`);
  platform.stores.signal('versitygw', 'SIGCONT');
  const copied = (await pathsOf(ada)).filter((path) => path.startsWith('/there/src (1)/f')).length;
  expect(canceled.body).toMatchObject({ state: 'canceled', progress: { done: copied + 1, failed: 0 } });
  await waitFor(
    'the worker to be idle',
    async () => (await tenant.db.query("SELECT FROM carrel.work WHERE kind = 'tasks.batch'")).length === 0,
  );
  await platform.pool.query("UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND kind = 'objects.sweep'", [
    `tenant_${tenant.slug}`,
  ]);
  await waitFor('no object without a file', async () => (await faultsOf(tenant)).length === 0);
  expect((await pathsOf(ada)).filter((path) => path.startsWith('/there/src (1)/f'))).toHaveLength(copied);
  expect(await objectCount(tenant)).toBeGreaterThan(80);
});
