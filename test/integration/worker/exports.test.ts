import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../support/backends/backends.ts';
import {
  endOf,
  exported,
  itemsOf,
  MIB,
  multiply,
  newFile,
  newFolder,
  requestExport,
  unzipped,
  uploadOf,
} from '../../support/clients/exports.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);

const download = (url: string, headers: Record<string, string> = {}) => tenant.anonymous.raw('GET', url, { headers });

test('an exported folder is the archive’s top folder; its link serves it for a day without a session, with ranges', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'Übung');
  await newFile(api, await newFolder(api, 'Week 1', top), 'a.txt');
  for (const name of ['Plan', 'plan', 'large.bin'])
    await newFile(api, top, name, name === 'large.bin' ? Buffer.alloc(9 * MIB, 'x') : name);

  const job = await exported(api, { folder_id: top });
  const { url, expires_at, size, sha256 } = job.result;
  const whole = await download(url);
  const [part, head, beyond] = [
    await download(url, { range: 'bytes=10-19', 'if-range': whole.headers.etag ?? '' }),
    await tenant.anonymous.raw('HEAD', url),
    await download(url, { range: `bytes=${size}-` }),
  ];

  expect(job).toMatchObject({ state: 'succeeded', progress: { done: 1, total: 1, failed: 0 }, error: null });
  expect(await itemsOf(api, job.id)).toEqual([['Übung', 'succeeded', null]]);
  expect([whole.status, whole.bytes.length, createHash('sha256').update(whole.bytes).digest('hex')]).toEqual([200, size, sha256]);
  expect(whole.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="_bung.zip"; filename*=UTF-8''%C3%9Cbung.zip`,
  });
  const { 'Übung/_renamed.txt': renamed, ...files } = unzipped(whole.bytes);
  expect(renamed).toContain('These names were changed');
  expect(files).toEqual({
    'Übung/': null,
    'Übung/Plan': 'Plan',
    'Übung/plan (1)': 'plan',
    'Übung/large.bin': 'x'.repeat(100),
    'Übung/Week 1/': null,
    'Übung/Week 1/a.txt': 'a.txt',
  });
  expect([
    part.status,
    Buffer.compare(part.bytes, whole.bytes.subarray(10, 20)),
    head.headers['content-length'],
    beyond.status,
  ]).toEqual([206, 0, String(size), 416]);
  expect(Date.parse(expires_at) - Date.parse(job.ended_at)).toBeGreaterThan(86_000_000);
  expect((await download(url.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')))).status).toBe(404);
});

test('exported items are on top of the archive; unreadable ones fail, and with none left the job fails', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const shared = await newFolder(ada.api, 'shared');
  const readable = await newFile(ada.api, shared, 'a.txt', 'Ada’s');
  const secret = await newFile(ada.api, await newFolder(ada.api, 'own'), 'secret');
  await ada.api.post(`/folders/${shared}/permissions`, { user_id: bob.user.id, permission_level: 'read' });
  const items = [
    { type: 'folder', id: shared },
    { type: 'file', id: secret },
    { type: 'file', id: readable },
    { type: 'file', id: readable },
  ];

  const job = await exported(bob.api, { items });
  const none = await exported(bob.api, { items: [{ type: 'file', id: secret }] });

  expect(job).toMatchObject({ state: 'succeeded', progress: { done: 3, total: 3, failed: 1 } });
  expect(await itemsOf(bob.api, job.id)).toEqual([
    ['shared', 'succeeded', null],
    [null, 'failed', 'not_found'],
    ['a.txt', 'succeeded', null],
  ]);
  expect(unzipped((await download(job.result.url)).bytes)).toEqual({
    'a.txt': 'Ada’s',
    'shared/': null,
    'shared/a.txt': 'Ada’s',
  });
  expect(none).toMatchObject({ state: 'failed', error: { code: 'not_found' }, result: null, progress: { failed: 1 } });
  expect((await bob.api.post('/exports', { folder_id: secret })).status).toBe(404);
  expect((await bob.api.post('/exports', { folder_id: shared, items })).status).toBe(400);
});

test('an archive has the name that was asked for, and one that no file may have is refused', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'top');
  const items = [{ type: 'file', id: await newFile(api, top, 'a.txt') }];

  const named = await exported(api, { items, name: 'Größe 1' });
  const unnamed = await exported(api, { items });
  const refused = await api.post('/exports', { items, name: '../a' });

  const disposition = async ({ result }: { result: { url: string } }) =>
    (await download(result.url)).headers['content-disposition'];
  expect([await disposition(named), await disposition(unnamed)]).toEqual([
    `attachment; filename="Gr__e 1.zip"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%201.zip`,
    'attachment; filename="a.txt.zip"',
  ]);
  expect([refused.status, refused.body.details]).toEqual([400, [expect.objectContaining({ field: 'name' })]]);
});

const keyOf = async (id: string): Promise<string> => {
  const [file] = await tenant.db.query<{ key: string }>('SELECT blob_name AS key FROM files WHERE uuid = $1', [id]);
  return file?.key ?? '';
};

test('a file whose object is missing or too short fails as an item, and the rest is exported', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'top');
  const [, missing, short, unread] = [
    await newFile(api, top, 'a.txt'),
    await newFile(api, top, 'b missing.txt'),
    await newFile(api, top, 'c short.txt'),
    await newFile(api, top, 'd without a CRC-32.txt'),
    await newFile(api, top, 'e.txt'),
  ];
  await tenant.objects.delete([await keyOf(missing), await keyOf(unread)]);
  await tenant.objects.put(await keyOf(short), Buffer.from('c'));
  await tenant.db.query('UPDATE file_versions SET crc32 = NULL WHERE blob_name = $1', [await keyOf(unread)]);

  const job = await exported(api, { folder_id: top });

  expect(job).toMatchObject({ state: 'succeeded', progress: { done: 4, failed: 3 } });
  expect((await itemsOf(api, job.id)).sort()).toEqual([
    ['b missing.txt', 'failed', 'not_found'],
    ['c short.txt', 'failed', 'not_found'],
    ['d without a CRC-32.txt', 'failed', 'not_found'],
    ['top', 'succeeded', null],
  ]);
  const { body: items } = await api.get(`/jobs/${job.id}/items`, { query: { code: 'not_found' } });
  expect(items.data[0].error.message).toMatch(/^Its content is missing from the storage, or is incomplete\./);
  expect(unzipped((await download(job.result.url)).bytes)).toEqual({ 'top/': null, 'top/a.txt': 'a.txt', 'top/e.txt': 'e.txt' });
});

test('an export fails where the rest of a content is lost whose beginning is in the archive, and leaves nothing', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'top');
  const large = await newFile(api, top, 'large.bin', Buffer.alloc(20 * MIB, 'x'));
  await tenant.objects.put(await keyOf(large), Buffer.alloc(17 * MIB, 'x'));

  const job = await exported(api, { folder_id: top });

  expect(job).toMatchObject({ state: 'failed', result: null, error: { code: 'not_found' } });
  expect(job.error.message).toMatch(/^large\.bin: Its content is missing from the storage, or is incomplete\./);
  await waitFor('its parts to be deleted', async () => (await uploadOf(tenant, job.id)) === undefined);
});

test('rights count when the export runs, its link ends with its user, and administrators see no link', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const shared = await newFolder(ada.api, 'shared');
  await newFile(ada.api, shared, 'a.txt');
  const grant = (await ada.api.post(`/folders/${shared}/permissions`, { user_id: bob.user.id, permission_level: 'read' })).body
    .id;
  const before = await exported(bob.api, { folder_id: shared });
  await worker.end('SIGKILL');
  const { id } = await requestExport(bob.api, { folder_id: shared });
  expect((await ada.api.delete(`/folders/${shared}/permissions/${grant}`)).status).toBe(204);
  await worker.start();
  const after = await endOf(bob.api, id);
  const seen = await tenant.admin.get(`/jobs/${before.id}`);
  const listed = (await tenant.admin.get('/jobs', { query: { all: true, kind: 'export' } })).body.data;
  const { url } = before.result;
  const whileActive = await download(url);
  await tenant.admin.patch(`/users/${bob.user.id}`, { is_active: false });

  expect(after).toMatchObject({ state: 'failed', error: { code: 'not_found' }, result: null });
  expect([seen.status, seen.body.result]).toEqual([200, null]);
  expect(listed.filter(({ result }: { result: object | null }) => result !== null)).toEqual([]);
  expect([whileActive.status, (await download(url)).status]).toEqual([200, 404]);
});

test('an export that has expired is deleted with its object', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'expired');
  await newFile(api, top, 'a.txt');
  const { id, result } = await exported(api, { folder_id: top });
  const [row] = await tenant.db.query<{ key: string }>('SELECT key FROM exports WHERE uuid = $1', [id]);

  await tenant.db.query('UPDATE exports SET expires_at = now() WHERE uuid = $1', [id]);
  expect((await download(result.url)).status).toBe(404);
  await platform.pool.query("UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND kind = 'exports.expire'", [
    `tenant_${tenant.slug}`,
  ]);
  await waitFor('the object to go', async () => (await tenant.objects.head(row?.key ?? '')) === null);
  expect(await tenant.db.query('SELECT FROM exports WHERE uuid = $1', [id])).toEqual([]);
});

test('10,000 files are exported as one archive', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'many');
  await multiply(tenant, await newFile(api, top, 'one'), 999);
  await multiply(tenant, await newFile(api, top, 'empty', ''), 8_999); // no request to the store for each

  const job = await exported(api, { folder_id: top });

  expect(job.state).toBe('succeeded');
  const files = unzipped((await download(job.result.url)).bytes);
  expect([Object.keys(files).length, files['many/one 999'], files['many/empty 8999']]).toEqual([10_001, 'one', '']);
});

test('a person has ten exports at once', async () => {
  const { api, user } = await tenant.user();
  const top = await newFolder(api, 'few');
  await tenant.db.query(
    `INSERT INTO exports (uuid, user_id, token, name, key, size, checksum, expires_at)
     SELECT gen_random_uuid(), u.id, md5(n::text) || md5(u.id::text), 'x', 'k' || n, 1, 'c', now() + interval '1 hour'
     FROM users u, generate_series(1, 10) n WHERE u.uuid = $1`,
    [user.id],
  );
  const refused = await api.post('/exports', { folder_id: top });
  await tenant.db.query(
    "UPDATE exports SET expires_at = now() WHERE user_id = (SELECT id FROM users WHERE uuid = $1) AND key = 'k1'",
    [user.id],
  );

  expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
  expect((await exported(api, { folder_id: top })).state).toBe('succeeded');
});

test('export.sh of the documentation exports a folder, waits for it and downloads it', async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'documented');
  await newFile(api, top, 'a.txt');
  const page = readFileSync(join(ROOT, 'docs/use-the-api.md'), 'utf8');
  const script = page.split('<!-- export.sh -->')[1]?.match(/^```sh\n([\s\S]*?)^```$/m)?.[1] ?? '';
  const out = mkdtempSync(join(tmpdir(), 'carrel-export-'));
  try {
    const env = { PATH: process.env['PATH'], API: tenant.apiUrl, TOKEN: api.token, FOLDER: top };
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: out, env });

    expect(stdout).toContain('export.zip: OK');
    expect(unzipped(readFileSync(join(out, 'export.zip')))).toEqual({ 'documented/': null, 'documented/a.txt': 'a.txt' });
  } finally {
    rmSync(out, { recursive: true });
  }
});
