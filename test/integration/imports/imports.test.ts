import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Api } from '../../support/clients/api.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { zipBytes, type ZipEntry } from '../../support/data/zip-bytes.ts';
import { faultsOf, objectCount, quotaOf } from '../content/tenant-state.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
type Person = Awaited<ReturnType<typeof tenant.user>>;
type Item = Record<'target' | 'result', Record<string, unknown>>;

const ended = (api: Api, id: string) =>
  waitFor('the end of the import', async () => {
    const { body: job } = await api.get(`/jobs/${id}`);
    return job.ended_at === null ? undefined : job;
  });

const sent = ({ api }: Person, entries: readonly ZipEntry[], fields: Record<string, string> = {}) =>
  api.upload('/imports', { name: 'a.zip', file: zipBytes(entries), fields });

/** An import of an archive that comes with the request, once it has ended. */
async function imported(person: Person, entries: readonly ZipEntry[], fields: Record<string, string> = {}) {
  const { status, body } = await sent(person, entries, fields);
  expect([status, body.kind]).toEqual([202, 'import']);
  const job = await ended(person.api, body.id);
  const { data } = (await person.api.get(`/jobs/${body.id}/items`, { query: { limit: 200 } })).body;
  return { job, items: data };
}

const folderOf = async ({ api }: Person, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;

/** The paths of somebody's live files, with their contents. */
async function filesOf({ api }: Person): Promise<Record<string, string>> {
  const { data } = (await api.get('/files', { query: { limit: 200, sort: 'name' } })).body;
  const texts = await Promise.all(
    data.map(async ({ id }: { id: string }) => (await api.get(`/files/${id}/download`)).bytes.toString()),
  );
  return Object.fromEntries(data.map(({ path }: { path: string }, at: number) => [path, texts[at]]));
}

test('an archive that comes with the request becomes files and folders as if each had been uploaded', async () => {
  const person = await tenant.user();
  await addWebhook(tenant, { events: ['file.created'] });
  const entries = [
    { name: 'notes/', content: '' },
    { name: 'notes/week 1/plan.txt', content: 'Plan.' },
    { name: 'notes/empty.txt', content: '' },
    { name: 'stored.html', content: '<html></html>', method: 0 },
  ];
  const before = await objectCount(tenant);
  const { job, items } = await imported(person, entries);

  expect(job).toMatchObject({ state: 'succeeded', error: null, progress: { total: 4, done: 4, failed: 0, skipped: 0 } });
  const contents = { entries: 3, total_entries: 3, bytes: 18, total_bytes: 18 };
  expect(job.result).toEqual({ folder_id: null, files: 3, folders: 2, bytes: 18, skipped: [], contents });
  expect(items.map(({ target, result }: Item) => [target.type, target.name, result.type, result.path, result.adapted])).toEqual([
    ['entry', 'notes/', 'folder', 'notes', false],
    ['entry', 'notes/week 1/plan.txt', 'file', 'notes/week 1/plan.txt', false],
    ['entry', 'notes/empty.txt', 'file', 'notes/empty.txt', false],
    ['entry', 'stored.html', 'file', 'stored.html', false],
  ]);
  expect(await filesOf(person)).toEqual({
    '/notes/week 1/plan.txt': 'Plan.',
    '/notes/empty.txt': '',
    '/stored.html': '<html></html>',
  });
  const { body: file } = await person.api.get(`/files/${items[1].result.id}`);
  expect(file).toMatchObject({ size: 5, mime_type: 'text/plain', owner: { id: person.user.id }, checksum: sha256('Plan.') });
  expect((await person.api.get('/search', { query: { q: 'plan' } })).body.data).toHaveLength(1);
  expect(await quotaOf(tenant, person.user.id)).toBe(18);
  const names = (await writtenEvents(tenant)).map(({ data }) => data['name']);
  expect(new Set(names)).toEqual(new Set(['empty.txt', 'plan.txt', 'stored.html']));
  await waitFor('the archive to be deleted', async () => (await objectCount(tenant)) === before + 3);
  expect(await faultsOf(tenant)).toEqual([]);
});
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('a stored archive is imported into a folder; lines and tables of its entries name them by path', async () => {
  const person = await tenant.user();
  const [folder, archive] = [
    await folderOf(person, 'course'),
    zipBytes(range(250).map((n) => ({ name: `f/${n}.txt`, content: `${n}` }))),
  ];
  const { body: file } = await person.api.upload('/files', { name: 'a.zip', file: archive });
  const { body } = await person.api.post('/imports', { file_id: file.id, folder_id: folder });
  const job = await ended(person.api, body.id);

  expect(job).toMatchObject({
    state: 'succeeded',
    result: { folder_id: folder, files: 250, folders: 1 },
    progress: { done: 250 },
  });
  const lines = (await person.api.get(`/jobs/${job.id}/items`, { headers: { accept: 'application/x-ndjson' } })).bytes.toString();
  expect(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).target.name),
  ).toEqual(range(250).map((n) => `f/${n}.txt`));
  const [head, first] = (await person.api.get(`/jobs/${job.id}/items`, { headers: { accept: 'text/csv' } })).bytes
    .toString()
    .split('\r\n');
  expect(head).toBe('id,type,target_id,name,state,reason,code,message,url,copy_id,made_id,made_path');
  expect(first).toMatch(/,entry,[-0-9a-f]{36},f\/0\.txt,succeeded,,,,,,[-0-9a-f]{36},f\/0\.txt$/);
  expect((await person.api.get(`/files/${file.id}`)).status).toBe(200);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('entries with taken names fail, get other names, become versions or are skipped', async () => {
  const expected = {
    fail: ['failed', 'name_conflict', null, 1],
    rename: ['succeeded', null, 'd/a (1).txt', 2],
    replace: ['succeeded', null, 'd/a.txt', 1],
    skip: ['skipped', 'exists', null, 1],
  };
  for (const [on_conflict, [state, why, path, count]] of Object.entries(expected)) {
    const person = await tenant.user();
    const d = await folderOf(person, 'd');
    const { body: present } = await person.api.upload('/files', {
      name: 'a.txt',
      file: Buffer.from('old'),
      fields: { folder_id: d },
    });
    const { job, items } = await imported(
      person,
      [
        { name: 'd/a.txt', content: 'newer' },
        { name: 'd/b.txt', content: 'b' },
      ],
      { on_conflict },
    );

    expect([on_conflict, job.state, job.result.folders]).toEqual([on_conflict, 'succeeded', 0]);
    expect([on_conflict, items[0].state, items[0].error?.code ?? items[0].reason, items[0].result?.path ?? null]).toEqual([
      on_conflict,
      state,
      why,
      path,
    ]);
    expect(items[1].result.path).toBe('d/b.txt');
    expect(job.result.skipped).toEqual(on_conflict === 'skip' ? [{ reason: 'exists', count: 1 }] : []);
    expect((await person.api.get(`/files/${present.id}/versions`)).body.data).toHaveLength(on_conflict === 'replace' ? 2 : 1);
    expect((await person.api.get('/files', { query: { folder_id: d } })).body.data).toHaveLength(Number(count) + 1);
  }
  await waitFor('what was not used to be deleted', async () => (await faultsOf(tenant)).length === 0);
});

test('ten imports that one person requests at once are all accepted, also while the files of others appear', async () => {
  const person = await tenant.user();
  const entries = range(40).map((n) => ({ name: `d/${n}.txt`, content: `${n}` }));

  const replies = await Promise.all(range(10).map(() => sent(person, entries, { on_conflict: 'rename' })));
  const jobs = await Promise.all(replies.map(({ body }) => ended(person.api, body.id)));

  expect(replies.map(({ status }) => status)).toEqual(range(10).map(() => 202));
  expect(jobs.map(({ state, result }) => [state, result.files])).toEqual(range(10).map(() => ['succeeded', 40]));
  expect(jobs.reduce((sum, { result }) => sum + result.folders, 0)).toBe(1);
  expect((await person.api.get('/users/me/usage')).body.files).toBe(400);
});
