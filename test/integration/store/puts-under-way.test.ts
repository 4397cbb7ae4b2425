import { afterEach, beforeAll, expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { newKey, Objects } from '../../../pkg/store/s3/objects.ts';
import { ANSWER_TIMEOUT_MS } from '../../../pkg/store/s3/timeouts.ts';
import { type HoldingWay, holdingWay, isCompletion, isPut } from '../../support/fakes/holding-way.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';

const MIB = 1 << 20;
/** What a test allows beside the time that a store has. */
const LEEWAY_MS = 3_000;
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

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** The store by a way that holds these requests. */
async function held(isHeld: (request: IncomingMessage) => boolean): Promise<{ way: HoldingWay; store: Objects }> {
  const way = await holdingWay(new URL(running.s3.endpoint), isHeld);
  const store = new Objects({ ...running.s3, ...bucket, endpoint: way.url });
  ends.push(() => {
    store.close();
    way.close();
  });
  return { way, store };
}

/** Why a put failed. */
const messageOf = (put: Promise<unknown>): Promise<string> =>
  put.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );
const small = (): Buffer => Buffer.from('small');
const stream = (bytes: number): Readable => Readable.from([Buffer.alloc(bytes, 'x')], { objectMode: false });
const bodies: [string, () => Buffer | Readable, (request: IncomingMessage) => boolean][] = [
  ['bytes in memory', small, isPut],
  ['a stream of one part', () => stream(MIB), isPut],
  ['a stream of several parts', () => stream(20 * MIB), isCompletion],
];

test.each(bodies)(
  'an aborted put of %s ends after the store, so that the object can be deleted for good',
  async (_, body, isHeld) => {
    const { way, store } = await held(isHeld);
    const key = newKey(systemRandom);
    const gone = new AbortController();
    const put = store.put(key, body(), { signal: gone.signal });
    // As Blobs does with what failed before its transaction.
    const deleted = put.catch(async (error: Error) => {
      await store.delete([key]);
      return error.message;
    });
    await waitFor('the whole request', () => way.held === 1);

    gone.abort(new Error('gone'));
    const first = await Promise.race([deleted, pause(500, 'under way')]);
    await way.release();

    expect([first, await deleted, await objects.head(key)]).toEqual(['under way', 'gone', null]);
  },
);

test('an aborted put does not wait longer than a store has to answer, whatever the store does', async () => {
  const { way, store } = await held(isPut);
  const gone = new AbortController();
  const put = store.put(newKey(systemRandom), stream(MIB), { signal: gone.signal });
  const ended = messageOf(put);
  await waitFor('the whole request', () => way.held === 1);

  const since = performance.now();
  gone.abort(new Error('gone'));

  expect(await ended).toBe('gone');
  expect(performance.now() - since).toBeLessThan(ANSWER_TIMEOUT_MS + LEEWAY_MS);
  await waitFor('the end of the connection', () => way.abandoned === 1);
});

test('a deadline for the store ends a put at once', async () => {
  const { way, store } = await held(isPut);
  const over = new AbortController();
  const put = store.until(over.signal).put(newKey(systemRandom), small());
  const ended = messageOf(put);
  await waitFor('the whole request', () => way.held === 1);

  const since = performance.now();
  over.abort(new Error('over'));

  expect(await ended).toBe('over');
  expect(performance.now() - since).toBeLessThan(LEEWAY_MS);
});

test('a put that is aborted before its request has begun makes none', async () => {
  const { way, store } = await held(isPut);
  const gone = new AbortController();
  const waits = new Readable({ read: () => undefined });
  const put = store.put(newKey(systemRandom), waits, { signal: gone.signal });
  const ended = messageOf(put);

  const since = performance.now();
  gone.abort(new Error('gone'));

  expect([await ended, way.held, performance.now() - since < LEEWAY_MS]).toEqual(['gone', 0, true]);
});
