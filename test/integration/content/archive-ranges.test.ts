import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { heldBeyond, restingBytes } from '../../support/measures/memory.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { inParallel, range } from '../../support/wait.ts';

const MIB = 1 << 20;

const tenant = serverSuite();
let out: string;
beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), 'carrel-ranges-'));
});
afterAll(() => rmSync(out, { recursive: true }));

const folder = async (api: Api, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const file = async (api: Api, folder_id: string, name: string, content: string | Buffer): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(content), fields: { folder_id } })).body.id;

/** A folder with small, large and empty files, a folder in it, and names that are changed. */
async function course(api: Api): Promise<string> {
  const top = await folder(api, 'Course');
  const below = await folder(api, 'Week 1', top);
  await file(api, top, 'large.bin', Buffer.alloc(3 * MIB, 'large'));
  for (const n of range(20)) await file(api, below, `${n}.txt`, `content ${n}`);
  for (const name of ['nothing', 'Plan', 'plan', 'nul.txt']) await file(api, below, name, name === 'nothing' ? '' : name);
  return top;
}

const zip = (api: Api, id: string, headers: Record<string, string> = {}): Promise<ApiReply> =>
  api.get(`/folders/${id}/zip`, { headers });

describe('the archive of a folder of which each CRC-32 is known', () => {
  test('has its length, a strong entity tag and ranges; HEAD says the same, and who has it gets 304', async () => {
    const { api } = await tenant.user();
    const top = await course(api);

    const whole = await zip(api, top);
    const head = await api.head(`/folders/${top}/zip`);
    const again = await zip(api, top, { 'if-none-match': whole.headers.etag ?? '' });
    const empty = await zip(api, await folder(api, 'empty'));

    expect(whole.status).toBe(200);
    expect(whole.headers).toMatchObject({ 'content-length': String(whole.bytes.length), 'accept-ranges': 'bytes' });
    expect(whole.headers.etag).toMatch(/^"[\w-]{43}"$/);
    for (const name of ['content-length', 'etag', 'accept-ranges', 'content-type', 'content-disposition'])
      expect(head.headers[name]).toBe(whole.headers[name]);
    expect([head.status, again.status, again.bytes.length, again.headers.etag]).toEqual([200, 304, 0, whole.headers.etag]);
    expect(empty.headers['content-length']).toBe(String(empty.bytes.length));
  });

  test('is unpacked by unzip and Python, with each content whole', async () => {
    const { api } = await tenant.user();
    const path = join(out, 'course.zip');
    writeFileSync(path, (await zip(api, await course(api))).bytes);

    expect(execFileSync('unzip', ['-tq', path], { encoding: 'utf8' })).toContain('No errors detected');
    const script = `import json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
print(json.dumps({i.filename: z.read(i).decode() for i in z.infolist() if i.file_size < 1000}))`;
    const read = JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' })) as Record<string, string>;
    expect(read).toMatchObject({
      'Course/Week 1/7.txt': 'content 7',
      'Course/Week 1/nothing': '',
      'Course/Week 1/nul_.txt': 'nul.txt',
      'Course/Week 1/Plan': 'Plan',
      'Course/Week 1/plan (1)': 'plan',
    });
    expect(read['Course/_renamed.txt']).toContain('Course/Week 1/plan (1)\n    was: plan\n');
  });

  test('gives each range as it is in the whole, and refuses or ignores those that are none', async () => {
    const { api } = await tenant.user();
    const top = await course(api);
    const { bytes, headers } = await zip(api, top);
    const size = bytes.length;
    const ranges: [string, number, number][] = [
      ['bytes=0-0', 0, 1],
      [`bytes=${size - 1}-`, size - 1, size],
      ['bytes=-22', size - 22, size],
      [`bytes=-${size * 2}`, 0, size],
      [`bytes=100-${size * 9}`, 100, size],
      ...range(30).map((n): [string, number, number] => {
        const [start, end] = [Math.floor((size * n) / 31), Math.min(size, Math.floor((size * n) / 31) + 200_000)];
        return [`bytes=${start}-${end - 1}`, start, end];
      }),
    ];
    for (const [asked, start, end] of ranges) {
      const part = await zip(api, top, { range: asked });
      expect([asked, part.status, part.headers['content-range'], part.headers['content-length'], part.headers.etag]).toEqual([
        asked,
        206,
        `bytes ${start}-${end - 1}/${size}`,
        String(end - start),
        headers.etag,
      ]);
      expect(Buffer.compare(part.bytes, bytes.subarray(start, end))).toBe(0);
    }
    for (const asked of [`bytes=${size}-`, 'bytes=-0', `bytes=${'9'.repeat(300)}-`]) {
      const refused = await zip(api, top, { range: asked });
      expect([asked, refused.status, refused.headers['content-range']]).toEqual([asked, 416, `bytes */${size}`]);
    }
    for (const asked of ['bytes=5-1', 'bytes=0-1,5-6', 'lines=0-1', 'bytes=a-b', 'bytes=-', 'bytes=0x1-2'])
      expect([asked, (await zip(api, top, { range: asked })).status]).toEqual([asked, 200]);
  });

  test('is resumed byte by byte after it broke off, by curl too, and sent whole where the folder has changed', async () => {
    const { api } = await tenant.user();
    const top = await course(api);
    const { bytes, headers } = await zip(api, top);
    const etag = headers.etag ?? '';
    const half = bytes.subarray(0, bytes.length >> 1);
    const path = join(out, 'resumed.zip');
    writeFileSync(path, half);
    const curl = ['-sSf', '-C', '-', '-o', path, '-H', `authorization: Bearer ${api.token}`, `${api.url}/folders/${top}/zip`];
    await promisify(execFile)('curl', curl); // the server is in this process

    const rest = await zip(api, top, { range: `bytes=${half.length}-`, 'if-range': etag });
    await file(api, top, 'new.txt', 'new');
    const changed = await zip(api, top, { range: `bytes=${half.length}-`, 'if-range': etag });

    expect(Buffer.compare(readFileSync(path), bytes)).toBe(0);
    expect([rest.status, Buffer.compare(Buffer.concat([half, rest.bytes]), bytes)]).toEqual([206, 0]);
    expect([changed.status, changed.headers.etag === etag, changed.headers['content-range']]).toEqual([200, false, undefined]);
    expect(changed.headers['content-length']).toBe(String(changed.bytes.length));
  });

  test('has ranges by a link without a token', async () => {
    const { api } = await tenant.user();
    const top = await course(api);
    const { bytes } = await zip(api, top);
    const { url } = (await api.post(`/folders/${top}/ticket`)).body;

    const part = await tenant.anonymous.raw('GET', url, { headers: { range: 'bytes=10-19' } });

    expect([part.status, Buffer.compare(part.bytes, bytes.subarray(10, 20))]).toEqual([206, 0]);
  });

  test('breaks off where a content is no more, and is another one then', async () => {
    const { api } = await tenant.user();
    const top = await course(api);
    const { headers } = await zip(api, top);
    const [row] = await tenant.db.query<{ key: string; uuid: string }>(
      `SELECT f.blob_name AS key, f.uuid FROM files f JOIN folders d ON d.id = f.folder_id
       WHERE d.uuid = $1 AND f.name = 'large.bin'`,
      [top],
    );
    await tenant.objects.delete([row?.key ?? '']);
    const broken = await zip(api, top).then(
      ({ status }) => status,
      () => 'broken off',
    );
    await api.delete(`/files/${row?.uuid}`, { query: { permanent: true } });
    const without = await zip(api, top, { range: 'bytes=10-', 'if-range': headers.etag ?? '' });

    expect([500, 'broken off']).toContain(broken);
    expect([without.status, without.headers.etag === headers.etag]).toEqual([200, false]);
  });
});

test('without one of the CRC-32s the archive has no length, tag or ranges, and is whole', async () => {
  const { api } = await tenant.user();
  const top = await course(api);
  await tenant.db.query(
    `UPDATE file_versions SET crc32 = NULL 
       WHERE file_id = (SELECT f.id FROM files f JOIN folders d ON d.id = f.folder_id WHERE d.uuid = $1)`,
    [top],
  );

  const reply = await zip(api, top, { range: 'bytes=10-19', 'if-none-match': '*' });
  const head = await api.head(`/folders/${top}/zip`);

  expect(reply.status).toBe(200);
  for (const name of ['content-length', 'etag', 'accept-ranges'])
    expect([name, reply.headers[name], head.headers[name]]).toEqual([name, undefined, undefined]);
  const path = join(out, 'unknown.zip');
  writeFileSync(path, reply.bytes);
  expect(execFileSync('unzip', ['-tq', path], { encoding: 'utf8' })).toContain('No errors detected');
});

test('ranges at the end of an archive of 10,000 files cost no memory that stays', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'many');
  const one = await file(api, top, 'one', 'x'.repeat(1000));
  // A statement of a tenant may take 8 s.
  for (let from = 1; from < 10_000; from += 250)
    await tenant.db.query(
      `WITH source AS (SELECT f.*, v.crc32 FROM files f JOIN file_versions v ON v.file_id = f.id WHERE f.uuid = $1), made AS (
       INSERT INTO files (uuid, name, path, size, checksum, owner_id, folder_id, blob_container, blob_name)
       SELECT gen_random_uuid(), 'file ' || n, '/many/file ' || n, s.size, s.checksum, s.owner_id, s.folder_id,
         s.blob_container, s.blob_name
       FROM source s, generate_series($2::int, least(9999, $2::int + 249)) n RETURNING id, size, checksum, blob_name, owner_id
     )
     INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by, crc32)
     SELECT m.id, 1, m.size, m.checksum, m.blob_name, m.owner_id, s.crc32 FROM made m, source s`,
      [one, from],
    );
  const { headers } = await api.head(`/folders/${top}/zip`);
  const size = Number(headers['content-length']);
  const before = await restingBytes();
  const parts: unknown[] = [];
  await inParallel(range(8), 2, async (n) => {
    const { status, bytes } = await zip(api, top, { range: `bytes=${size - 1000 * (n + 1)}-`, 'if-range': headers.etag ?? '' });
    parts.push([status, bytes.length === 1000 * (n + 1)]);
  });

  expect(size).toBeGreaterThan(10_000 * 1_100);
  expect(parts).toEqual(range(8).map(() => [206, true]));
  expect(await heldBeyond(before, 8 * MIB)).toBeLessThan(8 * MIB);
});
