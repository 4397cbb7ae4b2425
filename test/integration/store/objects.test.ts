import { beforeAll, expect, test } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { BucketTaken, bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { newClient, newKey, Objects, type StoredObject } from '../../../pkg/store/s3/objects.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { heldBeyond, restingBytes } from '../../support/measures/memory.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

const running = ownStores();
let admin: StorageAdmin;
let ours: TenantBucket;
let theirs: TenantBucket;
let objects: Objects;
const ends: (() => void)[] = [];

const newBucket = (): TenantBucket => ({
  bucket: bucketName(`t-${systemRandom.hex(4)}`),
  accessKeyId: systemRandom.hex(10),
  secretAccessKey: systemRandom.base64url(30),
});
const open = (bucket: TenantBucket): Objects =>
  new Objects({ endpoint: running.s3.endpoint, region: running.s3.region, ...bucket });

beforeAll(async () => {
  admin = new StorageAdmin(running.s3);
  [ours, theirs] = [newBucket(), newBucket()];
  await Promise.all([ours, theirs].map((bucket) => admin.ensureBucketWithUser(bucket)));
  objects = open(ours);
});
atEnd(async () => {
  objects?.close();
  admin?.close();
  for (const end of ends) end();
});

const MiB = 1 << 20;
/** Pseudo-random bytes that cost no memory, and their checksum. */
function stream(bytes: number, chunkBytes = 256 * 1024): { body: Readable; sha256: () => string } {
  const hash = createHash('sha256');
  const block = randomBytes(chunkBytes);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; left -= block.length) {
      const chunk = left >= block.length ? block : block.subarray(0, left);
      hash.update(chunk);
      yield chunk;
    }
  }
  return { body: Readable.from(chunks(), { objectMode: false }), sha256: () => hash.digest('hex') };
}

test('bytes in memory come back as they went, also below a prefix whose characters are escaped', async () => {
  const below = new Objects({ ...running.s3, ...ours, prefix: "a b+ü!*'()&=/" });
  const key = newKey(systemRandom);
  const bytes = randomBytes(4096);

  await below.put(key, bytes, { contentType: 'text/plain; charset=utf-8', contentLength: bytes.length });

  expect((await buffer((await below.get(key)).body)).equals(bytes)).toBe(true);
  await expect(below.put(key, bytes, { contentLength: 4095 })).rejects.toThrow('announced');
  await expect(below.put(key, bytes, { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
  below.close();
});

test('an object that the store refuses is an error with the reason that the store gives', async () => {
  const stranger = new Objects({ ...running.s3, ...ours, secretAccessKey: 'another' });
  await expect(stranger.put(newKey(systemRandom), Buffer.from('a'))).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
  stranger.close();
});

test.each([0, 1, 4096, 8 * MiB, 20 * MiB + 7])('%d bytes come back as they went, whole and in part', async (bytes) => {
  const key = newKey(systemRandom);
  const { body, sha256 } = stream(bytes);

  const stored = await objects.put(key, body);
  const whole = await buffer((await objects.get(key)).body);

  expect(stored).toEqual({ size: bytes, isEncrypted: false });
  expect(createHash('sha256').update(whole).digest('hex')).toBe(sha256());
  expect(await objects.head(key)).toMatchObject({ key, size: bytes });
  if (bytes < 10) return;
  const part = await objects.get(key, { range: { start: 5, end: bytes - 2 } });
  expect(part.length).toBe(bytes - 6);
  expect((await buffer(part.body)).equals(whole.subarray(5, bytes - 1))).toBe(true);
});

test('downloads at the same time give each reader its own bytes, however often it pauses', async () => {
  const stored = await Promise.all(
    range(6).map(async () => {
      const [key, bytes] = [newKey(systemRandom), randomBytes(3 * MiB + 1)];
      await objects.put(key, bytes);
      return { key, bytes };
    }),
  );

  const read = await Promise.all(
    stored.map(async ({ key }, at) => {
      const chunks: Buffer[] = [];
      for await (const chunk of (await objects.get(key)).body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        for (let pause = 0; pause < at; pause += 1) await setImmediate();
      }
      return Buffer.concat(chunks);
    }),
  );

  expect(read.map((bytes, at) => stored[at]?.bytes.equals(bytes))).toEqual(range(6).map(() => true));
});

test('a client that nobody has any more keeps no connection', async () => {
  const sockets: Socket[] = [];
  const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', note);
  for (let at = 0; at < 5; at += 1) await open(ours).put('kept', Buffer.from('a'));
  unsubscribe('net.client.socket', note);
  // Others of this process may connect meanwhile: its stores' supervisor asks Valkey every few seconds.
  const own = sockets.filter(({ remotePort }) => String(remotePort) === new URL(running.s3.endpoint).port);
  const reused = own.filter(({ destroyed }) => !destroyed).length;

  await waitFor('the connections to be released', () => own.every(({ destroyed }) => destroyed));

  expect([own.length, reused]).toEqual([5, 5]);
});

/** Some 17 MiB are held; whoever keeps the file holds 256. */
const MOST_HELD = 64 * MiB;

test('an upload holds a few parts in memory, whatever its size', async () => {
  const key = newKey(systemRandom);
  await objects.put(newKey(systemRandom), stream(32 * MiB).body);
  const before = await restingBytes();
  const over = new AbortController();
  let most = 0;

  const put = objects.put(key, stream(256 * MiB).body).finally(() => over.abort());
  while (!over.signal.aborted) {
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    const seen = arrayBuffers + heapUsed - before;
    // Garbage that the engine has not collected yet does not count.
    most = Math.max(most, seen > MOST_HELD ? await heldBeyond(before, MOST_HELD) : seen);
    await setTimeout(5);
  }
  await put;

  expect(await objects.head(key)).toMatchObject({ size: 256 * MiB });
  expect(most).toBeLessThan(MOST_HELD);
});

test.each(['aborted', 'broken', 'short', 'long'])(
  'an upload that is %s leaves nothing that can be read, nor parts',
  async (how) => {
    const key = newKey(systemRandom);
    const abort = new AbortController();
    async function* chunks(): AsyncGenerator<Buffer> {
      for (let sent = 0; sent < 20; sent += 1) {
        if (sent === 18 && how === 'aborted') abort.abort(new Error('the client went'));
        if (sent === 18 && how === 'broken') throw new Error('the client went');
        yield randomBytes(MiB);
      }
    }
    const contentLength = how === 'short' ? 21 * MiB : how === 'long' ? 19 * MiB : 20 * MiB;

    const put = objects.put(key, Readable.from(chunks(), { objectMode: false }), { contentLength, signal: abort.signal });

    await expect(put).rejects.toThrow(how === 'short' || how === 'long' ? 'announced' : 'the client went');
    expect(await objects.head(key)).toBeNull();
    const client = newClient({ ...running.s3 });
    const uploads = async (): Promise<number> =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: ours.bucket }))).Uploads?.length ?? 0;
    // A part that the store was taking when it was asked to abort keeps the upload until it is asked again, a second later.
    await waitFor('the parts to go', async () => (await uploads()) === 0);
    client.destroy();
  },
);

test('objects are listed, copied and deleted; a missing one is reported', async () => {
  // No name that newKey could give: the other tests of this bucket leave theirs.
  const keys = ['list/1', 'list/2', 'other/3'];
  await Promise.all(keys.map((key) => objects.put(key, Buffer.from(key))));
  await objects.copy('list/1', 'other/copy');

  expect(await keysOf(objects.list({ prefix: 'list/' }))).toEqual(['list/1', 'list/2']);
  expect((await buffer((await objects.get('other/copy')).body)).toString()).toBe('list/1');
  await objects.delete([...keys, 'no/such']);
  expect(await objects.head('list/1')).toBeNull();
  await expect(objects.get('list/1')).rejects.toMatchObject({ name: 'ObjectMissing', key: 'list/1' });
});

test("a tenant's key opens nothing of another's bucket", async () => {
  await open(theirs).put('aa/secret', Buffer.from('theirs'));
  const intruder = new Objects({
    ...running.s3,
    bucket: theirs.bucket,
    accessKeyId: ours.accessKeyId,
    secretAccessKey: ours.secretAccessKey,
  });

  const attempts = await Promise.allSettled([
    intruder.get('aa/secret'),
    intruder.put('aa/mine', Buffer.from('x')),
    intruder.copy('aa/secret', 'aa/copy'),
    keysOf(intruder.list()),
    intruder.ping(),
  ]);
  for (const attempt of attempts)
    expect(attempt).toMatchObject({ status: 'rejected', reason: { $metadata: { httpStatusCode: 403 } } });
  await expect(intruder.delete(['aa/secret'])).rejects.toMatchObject({ name: 'DeleteRefused', code: 'AccessDenied' });
  const forged = new StorageAdmin({ ...running.s3, accessKeyId: ours.accessKeyId, secretAccessKey: ours.secretAccessKey });
  await expect(forged.ensureBucketWithUser(newBucket())).rejects.toThrow('403');
  expect((await buffer((await open(theirs).get('aa/secret')).body)).toString()).toBe('theirs');
});

test('a correct bucket is not touched; a changed secret is applied; a bucket that another owns is refused', async () => {
  expect(await admin.ensureBucketWithUser(ours)).toEqual({ changed: false });
  const renewed = { ...theirs, secretAccessKey: systemRandom.base64url(30) };

  expect(await admin.ensureBucketWithUser(renewed)).toEqual({ changed: true });
  await open(renewed).ping();
  await expect(admin.ensureBucketWithUser({ ...newBucket(), bucket: ours.bucket })).rejects.toBeInstanceOf(BucketTaken);
  expect(await admin.ensureBucketWithUser(theirs)).toEqual({ changed: true });
});

test('bucket and user go with all objects, in steps when there are many; gone already is fine', async () => {
  const gone = newBucket();
  await admin.ensureBucketWithUser(gone);
  const store = open(gone);
  await Promise.all(Array.from({ length: 30 }, () => store.put(newKey(systemRandom), Buffer.from('x'))));

  expect(await admin.removeBucketWithUser(gone, { budgetMs: -1 })).toBe(false);
  expect(await admin.removeBucketWithUser(gone)).toBe(true);
  expect(await admin.removeBucketWithUser(gone)).toBe(true);
  await expect(store.ping()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
  expect(await admin.removeBucketWithUser({ bucket: ours.bucket, accessKeyId: 'somebody-else' })).toBe(true);
  await objects.ping();
});

test('a bucket can return to its first key after a rotation, and whichever key owns it deletes it', async () => {
  const bucket = `carrel-${systemRandom.hex(6)}`;
  const first = { bucket, accessKeyId: bucket, secretAccessKey: systemRandom.base64url(30) };
  const next = { bucket, accessKeyId: `${bucket}.${systemRandom.hex(4)}`, secretAccessKey: systemRandom.base64url(30) };
  const rotate = async (): Promise<void> => {
    await admin.addKey({ ...next, former: first.accessKeyId });
    await admin.endFormerKey({ ...next, former: first.accessKeyId });
  };
  await admin.ensureBucketWithUser(first);
  await open(first).put('aa/kept', Buffer.from('kept'));
  await rotate();

  expect(await admin.ensureBucketWithUser(first)).toEqual({ changed: true });
  expect((await buffer((await open(first).get('aa/kept')).body)).toString()).toBe('kept');
  await expect(open(next).ping()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
  await rotate();
  expect(await admin.removeBucketWithUser(first)).toBe(true);
  await expect(open(next).ping()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
  expect(await admin.ensureBucketWithUser(first)).toEqual({ changed: true });
  expect(await keysOf(open(first).list())).toEqual([]);
  await admin.removeBucketWithUser(first);
});

test('a bucket’s removal, repeated after it stopped before removing any user, leaves none of the users', async () => {
  const bucket = `carrel-${systemRandom.hex(6)}`;
  const known = { bucket, accessKeyId: bucket };
  // This user belongs to a rotation that the remover of the bucket does not know.
  const owner = { bucket, accessKeyId: `${bucket}.${systemRandom.hex(4)}`, secretAccessKey: systemRandom.base64url(30) };
  await admin.ensureBucketWithUser(owner);
  const cut = await adminWithout('delete-user');

  await expect(cut.removeBucketWithUser(known)).rejects.toBeInstanceOf(StoreUnavailableError);
  expect(await admin.removeBucketWithUser(known)).toBe(true);
  await expect(open(owner).ping()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
});

test('a store that is down or hangs is reported within ten seconds and used again when it is back', async () => {
  const key = newKey(systemRandom);
  await objects.put(key, Buffer.from('kept'));

  let attempts = 0;
  const silent = createServer(() => void (attempts += 1)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const unanswered = new Objects({
    ...running.s3,
    ...ours,
    endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  });

  running.signal('versitygw', 'SIGSTOP');
  const began = performance.now();
  const hung = await Promise.allSettled([
    unanswered.head(key),
    objects.get(key),
    objects.put('aa/x', Buffer.from('x')),
    admin.ensureBucketWithUser(ours),
  ]);
  const took = performance.now() - began;
  running.signal('versitygw', 'SIGCONT');
  silent.closeAllConnections();
  silent.close();
  await running.kill('versitygw');
  const nobody = new Objects({ ...running.s3, ...ours, endpoint: 'http://127.0.0.1:1' });
  const down = await Promise.allSettled([nobody.head(key), nobody.put('aa/x', stream(20 * MiB).body), nobody.delete([key])]);

  for (const result of [...hung, ...down])
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
  expect(attempts).toBe(2);
  expect(took).toBeLessThan(30_000); // two attempts take 9 s; the rest is a busy machine's
  await waitFor('the store to answer again', async () => (await objects.head(key)) ?? undefined);
  expect((await buffer((await objects.get(key)).body)).toString()).toBe('kept');
});

/** Its connection breaks off at this order. */
async function adminWithout(order: string): Promise<StorageAdmin> {
  const between = createServer((incoming, answer) => {
    if (incoming.url?.startsWith(`/${order}?`)) return void incoming.destroy();
    const { method, url, headers } = incoming;
    const sent = request(new URL(url ?? '', running.s3.adminEndpoint), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(sent);
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  const cut = new StorageAdmin({ ...running.s3, adminEndpoint: `http://127.0.0.1:${(between.address() as AddressInfo).port}` });
  ends.push(
    () => cut.close(),
    () => void between.close(),
  );
  return cut;
}

async function keysOf(listed: AsyncIterable<StoredObject>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of listed) keys.push(key);
  return keys;
}
