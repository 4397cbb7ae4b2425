import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { ensureAdministrator } from '../../../pkg/accounts/administrator.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Sealer } from '../../../pkg/runtime/sealing.ts';
import { type Sql, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import {
  disableLogin,
  dropTenant,
  ensureShard,
  ensureTenantDatabase,
  LATEST_VERSION,
  migrateTenant,
  rollbackTenant,
  schemaVersion,
  ShardUnfit,
  tenantRole,
  usageOf,
} from '../../../pkg/store/postgres/provisioning.ts';
import type { Migration } from '../../../pkg/store/postgres/migrations/migration.ts';
import { registryMigrations } from '../../../pkg/store/postgres/migrations/registry/index.ts';
import { bounds } from '../../../pkg/store/postgres/migrations/shard/0006-bounds.ts';
import { shardMigrations } from '../../../pkg/store/postgres/migrations/shard/index.ts';
import { boundsOfOldRows } from '../../../pkg/store/postgres/migrations/shard/0007-bounds-of-old-rows.ts';
import { tenantMigrations } from '../../../pkg/store/postgres/migrations/tenant/index.ts';
import { Registry } from '../../../pkg/store/postgres/registry.ts';
import { definitions } from '../../../pkg/store/postgres/tables.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { catalogOf } from '../../support/catalog.ts';
import { insertRows, ORIGIN, ROWS_OF_TENANT } from '../../support/every-table.ts';
import { ROWS_OF_REGISTRY, ROWS_OF_SHARD } from '../../support/every-table-of-shards.ts';
import { type Step, unfilled, walkDown } from '../../support/migration-walk.ts';
import { storeSuite } from '../../support/store-suite.ts';
import { newDatabase, newTenant, openDatabase, tenantUrl } from '../../support/tenant.ts';

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

test('a tenant lacks a migration of any number, whatever the newest one that it has', async () => {
  const tenant = newDatabase();
  const own = tenantRole(tenant.slug);
  const isMigrated = async (): Promise<boolean> => (await ensureTenantDatabase(shard, tenant)).isMigrated;

  const empty = await isMigrated();
  await migrateTenant(shard, tenant);
  const full = await isMigrated();
  await pool.query(`DELETE FROM "${own}".schema_migrations WHERE name = '0008-webhook-descriptions'`);
  const withoutOne = await isMigrated();
  await pool.query(
    `INSERT INTO "${own}".schema_migrations (name) VALUES ('0008-webhook-descriptions'), ('9999-of-a-later-release')`,
  );
  const withAnother = await isMigrated();

  expect({ empty, full, withoutOne, withAnother }).toEqual({ empty: false, full: true, withoutOne: false, withAnother: true });
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

/** Tables of both versions whose rows a `down` changes: the older version cannot hold them as they are. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  '0260-lms-by-key-set': ['lti_platforms'], // an issuer had one LMS
  '0260-undecided-deployments': ['unknown_values'],
  '0029-foreign-objects': ['integrity_faults'],
  '0082-count-rows': ['users'], // tags and share links count no more
  '0060-entries': ['users'], // metadata count no more
  '0013-who-somebody-is': ['lti_identities', 'sessions'],
  '0004-lti': ['groups'],
  '0008-shared-locations': ['storage_locations'],
  '0006-left-hosts': ['hosts'],
};

/**
 * What each step must come to: the catalog of before, the rows of tables that both versions have, and no loss that the migration
 * does not name.
 */
const expected = (migrations: readonly Migration<never>[]): Step[] =>
  migrations
    .toReversed()
    .map(({ name, loses }) => ({ migration: name, changed: CHANGED[name] ?? [], isLossy: loses !== undefined, catalog: [] }));

test('each migration of a tenant goes down, up and down again with rows in every table, and all of them together', async () => {
  const tenant = await newTenant(running, shard);
  const { role } = tenant;
  const prepare = (tx: Sql): Promise<unknown> => tx.query(`SET LOCAL search_path = "${role}", ext`);
  const fill = (): Promise<unknown> =>
    pool.transaction(async (tx) => {
      await prepare(tx);
      await tx.query(`SELECT set_config('carrel.origin', $1, true)`, [ORIGIN]);
      await insertRows(tx, ROWS_OF_TENANT);
    });
  // A connection that is as old as the database finds other names than a new one, and none stays for the whole walk.
  const catalog = (): Promise<string[]> =>
    pool.transaction(async (tx) => {
      await tx.query('SET LOCAL search_path TO pg_catalog');
      return catalogOf(tx, role);
    });
  const full = await catalog();
  await fill();
  const empty = await unfilled(pool, role);

  const steps = await walkDown({ pool, schema: role, migrations: tenantMigrations, context: tenant, prepare });
  const bare = await catalog();
  await pool.query(`DELETE FROM "${role}".schema_migrations`);
  await migrateTenant(shard, tenant);
  await fill();
  const version = await rollbackTenant(shard, tenant, '0006-launch-presentation');
  await migrateTenant(shard, tenant);
  const db = openDatabase(tenant);
  const names = Object.keys(definitions) as (keyof typeof definitions)[];
  const read = await Promise.all(
    names.map(async (name) => [definitions[name].name, (await db.tables[name].list({})).length] as const),
  );
  await db.close();

  expect(empty).toEqual([]);
  expect(steps).toEqual(expected(tenantMigrations));
  expect(bare.filter((line) => !/schema_migrations/.test(line))).toHaveLength(1);
  expect(full.length).toBeGreaterThan(150);
  expect(version).toBe('0005-webhooks');
  expect(await catalog()).toEqual(full);
  // The rows of the tables that 0005 has came through both ways, the system's user with them; others begin empty.
  const survived = ([table, rows]: readonly [string, number]): boolean =>
    rows === (table === 'users' ? 1 : 0) + (ROWS_OF_TENANT[table]?.length ?? 0);
  expect(read.filter((each) => !survived(each)).map(([table]) => table)).toEqual([
    'password_resets',
    'lti_platforms',
    'schedules',
  ]);
});

test('rows that violate bounds added later are deleted or corrected, and block no upgrade', async () => {
  const name = 'before_bounds';
  await pool.query(`CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0`);
  const own = new SqlPool({ url: running.postgres.operator.replace(/\/carrel$/, `/${name}`), poolSize: 1, log: silentLogger });
  await ensureShard({ pool: own, ...time });
  for (const migration of [boundsOfOldRows, bounds]) await own.query(migration.down({}));
  await own.query(
    `INSERT INTO carrel.work (kind, payload, due_at) VALUES ('ancient', '1', '-infinity'), ('huge', to_jsonb(repeat('x', 1048576)), now()), ('dead', '1', 'infinity')`,
  );
  await own.query(
    `INSERT INTO carrel.events (uuid, event, payload) VALUES (gen_random_uuid(), 'most', repeat('x', 262144)), (gen_random_uuid(), 'huge', repeat('x', 262145))`,
  );

  for (const migration of [bounds, boundsOfOldRows]) await own.query(migration.up({}));

  expect(await own.query(`SELECT kind, isfinite(due_at) AS due FROM carrel.work ORDER BY kind`)).toEqual([
    { kind: 'ancient', due: true },
    { kind: 'dead', due: false },
  ]);
  expect(await own.query('SELECT event FROM carrel.events')).toEqual([{ event: 'most' }]);
  await own.close();
});

test('what a tenant writes into the shard and its webhooks has bounds in the database itself', async () => {
  const tenant = await newTenant(running, shard);
  const sql = new SqlPool({ url: tenant.url, poolSize: 1, log: silentLogger });
  const webhook = (columns: string, values: string): string =>
    `INSERT INTO webhooks (uuid, url, events, secret${columns}) VALUES (gen_random_uuid(), 'https://a.example', '{file.created}', ${values})`;
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

test.each([
  ['carrel', shardMigrations, ROWS_OF_SHARD],
  ['registry', registryMigrations, ROWS_OF_REGISTRY],
])(
  'each migration of schema %s goes down, up and down again with rows in every table, and all of them together',
  async (schema, migrations, rows) => {
    const name = `filled_${schema}`;
    await pool.query(`CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0`);
    const own = new SqlPool({ url: running.postgres.operator.replace(/\/carrel$/, `/${name}`), poolSize: 1, log: silentLogger });
    await ensureShard({ pool: own, ...time });
    await new Registry({
      pool: own,
      sealer: new Sealer([{ id: 'x', key: systemRandom.bytes(32) }], systemRandom),
      ...time,
    }).ensureSchema();
    const full = await catalogOf(own, schema);
    await own.transaction(async (tx) => {
      await tx.query(`SET LOCAL search_path = ${schema}`);
      await insertRows(tx, rows);
    });
    const empty = await unfilled(own, schema);

    const steps = await walkDown({ pool: own, schema, migrations, context: {} });
    for (const migration of migrations) await own.query(migration.up({}));

    expect(empty).toEqual([]);
    expect(steps).toEqual(expected(migrations));
    expect(await catalogOf(own, schema)).toEqual(full);
    await own.close();
  },
);

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

test('a login that is switched off ends at once and data stay; a dropped tenant leaves nothing; both twice are fine', async () => {
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

test.each([
  ['SQL_ASCII', 'C', /encoded in SQL_ASCII/],
  ['UTF8', 'C', /locale knows no letters/],
])('a database in %s with locale %s is refused with a word on how to make it right', async (encoding, locale, message) => {
  const name = `unfit_${encoding.toLowerCase()}`;
  await pool.query(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE '${locale}' TEMPLATE template0`);
  const own = new SqlPool({ url: running.postgres.operator.replace(/\/carrel$/, `/${name}`), poolSize: 1, log: silentLogger });

  const refusal = await ensureShard({ pool: own, ...time }).then(
    () => null,
    (error: unknown) => error,
  );
  await own.close();

  expect(refusal).toBeInstanceOf(ShardUnfit);
  expect((refusal as Error).message).toMatch(message);
});

test('a server without ICU, which cannot sort names, is refused with a word on how to make it right', async () => {
  await pool.query(`CREATE DATABASE without_icu ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0`);
  const superuser = new SqlPool({
    url: running.postgres.superuser.replace(/\/[^/?]*($|\?)/, '/without_icu$1'),
    poolSize: 1,
    log: silentLogger,
  });
  await superuser.query(`DELETE FROM pg_collation WHERE collprovider = 'i'`);
  const own = new SqlPool({
    url: running.postgres.operator.replace(/\/carrel$/, '/without_icu'),
    poolSize: 1,
    log: silentLogger,
  });

  const refusal = await ensureShard({ pool: own, ...time }).then(
    () => null,
    (error: unknown) => error,
  );
  await Promise.all([own.close(), superuser.close()]);

  expect(refusal).toBeInstanceOf(ShardUnfit);
  expect((refusal as Error).message).toMatch(/use a build of PostgreSQL with ICU/);
});

async function connectAs(role: string, password: string): Promise<string> {
  const client = new Client(tenantUrl(running, role, password));
  await client.connect();
  const { rows } = await client.query<{ who: string }>('SELECT current_user AS who');
  await client.end();
  return rows[0]?.who ?? '';
}
