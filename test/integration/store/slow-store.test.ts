import { beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { newKey, Objects } from '../../../pkg/store/s3/objects.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { range } from '../../support/wait.ts';

const MIB = 1 << 20;
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
atEnd(async () => {
  objects?.close();
});

/** A way to `target` that takes so many bytes a second in all. */
async function slowWay(target: URL, bytesPerSecond: number): Promise<{ url: string; close(): void }> {
  let free = performance.now();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    far.pipe(near);
    const carry = async (): Promise<void> => {
      for await (const chunk of near as AsyncIterable<Buffer>) {
        free = Math.max(free, performance.now()) + (chunk.length * 1000) / bytesPerSecond;
        await pause(Math.max(0, free - performance.now()));
        far.write(chunk);
      }
      far.end();
    };
    far.on('error', () => near.destroy());
    carry().catch(() => far.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

test('a slow store is not taken for an unavailable one: the time that a body has depends on its length', async () => {
  const way = await slowWay(new URL(running.s3.endpoint), 2 * MIB);
  const slow = new Objects({ ...running.s3, ...bucket, endpoint: way.url });
  const bytes = Buffer.alloc(24 * MIB, 'slow');
  const key = newKey(systemRandom);

  await slow.put(key, bytes);

  expect((await buffer((await objects.get(key)).body)).equals(bytes)).toBe(true);
  slow.close();
  way.close();
});

test('two hundred downloads that stand still hold up no other', async () => {
  const [large, small] = [newKey(systemRandom), newKey(systemRandom)];
  await objects.put(large, Buffer.alloc(8 * MIB));
  await objects.put(small, Buffer.from('small'));

  const still = await Promise.all(range(200).map(() => objects.get(large)));
  const { body } = await objects.get(small);

  expect((await buffer(body)).toString()).toBe('small');
  for (const { body } of still) body.destroy();
});
