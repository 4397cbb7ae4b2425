import { afterEach, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { UPLOAD_BUFFERS } from '../../../pkg/store/s3/upload-buffers.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { heldBeyond, restingBytes } from '../../support/measures/memory.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';
import { objectCount } from './tenant-state.ts';

const tenant = serverSuite({ transfers: { leastBytesPerSecond: 0 } });

let breakOff: (() => void) | undefined;
afterEach(() => breakOff?.());

const MIB = 1 << 20;
const BOUND_MIB = 192;
const { small, part } = UPLOAD_BUFFERS;
const buffersMiB = (): number => [small, part].reduce((sum, pool) => sum + (pool.inUse * pool.size) / MIB, 0);
const waiting = (): number => small.waiting + part.waiting;

const chunk = Buffer.alloc(MIB, 7);
/** Every second upload is sent to the store in two parts, the others by one request. */
const SIZES_MIB = [11, 3] as const;
const checksums = SIZES_MIB.map((size) =>
  createHash('sha256')
    .update(Buffer.concat(range(size).map(() => chunk)))
    .digest('hex'),
);
/** Returns how often each reply comes when all uploads are stored. */
const allStored = (uploads: number): Record<string, number> =>
  Object.fromEntries(checksums.map((checksum) => [`201 ${checksum}`, uploads / SIZES_MIB.length]));

/** Uploads of SIZES_MIB that stop short of their last MiB until the test continues or aborts them. */
function stalledUploads(apis: readonly Api[]) {
  const gate = Promise.withResolvers<void>();
  gate.promise.catch(() => undefined);
  async function* body(sizeMib: number): AsyncGenerator<Buffer> {
    for (let sent = 0; sent < sizeMib - 1; sent += 1) yield chunk;
    await gate.promise;
    yield chunk;
  }
  const refusals: string[] = [];
  const upload = async (api: Api, at: number): Promise<ApiReply> => {
    const file = Readable.from(body(SIZES_MIB[at % SIZES_MIB.length] ?? 0));
    const reply = await api.upload('/files', { file, name: `stalled-${at}` });
    if (reply.status !== 201) refusals.push(`${reply.status} ${reply.body?.message}`);
    return reply;
  };
  const settled = Promise.allSettled(apis.map((api, at) => untilServed(() => upload(api, at))));
  /** All of them stand still, in this state of the buffers. */
  const stand = (wanted: { parts: number; waiting: number }): Promise<boolean> =>
    waitFor('uploads that wait for a buffer', () => {
      if (part.inUse === wanted.parts && waiting() === wanted.waiting) return true;
      throw new Error(
        `${small.inUse} + ${part.inUse} in use, ${small.waiting} + ${part.waiting} wait; refused: ${refusals.join(', ')}`,
      );
    });
  breakOff = () => gate.reject(new Error('the client breaks off'));
  return { settled, stand, goOn: () => gate.resolve(), breakOff };
}

test("forty stalled uploads of one person take their share of memory and no more, and others' go on beside them", async () => {
  const [greedy, modest] = [await tenant.user(), await tenant.user()];
  await modest.api.upload('/files', { file: Buffer.from('warm'), name: 'warm' });
  const before = await restingBytes();

  const stalled = stalledUploads(range(40).map(() => greedy.api));
  await stalled.stand({ parts: 6, waiting: 34 });
  expect(buffersMiB()).toBeLessThanOrEqual(BOUND_MIB / 3);
  expect((await heldBeyond(before, BOUND_MIB * MIB)) / MIB).toBeLessThan(BOUND_MIB);

  const started = performance.now();
  const beside = await Promise.all([
    greedy.api.upload('/files', { file: Buffer.alloc(50_000), name: 'small' }),
    modest.api.upload('/files', { file: Buffer.alloc(500_000), name: 'medium' }),
    modest.api.upload('/files', { file: Buffer.alloc(20 * MIB), name: 'large' }),
  ]);
  expect(beside.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(performance.now() - started).toBeLessThan(300_000); // else they would wait until the test continues the others
  await stalled.stand({ parts: 6, waiting: 34 });

  stalled.goOn();
  const replies = (await stalled.settled).map((result) => (result.status === 'fulfilled' ? result.value : undefined));
  expect(countBy(replies, (reply) => `${reply?.status} ${reply?.body.checksum}`)).toEqual(allStored(40));
  expect([buffersMiB(), waiting()]).toEqual([0, 0]);
});

test('uploads of many people at once stay under the bound, and all of them come through in turns', async () => {
  const people = await Promise.all(range(30).map(() => tenant.user()));
  const stalled = stalledUploads(people.map(({ api }) => api));

  await stalled.stand({ parts: 18, waiting: 12 });
  expect(buffersMiB()).toBeLessThanOrEqual(BOUND_MIB);
  expect((await people[0]?.api.upload('/files', { file: Buffer.alloc(500_000), name: 'medium' }))?.status).toBe(201);

  stalled.goOn();
  const replies = (await stalled.settled).map((result) => (result.status === 'fulfilled' ? result.value : undefined));
  expect(countBy(replies, (reply) => `${reply?.status} ${reply?.body.checksum}`)).toEqual(allStored(30));
  expect([buffersMiB(), waiting()]).toEqual([0, 0]);
});

test('clients that go away give back what they had and what they waited for', async () => {
  const { api } = await tenant.user();
  const objects = await objectCount(tenant);
  const stalled = stalledUploads(range(10).map(() => api));
  await stalled.stand({ parts: 6, waiting: 4 });

  stalled.breakOff();

  expect(countBy(await stalled.settled, ({ status }) => status)).toEqual({ rejected: 10 });
  await waitFor('all buffers back', () => buffersMiB() === 0 && waiting() === 0);
  await waitFor('a bucket as it was', async () => (await objectCount(tenant)) === objects);
});
