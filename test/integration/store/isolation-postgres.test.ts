import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import {
  databaseBytesOf,
  dropTenant,
  ensureShard,
  ensureTenantDatabase,
  schemaVersion,
  tenantRole,
} from '../../../pkg/store/postgres/provisioning.ts';
import { REVOKE_PUBLIC_RIGHTS } from '../../../pkg/store/postgres/provisioning/public-rights.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant, type TenantLogin } from '../../support/backends/tenant.ts';

/*
 * What a tenant's role may do beside its rows, tried with the tenant's own login: whoever reads Secret `<tenant>-database` may
 * try it too.
 */
const { running, pool, shard } = storeSuite();
let superuser: SqlPool;
let attacker: TenantLogin;
const opened: SqlPool[] = [];

const open = (url: string): SqlPool => {
  // 256 MiB of rows take a busy machine a minute.
  const made = new SqlPool({ url, poolSize: 1, log, queryTimeoutMs: 170_000 });
  opened.push(made);
  return made;
};
const as = (tenant: TenantLogin, database = 'carrel'): SqlPool => open(tenant.url.replace(/\/carrel$/, `/${database}`));
const outcomeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'allowed',
    (error: Error) => error.message,
  );

beforeAll(async () => {
  superuser = open(running.postgres.superuser);
  attacker = await newTenant(running, shard);
});
atEnd(() => Promise.all(opened.map((each) => each.close())));

test('a tenant’s role has no advisory locks, large objects, logical messages or other databases', async () => {
  const sql = as(attacker);
  const attempts = [
    'SELECT pg_advisory_lock(1)',
    'SELECT pg_advisory_lock_shared(1, 1)',
    'SELECT pg_try_advisory_lock(1)',
    'SELECT pg_advisory_xact_lock(1)',
    'SELECT pg_try_advisory_xact_lock_shared(1)',
    'SELECT lo_create(0)',
    'SELECT lo_creat(-1)',
    `SELECT lo_from_bytea(0, 'x')`,
    `SELECT lo_import('/etc/passwd')`,
    `SELECT pg_logical_emit_message(false, 'a', 'b')`,
  ];

  const outcomes = await Promise.all(attempts.map(async (attempt) => [attempt, await outcomeOf(sql.query(attempt))]));
  const elsewhere = await Promise.all(['postgres', 'template1'].map((database) => outcomeOf(as(attacker, database).ping())));

  expect(outcomes.filter(([, outcome]) => !outcome?.startsWith('permission denied for function'))).toEqual([]);
  expect(elsewhere).toEqual([
    expect.stringContaining('permission denied for database'),
    expect.stringContaining('permission denied for database'),
  ]);
});

test('docs/operate/install.md gives a database administrator the very statement that the platform on one machine runs', () => {
  expect(readFileSync(join(ROOT, 'docs/operate/install.md'), 'utf8')).toContain(`${REVOKE_PUBLIC_RIGHTS.trim()};\n`);
});

test('a tenant’s role may raise its time-outs and memory, but not the limit on temporary files', async () => {
  const sql = as(attacker);
  const lifted = ['statement_timeout = 0', 'idle_in_transaction_session_timeout = 0', 'lock_timeout = 0', `work_mem = '1GB'`];
  const held = [
    'temp_file_limit = -1',
    'max_connections = 1000',
    'session_replication_role = replica',
    'row_security_active = off',
    `log_statement = 'all'`,
    'deadlock_timeout = 0',
    `session_preload_libraries = 'x'`,
    `role = carrel_operator`,
    `session_authorization = carrel_worker`,
  ];

  const outcomes = async (settings: string[]) =>
    Promise.all(settings.map(async (setting) => `${setting}: ${(await outcomeOf(sql.query(`SET ${setting}`))) === 'allowed'}`));

  expect(await sql.query('SHOW temp_file_limit')).toEqual([{ temp_file_limit: '1GB' }]);
  expect(await outcomes(lifted)).toEqual(lifted.map((setting) => `${setting}: true`));
  expect(await outcomes(held)).toEqual(held.map((setting) => `${setting}: false`));
});

test('a tenant’s role fills the shared table of jobs with 10,000 at most, and cannot get round its tenant’s limits', async () => {
  const flooder = await newTenant(running, shard);
  const sql = as(flooder);
  const insert = (count: number) =>
    outcomeOf(
      sql.query(
        `INSERT INTO carrel.work (kind, payload, due_at) SELECT 'objects.purge', '{}', 'infinity' FROM generate_series(1, $1)`,
        [count],
      ),
    );
  await pool.query('UPDATE carrel.tenants SET storage_limit = 10, files_limit = 10 WHERE role = $1', [flooder.role]);

  const outcomes = [await insert(6_000), await insert(4_001), await insert(4_000), await insert(1)];
  const lifted = await outcomeOf(sql.query('UPDATE carrel.tenants SET storage_limit = NULL'));
  await sql.query(`INSERT INTO users (uuid, email, username) VALUES (gen_random_uuid(), 'flood@example.org', 'flood')`);
  const grown = await outcomeOf(
    sql.query(
      `INSERT INTO folders (uuid, name, path, owner_id)
       SELECT gen_random_uuid(), n::text, '/' || n, u.id FROM generate_series(1, 11) n, users u WHERE u.username = 'flood'`,
    ),
  );
  await pool.query('DELETE FROM carrel.work WHERE tenant = $1', [flooder.role]);

  const full = expect.stringContaining('More than 10000 jobs');
  expect(outcomes).toEqual(['allowed', full, 'allowed', full]);
  expect(lifted).toMatch(/permission denied/);
  expect(grown).toContain('This institution has 10 files, folders and what belongs to them');
});

test('a tenant’s role fills the shared table of jobs with 256 MiB at most', async () => {
  const flooder = await newTenant(running, shard);
  const sql = as(flooder);
  await sql.query('SET statement_timeout = 0');
  const insert = (count: number) =>
    outcomeOf(
      sql.query(
        `WITH large AS MATERIALIZED (SELECT to_jsonb(string_agg(md5(n::text), '')) AS payload FROM generate_series(1, 32000) n)
         INSERT INTO carrel.work (kind, payload, due_at) SELECT 'objects.purge', payload, 'infinity'
         FROM large, generate_series(1, $1)`,
        [count],
      ),
    );

  const outcomes = [await insert(20), await insert(300), await insert(1)];
  await pool.query('DELETE FROM carrel.work WHERE tenant = $1', [flooder.role]);

  expect(outcomes).toEqual(['allowed', expect.stringContaining('more than 256 MiB'), 'allowed']);
});

test('a read-only role fills its tables by SQL only until it may not log in, and writes again when allowed', async () => {
  const tenant = await newTenant(running, shard);
  const access = (level: 'write' | 'read' | 'none') =>
    ensureTenantDatabase(shard, {
      slug: tenant.slug,
      tenantId: tenant.tenantId,
      password: tenant.password,
      connections: 30,
      access: level,
    });
  const size = () => databaseBytesOf({ pool, slug: tenant.slug });
  const fill = `
    INSERT INTO file_metadata (file_id, key, value)
    SELECT 1, 'k' || n, (SELECT string_agg(md5(n || '.' || m), '') FROM generate_series(1, 200) m)
    FROM generate_series(1, 400) n`;
  await as(tenant).query(
    `INSERT INTO files (uuid, name, path, owner_id) SELECT gen_random_uuid(), 'f', '/f', id FROM users WHERE is_system`,
  );
  const before = await size();

  const outcomes = [await outcomeOf(as(tenant).query(fill))];
  const filled = await size();
  await access('read');
  outcomes.push(await outcomeOf(as(tenant).query(fill)), await outcomeOf(as(tenant).query('SELECT FROM file_metadata')));
  outcomes.push(await outcomeOf(as(tenant).query(`BEGIN READ WRITE; DELETE FROM file_metadata; ${fill}; COMMIT`)));
  const held = await connected(tenant.url);
  await access('none');
  outcomes.push(await outcomeOf(held.query('SELECT 1')), await outcomeOf(as(tenant).query('SELECT 1')));
  await access('write');
  outcomes.push(await outcomeOf(as(tenant).query('DELETE FROM file_metadata')));

  expect(filled - before).toBeGreaterThan(1024 * 1024);
  expect(outcomes).toEqual([
    'allowed',
    expect.stringContaining('read-only transaction'),
    'allowed',
    'allowed',
    expect.not.stringContaining('allowed'),
    expect.not.stringContaining('allowed'),
    'allowed',
  ]);
  expect(await access('write')).toMatchObject({ changed: false });
});

test('row-level security holds for the owner of every shared table too: what the operator sees, a policy says', async () => {
  const tables = await pool.query<{ table: string; forced: boolean }>(
    `SELECT c.oid::regclass::text AS table, c.relforcerowsecurity AS forced FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'carrel' AND c.relkind = 'r'
       AND (c.relrowsecurity OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant'))
       ORDER BY 1`,
  );
  await as(attacker).query(`INSERT INTO carrel.work (kind, payload) VALUES ('kept', '{}')`);
  const count = `SELECT count(*) AS n FROM carrel.work WHERE tenant = $1`;
  const seen = await pool.query(count, [attacker.role]);
  const without = pool.transaction(async (tx) => {
    await tx.query('DROP POLICY work_of_operator ON carrel.work; DROP POLICY work_of_worker ON carrel.work');
    throw new Error(JSON.stringify(await tx.query(count, [attacker.role])));
  });

  expect(tables.length).toBeGreaterThanOrEqual(5);
  expect(tables.filter(({ forced }) => !forced)).toEqual([]);
  expect(seen).toEqual([{ n: 1 }]);
  await expect(without).rejects.toThrow('[{"n":0}]');
});

test("an operator's role that no policy names sees the shared rows again from its next start", async () => {
  const count = () => pool.query('SELECT count(*) AS n FROM carrel.webhook_health WHERE tenant = $1', [attacker.role]);
  const policies = () =>
    pool.query(
      `SELECT polname, current_user::regrole = ANY (polroles) AS "isNamed" FROM pg_policy WHERE polname LIKE '%\\_of\\_operator'
       ORDER BY 1`,
    );
  const all = await policies();
  await pool.query(
    'ALTER POLICY events_of_operator ON carrel.events TO pg_read_server_files; DROP POLICY work_of_operator ON carrel.work',
  );
  const without = await policies();

  await ensureShard(shard);

  expect(all.length).toBeGreaterThanOrEqual(5);
  expect(without).not.toEqual(all);
  expect(await policies()).toEqual(all);
  expect(await count()).toEqual([{ n: 0 }]);
});

test('tenants holding every connection they can get (PostgreSQL 16+) lock out neither operator nor worker', async () => {
  const tenant = await newTenant(running, shard);
  // Not by a pool, whose log-ins end after some seconds.
  const limited = await Promise.allSettled(Array.from({ length: 40 }, () => connected(tenant.url)));
  await Promise.all(limited.flatMap((each) => (each.status === 'fulfilled' ? [each.value.end()] : [])));
  const [server] = await pool.query<{ reserves: boolean }>(
    `SELECT current_setting('server_version_num')::int >= 160000 AS reserves`,
  );
  await pool.query(`ALTER ROLE "${tenant.role}" CONNECTION LIMIT -1`);

  const held: Client[] = [];
  let full: unknown;
  while (full === undefined) {
    const more = await Promise.allSettled(Array.from({ length: 20 }, () => connected(tenant.url)));
    for (const each of more) {
      if (each.status === 'fulfilled') held.push(each.value);
      else full = each.reason;
    }
  }
  const urls = [running.postgres.operator, running.postgres.worker].flatMap((url) => Array.from({ length: 15 }, () => url));
  const platform = (await Promise.allSettled(urls.map(connected))).flatMap((each) =>
    each.status === 'fulfilled' ? [each.value] : [],
  );
  await Promise.all([...held, ...platform].map(async (client) => client.end()));

  expect(limited.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(full).toMatchObject({ message: expect.stringMatching(/remaining connection slots are reserved|too many clients/) });
  expect(held.length).toBeLessThan(server?.reserves ? 360 : 450);
  if (server?.reserves) expect(platform).toHaveLength(urls.length);
});

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Runs `work` with the public rights of a server on which no DBA has revoked any. */
async function withPublicRights(work: () => Promise<void>): Promise<void> {
  const functions = ['lo_create(oid)', 'lo_creat(integer)', 'lo_from_bytea(oid, bytea)'];
  await superuser.query('GRANT CONNECT, TEMPORARY ON DATABASE postgres TO PUBLIC');
  for (const name of functions) await superuser.query(`GRANT EXECUTE ON FUNCTION ${name} TO PUBLIC`);
  try {
    await work();
  } finally {
    for (const name of functions) await superuser.query(`REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`);
    await superuser.query('REVOKE CONNECT, TEMPORARY ON DATABASE postgres FROM PUBLIC');
  }
}

const LARGE_OBJECTS = 'SELECT count(*) AS left FROM pg_largeobject_metadata';

test('an operator that is no superuser deletes a tenant with large objects, default privileges and other databases', async () => {
  const tenant = await newTenant(running, shard);
  await withPublicRights(async () => {
    const [here, elsewhere] = [as(tenant), as(tenant, 'postgres')];
    // More than the locks that one transaction may hold, which takes a busy machine longer than a statement of a tenant.
    await here.query('SET statement_timeout = 0');
    await here.query('SELECT count(lo_create(0)) FROM generate_series(1, 40000)');
    await here.query('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC');
    await elsewhere.query(`SELECT lo_from_bytea(0, 'x')`);
    await elsewhere.query('CREATE TEMPORARY TABLE mine (id int)');
    await elsewhere.query('ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC');
  });

  const passes: boolean[] = [];
  while (passes.at(-1) !== true)
    passes.push(await dropTenant(shard, tenant.slug, { budgetMs: passes.length === 0 ? 0 : 60_000 }));

  const elsewhere = open(running.postgres.superuser.replace(/\/carrel$/, '/postgres'));
  expect(passes).toEqual([false, true]);
  expect(await pool.query('SELECT FROM pg_roles WHERE rolname = $1', [tenant.role])).toEqual([]);
  expect([await superuser.query(LARGE_OBJECTS), await elsewhere.query(LARGE_OBJECTS)]).toEqual([[{ left: 0 }], [{ left: 0 }]]);
  expect(await dropTenant(shard, tenant.slug)).toBe(true);
});

/** Runs the statements of docs/operate/backup-move-restore.md for a slug. */
async function removeByHand(slug: string): Promise<void> {
  const page = readFileSync(join(ROOT, 'docs/operate/backup-move-restore.md'), 'utf8');
  const [, sql = ''] = /^### Remove what another tenant has left on a shard\n[^]*?```sql\n([^]*?)```/m.exec(page) ?? [];
  await pool.query(sql.replaceAll('tenant_biology', tenantRole(slug)));
}

test.each([
  ['a dropped tenant’s rows', (slug: string) => dropTenant(shard, slug)],
  ['the rows of a tenant that a person removes by hand', removeByHand],
])('%s go from every table that tenants share, one of a later release too, and no other’s', async (_what, drop) => {
  const [tenant, other] = [await newTenant(running, shard), await newTenant(running, shard)];
  // A table that refers to another one, and comes before it by name.
  await pool.query(`CREATE TABLE carrel.additions (
    tenant name NOT NULL, event_id bigint NOT NULL, FOREIGN KEY (tenant, event_id) REFERENCES carrel.events (tenant, id))`);
  for (const { role } of [tenant, other])
    await pool.query(
      `WITH event AS (INSERT INTO carrel.events (tenant, uuid, event, payload)
         VALUES ($1, gen_random_uuid(), 'file.created', '{}') RETURNING id)
       INSERT INTO carrel.additions SELECT $1, id FROM event`,
      [role],
    );

  await drop(tenant.slug);
  const left = await pool.query('SELECT tenant FROM carrel.additions');
  await pool.query('DROP TABLE carrel.additions');

  expect(left).toEqual([{ tenant: other.role }]);
  expect(await pool.query('SELECT FROM carrel.events WHERE tenant = $1', [tenant.role])).toEqual([]);
  expect(await pool.query('SELECT FROM carrel.tenants WHERE role = $1', [tenant.role])).toEqual([]);
  expect(await schemaVersion(shard, tenant.slug)).toBeNull();
});

test('a deletion that cannot reach what a role owns in another database names role and database', async () => {
  const tenant = await newTenant(running, shard);
  await withPublicRights(async () => {
    await as(tenant, 'postgres').query('SELECT lo_create(0)');
  });
  await superuser.query('REVOKE CONNECT ON DATABASE postgres FROM carrel_operator');

  const refused = await outcomeOf(dropTenant(shard, tenant.slug));
  await superuser.query('GRANT CONNECT ON DATABASE postgres TO carrel_operator');

  expect(refused).toContain(
    `the role ${tenant.role} owns something in database postgres, which the operator cannot delete there: `,
  );
  expect(await dropTenant(shard, tenant.slug)).toBe(true);
});
