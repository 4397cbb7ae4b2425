import { beforeAll, describe, expect, test } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import type { Api } from '../../support/clients/api.ts';
import { heldBeyond, restingBytes } from '../../support/measures/memory.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { content, digest } from './big-file.ts';

const SIZE = 5000;
const bytes = randomBytes(SIZE);

const tenant = serverSuite();
let api: Api;
let path: string;
let etag: string;
beforeAll(async () => {
  ({ api } = await tenant.user());
  const { body } = await api.upload('/files', { file: bytes, name: 'отчёт 1%.pdf', type: 'application/pdf' });
  path = `/files/${body.id}/download`;
  etag = `"${body.checksum}"`;
});

describe('a download', () => {
  test('says what it is and is never run or sniffed', async () => {
    const reply = await api.get(path);
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(SIZE),
      'content-disposition': `attachment; filename="_____ 1_.pdf"; filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82%201%25.pdf`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      etag,
    });
    expect(etag).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`);
  });

  test('of HEAD has the same headers and no body', async () => {
    const reply = await api.head(path);
    expect(reply).toMatchObject({ status: 200, headers: { 'content-length': String(SIZE), etag } });
    expect(reply.bytes).toHaveLength(0);
  });

  test('is a 304 for a client that has it', async () => {
    expect((await api.get(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await api.get(path, { headers: { 'if-none-match': `"x", W/${etag}` } })).status).toBe(304);
    expect((await api.get(path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  test('needs a token', async () => {
    expect((await tenant.anonymous.get(path)).status).toBe(401);
  });
});

describe('a range', () => {
  test('gives the very bytes that a slice gives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(SIZE - 1), fc.nat(2 * SIZE), async (start, length) => {
        const reply = await api.get(path, { headers: { range: `bytes=${start}-${start + length}` } });
        const expected = bytes.subarray(start, start + length + 1);
        expect(reply.status).toBe(206);
        expect(reply.headers['content-range']).toBe(`bytes ${start}-${start + expected.length - 1}/${SIZE}`);
        expect(reply.headers['content-length']).toBe(String(expected.length));
        expect(Buffer.compare(reply.bytes, expected)).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    ['bytes=-5', 206, SIZE - 5, 5],
    ['bytes=4999-', 206, SIZE - 1, 1],
    ['bytes=0-1,5-6', 200, 0, SIZE],
    ['bytes=9-1', 200, 0, SIZE],
    ['lines=1-2', 200, 0, SIZE],
  ])('%s answers %d', async (range, status, start, length) => {
    const reply = await api.get(path, { headers: { range } });
    expect(reply.status).toBe(status);
    expect(Buffer.compare(reply.bytes, bytes.subarray(start, start + length))).toBe(0);
  });

  test('outside the file is a 416 with the size', async () => {
    const reply = await api.get(path, { headers: { range: `bytes=${SIZE}-` } });
    expect(reply).toMatchObject({
      status: 416,
      headers: { 'content-range': `bytes */${SIZE}` },
      body: { error: 'range_not_satisfiable' },
    });
  });

  test.each(['bytes=0-', 'bytes=0-0', 'bytes=0-1023', 'bytes=-5'])(
    '%s of an empty file is the whole of it, wherever it is downloaded',
    async (range) => {
      const { body } = await api.upload('/files', {
        file: Buffer.alloc(0),
        name: 'empty.mp4',
        fields: { on_conflict: 'rename' },
      });
      const [share, ticket] = [await api.post(`/files/${body.id}/share`, {}), await api.post(`/files/${body.id}/ticket`)];

      const replies = [
        await api.get(`/files/${body.id}/download`, { headers: { range } }),
        await api.get(`/files/${body.id}/versions/1/download`, { headers: { range } }),
        await tenant.anonymous.get(`/s/${share.body.token}/download`, { headers: { range } }),
        await tenant.anonymous.raw('GET', ticket.body.url, { headers: { range } }),
      ];

      expect(
        replies.map(({ status, bytes: { length }, headers }) => [
          status,
          length,
          headers['content-length'],
          headers['content-range'],
        ]),
      ).toEqual(replies.map(() => [200, 0, '0', undefined]));
    },
  );

  test('is passed over when If-Range names other content', async () => {
    const get = (ifRange: string) => api.get(path, { headers: { range: 'bytes=0-0', 'if-range': ifRange } });
    expect((await get(etag)).status).toBe(206);
    expect((await get('"other"')).status).toBe(200);
    expect((await get('Sat, 21 Nov 2026 11:00:00 GMT')).status).toBe(200);
  });
});

describe('256 MiB', () => {
  const MIB = 1 << 20;
  /** A server that kept the content would hold it whole. */
  const BOUND = 128 * MIB;

  test('go up and come down unchanged while the memory of the server stays flat', async () => {
    const before = await restingBytes();
    let [highest, passed] = [0, 0];
    async function* watched(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        const looks = Math.floor(passed / (64 * MIB));
        passed += chunk.length;
        if (Math.floor(passed / (64 * MIB)) > looks) highest = Math.max(highest, await heldBeyond(before, BOUND));
        yield chunk;
      }
    }

    const up = await api.upload('/files', { file: Readable.from(watched(content(256 * MIB))), name: 'big.bin' });
    const sum = createHash('sha256');
    const got = request(`${tenant.apiUrl}/files/${up.body.id}/download`, {
      headers: { authorization: `Bearer ${api.token}` },
    }).end();
    const [response] = (await once(got, 'response')) as [AsyncIterable<Buffer>];
    for await (const chunk of watched(response)) sum.update(chunk);

    const expected = digest(256 * MIB);
    expect(up.body).toMatchObject({ size: 256 * MIB, checksum: expected });
    expect(sum.digest('hex')).toBe(expected);
    // The client of this test lives in the same process: what it holds is counted too.
    expect(highest).toBeLessThan(BOUND);
  });

  test('whose client goes away are not read to the end', async () => {
    const up = await api.upload('/files', { file: content(64 * MIB), name: 'gone.bin' });
    const sent = request(`${tenant.apiUrl}/files/${up.body.id}/download`, {
      headers: { authorization: `Bearer ${api.token}` },
    }).end();
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { destroy(): void }];
    await once(response, 'readable');
    response.destroy();
    sent.on('error', () => undefined);
    await waitFor('another answer', async () => (await api.head(path)).status === 200);
  });
});
