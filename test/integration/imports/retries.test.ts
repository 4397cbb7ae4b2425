import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { jobEnd } from '../../support/clients/batches.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { type ZipEntry, zipBytes } from '../../support/data/zip-bytes.ts';
import { faultsOf, quotaOf } from '../content/tenant-state.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);

const ENTRIES: readonly ZipEntry[] = [
  { name: 'd/a.txt', content: 'new a' },
  { name: 'd/b.txt', content: 'new b' },
  { name: 'c.txt', content: 'c' },
];
const ARCHIVE = zipBytes(ENTRIES);

/** Somebody with d/a.txt, d/b.txt and a stored archive of others. */
async function taken(quota?: number) {
  const person = await tenant.user(quota === undefined ? {} : { storage_quota: quota });
  const { api } = person;
  const { body: folder } = await api.post('/folders', { name: 'd' });
  const upload = async (name: string, file: Buffer, fields = {}) =>
    (await api.upload('/files', { name, file, fields })).body.id as string;
  const [a, b] = [
    await upload('a.txt', Buffer.from('old a'), { folder_id: folder.id }),
    await upload('b.txt', Buffer.from('old b'), { folder_id: folder.id }),
  ];
  return { ...person, a, b, archive: await upload('a.zip', ARCHIVE) };
}

const imported = async (api: Api, file: string) => jobEnd(api, (await api.post('/imports', { file_id: file })).body.id);
const retried = async (api: Api, id: string, body = {}) => {
  const { status, body: job } = await api.post(`/jobs/${id}/retry`, body);
  expect(status).toBe(202);
  return jobEnd(api, job.id);
};

test('a retry imports only the failed entries of a stored archive, and so does the next one', async () => {
  const { api, user, a, b, archive } = await taken();
  const first = await imported(api, archive);
  expect(first).toMatchObject({ state: 'succeeded', progress: { total: 3, done: 3, failed: 2 }, result: { files: 1 } });

  await api.patch(`/files/${a}`, { name: 'old a.txt' });
  const second = await retried(api, first.id, { codes: ['name_conflict'] });
  await api.patch(`/files/${b}`, { name: 'old b.txt' });
  const third = await retried(api, second.id);

  expect(second).toMatchObject({
    state: 'succeeded',
    retry_of: first.id,
    progress: { total: 2, done: 2, failed: 1, skipped: 0 },
  });
  expect(second.result).toMatchObject({
    files: 1,
    folders: 0,
    bytes: 5,
    skipped: [],
    contents: { entries: 2, total_entries: 2, bytes: 10 },
  });
  expect(third).toMatchObject({
    state: 'succeeded',
    retry_of: second.id,
    progress: { total: 1, done: 1, failed: 0 },
    result: { files: 1 },
  });
  const { data } = (await api.get('/files', { query: { sort: 'name' } })).body;
  expect(data.map(({ path }: { path: string }) => path).toSorted()).toEqual(
    ['/a.zip', '/c.txt', '/d/a.txt', '/d/b.txt', '/d/old a.txt', '/d/old b.txt'].toSorted(),
  );
  expect(await quotaOf(tenant, user.id)).toBe(ARCHIVE.length + 21);
  expect(await tenant.db.query('SELECT FROM storage_reservations')).toEqual([]);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a retry reserves quota as an import does; without enough it fails as a whole, and is not retried', async () => {
  const { api, archive } = await taken(ARCHIVE.length + 21);
  const first = await imported(api, archive);
  await api.upload('/files', { name: 'full.txt', file: Buffer.from('x') });

  const second = await retried(api, first.id);

  expect([first.state, first.progress.failed]).toEqual(['succeeded', 2]);
  expect(second).toMatchObject({
    state: 'failed',
    error: { code: 'quota_exceeded' },
    progress: { total: 2, done: 0 },
    result: { files: 0 },
  });
  expect((await api.post(`/jobs/${second.id}/retry`)).status).toBe(409);
  expect(await retried(api, first.id, { codes: ['name_conflict'] })).toMatchObject({ state: 'failed' });
  // A failed import gives back what it reserved a moment after its end.
  await waitFor('the end of what was reserved', async () => (await tenant.db.query('SELECT FROM partial_uploads')).length === 0);
});

test('failed entries of an archive in the request cannot be retried, and the refusal says what to do instead', async () => {
  const { api } = await taken();
  const { body } = await api.upload('/imports', { name: 'a.zip', file: ARCHIVE });
  expect(await jobEnd(api, body.id)).toMatchObject({ progress: { failed: 2 } });

  const refused = await api.post(`/jobs/${body.id}/retry`);

  expect(refused).toMatchObject({ status: 409, body: { error: 'conflict' } });
  expect(refused.body.message).toContain('on_conflict=skip');
});

test('an import that is tried again after its archive was deleted fails, and says why', async () => {
  const { api, a, archive } = await taken();
  const first = await imported(api, archive);
  await api.patch(`/files/${a}`, { name: 'old a.txt' });
  await api.delete(`/files/${archive}`, { query: { permanent: true } });

  expect(await retried(api, first.id)).toMatchObject({ state: 'failed', error: { code: 'not_found' }, result: { files: 0 } });
  expect(await faultsOf(tenant)).toEqual([]);
});
