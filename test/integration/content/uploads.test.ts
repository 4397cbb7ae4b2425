import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { Problem } from '../../../pkg/api/problem.ts';
import { Blobs } from '../../../pkg/content/blobs/blobs.ts';
import { Reservation } from '../../../pkg/content/blobs/quota-reservation.service.ts';
import { JobRequests } from '../../../pkg/events/job-requests.ts';
import { WorkerNotifier } from '../../../pkg/events/worker-notifier.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { FIRST_BUFFER_BYTES } from '../../../pkg/store/s3/upload-buffers.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';
import { field, filePart, FORM, sendForm } from './raw-form.ts';
import { objectCount, quotaOf } from './tenant-state.ts';

const tenant = serverSuite({ maxUploadBytes: 20 << 20 });

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('an upload', () => {
  test.each([
    ['hello.txt', Buffer.from('hello'), 'text/plain'],
    ['empty', Buffer.alloc(0), 'application/octet-stream'],
    [`it's a "quoted" name; 100%.txt`, Buffer.from('a'), 'text/plain'],
    ['отчёт за год.PDF', Buffer.alloc(70_000, 7), 'application/pdf'],
    ['報告書 (最終).docx', Buffer.alloc(1, 1), 'application/msword'],
    ['تقرير.tar.gz', Buffer.alloc(12 << 20, 5), 'application/gzip'],
    ['🗂️ 100%.zip', Buffer.alloc(3, 3), 'application/zip'],
  ])('of %s comes down as it went up', async (name, file, type) => {
    const { api, user } = await tenant.user();

    const up = await api.upload('/files', { file, name, type });
    const down = await api.get(`/files/${up.body.id}/download`);

    expect(up.status).toBe(201);
    expect(up.body).toMatchObject({
      name,
      size: file.length,
      mime_type: type,
      version: 1,
      checksum: sha256(file),
      folder_id: null,
    });
    expect(up.body.url).toBe(`${tenant.apiUrl}/files/${up.body.id}/download`);
    expect(up.headers['etag']).toBe(`"${up.body.etag}"`);
    expect(sha256(down.bytes)).toBe(sha256(file));
    expect(await quotaOf(tenant, user.id)).toBe(file.length);
  });

  test.each([
    ['notes.MD', undefined, 'text/markdown'],
    ['photo.jpeg', 'application/octet-stream', 'image/jpeg'],
    ['photo.jpeg', 'text/x-mine', 'text/x-mine'],
    ['data.unheard-of', undefined, 'application/octet-stream'],
  ])('of %s sent as %s has the type %s', async (name, type, expected) => {
    const { api } = await tenant.user();
    const up = await api.upload('/files', { file: Buffer.from('x'), name, ...(type === undefined ? {} : { type }) });
    const version = await api.upload(`/files/${up.body.id}`, {
      method: 'PUT',
      file: Buffer.from('y'),
      name: 'other.png',
      type: type ?? '',
    });
    expect([up.body.mime_type, version.body.mime_type]).toEqual([expected, expected]);
  });

  test.each([1, 9 * 1024 * 1024])(
    'with the first bytes of a PNG image is one, whatever its name says (%i bytes more)',
    async (more) => {
      const { api } = await tenant.user();
      const png = Buffer.concat([
        Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010802000000', 'hex'),
        Buffer.alloc(more),
      ]);
      const up = await api.upload('/files', { file: png, name: 'report.pdf', type: 'application/pdf' });
      const text = await api.upload('/files', { file: Buffer.from('x'), name: 'notes.txt', type: 'text/plain' });
      const version = await api.upload(`/files/${text.body.id}`, {
        method: 'PUT',
        file: png,
        name: 'notes.txt',
        type: 'text/plain',
      });

      const down = await api.get(`/files/${up.body.id}/download`);
      expect([up.body.mime_type, down.headers['content-type'], version.body.mime_type]).toEqual([
        'image/png',
        'image/png',
        'image/png',
      ]);
    },
  );

  test('costs two statements: what there is room for, and the file with its version, quota and event', async () => {
    const { api } = await tenant.user();
    const folder = await api.post('/folders', { name: 'counted' });
    await api.upload('/files', { file: Buffer.from('warm'), name: 'warm' });

    const { reply, sql } = await tenant.counting(() =>
      api.upload('/files', { file: Buffer.alloc(4096), name: 'a', fields: { folder_id: folder.body.id } }),
    );

    expect(reply.status).toBe(201);
    expect(sql.map((text) => /store_files|storage_quota/.exec(text)?.[0])).toEqual(['storage_quota', 'store_files']);
  });

  test('takes folder_id after the file too', async () => {
    const { api } = await tenant.user();
    const folder = await api.post('/folders', { name: 'late' });
    const up = await sendForm(api, [filePart('a', 'a.txt'), field('folder_id', folder.body.id)]);
    expect(up).toMatchObject({ status: 201, body: { folder_id: folder.body.id, name: 'a.txt' } });
  });

  test('of a name that is taken fails, gets another name, or becomes the next version', async () => {
    const { api } = await tenant.user();
    const first = await api.upload('/files', { file: Buffer.from('one'), name: 'a.txt' });
    const put = (on_conflict: string) =>
      api.upload('/files', { file: Buffer.from('two'), name: 'a.txt', fields: { on_conflict } });

    expect((await put('fail')).body.error).toBe('name_conflict');
    expect((await put('rename')).body).toMatchObject({ name: 'a (1).txt', version: 1 });
    const replaced = await put('replace');

    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({ id: first.body.id, version: 2, size: 3 });
    expect((await api.get(`/files/${first.body.id}/download`)).bytes.toString()).toBe('two');
  });

  test('by PUT adds a version, and If-Match guards it', async () => {
    const { api, user } = await tenant.user();
    const first = await api.upload('/files', { file: Buffer.from('one'), name: 'v.txt' });
    const stale = await api.upload(`/files/${first.body.id}`, {
      method: 'PUT',
      file: Buffer.from('x'),
      name: 'v',
      headers: { 'if-match': '"stale"' },
    });
    const second = await api.upload(`/files/${first.body.id}`, {
      method: 'PUT',
      file: Buffer.from('second'),
      name: 'other.txt',
      headers: { 'if-match': `"${first.body.etag}"` },
    });

    expect(stale.status).toBe(412);
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({ id: first.body.id, name: 'v.txt', version: 2, size: 6 });
    expect(await quotaOf(tenant, user.id)).toBe(9);
  });
});

describe('a hostile upload', () => {
  const big = Buffer.alloc((20 << 20) + 1);
  test.each<[string, number, string, Buffer[]]>([
    ['without a file', 400, 'validation_failed', [field('on_conflict', 'fail')]],
    ['with an unknown field', 400, 'validation_failed', [field('colour', 'red'), filePart('a', 'a')]],
    ['with an unknown field after the file', 400, 'validation_failed', [filePart('a', 'a'), field('colour', 'red')]],
    ['with two files', 400, 'validation_failed', [filePart('a', 'a'), filePart('b', 'b')]],
    ['with folder_id twice', 400, 'validation_failed', [field('folder_id', 'a'), field('folder_id', 'b'), filePart('a', 'a')]],
    ['with a folder_id that is no UUID', 400, 'validation_failed', [field('folder_id', '../x'), filePart('a', 'a')]],
    [
      'into a folder that is not there',
      404,
      'not_found',
      [field('folder_id', '00000000-0000-4000-8000-000000000000'), filePart('a', 'a')],
    ],
    [
      'into such a folder, named after the file',
      404,
      'not_found',
      [filePart('a', 'a'), field('folder_id', '00000000-0000-4000-8000-000000000000')],
    ],
    ['named ..', 400, 'validation_failed', [filePart('a', '..')]],
    ['named by a path', 400, 'validation_failed', [filePart('a', '../../etc/passwd')]],
    ['named with a line break, as a browser sends it', 400, 'validation_failed', [filePart('a', 'a%0D%0Ab')]],
    ['named with a control character', 400, 'validation_failed', [filePart('a', 'a\u0001b')]],
    ['named in bytes that are no UTF-8', 400, 'validation_failed', [filePart('a', Buffer.from([0x61, 0xff, 0x62]))]],
    ['without a name', 400, 'validation_failed', [filePart('a', '')]],
    ['with a name of 256 characters', 400, 'validation_failed', [filePart('a', 'x'.repeat(256))]],
    [
      'with 200 fields',
      400,
      'validation_failed',
      [...Array.from({ length: 200 }, () => field('folder_id', 'a')), filePart('a', 'a')],
    ],
    ['that is larger than allowed', 413, 'payload_too_large', [filePart(big, 'big')]],
  ])('%s is a %d and leaves nothing', async (_, status, code, parts) => {
    const { api, user } = await tenant.user();
    const before = await objectCount(tenant);

    const answer = await sendForm(api, parts);

    expect(answer).toMatchObject({ status, body: { error: code } });
    expect(await objectCount(tenant)).toBe(before);
    expect(await quotaOf(tenant, user.id)).toBe(0);
    expect((await api.get('/files')).body.data).toEqual([]);
  });

  test('of a client that goes away in the middle leaves nothing', async () => {
    const { api, user } = await tenant.user();
    const before = await objectCount(tenant);
    const { port } = new URL(tenant.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    const head = filePart(Buffer.alloc(9 << 20), 'half.bin').subarray(0, -1000);
    socket.write(
      `POST /api/v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\nContent-Length: 99999999\r\n` +
        `Content-Type: ${FORM}\r\n\r\n`,
    );
    if (!socket.write(head)) await once(socket, 'drain');
    socket.destroy();

    await waitFor('the bucket without the half object', async () => (await objectCount(tenant)) === before);
    expect(await quotaOf(tenant, user.id)).toBe(0);
    expect((await api.get('/files')).body.data).toEqual([]);
  });
});

describe('the object of an upload that fails', () => {
  const failures: [failure: string, isLeft: boolean, fail: () => Promise<unknown>][] = [
    ['by a refusal', false, () => Promise.reject(new Problem('quota_exceeded'))],
    ['by an error that Postgres reports', false, () => tenant.db.query('SELECT 1 / 0')],
    ['because Postgres was lost', true, () => Promise.reject(new StoreUnavailableError('postgres', new Error('lost')))],
    ['by an error of the program, perhaps after the commit', true, () => Promise.reject(new TypeError('a row without a time'))],
  ];

  test.each(failures)('%s is left to the sweep: %s', async (_failure, isLeft, fail) => {
    const { blobs, options } = blobsOfTenant();
    const key = await blobs.newKey();

    const upload = blobs.discardUnlessCommitted(async (into) => {
      await blobs.store(key, Readable.from([Buffer.from('x')]), { ...options, into });
      into.committing();
      return fail();
    });
    await upload.catch(() => undefined);

    expect(await isStored(key)).toBe(isLeft);
    await tenant.objects.delete([key]);
  });

  test('during its bytes leaves nothing, whatever the error: the object may be that of an earlier attempt', async () => {
    const { blobs, options } = blobsOfTenant();
    const key = await blobs.newKey();
    await tenant.objects.put(key, Buffer.from('x'), { contentType: 'text/plain' });
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(FIRST_BUFFER_BYTES + 1);
      throw new TypeError('not bytes');
    };

    const upload = blobs.discardUnlessCommitted((into) => blobs.store(key, Readable.from(broken()), { ...options, into }));

    await expect(upload).rejects.toThrow('not bytes');
    expect(await isStored(key)).toBe(false);
  });

  test('before the transaction of several objects, whatever the error, leaves none of them', async () => {
    const { blobs, options } = blobsOfTenant();
    const [first, second] = [await blobs.newKey(), await blobs.newKey()];

    const step = blobs.discardUnlessCommitted(async (into) => {
      await blobs.store(first, Readable.from([Buffer.from('x')]), { ...options, into });
      await blobs.copy(second, { key: first, size: 1, checksum: '', crc32: null }, { ...options, into });
      expect([await isStored(first), await isStored(second)]).toEqual([true, true]);
      throw new TypeError('no transaction');
    });

    await expect(step).rejects.toThrow('no transaction');
    expect([await isStored(first), await isStored(second)]).toEqual([false, false]);
  });

  async function isStored(key: string): Promise<boolean> {
    const keys: string[] = [];
    for await (const object of tenant.objects.list()) keys.push(object.key);
    return keys.includes(key);
  }

  function blobsOfTenant() {
    const time = { clock: systemClock, random: systemRandom };
    const jobs = new JobRequests({ notifier: new WorkerNotifier({ redis: tenant.redis, log: silentLogger }) });
    const blobs = new Blobs({ db: tenant.db, objects: tenant.objects, jobs, log: silentLogger, ...time });
    const options = {
      quota: { ownerId: 1, remainingBytes: 1 << 20, isOfTenant: false },
      reservation: new Reservation({
        sql: tenant.db.tables,
        uuid: systemRandom.uuid(),
        most: 1 << 20,
        clock: systemClock,
        log: silentLogger,
      }),
      uploader: systemRandom.uuid(),
      contentType: 'text/plain',
      signal: AbortSignal.timeout(60_000),
    };
    return { blobs, options };
  }
});

describe('a quota', () => {
  test('is never passed by 50 racing uploads', async () => {
    const { api, user } = await tenant.user({ storage_quota: 10_500 });
    const before = await objectCount(tenant);

    let asked = 0;
    const upload = (at: number): Promise<ApiReply> => {
      asked += 1;
      return api.upload('/files', { file: Buffer.alloc(1000, at), name: `f${at}` });
    };

    const results = await Promise.all(range(50).map((at) => untilServed(() => upload(at))));

    expect(countBy(results, ({ status, body }) => body.error ?? status)).toEqual({ 201: 10, quota_exceeded: 40 });
    expect(await quotaOf(tenant, user.id)).toBe(10_000);
    const objects = (await objectCount(tenant)) - before;
    expect(objects).toBeGreaterThanOrEqual(10);
    expect(objects).toBeLessThanOrEqual(10 + asked - 50); // what a 503 leaves is the sweep's
  });

  /** A sixth of what would come. How much is on its way when the refusal goes out is the machine's affair. */
  const EARLY = 100 << 20;

  /** An upload that would never end, and how many bytes of it the server took. */
  async function uploadWithoutEnd(api: Api, name: string, fields: Record<string, string>) {
    const taken = { bytes: 0 };
    const endless = Readable.from(
      (async function* () {
        for (; taken.bytes < 600 << 20; taken.bytes += 65_536) yield Buffer.alloc(65_536);
      })(),
    );
    const answer = await api.upload('/files', { file: endless, name, fields }).catch((error: NodeJS.ErrnoException) => error);
    // The server answers and closes; a client that keeps writing may see the closing first.
    if (!('status' in answer)) expect(answer.message).toMatch(/ECONNRESET|EPIPE|closed|other side/);
    else expect(answer).toMatchObject({ status: 507, body: { error: 'quota_exceeded' } });
    return taken.bytes;
  }

  test.each(['fail', 'rename', 'replace'])(
    'refuses a stream of unknown length as soon as it is passed, with on_conflict=%s too',
    async (on_conflict) => {
      const { api } = await tenant.user({ storage_quota: 100_000 });
      expect(await uploadWithoutEnd(api, 'endless', { on_conflict })).toBeLessThan(EARLY);
      expect((await api.get('/files')).body.data).toEqual([]);
    },
  );

  test('is that of the owner of the replaced file, whoever uploads', async () => {
    const [poor, rich] = [await tenant.user({ storage_quota: 100_000 }), await tenant.user()];
    const folders = await Promise.all(
      [poor, rich].map(async (owner) => {
        const { id } = (await owner.api.post('/folders', { name: 'shared' })).body;
        const other = owner === poor ? rich : poor;
        await owner.api.post(`/folders/${id}/permissions`, { permission_level: 'write', user_id: other.user.id });
        await owner.api.upload('/files', { file: Buffer.from('old'), name: 'a', fields: { folder_id: id } });
        return { folder_id: id, on_conflict: 'replace' };
      }),
    );

    const refused = await uploadWithoutEnd(rich.api, 'a', folders[0] ?? {});
    const done = await poor.api.upload('/files', { file: Buffer.alloc(200_000), name: 'a', fields: folders[1] ?? {} });

    expect(refused).toBeLessThan(EARLY);
    expect(done).toMatchObject({ status: 200, body: { version: 2, size: 200_000 } });
    expect([await quotaOf(tenant, poor.user.id), await quotaOf(tenant, rich.user.id)]).toEqual([3, 200_003]);
  });

  test('counts versions and trash, and a purge gives it all back', async () => {
    const { api, user } = await tenant.user();
    const { body: file } = await api.upload('/files', { file: Buffer.alloc(10), name: 'a' });
    await api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.alloc(5), name: 'a' });
    await api.delete(`/files/${file.id}`);

    expect(await quotaOf(tenant, user.id)).toBe(15);
    expect((await api.delete(`/files/${file.id}`, { query: { permanent: true } })).status).toBe(204);
    expect(await quotaOf(tenant, user.id)).toBe(0);
  });
});
