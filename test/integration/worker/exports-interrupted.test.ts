import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import {
  endOf,
  exported,
  itemsOf,
  MIB,
  multipartUploads,
  multiply,
  newFile,
  newFolder,
  requestExport,
  unzipped,
  uploadOf,
  type UploadRow,
} from '../../support/clients/exports.ts';
import { whileHeld } from '../../support/fakes/held-changes.ts';
import { fixture } from '../../support/suites/fixture.ts';
import type { Api } from '../../support/clients/api.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
const uploads = fixture(
  async () => multipartUploads(tenant),
  async (opened) => opened.close(),
);

/** A folder of 12 files of 8 MiB, which take 13 parts. */
async function largeFolder(api: Api, name: string): Promise<string> {
  const top = await newFolder(api, name);
  await multiply(tenant, await newFile(api, top, 'part', Buffer.alloc(8 * MIB, name)), 11);
  return top;
}

/**
 * `begin` requests exports, or starts a worker that goes on with one. `work` runs while each of them stands between a part that
 * is in the store and its row, which counts `parts`.
 */
const holdingAll = <T>(
  begin: () => Promise<readonly string[]>,
  parts: number,
  work: (rows: readonly UploadRow[]) => Promise<T>,
): Promise<T> =>
  whileHeld(tenant, { table: 'export_uploads', row: `cardinality(NEW.etags) > ${parts}` }, async () => {
    const rows: UploadRow[] = [];
    for (const id of await begin()) {
      await waitFor('the parts', async () => ((await uploadOf(tenant, id))?.parts ?? -1) >= parts);
      const row = await uploadOf(tenant, id);
      if (!row) throw new Error('the export has ended');
      await waitFor('the next part', async () => (await uploads.partsOf(row)) > row.parts);
      rows.push(row);
    }
    return work(rows);
  });
const holding = <T>(begin: () => Promise<string>, parts: number, work: (row: UploadRow) => Promise<T>): Promise<T> =>
  holdingAll(
    async () => [await begin()],
    parts,
    ([row]) => work(row!),
  );
const requested = async (api: Api, folder_id: string): Promise<string> => (await requestExport(api, { folder_id })).id;

/** Nothing of an export that made no archive is left. */
async function expectNothingLeft(id: string, { key }: UploadRow): Promise<void> {
  await waitFor('the upload to go', async () => (await uploads.count()) === 0 && !(await uploadOf(tenant, id)));
  expect(await tenant.objects.head(key)).toBeNull();
  expect(await tenant.db.query('SELECT FROM exports WHERE uuid = $1', [id])).toEqual([]);
}

const purged = (key: string) => waitFor('the content to be purged', async () => (await tenant.objects.head(key)) === null);
const keyOf = async (file: string): Promise<string> =>
  (await tenant.db.query<{ key: string }>('SELECT blob_name AS key FROM files WHERE uuid = $1', [file]))[0]?.key ?? '';
const download = async (url: string): Promise<Buffer> => (await tenant.anonymous.raw('GET', url)).bytes;

/** Makes the sweep of the day due, which is an upload's. */
const sweep = () =>
  platform.pool.query(`UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND kind = 'objects.sweep'`, [
    `tenant_${tenant.slug}`,
  ]);

test('an export whose worker is killed twice resumes, is spared by the sweep, and has the same bytes as another', async () => {
  const { api } = await tenant.user();
  const top = await largeFolder(api, 'killed');
  const undisturbed = await exported(api, { folder_id: top });
  let id = '';
  const request = async (): Promise<string> => (id = await requested(api, top));
  // The part that is in the store and not in the row is sent again.
  const first = await holding(request, 1, async (row) => (await worker.end('SIGKILL'), row));
  await tenant.objects.beginParts(`${first.key.split('/')[0]}/00/${'s'.repeat(32)}`, 'application/zip'); // nobody's
  await sweep();
  const goOn = async (): Promise<string> => (await worker.start(), id);
  const second = await holding(goOn, first.parts + 2, async (row) => (await worker.end('SIGKILL'), row));
  await worker.start();

  const job = await endOf(api, id);
  const bytes = await download(job.result.url);

  expect([second.uploadId, second.key]).toEqual([first.uploadId, first.key]);
  expect(await tenant.db.query('SELECT key FROM exports WHERE uuid = $1', [id])).toEqual([{ key: first.key }]);
  expect([job.state, job.result.size, job.result.sha256]).toEqual(['succeeded', bytes.length, undisturbed.result.sha256]);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(job.result.sha256);
  expect(Object.keys(unzipped(bytes)).length).toBe(13);
  expect(await uploadOf(tenant, id)).toBeUndefined();
  await waitFor('the sweep', async () => (await uploads.count()) === 0);
});

test('an export whose archive was whole when its worker was killed is not made again', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'whole');
  await newFile(api, top, 'a.txt');
  const { id, key } = await platform.pool.transaction(async (tx) => {
    await tx.query(`LOCK TABLE "${tenantRole(tenant.slug)}".exports IN SHARE MODE`);
    const { id } = await requestExport(api, { folder_id: top });
    const row = await waitFor('the upload', () => uploadOf(tenant, id));
    await waitFor('the archive', async () => (await tenant.objects.head(row.key)) !== null);
    await worker.end('SIGKILL');
    return { id, key: row.key };
  });
  await worker.start();

  const job = await endOf(api, id);

  expect([job.state, unzipped(await download(job.result.url))]).toEqual([
    'succeeded',
    { 'whole/': null, 'whole/a.txt': 'a.txt' },
  ]);
  expect(await tenant.db.query('SELECT key FROM exports WHERE uuid = $1', [id])).toEqual([{ key }]);
});

test('exports whose upload is lost start again; those canceled or orphaned without a worker leave nothing', async () => {
  const [ada, eve] = [await tenant.user(), await tenant.user()];
  const top = await largeFolder(ada.api, 'alone');
  await ada.api.post(`/folders/${top}/permissions`, { user_id: eve.user.id, permission_level: 'read' });
  let [lost, canceled, orphaned] = ['', '', ''];
  const request = async (): Promise<string[]> =>
    ([lost, canceled, orphaned] = [await requested(ada.api, top), await requested(ada.api, top), await requested(eve.api, top)]);
  const rows = await holdingAll(request, 0, async (found) => (await worker.end('SIGKILL'), found));
  await tenant.objects.inParts(rows[0]!.key, rows[0]!.uploadId).abort();
  expect((await ada.api.post(`/jobs/${canceled}/cancel`)).status).toBe(202);
  expect((await tenant.admin.delete(`/users/${eve.user.id}`)).status).toBe(204);
  await worker.start();

  const job = await endOf(ada.api, lost);

  expect(job.state).toBe('succeeded');
  expect(Object.keys(unzipped(await download(job.result.url))).length).toBe(13);
  await expectNothingLeft(canceled, rows[1]!);
  await expectNothingLeft(orphaned, rows[2]!);
});

test('purged files are left out of an export and fail as items; a replaced one is exported as planned', async () => {
  const { api } = await tenant.user();
  const top = await largeFolder(api, 'fading');
  const [gone, replaced, lost, also] = [
    await newFile(api, top, 'z1 gone', 'gone'),
    await newFile(api, top, 'z2 replaced', 'before'),
    await newFile(api, top, 'z3 lost', 'before'),
    await newFile(api, top, 'z4 also gone', 'also gone'),
  ];
  await newFile(api, top, 'z5 last', 'last');
  const keys = [await keyOf(gone), await keyOf(lost), await keyOf(also)];
  let id = '';
  const request = async (): Promise<string> => (id = await requested(api, top));
  await holding(request, 0, async () => {
    for (const file of [gone, also]) await api.delete(`/files/${file}`, { query: { permanent: true } });
    for (const file of [replaced, lost])
      expect((await api.upload(`/files/${file}`, { method: 'PUT', name: 'a', file: Buffer.from('after') })).status).toBe(200);
    expect((await api.delete(`/files/${lost}/versions/1`)).status).toBe(204);
    for (const key of keys) await purged(key);
  });

  const job = await endOf(api, id);
  const again = await endOf(api, (await api.post(`/jobs/${id}/retry`, { codes: ['conflict'] })).body.id);
  const { 'fading/': _top, ...files } = unzipped(await download(job.result.url));
  const small = Object.fromEntries(Object.entries(files).filter(([path]) => path.startsWith('fading/z')));

  expect(unzipped(await download(again.result.url))).toEqual({ 'z3 lost': 'after' });
  expect(small).toEqual({ 'fading/z2 replaced': 'before', 'fading/z5 last': 'last' });
  expect(Object.keys(files).length).toBe(14);
  expect(job).toMatchObject({ state: 'succeeded', progress: { done: 4, total: 4, failed: 3 } });
  expect((await itemsOf(api, id)).sort()).toEqual([
    ['fading', 'succeeded', null],
    ['z1 gone', 'failed', 'not_found'],
    ['z3 lost', 'failed', 'conflict'],
    ['z4 also gone', 'failed', 'not_found'],
  ]);
});

test('a file that is deleted for ever while it is written has the export start over without it', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'half');
  const large = await newFile(api, top, 'large', Buffer.alloc(96 * MIB, 'l'));
  await newFile(api, top, 'small');
  const key = await keyOf(large);
  let id = '';
  const request = async (): Promise<string> => (id = await requested(api, top));
  const row = await holding(request, 0, async (found) => {
    await api.delete(`/files/${large}`, { query: { permanent: true } });
    await purged(key);
    return found;
  });

  const job = await endOf(api, id);

  expect(unzipped(await download(job.result.url))).toEqual({ 'half/': null, 'half/small': 'small' });
  expect((await itemsOf(api, id)).sort()).toEqual([
    ['half', 'succeeded', null],
    ['large', 'failed', 'not_found'],
  ]);
  expect([await uploads.count(), await tenant.objects.head(row.key)]).toEqual([0, null]);
});

test('contents whose CRC-32 is not known are read before, once for all', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'old');
  for (const name of ['a', 'b', 'empty']) await newFile(api, top, name, name === 'empty' ? '' : name);
  await tenant.db.query(
    `UPDATE file_versions v SET crc32 = NULL FROM files f, folders d
     WHERE f.id = v.file_id AND d.id = f.folder_id AND d.uuid = $1`,
    [top],
  );
  const before = await api.raw('HEAD', `/folders/${top}/zip`);

  const job = await exported(api, { folder_id: top });

  const after = await api.raw('HEAD', `/folders/${top}/zip`);
  expect(unzipped(await download(job.result.url))).toEqual({ 'old/': null, 'old/a': 'a', 'old/b': 'b', 'old/empty': '' });
  expect([before.headers['content-length'], after.headers['content-length']]).toEqual([undefined, String(job.result.size)]);
});

test('no part of an export is sent long after its cancellation, and none is left', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'canceled');
  await multiply(tenant, await newFile(api, top, 'part', Buffer.alloc(8 * MIB, 'c')), 511);
  const { id } = await requestExport(api, { folder_id: top });
  const row = await waitFor('the first parts', async () => {
    const found = await uploadOf(tenant, id);
    return found && found.parts > 1 ? found : undefined;
  });

  const canceled = await api.post(`/jobs/${id}/cancel`);
  const at = performance.now();
  let [parts, lastMs] = [0, 0];
  await waitFor('the upload to go', async () => {
    const sent = await uploads.partsOf(row).catch(() => null);
    if (sent !== null && sent > parts) [parts, lastMs] = [sent, performance.now() - at];
    return sent === null;
  });

  expect([canceled.status, canceled.body.state]).toEqual([202, 'canceled']);
  // Less than half a second on a quiet machine; an export that goes on takes some 30 s.
  expect(lastMs).toBeLessThan(15_000);
  await expectNothingLeft(id, row);
  expect((await api.get(`/jobs/${id}`)).body).toMatchObject({ state: 'canceled', result: null });
});

test('an export whose requester loses the right to read it fails with the reason, and leaves nothing', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const top = await largeFolder(ada.api, 'taken');
  const grant = (await ada.api.post(`/folders/${top}/permissions`, { user_id: bob.user.id, permission_level: 'read' })).body.id;
  let id = '';
  const request = async (): Promise<string> => (id = await requested(bob.api, top));
  const row = await holding(request, 0, async (found) => {
    expect((await ada.api.delete(`/folders/${top}/permissions/${grant}`)).status).toBe(204);
    return found;
  });

  const job = await endOf(bob.api, id);

  expect(job).toMatchObject({ state: 'failed', result: null, error: { code: 'forbidden' } });
  expect(job.error.message).toContain('You lost the right to read');
  await expectNothingLeft(id, row);
});
