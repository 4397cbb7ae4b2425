import { beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { newKey, Objects } from '../../../pkg/store/s3/objects.ts';
import { UploadGone } from '../../../pkg/store/s3/upload-in-parts.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';

const PART_BYTES = 1 << 20;
const HELD_BYTES = 1_000;
const bucket: TenantBucket = {
  bucket: bucketName(`t-${systemRandom.hex(4)}`),
  accessKeyId: systemRandom.hex(10),
  secretAccessKey: systemRandom.base64url(30),
};

const running = ownStores();
let objects: Objects;
beforeAll(async () => {
  const admin = new StorageAdmin(running.s3);
  await admin.ensureBucketWithUser(bucket);
  admin.close();
  objects = new Objects({ ...running.s3, ...bucket });
});
atEnd(async () => objects?.close());

/** Where a request with a body ends, as its head says; 0 before that has come. */
function endOf(request: Buffer): number {
  const body = request.indexOf('\r\n\r\n') + 4;
  const [, length] = /^content-length: (\d+)/im.exec(request.toString('latin1', 0, body)) ?? [];
  return length === undefined ? 0 : body + Number(length);
}

/** A way to the store that holds back the last bytes of a part, and delivers them although whoever sent them has gone. */
async function holdingWay(target: URL) {
  let held: { far: Socket; bytes: Buffer } | undefined;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    far.on('data', (bytes) => near.write(bytes)).on('error', () => near.destroy());
    let [request, passed] = [Buffer.alloc(0), 0];
    near
      .on('error', () => undefined)
      .on('data', (bytes) => {
        request = Buffer.concat([request, bytes]);
        const end = endOf(request);
        const until = Math.max(passed, Math.min(request.length, end - HELD_BYTES));
        far.write(request.subarray(passed, until));
        passed = until;
        if (request.length === end) held = { far, bytes: request.subarray(until) };
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isHolding: () => held !== undefined,
    release: () => held?.far.write(held.bytes),
    close: () => void server.close(),
  };
}

const isGone = async (key: string, id: string): Promise<boolean> => {
  const put = objects.inParts(key, id).put(2, oneChunk(Buffer.from('late')), 4, new AbortController().signal);
  return put.then(
    () => false,
    (error: unknown) => error instanceof UploadGone,
  );
};
async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

test('abandoning a part that is wholly sent waits for it, so that no part arrives after the upload was aborted', async () => {
  const way = await holdingWay(new URL(running.s3.endpoint));
  const held = new Objects({ ...running.s3, ...bucket, endpoint: way.url });
  const key = newKey(systemRandom);
  const id = await objects.beginParts(key, 'text/plain');
  const given = new AbortController();

  const put = held.inParts(key, id).put(1, oneChunk(Buffer.alloc(PART_BYTES)), PART_BYTES, given.signal);
  await waitFor('the bytes', way.isHolding);
  given.abort(new Error('given up'));
  const ended = put.then(
    () => 'ended',
    () => 'ended',
  );
  const first = await Promise.race([ended, pause(500, 'under way')]);
  way.release();
  await ended;
  await objects.inParts(key, id).abort();

  expect([first, await isGone(key, id)]).toEqual(['under way', true]);
  held.close();
  way.close();
});

test('a part of which bytes are missing when it is given up is cut off at once, and leaves nothing', async () => {
  const key = newKey(systemRandom);
  const id = await objects.beginParts(key, 'text/plain');
  const given = new AbortController();
  const begun = Promise.withResolvers<void>();
  const half = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(PART_BYTES / 2);
    begun.resolve();
    await once(given.signal, 'abort');
    await new Promise(() => undefined); // nor does the body end
  };

  const put = objects.inParts(key, id).put(1, half(), PART_BYTES, given.signal);
  await begun.promise;
  given.abort(new Error('given up'));

  await expect(put).rejects.toThrow('given up');
  // The store may have begun with it, and keep the upload's folder for as long as it does not see the end of the connection.
  await waitFor('the upload to be gone', async () => {
    await objects.inParts(key, id).abort();
    return isGone(key, id);
  });
});
