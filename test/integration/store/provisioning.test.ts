import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { ensureAdministrator } from '../../../pkg/accounts/administrator.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import {
  disableLogin,
  dropTenant,
  ensureShard,
  ensureTenantDatabase,
  LATEST_VERSION,
  migrateTenant,
  schemaVersion,
  tenantRole,
  usageOf,
} from '../../../pkg/store/postgres/provisioning.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { catalogOf } from '../../support/models/catalog.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newDatabase, newTenant, openDatabase, tenantUrl } from '../../support/backends/tenant.ts';

const { running, pool, shard } = storeSuite();
const time = { clock: systemClock, random: systemRandom };

test('a tenant that is right costs one statement that writes nothing', async () => {
  const tenant = newDatabase();
  await ensureTenantDatabase(shard, tenant);
  await migrateTenant(shard, tenant);
  const seen: string[] = [];
  const watched = new SqlPool({
    url: running.postgres.operator,
    poolSize: 1,
    log: silentLogger,
    observe: ({ sql }) => void seen.push(sql),
  });

  const again = await ensureTenantDatabase({ pool: watched, ...time }, tenant);
  await watched.close();

  expect(again).toEqual({ changed: false, schemaVersion: LATEST_VERSION, isMigrated: true });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatch(/^SELECT/);
});

test('the role has the rights and bounds of a tenant, and owns nothing', async () => {
  const { role } = await newTenant(running, shard);
  const [found] = await pool.query(
    `SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication, rolconnlimit, rolconfig,
       (SELECT count(*) FROM pg_class WHERE relowner = r.oid) + (SELECT count(*) FROM pg_namespace WHERE nspowner = r.oid)
       + (SELECT count(*) FROM pg_proc WHERE proowner = r.oid) AS owned
     FROM pg_roles r WHERE rolname = $1`,
    [role],
  );

  expect(found).toEqual({
    rolsuper: false,
    rolcreatedb: false,
    rolcreaterole: false,
    rolbypassrls: false,
    rolreplication: false,
    rolconnlimit: 30,
    rolconfig: expect.arrayContaining([
      'search_path="$user", ext',
      'statement_timeout=8s',
      'lock_timeout=5s',
      'idle_in_transaction_session_timeout=30s',
    ]),
    owned: 0,
  });
});

test('a change by hand of password, login, settings or membership is reverted', async () => {
  const tenant = newDatabase();
  const role = tenantRole(tenant.slug);
  await ensureTenantDatabase(shard, tenant);

  const changes = [
    `ALTER ROLE "${role}" NOLOGIN`,
    `ALTER ROLE "${role}" RESET ALL`,
    `REVOKE "${role}" FROM carrel_worker`,
    `REVOKE "${role}" FROM CURRENT_USER`,
  ];
  for (const change of changes) {
    await pool.query(change);
    expect(await ensureTenantDatabase(shard, tenant)).toMatchObject({ changed: true });
    expect(await ensureTenantDatabase(shard, tenant)).toMatchObject({ changed: false });
  }
  expect(await ensureTenantDatabase(shard, { ...tenant, password: 'another' })).toMatchObject({ changed: true });
  await expect(connectAs(role, 'another')).resolves.toBe(role);
  await expect(connectAs(role, tenant.password)).rejects.toThrow('password authentication failed');
});

test('the operator may end what a tenant does', async () => {
  const tenant = newDatabase();
  const role = tenantRole(tenant.slug);
  await ensureTenantDatabase(shard, tenant);

  const session = new Client({ connectionString: tenantUrl(running, role, tenant.password) });
  session.on('error', () => undefined);
  await session.connect();
  const ended = await pool.query(`SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_stat_activity WHERE usename = $1`, [
    role,
  ]);

  expect(ended).toEqual([{ ended: true }]);
});

test('no statement holds a password, which the log of a Postgres where one fails would show', async () => {
  const statements: string[] = [];
  const observed = new SqlPool({
    url: running.postgres.operator,
    poolSize: 1,
    log: silentLogger,
    observe: ({ sql }) => void statements.push(sql),
  });
  const tenant = newDatabase();
  const workerPassword = `pässword-${systemRandom.hex(5)}`;

  const watched = { pool: observed, clock: systemClock, random: systemRandom };
  await ensureShard(watched, { workerPassword });
  await ensureTenantDatabase(watched, tenant);
  await observed.close();

  expect(statements.filter((sql) => sql.includes(tenant.password) || sql.includes(workerPassword))).toEqual([]);
  expect(await connectAs(tenantRole(tenant.slug), tenant.password)).toBe(tenantRole(tenant.slug));
  expect(await connectAs('carrel_worker', workerPassword)).toBe('carrel_worker');
});

test('the database itself bounds what a tenant writes into the shard and its webhooks', async () => {
  const tenant = await newTenant(running, shard);
  const sql = new SqlPool({ url: tenant.url, poolSize: 1, log: silentLogger });
  const webhook = (columns: string, values: string): string =>
    `INSERT INTO webhooks (uuid, url, events, secret${columns})
     VALUES (gen_random_uuid(), 'https://a.example', '{file.created}', ${values})`;
  const refused: [statement: string, constraint: string][] = [
    [`INSERT INTO carrel.work (kind, payload) VALUES ('n', to_jsonb(repeat('x', 1048576)))`, 'work_payload_bound'],
    [`INSERT INTO carrel.work (kind, payload, due_at) VALUES ('n', '1', '-infinity')`, 'work_due_at_bound'],
    [
      `INSERT INTO carrel.events (uuid, event, payload) VALUES (gen_random_uuid(), 'e', repeat('x', 262145))`,
      'events_payload_bound',
    ],
    [webhook('', `repeat('x', 65537)`), 'webhooks_sealed_bound'],
    [webhook(', headers', `'s', repeat('x', 65537)`), 'webhooks_sealed_bound'],
    [webhook(', previous_secret', `'s', repeat('x', 65537)`), 'webhooks_sealed_bound'],
  ];

  for (const [statement, constraint] of refused)
    await expect(sql.query(statement)).rejects.toMatchObject({ name: 'CheckViolation', constraint });

  await sql.query(`INSERT INTO carrel.work (kind, payload, due_at) VALUES ('n', to_jsonb(repeat('x', 1048574)), 'infinity')`);
  await sql.query(`INSERT INTO carrel.events (uuid, event, payload) VALUES (gen_random_uuid(), 'e', repeat('x', 262144))`);
  await sql.query(webhook(', headers, previous_secret', `repeat('x', 65536), repeat('x', 65536), repeat('x', 65536)`));
  await sql.close();
});

test('the first administrator signs in with what was set last, and its sessions end then', async () => {
  const tenant = await newTenant(running, shard);
  const db = openDatabase(tenant);
  await ensureAdministrator(shard, tenant.slug, { email: 'Admin@example.org', passwordHash: 'one', storageQuota: 5_000_000 });
  const [admin] = await db.tables.users.list({ isSystem: false });
  await db.tables.sessions.insert({ id: systemRandom.uuid(), userId: admin?.id ?? 0, expiresAt: new Date(Date.now() + 1e6) });
  await db.tables.users.update({ id: admin?.id ?? 0 }, { roles: ['member'], isActive: false });

  await ensureAdministrator(shard, tenant.slug, { email: 'admin@example.org', passwordHash: 'two' });

  expect(await db.tables.users.list({ isSystem: false })).toEqual([
    expect.objectContaining({
      email: 'Admin@example.org',
      username: 'Admin',
      passwordHash: 'two',
      roles: ['member', 'admin'],
      isActive: true,
      tenantId: 7,
      storageQuota: 5_000_000,
    }),
  ]);
  expect(await db.tables.sessions.count({ endedAt: null })).toBe(0);
  expect(await db.tables.users.list({ isSystem: true })).toEqual([
    expect.objectContaining({ username: 'system', isActive: false, passwordHash: null }),
  ]);
  expect(await usageOf({ pool: shard.pool, slug: tenant.slug })).toMatchObject({ users: 1, files: 0, bytes: 0, entries: 0 });
  await db.close();
});

test('disabling a login ends it at once and data stay; a dropped tenant leaves nothing; both can be repeated', async () => {
  const tenant = await newTenant(running, shard);
  const db = openDatabase(tenant);
  await db.ping();

  await disableLogin(shard, tenant.slug);
  await expect(db.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
  await disableLogin(shard, tenant.slug);
  expect(await usageOf({ pool: shard.pool, slug: tenant.slug })).toMatchObject({ users: 0 });
  await ensureTenantDatabase(shard, { slug: tenant.slug, tenantId: tenant.tenantId, password: tenant.password, connections: 30 });
  await db.ping();
  await dropTenant(shard, tenant.slug);
  await dropTenant(shard, tenant.slug);

  expect(await catalogOf(pool, tenant.role)).toEqual([]);
  expect(await pool.query('SELECT FROM pg_roles WHERE rolname = $1', [tenant.role])).toEqual([]);
  expect(await schemaVersion(shard, tenant.slug)).toBeNull();
  await db.close();
});

async function connectAs(role: string, password: string): Promise<string> {
  const client = new Client(tenantUrl(running, role, password));
  await client.connect();
  const { rows } = await client.query<{ who: string }>('SELECT current_user AS who');
  await client.end();
  return rows[0]?.who ?? '';
}
