import { afterEach, describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { begin, checksum, look, named, send } from '../../support/clients/tus.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';
import { faultsOf, quotaOf } from './tenant-state.ts';

const tenant = serverSuite({ maxUploadBytes: 100 << 20, transfers: { leastBytesPerSecond: 0 } });

const MIB = 1 << 20;
const QUOTA = 10_000_000;
const WRONG = { 'upload-checksum': checksum(Buffer.from('something else')) };

let endBodies: ((error: Error) => void)[] = [];
const breakOff = (): void => {
  for (const end of endBodies) end(new Error('the test is over'));
  endBodies = [];
};
afterEach(breakOff);

const bytesInBucket = async (): Promise<number> => {
  let bytes = 0;
  for await (const { size } of tenant.objects.list()) bytes += size;
  return bytes;
};
const reservedOf = async (userId: string): Promise<number> => {
  const [row] = await tenant.db.query<{ bytes: number }>(
    `SELECT coalesce(sum(r.bytes), 0)::bigint AS bytes FROM users u LEFT JOIN storage_reservations r ON r.user_id = u.id
     WHERE u.uuid = $1`,
    [userId],
  );
  return row?.bytes ?? -1;
};

/** `bytes` of a body without a Content-Length; then its connection stays open until the test is over. */
function held(bytes: number): { body: Readable; sent: () => number } {
  const gate = Promise.withResolvers<never>();
  gate.promise.catch(() => undefined);
  endBodies.push(gate.reject);
  let sent = 0;
  async function* chunks(): AsyncGenerator<Buffer> {
    for (; sent < bytes; sent += 500_000) yield Buffer.alloc(500_000, 7);
    await gate.promise;
  }
  return { body: Readable.from(chunks(), { objectMode: false }), sent: () => sent };
}

/** Returns an upload as its client sees it, and the quota that it takes. */
async function stateOf(api: Api, id: string, userId: string): Promise<unknown> {
  const { status, headers } = await look(api, id);
  const shown = ['upload-offset', 'upload-length', 'upload-defer-length', 'x-carrel-file'].map((name) => headers[name]);
  return { status, shown, reserved: await reservedOf(userId), used: await quotaOf(tenant, userId) };
}

describe('while connections are open, a quota of 10 MB has no more than that in the bucket', () => {
  test('of uploads with a deferred length and a checksum', async () => {
    const { api, user } = await tenant.user({ storage_quota: QUOTA });
    const before = await bytesInBucket();
    const ids = await Promise.all(range(4).map(async (at) => (await begin(api, named(`endless-${at}`))).body.id as string));
    const outcomes: (string | number)[] = [];
    const requests = ids.map((id) =>
      send(api, id, 0, held(60 * MIB).body, WRONG).then(
        ({ status, body }) => outcomes.push(body?.error ?? status),
        () => outcomes.push('broken off'),
      ),
    );

    await waitFor('all requests to be refused', () => outcomes.length === ids.length);
    expect(countBy(outcomes, (outcome) => outcome)).toEqual({ quota_exceeded: 4 });
    expect((await bytesInBucket()) - before).toBeLessThanOrEqual(QUOTA);
    await Promise.all(requests);
    await waitFor('the bytes of refused requests to go', async () => (await bytesInBucket()) === before);
    expect(await reservedOf(user.id)).toBe(0);
  });

  test('of requests that stand still just below it', async () => {
    const { api, user } = await tenant.user({ storage_quota: QUOTA });
    const before = await bytesInBucket();
    const [first, second] = await Promise.all(
      range(2).map(async (at) => (await begin(api, named(`still-${at}`))).body.id as string),
    );
    void send(api, first ?? '', 0, held(9_000_000).body, WRONG).catch(() => undefined);
    await waitFor('a segment', async () => (await bytesInBucket()) - before >= 8 * MIB);

    const refused = await send(api, second ?? '', 0, held(9_000_000).body, WRONG);

    expect([refused.status, refused.body.error]).toEqual([507, 'quota_exceeded']);
    expect((await bytesInBucket()) - before).toBeLessThanOrEqual(QUOTA);
    expect(await reservedOf(user.id)).toBeLessThanOrEqual(QUOTA);
    breakOff();
    await waitFor('the bytes of requests that broke off to go', async () => (await bytesInBucket()) === before);
  });

  test('of many requests for one upload: the newest ends the one before', async () => {
    const { api } = await tenant.user({ storage_quota: QUOTA });
    const before = await bytesInBucket();
    const { id } = (await begin(api, named('one', 9_500_000))).body;
    const outcomes: number[] = [];
    for (const at of range(6)) {
      void send(api, id, 0, held(9_000_000).body, WRONG).then(
        ({ status }) => outcomes.push(status),
        () => undefined,
      );
      await waitFor(`request ${at} to send, and those before it to end`, async () => {
        const bytes = (await bytesInBucket()) - before;
        expect(bytes).toBeLessThanOrEqual(QUOTA);
        return outcomes.length === at && bytes >= 8 * MIB;
      });
    }

    expect(outcomes).toEqual([409, 409, 409, 409, 409]);
    const whole = Buffer.alloc(9_500_000, 1);
    expect((await send(api, id, 0, whole, { 'upload-checksum': checksum(whole) })).status).toBe(204);
  });
});

describe('a refused request changes neither offset, length, reserved nor used quota', () => {
  const BYTES = Buffer.alloc(100, 'x');
  const stream = (bytes: number): Readable => Readable.from([Buffer.alloc(bytes, 'y')], { objectMode: false });
  type Case = [string, number | string, Readonly<Record<string, string>>, () => Buffer | Readable];
  const FIXING = { 'upload-length': '1000' };

  describe('of an upload without a length', () => {
    test.each<Case>([
      ['a wrong checksum', 460, { ...FIXING, ...WRONG }, () => BYTES],
      ['a wrong checksum of what comes in chunks', 460, { ...FIXING, ...WRONG }, () => stream(100)],
      ['more than the length that it says', 413, { 'upload-length': '60' }, () => BYTES],
      ['more in chunks than the length that it says', 413, { 'upload-length': '60' }, () => stream(100)],
      ['17 MiB in chunks where it says less', 413, { 'upload-length': String(9 * MIB) }, () => stream(17 * MIB)],
      ['a length beyond the quota', 507, { 'upload-length': String(QUOTA * 3) }, () => BYTES],
      ['more bytes than the quota', 507, {}, () => Buffer.alloc(QUOTA * 3)],
      ['more bytes in chunks than the quota', 507, {}, () => stream(QUOTA * 3)],
      ['a length beyond the limit of uploads', 413, { 'upload-length': String(101 * MIB) }, () => BYTES],
      ['a length below the offset', 400, { 'upload-length': '9' }, () => BYTES],
      ['a bad checksum', 400, { ...FIXING, 'upload-checksum': 'md5 x' }, () => BYTES],
      ['another offset', 409, { ...FIXING, 'upload-offset': '11' }, () => BYTES],
      ['another type', 415, { ...FIXING, 'content-type': 'text/plain' }, () => BYTES],
      ['a name that is taken', 409, { 'upload-length': '110' }, () => BYTES],
      ['a name that is taken, in chunks', 409, { 'upload-length': '110' }, () => stream(100)],
    ])('%s is %s', async (_what, status, headers, body) => {
      const { api, user } = await tenant.user({ storage_quota: 2 * QUOTA });
      await api.upload('/files', { file: Buffer.from('here'), name: 'taken' });
      const { id } = (await begin(api, named('taken'))).body;
      await send(api, id, 0, Buffer.alloc(10, 'a'));
      const before = await stateOf(api, id, user.id);

      const reply = await send(api, id, 10, body(), headers);

      expect(reply.status).toBe(status);
      expect(await stateOf(api, id, user.id)).toEqual(before);
    });
  });

  test('of an upload with a length, also where 9 MiB came before what is too much', async () => {
    const { api, user } = await tenant.user();
    const { id } = (await begin(api, named('long', 10 * MIB))).body;
    await send(api, id, 0, BYTES);
    const before = await stateOf(api, id, user.id);

    const replies = [await send(api, id, 100, stream(12 * MIB)), await send(api, id, 100, stream(12 * MIB), WRONG)];

    expect(replies.map(({ status }) => status)).toEqual([413, 413]);
    expect(await stateOf(api, id, user.id)).toEqual(before);
  });

  test('of a creation, which leaves no upload', async () => {
    const { api, user } = await tenant.user({ storage_quota: QUOTA });

    const refused = [
      await begin(api, { ...named('wrong', 100), ...WRONG }, BYTES),
      await begin(api, named('long', 50), BYTES),
      await begin(api, named('much'), Buffer.alloc(QUOTA + 1)),
    ];

    expect(refused.map(({ status }) => status)).toEqual([460, 413, 507]);
    const [{ count } = { count: -1 }] = await tenant.db.query<{ count: number }>(
      'SELECT count(*) FROM partial_uploads WHERE user_id = (SELECT id FROM users WHERE uuid = $1)',
      [user.id],
    );
    expect([count, await reservedOf(user.id)]).toEqual([0, 0]);
  });
});

test('an accepted length is fixed with its bytes, and reserved', async () => {
  const { api, user } = await tenant.user();
  const { id } = (await begin(api, named('fixed'))).body;

  const replies = [
    await send(api, id, 0, Buffer.alloc(10), { 'upload-length': '1000' }),
    await send(api, id, 10, Buffer.alloc(10), { 'upload-length': '999' }),
    await send(api, id, 10, Buffer.alloc(10), { 'upload-length': '1000' }),
  ];

  expect(replies.map(({ status }) => status)).toEqual([204, 400, 204]);
  expect(await stateOf(api, id, user.id)).toMatchObject({ shown: ['20', '1000', undefined, undefined], reserved: 1000 });
});

describe('a request for an upload that is complete', () => {
  const complete = async (): Promise<{ api: Api; id: string }> => {
    const { api } = await tenant.user();
    const made = await begin(api, named('whole', 5), Buffer.from('Hello'));
    expect(made.headers['x-carrel-file']).toBeDefined();
    return { api, id: made.body.id };
  };

  test('with further bytes is 413, with a checksum, a right or a wrong one, as well', async () => {
    const { api, id } = await complete();
    const more = Buffer.from('more');
    const streamed = (): Readable => Readable.from([more], { objectMode: false });

    const replies: ApiReply[] = [
      await send(api, id, 5, more),
      await send(api, id, 5, streamed()),
      await send(api, id, 5, more, WRONG),
      await send(api, id, 5, streamed(), { 'upload-checksum': checksum(more) }),
    ];

    expect(replies.map(({ status, body }) => [status, body?.error])).toEqual(range(4).map(() => [413, 'payload_too_large']));
  });

  test('without any is 204 and names the file, unless it says a wrong checksum', async () => {
    const { api, id } = await complete();

    const replies = [
      await send(api, id, 5, Buffer.alloc(0)),
      await send(api, id, 5, Readable.from([], { objectMode: false })),
      await send(api, id, 5, Buffer.alloc(0), { 'upload-checksum': checksum(Buffer.alloc(0)) }),
      await send(api, id, 5, Buffer.alloc(0), WRONG),
    ];

    expect(replies.map(({ status }) => status)).toEqual([204, 204, 204, 460]);
    expect(replies[0]?.headers['x-carrel-file']).toBeDefined();
  });
});

test('nothing is left that no row names', async () => {
  expect(await faultsOf(tenant)).toEqual([]);
});
