import { beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Database, type Tx } from '../../../pkg/store/postgres/database.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { insertJob, type JobRow, JobStore } from '../../../pkg/store/postgres/job-store.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant, openDatabase, type TenantLogin } from '../../support/backends/tenant.ts';
import { countBy, range } from '../../support/wait.ts';

const { running, pool, shard } = storeSuite();
let workerPool: SqlPool;
let worker: Database;
let a: TenantLogin;
let b: TenantLogin;
let dbA: Database;
let dbB: Database;

beforeAll(async () => {
  [a, b] = [await newTenant(running, shard), await newTenant(running, shard)];
  [dbA, dbB] = [openDatabase(a), openDatabase(b)];
  worker = new Database({ url: running.postgres.worker, poolSize: 4, log: silentLogger });
  workerPool = new SqlPool({ url: running.postgres.worker, poolSize: 4, log: silentLogger });
});
atEnd(() => Promise.all([dbA, dbB, worker, workerPool].map((each) => each?.close())));

test("a tenant's role reaches nothing of another's, nor of the registry, nor of the shard's own", async () => {
  await dbB.transaction((tx) => insertJob(tx, { kind: 'secret', payload: { of: 'b' } }));
  const attempts = [
    `SELECT * FROM "${b.role}".users`,
    `INSERT INTO "${b.role}".users (uuid, email, username) VALUES (gen_random_uuid(), 'x', 'x')`,
    `SET ROLE "${b.role}"`,
    'SET ROLE carrel_worker',
    'SET ROLE carrel_operator',
    `SET SESSION AUTHORIZATION "${b.role}"`,
    'SELECT * FROM registry.tenants',
    'SELECT * FROM registry.secrets',
    'SELECT * FROM carrel.tenants',
    'SELECT * FROM carrel.schema_migrations',
    `INSERT INTO carrel.work (tenant, kind, payload) VALUES ('${b.role}', 'forged', '{}')`,
    `UPDATE carrel.work SET kind = 'x'`,
    'DELETE FROM carrel.work',
    'TRUNCATE carrel.work',
    `INSERT INTO carrel.events (tenant, uuid, event, payload) VALUES ('${b.role}', gen_random_uuid(), 'forged', '{}')`,
    `INSERT INTO carrel.deliveries (tenant, event_id, endpoint) VALUES ('${b.role}', 1, gen_random_uuid())`,
    `UPDATE carrel.deliveries SET state = 'delivered', due_at = NULL`,
    'DELETE FROM carrel.events',
    'DELETE FROM carrel.deliveries',
    'CREATE SCHEMA mine',
    `CREATE TABLE mine (id int)`,
    `CREATE TABLE public.mine (id int)`,
    'CREATE TABLE ext.mine (id int)',
    'CREATE TEMPORARY TABLE mine (id int)',
    `CREATE FUNCTION "${a.role}".mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
    'DROP TABLE users',
    'ALTER TABLE users DISABLE TRIGGER ALL',
    'TRUNCATE users CASCADE',
    'DELETE FROM schema_migrations',
    'CREATE ROLE mine',
    `ALTER ROLE "${a.role}" CONNECTION LIMIT -1`,
    'CREATE EXTENSION dblink',
    `COPY users TO PROGRAM 'cat'`,
    `SELECT pg_read_file('/etc/passwd')`,
    `SELECT rolpassword FROM pg_authid`,
    `SELECT carrel.touch()`,
    `SELECT carrel.write_audit('file.upload', 'file', NULL, NULL, '{}')`,
    `SELECT carrel.role_of_caller()`,
    `SELECT set_config('role', '${b.role}', false)`,
    'CREATE TRIGGER mine BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION carrel.audit_users()',
  ];

  const outcomes = await Promise.all(
    attempts.map(async (sql) => [
      sql,
      await dbA.query(sql).then(
        () => 'allowed',
        (error: Error) => error.message,
      ),
    ]),
  );
  expect(
    outcomes.filter(
      ([, outcome]) =>
        !/permission denied|must be owner|must be superuser|must have|row-level security|Only roles with/.test(outcome ?? ''),
    ),
  ).toEqual([]);
  for (const table of ['work', 'events', 'deliveries']) expect(await dbA.query(`SELECT * FROM carrel.${table}`)).toEqual([]);
});

test('a function that all tenants share acts for the caller’s role, whatever search path the caller sets', async () => {
  const entries = (of: TenantLogin): Promise<object[]> =>
    pool.query(`SELECT action, request_id FROM "${of.role}".audit_entries WHERE request_id IN ('old', 'forged') ORDER BY id`);
  for (const { role } of [a, b])
    await pool.query(`INSERT INTO "${role}".audit_entries (at, is_system, action, target_type, request_id, changes)
      VALUES (now() - interval '366 days', true, 'file.upload', 'file', 'old', '{}')`);
  const asB = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    dbA.transaction(async (tx) => {
      await tx.query(`SET LOCAL search_path = "${b.role}", ext`);
      return work(tx);
    });

  await asB((tx) => tx.query(`SELECT carrel.audit_refused_sign_in('somebody@example.org', '{"request": "forged"}')`));
  expect(await asB((tx) => tx.query('SELECT carrel.expire_audit() AS deleted'))).toEqual([{ deleted: 1 }]);
  const limit = (of: TenantLogin, bytes: number) =>
    pool.query('UPDATE carrel.tenants SET storage_limit = $2 WHERE role = $1', [of.role, bytes]);
  await Promise.all([limit(a, 1e12), limit(b, 2e12)]);
  expect(await asB((tx) => tx.query('SELECT storage FROM carrel.limits_of_tenant()'))).toEqual([{ storage: 1e12 }]);
  for (const call of [
    `carrel.reserve_storage(gen_random_uuid(), 1, 1, 1, now(), now())`,
    `carrel.count_storage(NULL, 1, 1, now())`,
    `carrel.store_files('[]', now())`,
  ])
    await expect(asB((tx) => tx.query(`SELECT ${call}`))).rejects.toThrow(/permission denied|does not exist/);

  expect(await entries(a)).toEqual([{ action: 'session.fail', request_id: 'forged' }]);
  expect(await entries(b)).toEqual([{ action: 'file.upload', request_id: 'old' }]);
});

test('a tenant’s schema has no functions of its own, since a lookup by name reads those of all schemas', async () => {
  const functionsOf = (schema: string, condition: string): Promise<{ name: string }[]> =>
    pool.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc p WHERE pronamespace = $1::regnamespace AND ${condition} ORDER BY 1`,
      [`"${schema}"`],
    );

  expect(await functionsOf(a.role, 'true')).toEqual([]);
  // Functions that run as their owner begin with an empty search path, so that the caller's does not apply.
  expect(await functionsOf('carrel', `prosecdef AND NOT proconfig @> ARRAY['search_path=""']`)).toEqual([]);
  expect((await functionsOf('carrel', 'prosecdef')).length).toBeGreaterThan(15);
});

test('work is asked for in the tenant’s name and commits with what it follows', async () => {
  const rollback = dbA.transaction(async (tx) => {
    await insertJob(tx, { kind: 'purge', payload: { keys: ['gone'] } });
    throw new Error('no');
  });
  await expect(rollback).rejects.toThrow('no');
  await dbA.transaction((tx) =>
    insertJob(tx, { kind: 'purge', payload: { keys: ['x'] }, dueAt: new Date(Date.now() + 3_600_000) }),
  );
  await dbA.transaction((tx) => insertJob(tx, { kind: 'purge', payload: { keys: ['kept'] } }));

  const [item, ...more] = await new JobStore(workerPool).lease([{ tenant: a.role, most: 10, held: 0 }], {
    perTenant: 10,
    seconds: 60,
  });

  expect(more).toEqual([]);
  expect(item).toMatchObject({
    tenant: a.role,
    kind: 'purge',
    payload: { keys: ['kept'] },
    attempts: 1,
    fence: expect.any(String),
  });
});

test('an item has one holder at a time; who lost the lease changes nothing; a failed one comes again', async () => {
  await pool.query('DELETE FROM carrel.work');
  await dbA.transaction(async (tx) => {
    for (let n = 0; n < 40; n += 1) await insertJob(tx, { kind: 'n', payload: n });
  });
  const queue = new JobStore(workerPool);
  const lease = (most: number): Promise<JobRow[]> =>
    queue.lease([{ tenant: a.role, most, held: 0 }], { perTenant: 10, seconds: 60 });
  const taken = (await Promise.all(range(8).map(() => lease(10)))).flat().toSorted((one, another) => one.id - another.id);
  expect(taken).toHaveLength(10); // the oldest ten, whoever leases them
  expect(new Set(taken.map(({ id }) => id)).size).toBe(10);
  const [item, other] = taken;
  if (!item || !other) throw new Error('nothing was leased');

  expect(await queue.extend([item], -1)).toEqual([true]);
  const [again] = await lease(1);
  expect(again).toMatchObject({ id: item.id, attempts: 2 });
  expect(await queue.extend([item, other], 60)).toEqual([false, true]);
  expect(await queue.finish(item)).toBe(false);
  expect(await queue.fail(item, { error: 'late', waitMs: 0 })).toBe(false);
  expect(again && (await queue.finish(again))).toBe(true);
  expect(await queue.fail(other, { error: 'x'.repeat(5000), waitMs: 0 })).toBe(true);
  expect(
    (await queue.lease([{ tenant: a.role, most: 100, held: 0 }], { perTenant: 100, seconds: 60 })).map(({ id }) => id),
  ).toContain(other.id);
  expect(await queue.statistics()).toEqual([expect.objectContaining({ kind: 'n', due: 39 })]);
});

test('a job that comes again at once is due at once, whatever part of a millisecond it is', async () => {
  await pool.query('DELETE FROM carrel.work');
  await dbA.transaction((tx) => insertJob(tx, { kind: 'again', payload: {} }));
  for (let turn = 0; turn < 20; turn += 1) {
    // In one transaction now() stands still.
    await worker.transaction(async (tx) => {
      const queue = new JobStore(tx);
      const lease = (): Promise<JobRow[]> => queue.lease([{ tenant: a.role, most: 1, held: 0 }], { perTenant: 1, seconds: 60 });
      const [job] = await lease();
      expect(job && (await queue.fail(job, { error: 'x', waitMs: 0 }))).toBe(true);
      expect((await lease()).map(({ id }) => id)).toEqual([job?.id]);
      expect(await queue.statistics()).toEqual([expect.objectContaining({ kind: 'again', due: 1 })]);
    });
    await pool.query('UPDATE carrel.work SET leased_until = NULL, fence = NULL');
  }
});

test('leases are kept many at a time; a row that somebody writes is passed by, not waited for', async () => {
  await pool.query('DELETE FROM carrel.work');
  await dbA.transaction(async (tx) => {
    for (const kind of ['written', 'free', 'lost']) await insertJob(tx, { kind, payload: {} });
  });
  const queue = new JobStore(workerPool);
  const rows = (await queue.lease([{ tenant: a.role, most: 3, held: 0 }], { perTenant: 3, seconds: 60 })).toSorted(
    (one, other) => one.id - other.id,
  );
  const [written, , lost] = rows;
  await queue.release([lost as JobRow]);

  const result = await worker.transaction(async (tx) => {
    await tx.query('SELECT FROM carrel.work WHERE id = $1 FOR UPDATE', [written?.id]);
    return queue.extend(rows, 600);
  });

  const until = await pool.query<{ kind: string; isLong: boolean | null }>(
    `SELECT kind, leased_until > now() + interval '300 s' AS "isLong" FROM carrel.work ORDER BY id`,
  );
  expect(rows.map(({ kind }) => kind)).toEqual(['written', 'free', 'lost']);
  expect(result).toEqual([true, true, false]);
  expect(until).toEqual([
    { kind: 'written', isLong: false },
    { kind: 'free', isLong: true },
    { kind: 'lost', isLong: null },
  ]);
});

test('a backlog of one tenant takes its window only, and another’s work comes along', async () => {
  await pool.query('DELETE FROM carrel.work');
  await pool.query(`INSERT INTO carrel.work (tenant, kind, payload) SELECT $1, 'many', '{}' FROM generate_series(1, 5000)`, [
    a.role,
  ]);
  await dbB.transaction((tx) => insertJob(tx, { kind: 'one', payload: {} }));

  const store = new JobStore(workerPool);

  const lease = (held: number): Promise<JobRow[]> =>
    store.lease(
      [a, b].map(({ role }) => ({ tenant: role, most: 4, held })),
      { perTenant: 5, seconds: 60 },
    );

  const due = await store.dueTenants({ limit: 20, perTenant: 4 });
  const taken = await lease(0);
  const dueThen = await store.dueTenants({ limit: 20, perTenant: 4 });
  const takenByAnother = await lease(0);
  const takenByTheFirst = await lease(5);

  expect(due.map(({ tenant }) => tenant)).toEqual([a.role, b.role]);
  expect(countBy(taken, ({ tenant }) => tenant)).toEqual({ [a.role]: 4, [b.role]: 1 });
  expect(dueThen).toEqual([]);
  expect(takenByAnother).toHaveLength(1); // with the first one's 4 these are the 5 that a tenant may have
  expect(takenByTheFirst).toHaveLength(4); // as far as it knows nobody else holds any
});

const asTenant = <T>(role: string, fn: (tx: Tx) => Promise<T>): Promise<T> => worker.transaction(fn, { role });

test('the worker acts as one tenant for one transaction, and has nothing of any outside it', async () => {
  const uuid = systemRandom.uuid();
  await asTenant(b.role, (tx) => tx.users.insert({ uuid, email: 'w@example.org', username: 'w' }));

  const seen = await Promise.all(
    [a, b, a, b].map(({ role }) => asTenant(role, async (tx) => (await tx.users.find({ uuid }))?.username ?? null)),
  );
  const asB = asTenant(b.role, (tx) => tx.query(`SELECT * FROM "${a.role}".users`));

  expect(seen).toEqual([null, 'w', null, 'w']);
  await expect(asB).rejects.toThrow('permission denied');
  await expect(worker.query(`SELECT * FROM "${a.role}".users`)).rejects.toThrow('permission denied');
  await expect(worker.tables.users.count({})).rejects.toThrow('does not exist');
  expect(await worker.query('SELECT current_user::text AS who')).toEqual([{ who: 'carrel_worker' }]);
  await expect(asTenant('carrel_operator', (tx) => tx.query('SELECT 1'))).rejects.toThrow('permission denied');
  expect(systemClock.now()).toBeInstanceOf(Date);
});
