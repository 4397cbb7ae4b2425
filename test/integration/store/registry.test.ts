import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SealError, Sealer } from '../../../pkg/runtime/sealing.ts';
import { newAdoptionToken } from '../../../pkg/store/postgres/adoption-token.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { BASIC_CONNECTIONS, type ClaimRequest, MAX_LEFT_HOSTS, Registry } from '../../../pkg/store/postgres/registry.ts';
import { storeSuite } from '../../support/store-suite.ts';
import { waitFor } from '../../support/wait.ts';

const { running, pool, registry } = storeSuite();

const newSlug = (): string => `t-${systemRandom.hex(5)}`;
const ownerOf = (name: string, namespaceUid = 'uid-1') => ({ namespace: 'schools', namespaceUid, name });
const request = (slug: string, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
  slug,
  owner: ownerOf(slug),
  hosts: [`${slug}.localhost`, `lti.${slug}.localhost`],
  shards: ['main'],
  ...more,
});
const tally = (results: PromiseSettledResult<unknown>[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const result of results) {
    const key = result.status === 'fulfilled' ? 'won' : (result.reason as Error).name;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

test('of 50 resources that claim one slug at once, one wins', async () => {
  const slug = newSlug();

  const results = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => registry.claim(request(slug, { owner: ownerOf(`owner-${index}`), hosts: [] }))),
  );

  expect(tally(results)).toEqual({ won: 1, SlugTaken: 49 });
});

test('of 50 tenants that claim one host at once, one wins, and the others keep nothing of it', async () => {
  const host = `${newSlug()}.example.org`;
  const slugs = Array.from({ length: 50 }, newSlug);

  const results = await Promise.allSettled(
    slugs.map((slug) => registry.claim(request(slug, { hosts: [host, `${slug}.localhost`] }))),
  );

  expect(tally(results)).toEqual({ won: 1, HostTaken: 49 });
  expect(await pool.query('SELECT count(*) AS n FROM registry.hosts WHERE host = $1', [host])).toEqual([{ n: 1 }]);
  const refused = results.find((result) => result.status === 'rejected');
  expect(refused).toMatchObject({ reason: { host } });
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

test("a host that a tenant left is nobody else's while sessions that began there may live, and its own again at any time", async () => {
  const slug = newSlug();
  const [first, second] = [`${slug}.example.org`, `${slug}.example.com`];
  const { tenantId } = await registry.claim(request(slug, { hosts: [first] }));
  const claim = () => registry.claim(request(newSlug(), { hosts: [first] }));
  const leftAt = (ago: string) =>
    pool.query(`UPDATE registry.hosts SET left_at = now() - interval '${ago}' WHERE tenant_id = $1 AND host = $2`, [
      tenantId,
      first,
    ]);

  const moved = await registry.claim(request(slug, { hosts: [second] }));
  await expect(claim()).rejects.toThrow(
    `the host ${first} was left by another tenant; it is free 91 days after that, or once the data of that tenant are deleted`,
  );
  const back = await registry.claim(request(slug, { hosts: [first] }));
  await expect(claim()).rejects.toThrow(`the host ${first} belongs to another tenant`);
  await registry.claim(request(slug, { hosts: [second] }));
  await leftAt('90 days');
  await expect(claim()).rejects.toMatchObject({ name: 'HostTaken' });
  await leftAt('92 days');

  expect([moved.hosts, back.hosts]).toEqual([[second], [first]]);
  await expect(claim()).resolves.toMatchObject({ outcome: 'new', hosts: [first] });
  expect((await registry.find(slug))?.hosts).toEqual([second]);
});

test('a tenant that changes its hosts over and over keeps a bounded number of them from others', async () => {
  const slug = newSlug();
  const at = (turn: number) => registry.claim(request(slug, { hosts: [`${slug}-${turn}.example.org`] }));
  for (let turn = 0; turn <= MAX_LEFT_HOSTS; turn += 1) await at(turn);

  const refused = at(MAX_LEFT_HOSTS + 1);

  await expect(refused).rejects.toMatchObject({ name: 'HostsExceeded' });
  expect((await registry.find(slug))?.hosts).toEqual([`${slug}-${MAX_LEFT_HOSTS}.example.org`]);
  await expect(at(0)).resolves.toMatchObject({ hosts: [`${slug}-0.example.org`] });
});

test("hosts of a slug's own are taken from whoever holds them, whose sessions end first", async () => {
  const slug = newSlug();
  const hosts = [`${slug}.localhost`, `lti.${slug}.localhost`];
  const [active, kept] = [await registry.claim(request(newSlug(), { hosts: [hosts[0]!] })), newSlug()];
  const { tenantId } = await registry.claim(request(kept, { hosts: [hosts[1]!] }));
  await registry.retain(tenantId);
  const ended: string[] = [];
  const claim = (endSessions: (holder: { slug: string }) => Promise<unknown>) =>
    registry.claim(request(slug, { hosts, own: { hosts, endSessions } }));

  await expect(claim(() => Promise.reject(new Error('the shard is unavailable')))).rejects.toThrow('the shard is unavailable');
  const holds = await registry.find(active.slug);
  const claimed = await claim(async (holder) => ended.push(holder.slug));

  expect(holds?.hosts).toEqual([hosts[0]]);
  expect([claimed.hosts, ended]).toEqual([hosts.toSorted(), [active.slug]]);
  expect([(await registry.find(active.slug))?.hosts, (await registry.find(kept))?.hosts]).toEqual([[], []]);
});

test("hosts of data that are kept or are being removed are nobody else's, until the data are gone", async () => {
  const slug = newSlug();
  const host = `${slug}.example.org`;
  const { tenantId } = await registry.claim(request(slug, { hosts: [host] }));
  const claim = () => registry.claim(request(newSlug(), { hosts: [host] }));

  await registry.retain(tenantId);
  await expect(claim()).rejects.toThrow(
    `the host ${host} belongs to a deleted tenant whose data are retained; it is free once they are adopted or deleted`,
  );
  await registry.markDeleting(tenantId);
  await expect(claim()).rejects.toThrow(`the host ${host} belongs to a deleted tenant whose data are still being removed`);
  await registry.remove(tenantId);
  await expect(claim()).resolves.toMatchObject({ outcome: 'new', hosts: [host] });
});

test('every claim reports an adoption until it is marked as finished, across crashes', async () => {
  const slug = newSlug();
  const { tenantId, isAdopting: atFirst } = await registry.claim(request(slug));
  await registry.retain(tenantId);

  const adopted = await registry.claim(request(slug));
  const again = await registry.claim(request(slug));
  await registry.endAdoption(tenantId);
  const later = await registry.claim(request(slug));

  expect([atFirst, adopted.isAdopting, again.isAdopting, later.isAdopting]).toEqual([false, true, true, false]);
});

const stranger = (slug: string, more: Partial<ClaimRequest> = {}): ClaimRequest =>
  request(slug, { owner: ownerOf(slug, 'uid-of-a-namespace-made-anew'), ...more });

/** A retained tenant. */
async function retained(): Promise<{ slug: string; tenantId: string }> {
  const slug = newSlug();
  const { tenantId } = await registry.claim(request(slug));
  await registry.retain(tenantId);
  return { slug, tenantId };
}

test('retained data are adopted by the same namespace and name, or with a token, and by nobody else', async () => {
  const { slug, tenantId } = await retained();

  await expect(registry.claim(stranger(slug))).rejects.toMatchObject({ name: 'SlugTaken', retained: true });
  await expect(registry.claim(stranger(slug, { adopt: tenantId }))).rejects.toMatchObject({
    name: 'AdoptionRefused',
    failures: 1,
  });
  expect(await registry.claim(request(slug))).toMatchObject({ tenantId, outcome: 'adopted', state: 'active' });
  await expect(newAdoptionToken(pool, slug, systemRandom)).rejects.toMatchObject({ name: 'NotRetained', state: 'active' });
  await registry.retain(tenantId);
  const { token } = await newAdoptionToken(pool, slug, systemRandom);
  const adopted = await registry.claim(stranger(slug, { adopt: token }));
  expect(adopted).toMatchObject({ tenantId, outcome: 'adopted', owner: stranger(slug).owner });
  await registry.markDeleting(tenantId);
  await expect(registry.claim(stranger(slug))).rejects.toMatchObject({ name: 'SlugTaken' });
  await registry.remove(tenantId);
  const fresh = await registry.claim(request(slug));
  expect(fresh.outcome).toBe('new');
  expect(Number(fresh.tenantId)).toBeGreaterThan(Number(tenantId));
});

test('another owner gets new credentials, but the data key that opens the rows stays', async () => {
  const { slug, tenantId } = await retained();
  const step = { from: null, to: null, isNew: true };
  await registry.ensureSecret(tenantId, 'redis', () => '{}');
  await registry.rotate(tenantId, 'redis', { ...step, value: { secret: 'redis', change: (value) => value } });
  for (const _again of [1, 2]) await registry.rotate(tenantId, 'data', step);
  const { token } = await newAdoptionToken(pool, slug, systemRandom);
  await registry.claim(stranger(slug, { adopt: token }));
  expect((await registry.find(slug))?.credentials).toEqual({ data: expect.objectContaining({ generation: 2, step: null }) });
});

test('an adoption token holds once, for a day, for its own tenant, until the next one is made or the owner comes back', async () => {
  const [first, second] = [await retained(), await retained()];
  const other = (name: string, adopt: string): ClaimRequest => stranger(first.slug, { owner: ownerOf(name, 'elsewhere'), adopt });
  const make = async (slug = first.slug): Promise<string> => (await newAdoptionToken(pool, slug, systemRandom)).token;

  const replaced = await make();
  const expired = await make();
  await pool.query('UPDATE registry.adoption_tokens SET expires_at = now() WHERE tenant_id = $1', [first.tenantId]);
  await expect(registry.claim(other('a', replaced))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  await expect(registry.claim(other('b', expired))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  await expect(registry.claim(other('c', await make(second.slug)))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  const outlived = await make();
  await registry.claim(request(first.slug));
  await registry.retain(first.tenantId);
  await expect(registry.claim(other('d', outlived))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  const used = await make();
  const [row] = await pool.query<{ hash: string; hours: number }>(
    `SELECT token_hash AS hash, round(extract(epoch FROM expires_at - now()) / 3600)::int AS hours FROM registry.adoption_tokens WHERE tenant_id = $1`,
    [first.tenantId],
  );
  expect(used).toMatch(/^[\w-]{43}$/);
  expect(row).toEqual({ hash: createHash('sha256').update(used).digest('hex'), hours: 24 });
  expect(await registry.claim(other('e', used))).toMatchObject({ outcome: 'adopted' });
  await registry.retain(first.tenantId);
  await expect(registry.claim(other('f', used))).rejects.toMatchObject({ name: 'AdoptionRefused' });
});

test('a claim that fails for another reason does not use its adoption token up', async () => {
  const { slug } = await retained();
  const taken = newSlug();
  await registry.claim(request(taken));
  const { token } = await newAdoptionToken(pool, slug, systemRandom);

  const refused = registry.claim(stranger(slug, { adopt: token, hosts: [`${taken}.localhost`] }));

  await expect(refused).rejects.toMatchObject({ name: 'HostTaken' });
  expect(await registry.claim(stranger(slug, { adopt: token }))).toMatchObject({ outcome: 'adopted' });
});

test('wrong adoption tokens make the next wait, each resource for itself, at most 5 minutes; the same one again counts once', async () => {
  const { slug, tenantId } = await retained();
  const { token } = await newAdoptionToken(pool, slug, systemRandom);
  const give = async (adopt: string, name = 'guesser'): Promise<unknown> => {
    const claimed = await registry
      .claim(stranger(slug, { owner: ownerOf(name, 'elsewhere'), adopt }))
      .catch((error: Error) => error.name);
    if (claimed !== 'AdoptionRefused') return claimed;
    const [row] = await pool.query(
      'SELECT failures, extract(epoch FROM retry_at - failed_at)::int AS wait FROM registry.adoption_failures WHERE tenant_id = $1 AND name = $2',
      [tenantId, name],
    );
    return row;
  };
  const waited = (): Promise<unknown> =>
    pool.query(
      `UPDATE registry.adoption_failures SET retry_at = retry_at - interval '5 minutes', failed_at = failed_at - interval '5 minutes'
     WHERE tenant_id = $1`,
      [tenantId],
    );

  const first = [await give('0'), await give('0'), await give(token)];
  const waits = [];
  for (let n = 1; n < 9; n += 1) {
    await waited();
    waits.push(await give(String(n)));
  }
  const another = await give('0', 'another');
  await waited();
  const same = await give('8');

  expect(first).toEqual([1, 1, 1].map((failures) => ({ failures, wait: 5 })));
  expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300].map((wait, index) => ({ failures: index + 2, wait })));
  expect(another).toEqual({ failures: 1, wait: 5 });
  expect(same).toEqual({ failures: 9, wait: 300 });
  expect(await give(token)).toMatchObject({ tenantId, outcome: 'adopted' });
});

test('a wrong adoption token that is given again takes no lock and writes nothing, also when its wait is over', async () => {
  const { slug, tenantId } = await retained();
  const wrong = stranger(slug, { adopt: 'wrong' });
  await expect(registry.claim(wrong)).rejects.toMatchObject({ name: 'AdoptionRefused', wasCompared: true });
  await expect(registry.claim({ ...wrong, adopt: 'other' })).rejects.toMatchObject({
    name: 'AdoptionRefused',
    wasCompared: false,
  });
  await pool.query(`UPDATE registry.adoption_failures SET retry_at = now() - interval '1 minute' WHERE tenant_id = $1`, [
    tenantId,
  ]);
  const seen: string[] = [];
  const observe = ({ sql }: { sql: string }): void => void seen.push(sql);
  const watched = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger, observe });
  const sealer = new Sealer([{ id: 'x', key: systemRandom.bytes(32) }], systemRandom);

  const again = new Registry({ pool: watched, sealer, clock: systemClock, random: systemRandom }).claim(wrong);

  await expect(again).rejects.toMatchObject({ name: 'AdoptionRefused', wasCompared: true, failures: 1 });
  await watched.close();
  expect(seen).toHaveLength(2);
  expect(seen.filter((sql) => /FOR UPDATE|INSERT|UPDATE|DELETE/.test(sql))).toEqual([]);
});

test('an adoption token that is asked for while the data are being adopted is not made, and none outlives a change of state', async () => {
  const { slug, tenantId } = await retained();
  const tokens = () => pool.query('SELECT token_hash FROM registry.adoption_tokens WHERE tenant_id = $1', [tenantId]);
  let asked: Promise<unknown> = Promise.resolve();

  await pool.transaction(async (tx) => {
    await tx.query(`UPDATE registry.tenants SET state = 'active' WHERE id = $1`, [tenantId]);
    asked = newAdoptionToken(pool, slug, systemRandom).catch((error: unknown) => error);
    await waitFor('the token to wait for the adopter', async () => {
      const [row] = await pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO registry.adoption_tokens%'`,
      );
      return row !== undefined;
    });
  });

  expect(await asked).toMatchObject({ name: 'NotRetained', state: 'active' });
  expect(await tokens()).toEqual([]);
  await registry.retain(tenantId);
  await newAdoptionToken(pool, slug, systemRandom);
  await registry.markDeleting(tenantId);
  expect(await tokens()).toEqual([]);
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

test('connections beyond those of a tenant of default size are bounded for a shard as a whole, however many ask at once; others are not counted', async () => {
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
      message: `42 connections are 30 more than the 12 of a tenant of default size; shard ${shard} has 100 of these for all tenants together, and 10 are left`,
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

test('a secret is made once, opens for its own tenant and name alone, and is sealed anew after a rotation', async () => {
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
