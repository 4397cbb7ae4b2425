import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { expect, test } from '@jest/globals';
import { ArchiveContents } from '../../../pkg/content/archives/archive-contents.ts';
import { entriesOf, RenamedList, topFolder } from '../../../pkg/content/archives/folder-entries.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { newClient } from '../../../pkg/store/s3/objects.ts';
import type { Api } from '../../support/api.ts';
import { ROOT } from '../../support/backends.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/worker-suite.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);

const MIB = 1 << 20;

const folder = async (api: Api, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const file = async (api: Api, folder_id: string, name: string, content: string | Buffer = name): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(content), fields: { folder_id } })).body.id;
const request = async (api: Api, body: object) => {
  const reply = await api.post('/exports', body);
  expect([reply.status, reply.body.kind, reply.body.result]).toEqual([202, 'export', null]);
  return reply.body;
};
/** A job once it has ended. */
const endOf = (api: Api, id: string) =>
  waitFor('the end of the job', async () => {
    const { body } = await api.get(`/jobs/${id}`);
    return body.ended_at === null ? undefined : body;
  });
const exported = async (api: Api, body: object) => endOf(api, (await request(api, body)).id);
const itemsOf = async (api: Api, id: string) =>
  (await api.get(`/jobs/${id}/items`)).body.data.map(
    ({ target, state, error }: { target: { name: string | null }; state: string; error: { code: string } | null }) => [
      target.name,
      state,
      error?.code ?? null,
    ],
  );
const download = (url: string, headers: Record<string, string> = {}) => tenant.anonymous.raw('GET', url, { headers });

/** The contents of an archive's files by their paths, as Python reads them; null for folders. */
function unzipped(archive: Buffer): Record<string, string | null> {
  const script = `import io, json, sys, zipfile
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())); assert z.testzip() is None
print(json.dumps({i.filename: None if i.is_dir() else z.read(i).decode()[:100] for i in z.infolist()}))`;
  return JSON.parse(execFileSync('python3', ['-c', script], { input: archive, encoding: 'utf8', maxBuffer: 64 * MIB })) as Record<
    string,
    string | null
  >;
}

/** Further files in a folder with the content of one, `count` of them, without the work of uploading. */
const multiply = async (id: string, count: number): Promise<void> => {
  for (let from = 1; from <= count; from += 1_000)
    await tenant.db.query(
      `WITH source AS (SELECT f.*, v.crc32 FROM files f JOIN file_versions v ON v.file_id = f.id WHERE f.uuid = $1), made AS (
       INSERT INTO files (uuid, name, path, size, checksum, owner_id, folder_id, blob_container, blob_name)
       SELECT gen_random_uuid(), s.name || ' ' || n, s.path || ' ' || n, s.size, s.checksum, s.owner_id, s.folder_id, s.blob_container, s.blob_name
       FROM source s, generate_series($2::int, $3::int) n RETURNING id, size, checksum, blob_name, owner_id
     )
     INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by, crc32)
     SELECT m.id, 1, m.size, m.checksum, m.blob_name, m.owner_id, s.crc32 FROM made m, source s`,
      [id, from, Math.min(count, from + 999)],
    );
};

test('an exported folder is the top folder of an archive, which its link gives for a day without a session, whole and in ranges', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'Übung');
  await file(api, await folder(api, 'Week 1', top), 'a.txt');
  for (const name of ['Plan', 'plan', 'large.bin']) await file(api, top, name, name === 'large.bin' ? Buffer.alloc(9 * MIB, 'x') : name);

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
  expect([part.status, Buffer.compare(part.bytes, whole.bytes.subarray(10, 20)), head.headers['content-length'], beyond.status]).toEqual([
    206,
    0,
    String(size),
    416,
  ]);
  expect(Date.parse(expires_at) - Date.parse(job.ended_at)).toBeGreaterThan(86_000_000);
  expect((await download(url.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')))).status).toBe(404);
});

test('exported files and folders are on top of the archive; what is not to be read fails, and with nothing left the job does', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const shared = await folder(ada.api, 'shared');
  const readable = await file(ada.api, shared, 'a.txt', 'Ada’s');
  const secret = await file(ada.api, await folder(ada.api, 'own'), 'secret');
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
  expect(unzipped((await download(job.result.url)).bytes)).toEqual({ 'a.txt': 'Ada’s', 'shared/': null, 'shared/a.txt': 'Ada’s' });
  expect(none).toMatchObject({ state: 'failed', error: { code: 'not_found' }, result: null, progress: { failed: 1 } });
  expect((await bob.api.post('/exports', { folder_id: secret })).status).toBe(404);
  expect((await bob.api.post('/exports', { folder_id: shared, items })).status).toBe(400);
});

test('rights count when the export runs, its link ends with its user, and administrators see no link', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const shared = await folder(ada.api, 'shared');
  await file(ada.api, shared, 'a.txt');
  const grant = (await ada.api.post(`/folders/${shared}/permissions`, { user_id: bob.user.id, permission_level: 'read' })).body.id;
  const before = await exported(bob.api, { folder_id: shared });
  await worker.end('SIGKILL');
  const { id } = await request(bob.api, { folder_id: shared });
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

test('an export whose worker is killed begins anew and is whole; an expired one is deleted with its object', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'killed');
  await multiply(await file(api, top, 'part', Buffer.alloc(8 * MIB, 'k')), 11);
  const { id } = await request(api, { folder_id: top });
  await waitFor('the job to run', async () => (await api.get(`/jobs/${id}`)).body.state !== 'queued');
  await new Promise((resolve) => setTimeout(resolve, 150)); // wherever it is then
  await worker.end('SIGKILL');
  await worker.start();

  const job = await endOf(api, id);
  const { bytes } = await download(job.result.url);
  const [row] = await tenant.db.query<{ key: string }>('SELECT key FROM exports WHERE uuid = $1', [id]);
  expect(Object.keys(unzipped(bytes)).length).toBe(13);
  expect(await tenant.objects.head(row?.key ?? '')).toMatchObject({ size: bytes.length });

  await tenant.db.query('UPDATE exports SET expires_at = now() WHERE uuid = $1', [id]);
  expect((await download(job.result.url)).status).toBe(404);
  await platform.pool.query("UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND kind = 'exports.expire'", [
    `tenant_${tenant.slug}`,
  ]);
  await waitFor('the object to go', async () => (await tenant.objects.head(row?.key ?? '')) === null);
  expect(await tenant.db.query('SELECT FROM exports WHERE uuid = $1', [id])).toEqual([]);
});

test('a file that is deleted for ever before its turn is left out, and reported', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'fading');
  const ids = [await file(api, top, 'a.txt'), await file(api, top, 'b.txt'), await file(api, top, 'c.txt')];
  const [row] = await tenant.db.query<{ id: number; key: string }>(
    `SELECT d.id, f.blob_name AS key FROM folders d, files f WHERE d.uuid = $1 AND f.uuid = $2`,
    [top, ids[1]],
  );
  const gone: string[] = [];
  const entries = async function* () {
    for await (const entry of entriesOf(tenant.db, topFolder(tenant.db, row?.id ?? 0), new RenamedList())) {
      if (entry.path.endsWith('a.txt')) {
        await api.delete(`/files/${ids[1]}`, { query: { permanent: true } });
        await tenant.objects.delete([row?.key ?? '']);
      }
      yield entry;
    }
  };
  const contents = new ArchiveContents({ db: tenant.db, objects: tenant.objects, log: silentLogger });

  const paths: string[] = [];
  for await (const { path } of contents.of(entries(), new AbortController().signal, ({ name }) => gone.push(name))) paths.push(path);

  expect([paths, gone]).toEqual([['fading/', 'fading/a.txt', 'fading/c.txt'], ['b.txt']]);
});

test('a canceled export stops within a second and leaves nothing', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'large');
  await multiply(await file(api, top, 'part', Buffer.alloc(8 * MIB, 'l')), 511);
  const client = newClient({
    endpoint: tenant.config.CARREL_S3_ENDPOINT,
    region: tenant.config.CARREL_S3_REGION,
    accessKeyId: tenant.config.CARREL_S3_ACCESS_KEY_ID,
    secretAccessKey: tenant.config.CARREL_S3_SECRET_ACCESS_KEY,
  });
  const uploads = async (): Promise<number> =>
    (await client.send(new ListMultipartUploadsCommand({ Bucket: tenant.config.CARREL_S3_BUCKET }))).Uploads?.length ?? 0;
  await tenant.objects.abandonUploads(''); // those of workers that were killed
  const { id } = await request(api, { folder_id: top });
  await waitFor('the upload to begin', async () => (await uploads()) > 0);

  const canceled = await api.post(`/jobs/${id}/cancel`);
  const at = performance.now();
  await waitFor('the export to stop', async () => (await uploads()) === 0);
  const tookMs = performance.now() - at;
  client.destroy();

  expect([canceled.status, canceled.body.state]).toEqual([202, 'canceled']);
  expect(tookMs).toBeLessThan(3_000); // it stops within one, and then the store deletes its parts
  expect((await api.get(`/jobs/${id}`)).body).toMatchObject({ state: 'canceled', result: null });
  expect(await tenant.db.query('SELECT FROM exports WHERE uuid = $1', [id])).toEqual([]);
});

test('10,000 files are exported as one archive', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'many');
  await multiply(await file(api, top, 'one'), 999);
  await multiply(await file(api, top, 'empty', ''), 8_999); // no request to the store for each

  const job = await exported(api, { folder_id: top });

  expect(job.state).toBe('succeeded');
  const files = unzipped((await download(job.result.url)).bytes);
  expect([Object.keys(files).length, files['many/one 999'], files['many/empty 8999']]).toEqual([10_001, 'one', '']);
});

test('a person has ten exports at once', async () => {
  const { api, user } = await tenant.user();
  const top = await folder(api, 'few');
  await tenant.db.query(
    `INSERT INTO exports (uuid, user_id, token, name, key, size, checksum, expires_at)
     SELECT gen_random_uuid(), u.id, md5(n::text) || md5(u.id::text), 'x', 'k' || n, 1, 'c', now() + interval '1 hour'
     FROM users u, generate_series(1, 10) n WHERE u.uuid = $1`,
    [user.id],
  );
  const refused = await api.post('/exports', { folder_id: top });
  await tenant.db.query("UPDATE exports SET expires_at = now() WHERE user_id = (SELECT id FROM users WHERE uuid = $1) AND key = 'k1'", [
    user.id,
  ]);

  expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
  expect((await exported(api, { folder_id: top })).state).toBe('succeeded');
});

test('export.sh of the documentation exports a folder, waits for it and downloads it', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'documented');
  await file(api, top, 'a.txt');
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
