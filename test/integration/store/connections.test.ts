import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { boundConnections, ensureTenantDatabase } from '../../../pkg/store/postgres/provisioning.ts';
import { BASIC_CONNECTIONS, type ClaimRequest } from '../../../pkg/store/postgres/registry.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { newTenant, openDatabase } from '../../support/backends/tenant.ts';

const { running, pool, registry, shard } = storeSuite();

const newSlug = (): string => `t-${systemRandom.hex(5)}`;
const request = (slug: string, more: Partial<ClaimRequest>): ClaimRequest => ({
  slug,
  owner: { namespace: 'schools', namespaceUid: 'uid-1', name: slug },
  hosts: [`${slug}.localhost`],
  shards: ['main'],
  ...more,
});
const shardOf = (wanted: number, budget: number, limits: [string, number][] = []): NonNullable<ClaimRequest['connections']> => ({
  wanted,
  most: 50,
  budgetOf: () => Promise.resolve(budget),
  limitsOf: () => Promise.resolve(new Map(limits)),
});
const away = (): Promise<never> => Promise.reject(new Error('the shard was asked'));

test('a claim counts against its own shard alone, and only when it grows beyond the default size', async () => {
  const asked: string[] = [];
  const [shard, other] = [`d-${systemRandom.hex(3)}`, `d-${systemRandom.hex(3)}`];
  const slug = newSlug();
  const asking = (wanted: number, budgetOf: (of: string) => Promise<number>): ClaimRequest =>
    request(slug, { shards: [shard, other], shard, connections: { ...shardOf(wanted, 0), budgetOf, limitsOf: away } });
  const answer = (of: string): Promise<number> => {
    asked.push(of);
    return Promise.resolve(100);
  };

  await registry.claim(asking(BASIC_CONNECTIONS, away));
  await registry.claim(asking(BASIC_CONNECTIONS + 30, answer));
  await registry.claim(asking(BASIC_CONNECTIONS + 30, away));
  await registry.claim(asking(BASIC_CONNECTIONS + 10, away));

  expect(asked).toEqual([shard]);
  await expect(registry.claim(asking(BASIC_CONNECTIONS + 31, away))).rejects.toThrow('the shard was asked');
});

test('tenants from before the count keep their roles’ connections without asking, and others find them taken', async () => {
  const shard = `e-${systemRandom.hex(3)}`;
  const slugs = [newSlug(), newSlug()];
  const asking = (slug: string, wanted: number, limits: [string, number][] = []): ClaimRequest =>
    request(slug, { shards: [shard], connections: shardOf(wanted, 40, limits) });
  const [one, two] = await Promise.all(slugs.map((slug) => registry.claim(asking(slug, BASIC_CONNECTIONS))));
  await pool.query('UPDATE registry.tenants SET connections = NULL WHERE shard = $1', [shard]);
  const limits: [string, number][] = [
    [one?.tenantId ?? '', 50],
    [two?.tenantId ?? '', 50],
  ];

  const newcomer = registry.claim(asking(newSlug(), 20, limits));

  await expect(newcomer).rejects.toMatchObject({
    name: 'ConnectionsExceeded',
    message: expect.stringMatching(/and 0 are left$/),
  });
  for (const slug of slugs)
    expect(await registry.claim(asking(slug, 42))).toMatchObject({ outcome: 'existing', connections: 50 });
});

test('a role’s connections are lowered to the bound and counted, and a changed session limit is reset', async () => {
  const login = await newTenant(running, shard, '70');
  const name = login.slug;
  const limit = async (): Promise<unknown> =>
    (await pool.query('SELECT rolconnlimit AS n FROM pg_roles WHERE rolname = $1', [login.role]))[0]?.['n'];
  const { tenantId } = await registry.claim(request(name, { connections: shardOf(12, 0) }));
  await pool.query('UPDATE carrel.tenants SET tenant_id = $2 WHERE role = $1', [login.role, tenantId]);
  await pool.query('UPDATE registry.tenants SET connections = NULL WHERE id = $1', [tenantId]);
  await pool.query(`ALTER ROLE "${login.role}" CONNECTION LIMIT 5052`);
  const { owner } = request(name, {});
  const bounds = { ...shardOf(0, 0), limitsOf: () => boundConnections(shard, 50) };

  await registry.boundConnections(name, { ...owner, namespaceUid: 'of another' }, bounds);
  const byAnother = await limit();
  await registry.boundConnections(name, owner, bounds);

  expect([byAnother, await limit(), (await registry.get(tenantId))?.connections]).toEqual([5052, 50, 50]);
  await ensureTenantDatabase(shard, { ...login, tenantId, connections: 20 });
  await pool.query(`ALTER ROLE "${login.role}" CONNECTION LIMIT 40`);
  expect(await ensureTenantDatabase(shard, { ...login, tenantId, connections: 20 })).toMatchObject({ changed: true });
  expect(await limit()).toBe(20);
});

test('a server whose role has no connection left works with those it has, and waits for a returned one', async () => {
  const login = await newTenant(running, shard);
  await pool.query(`ALTER ROLE "${login.role}" CONNECTION LIMIT 3`);
  const [ending, starting] = [openDatabase(login), openDatabase(login)];
  try {
    await Promise.all([1, 2].map(() => ending.query('SELECT pg_sleep(0.1)')));

    const beside = await Promise.all(
      Array.from({ length: 20 }, () => starting.query<{ n: number }>('SELECT 1 AS n, pg_sleep(0.01)')),
    );
    await starting.query('SELECT 1');
    const held = starting.transaction((tx) => tx.query('SELECT pg_sleep(0.3)'));
    const waiting = starting.ping();
    await ending.close();

    expect(beside).toHaveLength(20);
    await Promise.all([held, waiting]);
  } finally {
    await Promise.all([ending.close().catch(() => {}), starting.close()]);
  }
});

test('a log-in that the role’s limit refuses for seconds fails, and says why', async () => {
  const login = await newTenant(running, shard);
  await pool.query(`ALTER ROLE "${login.role}" CONNECTION LIMIT 0`);
  const db = openDatabase(login);
  try {
    const refused = await db.ping().catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(StoreUnavailableError);
    expect(String((refused as Error).cause)).toContain('too many connections for role');
  } finally {
    await db.close();
  }
});
