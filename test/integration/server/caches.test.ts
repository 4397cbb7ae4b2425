import { beforeAll, describe, expect, test } from '@jest/globals';
import { PermissionSets } from '../../../pkg/access/permission-sets.ts';
import { Sessions } from '../../../pkg/access/sessions.ts';
import { grantSource } from '../../../pkg/content/model/access/grants-of-user.sql.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { CLEAR_CACHES, NO_CACHE, TaggedCache } from '../../../pkg/store/redis/tagged-cache.ts';
import type { FunctionCall } from '../../../pkg/store/redis/functions.ts';
import { connectRedis, type Redis } from '../../../pkg/store/redis/redis.ts';
import { CLEAR_CACHES as CLEAR_CACHES_JOB } from '../../../pkg/events/caches.jobs.ts';
import { range } from '../../support/wait.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();
let cache: TaggedCache;
beforeAll(() => {
  cache = new TaggedCache({ redis: tenant.redis, random: systemRandom, log: silentLogger });
});

const entry = { key: 'thing', tags: ['one', 'two'] };
const value = async (): Promise<string | undefined> => (await cache.lookup(entry)).value;
const fill = async (text = 'kept'): Promise<void> => (await cache.lookup(entry)).put(text, 60);
const write = (...subjects: string[]): Promise<void> =>
  cache.transaction(tenant.db, async (tx) => cache.invalidate(tx, ...subjects));

test('values missing from the reply of Redis are loaded from rows, and Redis is not asked again', async () => {
  const { sub, sid } = JSON.parse(Buffer.from(tenant.admin.token?.split('.')[1] ?? '', 'base64url').toString());
  let asked = 0;
  const counted = (call: FunctionCall): ReturnType<Redis['call']> => {
    asked += 1;
    return tenant.redis.call(call);
  };
  const redis = new Proxy(tenant.redis, { get: (target, name) => (name === 'call' ? counted : Reflect.get(target, name)) });
  const deps = { db: tenant.db, cache: new TaggedCache({ redis, random: systemRandom, log: silentLogger }), clock: systemClock };
  const permissionSets = new PermissionSets({ ...deps, grants: grantSource(tenant.db) });
  const sessions = new Sessions({ ...deps, permissionSets, random: systemRandom, tenantId: tenant.tenantId });

  const actor = await sessions.authenticate({ userUuid: sub, sessionId: sid }, [NO_CACHE, NO_CACHE]);
  const { entries } = await actor.permissionSet();

  expect(entries).toEqual(new Set(actor.permissions));
  expect(asked).toBe(0);
});

describe("GET of a file's metadata", () => {
  test('asks no SQL when warm, and Redis once, with session, limits and permissions', async () => {
    const file = await tenant.admin.upload('/files', { name: 'warm.txt', file: Buffer.from('warm') });
    const read = () => tenant.counting(() => tenant.admin.get(`/files/${file.body.id}`));
    const cold = await read();

    const warm = await read();

    expect([cold.reply.status, warm.reply.status, warm.reply.body]).toEqual([200, 200, cold.reply.body]);
    expect(cold.sql.length).toBeLessThanOrEqual(2);
    expect(warm.sql).toEqual([]);
    expect(warm.redisTrips).toBe(1);
  });

  test('shows a change at once, to everybody who may see it, however warm it was', async () => {
    const reader = await tenant.user();
    const file = (await tenant.admin.upload('/files', { name: 'shown.txt', file: Buffer.from('x') })).body;
    const name = async (): Promise<[number, string | undefined]> => {
      const reply = await reader.api.get(`/files/${file.id}`);
      return [reply.status, reply.body.name];
    };

    const hidden = await name();
    const grant = await tenant.admin.post(`/files/${file.id}/permissions`, { user_id: reader.user.id, permission_level: 'read' });
    const shown = [await name(), await name()];
    await tenant.admin.patch(`/files/${file.id}`, { name: 'renamed.txt' });
    const renamed = await name();
    await tenant.admin.delete(`/files/${file.id}/permissions/${grant.body.id}`);
    const taken = await name();

    expect(grant.status).toBe(201);
    expect([hidden[0], shown, renamed, taken[0]]).toEqual([
      404,
      [
        [200, 'shown.txt'],
        [200, 'shown.txt'],
      ],
      [200, 'renamed.txt'],
      404,
    ]);
  });
});

describe('a cached value', () => {
  test('is served until any subject that it rests on is written', async () => {
    await fill();
    const cached = await value();
    await write('other');
    const still = await value();
    await write('two');

    expect([cached, still, await value()]).toEqual(['kept', 'kept', undefined]);
  });

  test('that was loaded before a write and kept after it is not served', async () => {
    const before = await cache.lookup(entry);
    await write('one');
    await before.put('old', 60);

    expect(await value()).toBeUndefined();
  });

  test('is passed by while a write commits, and nothing is kept meanwhile', async () => {
    await fill();
    const during: (string | undefined)[] = [];
    const slow = cache.transaction(tenant.db, async (tx) => {
      cache.invalidate(tx, 'one');
      // Two writers at once: the first to end does not lift the mark of the other.
      await cache.transaction(tenant.db, async (inner) => cache.invalidate(inner, 'one'));
    });
    await slow;
    during.push(await value());

    await tenant.redis.set('g:one', `pending somebody:${Math.floor(Date.now() / 1000) + 60}`, { ttlSeconds: 60 });
    await fill('while pending');
    during.push(await value());
    await write('one');
    during.push(await value());

    expect(during).toEqual([undefined, undefined, undefined]);
    expect(await tenant.redisAdmin.get('g:one')).toMatch(/^pending somebody:\d+$/);
  });

  test('comes back when the mark of a writer that died has lapsed', async () => {
    await tenant.redis.set('g:one', `pending dead:${Math.floor(Date.now() / 1000) - 1}`, { ttlSeconds: 60 });

    await write('one');
    await fill('after');

    expect(await value()).toBe('after');
  });

  test('is not touched by a write that was rolled back', async () => {
    await fill();
    await cache
      .transaction(tenant.db, async (tx) => {
        cache.invalidate(tx, 'one');
        throw new Error('no');
      })
      .catch(() => undefined);

    expect(await value()).toBe('kept');
  });

  test('whose tags have lost their versions counts as old', async () => {
    await fill();
    await tenant.redisAdmin.del('g:one', 'g:two');

    expect(await value()).toBeUndefined();
  });

  test('with more tags than one job clears is cleared by several, and a job with more is none', async () => {
    const nowhere = connectRedis({ url: 'redis://127.0.0.1:1', prefix: '', log: silentLogger });
    const unavailable = new TaggedCache({ redis: nowhere, random: systemRandom, log: silentLogger });
    const tags = range(2_500).map((at) => `many:${at}`);

    await unavailable.transaction(tenant.db, async (tx) => unavailable.invalidate(tx, ...tags));

    const requested = await tenant.db.query<{ payload: { subjects: string[] } }>(
      `SELECT payload FROM carrel.work WHERE kind = $1 AND payload->'subjects'->>0 LIKE 'many:%'`,
      [CLEAR_CACHES],
    );
    await nowhere.close();
    expect(requested.map(({ payload: { subjects } }) => subjects.length).toSorted((a, b) => b - a)).toEqual([1_000, 1_000, 500]);
    expect(requested.every(({ payload }) => CLEAR_CACHES_JOB.payload.safeParse(payload).success)).toBe(true);
    expect(CLEAR_CACHES_JOB.payload.safeParse({ subjects: tags }).success).toBe(false);
  });

  test('that could not be cleared is cleared by work of the same transaction', async () => {
    await fill();
    const nowhere = connectRedis({ url: 'redis://127.0.0.1:1', prefix: '', log: silentLogger });
    const unavailable = new TaggedCache({ redis: nowhere, random: systemRandom, log: silentLogger });
    await tenant.db.query('SELECT 1');

    await unavailable.transaction(tenant.db, async (tx) => unavailable.invalidate(tx, 'one'));

    const requested = await tenant.db.query<{ kind: string; payload: { subjects: string[] } }>(
      `SELECT kind, payload FROM carrel.work WHERE kind = $1 AND payload->'subjects' ? 'one'`,
      [CLEAR_CACHES],
    );
    await new TaggedCache({ redis: tenant.redis, random: systemRandom, log: silentLogger }).clear(
      requested.flatMap(({ payload }) => payload.subjects),
    );
    await nowhere.close();
    expect(requested).toEqual([{ kind: 'cache.clear', payload: { subjects: ['one'] } }]);
    expect(await value()).toBeUndefined();
  });
});
