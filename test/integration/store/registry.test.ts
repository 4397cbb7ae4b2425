import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SealError, Sealer } from '../../../pkg/runtime/sealing.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { type ClaimRequest, BASIC_CONNECTIONS, Registry } from '../../../pkg/store/postgres/registry.ts';
import { newSlug, ownerOf, request, tally } from '../../support/data/claims.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';

const { running, pool, registry } = storeSuite();

test('one of 50 resources that claim a slug at once wins', async () => {
  const slug = newSlug();

  const results = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => registry.claim(request(slug, { owner: ownerOf(`owner-${index}`), hosts: [] }))),
  );

  expect(tally(results)).toEqual({ won: 1, SlugTaken: 49 });
});

test('a claim that holds is one statement that writes nothing; hosts follow the resource', async () => {
  const slug = newSlug();
  const first = await registry.claim(request(slug));
  const seen: string[] = [];
  const watched = new SqlPool({
    url: running.postgres.operator,
    poolSize: 1,
    log: silentLogger,
    observe: ({ sql }) => void seen.push(sql),
  });
  const time = { clock: systemClock, random: systemRandom };
  const sealer = new Sealer([{ id: 'x', key: systemRandom.bytes(32) }], systemRandom);

  const again = await new Registry({ pool: watched, sealer, ...time }).claim(request(slug));
  await watched.close();
  const moved = await registry.claim(request(slug, { hosts: ['other.example.org'] }));

  expect(first).toMatchObject({ outcome: 'new', slug, shard: 'main', state: 'active', tenantId: expect.stringMatching(/^\d+$/) });
  expect(again).toEqual({ ...first, outcome: 'existing' });
  expect(seen).toHaveLength(1);
  expect(moved).toMatchObject({ tenantId: first.tenantId, hosts: ['other.example.org'] });
});

test('tenants go to the least full shard, never past its bound, however many come at once; none moves', async () => {
  const shards = [`a-${systemRandom.hex(3)}`, `b-${systemRandom.hex(3)}`];

  const claims = Array.from({ length: 12 }, () => registry.claim(request(newSlug(), { shards, maxPerShard: 5 })));

  expect(tally(await Promise.allSettled(claims))).toEqual({ won: 10, NoShard: 2 });
  const counts = 'SELECT count(*) AS tenants FROM registry.tenants WHERE shard = ANY ($1) GROUP BY shard';
  expect(await pool.query(counts, [shards])).toEqual([{ tenants: 5 }, { tenants: 5 }]);
  const slug = newSlug();
  await registry.claim(request(slug));
  await expect(registry.claim(request(slug, { shard: shards[0] ?? '' }))).rejects.toMatchObject({ name: 'ShardConflict' });
  await expect(registry.claim(request(newSlug(), { shard: 'nowhere' }))).rejects.toMatchObject({ name: 'NoShard' });
});

test('connections beyond the default size are bounded per shard, however many ask at once; others are not counted', async () => {
  const shard = `c-${systemRandom.hex(3)}`;
  const asking = (wanted: number, slug = newSlug()): ClaimRequest =>
    request(slug, {
      shards: [shard],
      connections: { wanted, most: 50, budgetOf: () => Promise.resolve(100), limitsOf: () => Promise.resolve(new Map()) },
    });
  const ordinary = await Promise.allSettled(Array.from({ length: 30 }, () => registry.claim(asking(BASIC_CONNECTIONS))));

  const large = Array.from({ length: 8 }, () => asking(BASIC_CONNECTIONS + 30));
  // these grow, the others are new
  await Promise.all(large.slice(4).map(({ slug }) => registry.claim(asking(BASIC_CONNECTIONS, slug))));
  const results = await Promise.allSettled(large.map((each) => registry.claim(each)));

  expect(tally(ordinary)).toEqual({ won: 30 });
  expect(tally(results)).toEqual({ won: 3, ConnectionsExceeded: 5 });
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: {
      message:
        `42 connections are 30 more than the 12 of a tenant of default size; shard ${shard} has 100 of these for all ` +
        'tenants together, and 10 are left',
    },
  });
  const [first, second, third] = large.filter((_, index) => results[index]?.status === 'fulfilled').map(({ slug }) => slug);
  await expect(registry.claim(asking(BASIC_CONNECTIONS + 41, first))).rejects.toMatchObject({ name: 'ConnectionsExceeded' });
  const { tenantId: shrunk } = await registry.claim(asking(BASIC_CONNECTIONS, first));
  await expect(registry.claim(asking(BASIC_CONNECTIONS + 70, second))).rejects.toMatchObject({ name: 'ConnectionsExceeded' });
  await registry.lowerConnections(shrunk, { from: BASIC_CONNECTIONS + 30, to: 0 });
  const { tenantId } = await registry.claim(asking(BASIC_CONNECTIONS + 70, second));
  await expect(registry.claim(asking(BASIC_CONNECTIONS + 1, first))).rejects.toMatchObject({ name: 'ConnectionsExceeded' });
  await registry.retain(tenantId);
  expect(await registry.claim(asking(BASIC_CONNECTIONS + 70, first))).toMatchObject({ connections: 82 });
  expect(await registry.claim(asking(BASIC_CONNECTIONS + 29, third))).toMatchObject({ connections: 42 });
});

test('a secret is made once, opens for its own tenant and name alone, and is sealed again after a rotation', async () => {
  const [one, two] = await Promise.all([registry.claim(request(newSlug())), registry.claim(request(newSlug()))]);
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, index) => registry.ensureSecret(one.tenantId, 'database', () => `secret-${index}`)),
  );

  expect(new Set(made).size).toBe(1);
  expect(await registry.getSecret(one.tenantId, 'database')).toBe(made[0]);
  expect(await registry.getSecret(two.tenantId, 'database')).toBeNull();
  const [row] = await pool.query<{ sealed: string }>('SELECT sealed FROM registry.secrets WHERE tenant_id = $1', [one.tenantId]);
  expect(row?.sealed).not.toContain(made[0]);
  await pool.query(
    'INSERT INTO registry.secrets (tenant_id, name, sealed) SELECT $2, name, sealed FROM registry.secrets WHERE tenant_id = $1',
    [one.tenantId, two.tenantId],
  );
  await expect(registry.getSecret(two.tenantId, 'database')).rejects.toBeInstanceOf(SealError);
  await registry.setSecret(two.tenantId, 'database', 'set');
  expect(await registry.getSecret(two.tenantId, 'database')).toBe('set');
});

test('after a rotation of the platform key the older key may go', async () => {
  await pool.query('DELETE FROM registry.secrets');
  const { tenantId } = await registry.claim(request(newSlug()));
  const [old, young] = ['old', 'young'].map((id) => ({ id, key: systemRandom.bytes(32) }));
  const time = { clock: systemClock, random: systemRandom };
  const under = (...keys: { id: string; key: Buffer }[]) =>
    new Registry({ pool, sealer: new Sealer(keys, systemRandom), ...time });
  await under(old!).setSecret(tenantId, 'redis', 'kept');

  expect(await under(young!, old!).resealAll()).toEqual({ resealed: 1, unopenable: 0 });
  expect(await under(young!, old!).resealAll()).toEqual({ resealed: 0, unopenable: 0 });

  expect(await under(young!).getSecret(tenantId, 'redis')).toBe('kept');
});
