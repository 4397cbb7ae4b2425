import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { setInterval } from 'node:timers/promises';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { UPLOAD_BUFFERS } from '../../../pkg/store/s3/upload-buffers.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, untilServed, waitFor } from '../../support/wait.ts';
import { field, filePart, FORM } from './raw-form.ts';
import { faultsOf, objectCount, quotaOf } from './tenant-state.ts';

const MIB = 1 << 20;

/** Functions that end what a test began, however the test ends. */
const begun: (() => void)[] = [];
afterEach(() => {
  for (const end of begun.splice(0)) end();
});

/** An upload that sends a little and then nothing, until the test continues it. */
function held(api: Api, name: string) {
  const gate = Promise.withResolvers<void>();
  gate.promise.catch(() => undefined);
  begun.push(() => gate.reject(new Error('the test is over')));
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(1000);
    await gate.promise;
    yield Buffer.from('the end');
  }
  const reply = untilServed(() => api.upload('/files', { file: Readable.from(body()), name }));
  reply.catch(() => undefined);
  return { reply, goOn: gate.resolve };
}

/** A download of which nothing is read beyond the first bytes. */
async function unread(api: Api, path: string): Promise<IncomingMessage> {
  const headers = api.token === undefined ? {} : { authorization: `Bearer ${api.token}` };
  const sent = request(path.startsWith('http') ? path : `${api.url}${path}`, { agent: false, headers }).end();
  sent.on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  begun.push(() => response.destroy());
  expect(response.statusCode).toBe(200);
  await once(response, 'readable');
  return response;
}

async function metricOf(tenant: TestTenant, name: string): Promise<number> {
  const text = await (await fetch(`${tenant.opsUrl}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

describe('uploads and downloads of one person', () => {
  const MOST = 4;
  const tenant = serverSuite({ transfers: { perPerson: MOST, leastBytesPerSecond: 0 } });

  /** Once the server has begun to take in so many more uploads. */
  const taken = async (count: number, work: () => void): Promise<void> => {
    const before = tenant.observed.sql.length;
    work();
    await waitFor(
      'uploads under way',
      () => tenant.observed.sql.slice(before).filter((sql) => sql.includes('storage_quota')).length >= count,
    );
  };

  test('are limited in number, over all tokens and download links; one more gets Retry-After', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const big = await untilServed(() => ada.api.upload('/files', { file: Buffer.alloc(24 * MIB), name: 'big' }));
    const path = `/files/${big.body.id}/download`;
    const again = await tenant.anonymous.login(ada.user.email, ada.password);
    const ticket = async (): Promise<string> => (await again.post(`/files/${big.body.id}/ticket`)).body.url;
    await ada.api.post(`/files/${big.body.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });

    const uploads: ReturnType<typeof held>[] = [];
    await taken(2, () => uploads.push(held(ada.api, 'held-1'), held(again, 'held-2')));
    const downloads = [await unread(ada.api, path), await unread(tenant.anonymous, await ticket())];

    const refusals = [
      await again.upload('/files', { file: Buffer.from('x'), name: 'x' }),
      await ada.api.upload(`/files/${big.body.id}`, { method: 'PUT', file: Buffer.from('x'), name: 'x' }),
      await ada.api.get(path),
      await ada.api.get(path, { headers: { range: 'bytes=0-1' } }),
      await tenant.anonymous.get(await ticket()),
    ];
    for (const refused of refusals) {
      expect(refused).toMatchObject({
        status: 429,
        body: { error: 'too_many_transfers', retry_after: 5 },
        headers: { 'retry-after': '5' },
      });
      expect(refused.body.message).toMatch(/^You already have 4 uploads and downloads in progress/);
    }
    expect((await ada.api.head(path)).status).toBe(200);
    expect((await ada.api.get('/files')).status).toBe(200);
    expect((await bob.api.get(path, { headers: { range: 'bytes=0-1' } })).status).toBe(206);

    uploads[0]?.goOn();
    expect((await uploads[0]?.reply)?.status).toBe(201);
    expect((await again.upload('/files', { file: Buffer.from('x'), name: 'x' })).status).toBe(201);
    for (const download of downloads) download.destroy();
    await waitFor('the slots of the downloads', async () => {
      const replies = await Promise.all(range(3).map(() => ada.api.get(path, { headers: { range: 'bytes=0-1' } })));
      return replies.every(({ status }) => status === 206);
    });
  });

  test('release their slots however they end', async () => {
    const { api } = await tenant.user();
    const refused: (() => Promise<ApiReply>)[] = [
      () => api.upload('/files', { file: Buffer.from('x'), name: 'a/b' }),
      () => api.upload('/files', { file: Buffer.from('x'), name: 'x', fields: { folder_id: 'none' } }),
      () => api.get('/files/00000000-0000-4000-8000-000000000000/download'),
    ];
    for (const ask of range(MOST + 1).flatMap(() => refused)) expect((await ask()).status).toBeGreaterThanOrEqual(400);
    for (const at of range(MOST + 1)) {
      const reply = await api.upload('/files', { file: Buffer.from('x'), name: `f${at}` });
      expect(reply.status).toBe(201);
      expect((await api.get(`/files/${reply.body.id}/download`)).status).toBe(200);
    }
  });
});

describe('a client that is slower than the least rate', () => {
  const tenant = serverSuite({ transfers: { perPerson: 1, measuredMs: 500, leastBytesPerSecond: 10_000 } });

  /** Posts these bytes, then ten more every few milliseconds, until there is a reply. */
  async function dripping(api: Api, first: readonly Buffer[]): Promise<ApiReply> {
    const replied = new AbortController();
    async function* body(): AsyncGenerator<Buffer> {
      yield* first;
      try {
        for await (const _ of setInterval(20, undefined, { signal: replied.signal })) yield Buffer.alloc(10, 'a');
      } catch {
        // replied
      }
    }
    begun.push(() => replied.abort());
    return api
      .raw('POST', '/files', { headers: { 'content-type': FORM }, body: Readable.from(body()) })
      .finally(() => replied.abort());
  }

  test.each([
    ['the bytes of a file', [filePart('', 'slow.txt').subarray(0, -2)]],
    ['a field', [field('on_conflict', '').subarray(0, -2)]],
    ['what stands before the form', []],
  ])('with %s is a 408, and leaves nothing', async (_, first) => {
    const { api, user } = await tenant.user();
    const objects = await objectCount(tenant);

    const reply = await dripping(api, first);

    expect(reply).toMatchObject({ status: 408, body: { error: 'request_timeout' } });
    expect(reply.body.message).toContain('10000 bytes a second');
    expect([await objectCount(tenant), await quotaOf(tenant, user.id)]).toEqual([objects, 0]);
    expect((await api.upload('/files', { file: Buffer.from('x'), name: 'x' })).status).toBe(201);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('that takes in nothing of a download is cut off', async () => {
    const { api } = await tenant.user();
    const big = await untilServed(() => api.upload('/files', { file: Buffer.alloc(24 * MIB), name: 'big' }));
    const path = `/files/${big.body.id}/download`;
    const response = await unread(api, path);

    await waitFor('a free slot', async () => (await api.get(path, { headers: { range: 'bytes=0-1' } })).status === 206);
    let bytes = 0;
    const whole = async (): Promise<void> => {
      for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
    };
    await expect(whole()).rejects.toThrow(/aborted|ECONNRESET/);
    expect(bytes).toBeLessThan(24 * MIB);
  });

  test('is none whose upload waits for us', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const { small } = UPLOAD_BUFFERS;
    const never = new AbortController().signal;
    const buffers = await Promise.all(range(48).map((at) => small.take(`somebody-${at % 6}`, never)));
    const give = (): void => buffers.splice(0).forEach((buffer) => small.give(buffer));
    begun.push(give);

    const upload = ada.api.upload('/files', { file: Buffer.alloc(5 * MIB), name: 'patient' });
    await waitFor('an upload that waits for memory', () => small.waiting === 1);
    // Longer than anybody may be slow.
    for (const _ of range(2)) expect((await dripping(bob.api, [])).status).toBe(408);
    give();

    expect((await upload).status).toBe(201);
  });
});

test('while all downloads of a server are taken, those that nobody reads are cut off, though they may be slow else', async () => {
  const [most, few] = [4, 2];
  const tenant = await startTenant({
    transfers: { downloads: most, measuredMs: 500, leastBytesPerSecond: 0, leastBytesPerSecondWhenFull: 1_000_000_000 },
  });
  try {
    const { api } = await tenant.user();
    const big = await untilServed(() => api.upload('/files', { file: Buffer.alloc(24 * MIB), name: 'big' }));
    const path = `/files/${big.body.id}/download`;
    const first = await Promise.all(range(few).map(() => unread(api, path)));
    const stopped = (): Promise<number> => metricOf(tenant, 'transfers_stopped_total{kind="download",reason="too_slow"');
    const before = await stopped();

    await Promise.all(range(most - few).map(() => unread(api, path)));
    await waitFor('an end of what nobody reads', async () => (await stopped()) > 0);

    expect([before, first.length]).toEqual([0, few]);
    await waitFor('room for another', async () => (await api.get(path, { headers: { range: 'bytes=0-1' } })).status === 206);
  } finally {
    for (const end of begun.splice(0)) end();
    await tenant.stop();
  }
});

test('a download that lasts longer than the longest may is cut off, however fast it is read', async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  const tenant = await startTenant({ clock, transfers: { measuredMs: 500, leastBytesPerSecond: 0, longestMs: 3_600_000 } });
  try {
    const { api } = await tenant.user();
    // An upload may not last longer either, however busy the machine is: so it is the clock that goes on once the download has
    // begun.
    const big = await untilServed(() => api.upload('/files', { file: Buffer.alloc(24 * MIB), name: 'big' }));
    const response = await unread(api, `/files/${big.body.id}/download`);
    aheadMs = 3_601_000;

    await waitFor(
      'its end',
      async () => (await metricOf(tenant, 'transfers_stopped_total{kind="download",reason="too_long"')) === 1,
    );

    await expect(
      (async () => {
        for await (const _ of response);
      })(),
    ).rejects.toThrow(/aborted|ECONNRESET/);
  } finally {
    await tenant.stop();
  }
});

test('an upload that lasts longer than the longest may is a 408', async () => {
  const tenant = await startTenant({ transfers: { measuredMs: 500, longestMs: 1500 } });
  try {
    const { api } = await tenant.user();
    async function* steady(): AsyncGenerator<Buffer> {
      for await (const _ of setInterval(20)) yield Buffer.alloc(10_000);
    }
    const reply = await api.upload('/files', { file: Readable.from(steady()), name: 'endless' });
    expect(reply).toMatchObject({ status: 408, body: { error: 'request_timeout' } });
  } finally {
    await tenant.stop();
  }
});
