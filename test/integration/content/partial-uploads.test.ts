import { describe, expect, test } from '@jest/globals';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { begin, checksum, CHUNK, look, metadata, named, offsetOf, send, TUS } from '../../support/clients/tus.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';
import { faultsOf, quotaOf } from './tenant-state.ts';

const tenant = serverSuite({ maxUploadBytes: 40 << 20 });

const MIB = 1 << 20;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test('OPTIONS says what the server speaks', async () => {
  const { status, headers } = await tenant.anonymous.raw('OPTIONS', '/files/uploads');

  expect(status).toBe(204);
  expect(headers).toMatchObject({
    'tus-resumable': '1.0.0',
    'tus-version': '1.0.0',
    'tus-max-size': String(40 << 20),
    'tus-checksum-algorithm': 'sha256',
    'tus-extension': 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
  });
});

describe('an upload in several requests', () => {
  test('of 20 MiB in unequal pieces, at two servers one after the other, comes down as it went up', async () => {
    const { api, user } = await tenant.user();
    const folder = await api.post('/folders', { name: 'large' });
    const content = Buffer.concat([
      Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010802000000', 'hex'),
      Buffer.alloc(2000),
      randomBytes(20 * MIB),
    ]);
    const made = await begin(api, named('image.bin', content.length, { folder_id: folder.body.id, filetype: 'application/pdf' }));
    expect([made.status, made.headers['upload-offset'], made.headers['location']]).toEqual([
      201,
      '0',
      `${tenant.apiUrl}/files/uploads/${made.body.id}`,
    ]);
    const { id } = made.body;

    let offset = 0;
    for (const size of [1000, 500_000, 9 * MIB, 3, 5 * MIB]) {
      const reply = await send(api, id, offset, content.subarray(offset, offset + size));
      offset += size;
      expect([reply.status, reply.headers['upload-offset'], reply.headers['x-carrel-file']]).toEqual([
        204,
        String(offset),
        undefined,
      ]);
    }
    await tenant.restart();
    expect((await look(api, id)).headers).toMatchObject({
      'upload-offset': String(offset),
      'upload-length': String(content.length),
    });
    const last = await send(api, id, offset, content.subarray(offset));

    const file = last.headers['x-carrel-file'];
    expect(last.status).toBe(204);
    const shown = await api.get(`/files/${file}`);
    expect(shown.body).toMatchObject({
      name: 'image.bin',
      size: content.length,
      checksum: sha256(content),
      mime_type: 'image/png',
      version: 1,
    });
    expect(sha256((await api.get(`/files/${file}/download`)).bytes)).toBe(sha256(content));
    expect(await quotaOf(tenant, user.id)).toBe(content.length);
    expect((await look(api, id)).headers).toMatchObject({ 'upload-offset': String(content.length), 'x-carrel-file': file });
    expect((await send(api, id, content.length, Buffer.alloc(0))).headers['x-carrel-file']).toBe(file);
  });

  test('comes with its creation, is empty, or says its length later', async () => {
    const { api } = await tenant.user();
    const whole = await begin(api, named('whole.txt', 5), Buffer.from('Hello'));
    const empty = await begin(api, named('empty', 0));
    const later = await begin(api, { 'upload-defer-length': '1', 'upload-metadata': metadata({ filename: 'later' }) });
    await send(api, later.body.id, 0, Buffer.from('abc'));
    const asked = await look(api, later.body.id);
    const end = await send(api, later.body.id, 3, Buffer.from('def'), { 'upload-length': '6' });

    expect([whole.status, empty.status, later.status, end.status]).toEqual([201, 201, 201, 204]);
    expect(asked.headers).toMatchObject({ 'upload-defer-length': '1', 'upload-offset': '3', 'cache-control': 'no-store' });
    const files = [whole, empty, end].map(({ headers }) => headers['x-carrel-file']);
    const contents = await Promise.all(files.map((file) => api.get(`/files/${file}/download`)));
    expect(contents.map(({ bytes }) => bytes.toString())).toEqual(['Hello', '', 'abcdef']);
  });

  test('keeps what came before the client went away', async () => {
    const { api } = await tenant.user();
    const { id } = (await begin(api, named('broken', 100_000))).body;
    const gate = Promise.withResolvers<never>();
    gate.promise.catch(() => undefined);
    async function* body(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(60_000, 'x');
      await gate.promise;
    }
    const before = tenant.observed.sql.length;
    const broken = api.raw('PATCH', `/files/uploads/${id}`, {
      headers: { ...TUS, ...CHUNK, 'upload-offset': '0', 'content-length': '100000' },
      body: Readable.from(body(), { objectMode: false }),
    });
    await waitFor('the first byte', () =>
      tenant.observed.sql.slice(before).some((sql) => sql.includes('FROM partial_upload_segments')),
    );
    gate.reject(new Error('the client breaks off'));
    await broken.catch(() => undefined);

    const offset = await waitFor('the bytes that came', async () => (await offsetOf(api, id)) || undefined);
    const last = await send(api, id, offset, Buffer.alloc(100_000 - offset, 'y'));
    const { bytes } = await api.get(`/files/${last.headers['x-carrel-file']}/download`);
    expect(bytes.toString()).toBe('x'.repeat(offset) + 'y'.repeat(100_000 - offset));
  });

  test('takes the bytes of one of ten racing requests; the others get 409', async () => {
    const { api } = await tenant.user();
    const { id } = (await begin(api, named('raced', 2000))).body;
    const first = await Promise.all(range(10).map(() => send(api, id, 0, Buffer.alloc(1000, 'a'))));
    const last = await Promise.all(range(10).map(() => send(api, id, 1000, Buffer.alloc(1000, 'b'))));

    expect(countBy(first, ({ status }) => status)).toEqual({ 204: 1, 409: 9 });
    expect(countBy(last, ({ status }) => status)).toEqual({ 204: 1, 409: 9 });
    const file = (await look(api, id)).headers['x-carrel-file'];
    expect((await api.get(`/files/${file}/download`)).bytes.toString()).toBe('a'.repeat(1000) + 'b'.repeat(1000));
  });

  test('keeps no byte of a request with a wrong checksum, and all of one with the right one', async () => {
    const { api } = await tenant.user();
    const content = randomBytes(10 * MIB);
    const { id } = (await begin(api, named('checked', content.length))).body;
    const wrong = await send(api, id, 0, content, { 'upload-checksum': checksum(Buffer.from('other')) });
    const offset = await offsetOf(api, id);
    const right = await send(api, id, 0, content, { 'upload-checksum': checksum(content) });

    expect([wrong.status, wrong.body.error, offset, right.status]).toEqual([460, 'checksum_mismatch', 0, 204]);
    expect((await api.get(`/files/${right.headers['x-carrel-file']}`)).body.checksum).toBe(sha256(content));
  });

  test('of a name that is taken is 409 with its last byte, or a version, or renamed', async () => {
    const { api } = await tenant.user();
    await api.upload('/files', { file: Buffer.from('here'), name: 'taken' });
    const bytes = Buffer.from('new');
    const { id } = (await begin(api, named('taken', 3))).body;
    const taken = await send(api, id, 0, bytes);
    const version = await begin(api, named('taken', 3, { on_conflict: 'replace' }), bytes);
    const renamed = await begin(api, named('taken', 3, { on_conflict: 'rename' }), bytes);

    expect([taken.status, taken.body.error, await offsetOf(api, id)]).toEqual([409, 'name_conflict', 0]);
    const files = await Promise.all([version, renamed].map(({ headers }) => api.get(`/files/${headers['x-carrel-file']}`)));
    expect(files.map(({ body }) => [body.name, body.version])).toEqual([
      ['taken', 2],
      ['taken (1)', 1],
    ]);
  });
});

describe('refused is', () => {
  test('another offset (409), more than the length (413), another version of tus (412), another type (415)', async () => {
    const { api } = await tenant.user();
    const { id } = (await begin(api, named('refused', 10))).body;
    const replies = await Promise.all([
      send(api, id, 3, Buffer.from('x')),
      send(api, id, 0, Buffer.alloc(11)),
      send(api, id, 0, Buffer.from('x'), { 'tus-resumable': '0.2.2' }),
      send(api, id, 0, Buffer.from('x'), { 'content-type': 'text/plain' }),
      begin(api, named('large', (40 << 20) + 1)),
    ]);

    expect(replies.map(({ status }) => status)).toEqual([409, 413, 412, 415, 413]);
    expect(replies[2]?.headers['tus-version']).toBe('1.0.0');
    expect(await offsetOf(api, id)).toBe(0);
  });

  test.each<[string, string, string]>([
    ['no name', '', 'Upload-Metadata'],
    ['bad Base64', 'filename a$b=', 'Upload-Metadata'],
    ['Base64 without its padding', 'filename YQ', 'Upload-Metadata'],
    ['bytes that are no UTF-8', 'filename /w==', 'Upload-Metadata'],
    ['a NUL', `filename ${base64('a\0b')}`, 'file'],
    ['a path', `filename ${base64('../a')}`, 'file'],
    ['a long name', `filename ${base64('a'.repeat(256))}`, 'file'],
    ['a key twice', `filename ${base64('a')},filename ${base64('b')}`, 'Upload-Metadata'],
    ['more than 8,192 characters', `filename ${base64('a')},other ${base64('b'.repeat(7000))}`, 'Upload-Metadata'],
    ['a media type that is none', `filename ${base64('a')},filetype ${base64('no type')}`, 'filetype'],
    ['a folder that is no id', `filename ${base64('a')},folder_id ${base64('x')}`, 'folder_id'],
  ])('metadata with %s', async (_what, sent, field) => {
    const reply = await begin(tenant.admin, { 'upload-length': '1', ...(sent === '' ? {} : { 'upload-metadata': sent }) });

    expect([reply.status, reply.body.details?.[0]?.field]).toEqual([400, field]);
  });

  test('a folder of nobody, one that goes meanwhile, and the upload of another user, each with 404', async () => {
    const [{ api }, other] = [await tenant.user(), await tenant.user()];
    const folder = await api.post('/folders', { name: 'goes' });
    const nowhere = await begin(api, named('x', 1, { folder_id: randomUUID() }));
    const { id } = (await begin(api, named('x', 1, { folder_id: folder.body.id }))).body;
    const foreign = [await look(other.api, id), await send(other.api, id, 0, Buffer.from('x'))];
    await api.delete(`/folders/${folder.body.id}`);
    const gone = await send(api, id, 0, Buffer.from('x'));

    expect([nowhere, ...foreign, gone].map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(await offsetOf(api, id)).toBe(0);
  });

  test('what the quota has no room for beside other uploads, complete or not', async () => {
    const { api, user } = await tenant.user();
    await tenant.db.query('UPDATE users SET storage_quota = 1000 WHERE uuid = $1', [user.id]);
    const half = await begin(api, named('half', 600));
    const more = await begin(api, named('more', 600));
    const deferred = await begin(api, { 'upload-defer-length': '1', 'upload-metadata': metadata({ filename: 'deferred' }) });
    const sent = await send(api, deferred.body.id, 0, Buffer.alloc(500));
    await api.delete(`/files/uploads/${half.body.id}`, { headers: TUS });
    const then = await send(api, deferred.body.id, 0, Buffer.alloc(500));

    expect([half, more, deferred, sent, then].map(({ status }) => status)).toEqual([201, 507, 201, 507, 204]);
  });

  test('the hundred and first upload that is not complete', async () => {
    const { api, user } = await tenant.user();
    await tenant.db.query(
      `INSERT INTO partial_uploads (uuid, user_id, length, metadata, expires_at)
        SELECT gen_random_uuid(), id, 1, '', now() + interval '1 hour' FROM users, generate_series(1, 100) WHERE uuid = $1`,
      [user.id],
    );

    expect((await begin(api, named('one too many', 1))).body.error).toBe('conflict');
  });
});

describe('a request that a client without PATCH and DELETE sends as POST', () => {
  const instead = (api: Api, id: string, method: string, options: { offset?: number; body?: Buffer } = {}): Promise<ApiReply> =>
    api.raw('POST', `/files/uploads/${id}`, {
      headers: {
        ...TUS,
        'x-http-method-override': method,
        ...(options.offset === undefined ? {} : { ...CHUNK, 'upload-offset': String(options.offset) }),
      },
      ...(options.body ? { body: options.body } : {}),
    });

  test('with X-HTTP-Method-Override is the method that this names', async () => {
    const { api } = await tenant.user();
    const [sent, removed] = await Promise.all(
      ['sent', 'removed'].map(async (name) => (await begin(api, named(name, 6))).body.id as string),
    );

    const replies = [
      await instead(api, sent ?? '', 'PATCH', { offset: 0, body: Buffer.from('abc') }),
      await instead(api, sent ?? '', 'HEAD'),
      await instead(api, sent ?? '', 'patch', { offset: 3, body: Buffer.from('def') }),
      await instead(api, removed ?? '', 'DELETE'),
      await look(api, removed ?? ''),
    ];

    expect(replies.map(({ status, headers }) => [status, headers['upload-offset']])).toEqual([
      [204, '3'],
      [200, '3'],
      [204, '6'],
      [204, undefined],
      [404, undefined],
    ]);
    const file = replies[2]?.headers['x-carrel-file'];
    expect((await api.get(`/files/${file}/download`)).bytes.toString()).toBe('abcdef');
  });

  test('without it, with a method that there is not, or elsewhere is 405', async () => {
    const { api } = await tenant.user();
    const { id } = (await begin(api, named('stays', 6))).body;
    const folder = (await api.post('/folders', { name: 'stays' })).body.id;

    const replies = [
      await api.raw('POST', `/files/uploads/${id}`, { headers: TUS }),
      await instead(api, id, 'PUT'),
      await instead(api, id, 'POST'),
      await api.raw('POST', `/folders/${folder}`, { headers: { 'x-http-method-override': 'DELETE' } }),
    ];

    expect(replies.map(({ status }) => status)).toEqual([405, 405, 405, 405]);
    expect((await look(api, id)).status).toBe(200);
  });
});

test('an upload in parallel parts is refused at its creation with the reason, whatever else is wrong with it', async () => {
  const { api } = await tenant.user();
  const replies = [
    await begin(api, { ...named('part.bin', 3), 'upload-concat': 'partial' }),
    await begin(api, { ...named('part.bin', 3), 'upload-concat': 'partial' }, Buffer.from('abc')),
    await begin(api, { 'upload-length': '3', 'upload-concat': 'partial' }),
    await begin(api, { 'upload-concat': 'final;/files/uploads/a /files/uploads/b' }),
    await begin(api, { ...named('whole.bin'), 'upload-concat': 'final;/files/uploads/a' }),
    await begin(api, { ...named('whole.bin', 3), 'tus-resumable': '0.2.2', 'upload-concat': 'partial' }),
    await begin(api, { ...named('whole.bin', 3), 'upload-concat': '' }),
  ];

  expect(
    new Set(replies.map(({ status, body }) => `${status} ${body.details?.[0]?.field}: ${body.details?.[0]?.message}`)),
  ).toEqual(
    new Set([
      '400 Upload-Concat: is not supported: parts are not joined here. Send the file as one upload, one request after the other',
    ]),
  );
  expect((await api.get('/files')).body.data).toEqual([]);
});

test('an upload that has expired is 410, one that was deleted 404, and nothing of it stays', async () => {
  const { api } = await tenant.user();
  const [expired, deleted] = await Promise.all(
    range(2).map(async (at) => (await begin(api, named(`ends-${at}`, 10))).body.id as string),
  );
  await send(api, deleted as string, 0, Buffer.from('x'));
  await tenant.db.query(`UPDATE partial_uploads SET expires_at = now() - interval '1 s' WHERE uuid = $1`, [expired]);
  const gone = [await look(api, expired as string), await send(api, expired as string, 0, Buffer.from('x'))];
  const removed = await api.delete(`/files/uploads/${deleted}`, { headers: TUS });

  expect(gone.map(({ status }) => status)).toEqual([410, 410]);
  expect([removed.status, (await look(api, deleted as string)).status]).toEqual([204, 404]);
});

test('no object is left that no row names', async () => {
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a creation repeated with its Idempotency-Key begins no second upload; a different one with that key is a 422', async () => {
  const { api } = await tenant.user();
  const [whole, key] = [randomBytes(3_000), randomUUID()];
  const headers = { ...named('again.bin', whole.length), 'idempotency-key': key };
  const first = await begin(api, headers, whole.subarray(0, 1_000));

  const again = await begin(api, headers, whole.subarray(0, 1_000));
  const others = [named('other.bin', whole.length), named('again.bin', whole.length + 1), named('again.bin')];
  const refused = await Promise.all(others.map((other) => begin(api, { ...other, 'idempotency-key': key })));
  await send(api, first.body.id, 1_000, whole.subarray(1_000));
  const files = (await api.get('/files')).body.data;

  expect([again.status, again.body, again.headers['location'], again.headers['upload-offset']]).toEqual([
    201,
    first.body,
    first.headers['location'],
    '1000',
  ]);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(others.map(() => [422, 'idempotency_key_reused']));
  expect(files.map(({ name, checksum: sum }: { name: string; checksum: string }) => [name, sum])).toEqual([
    ['again.bin', sha256(whole)],
  ]);
});
