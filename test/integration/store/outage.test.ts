import { beforeAll, expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { StatementTimeout } from '../../../pkg/store/postgres/errors.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant, openDatabase, type TenantLogin } from '../../support/backends/tenant.ts';
import { waitFor } from '../../support/wait.ts';

const { running, pool, shard } = storeSuite();
let tenant: TenantLogin;
let db: Database;

beforeAll(async () => {
  tenant = await newTenant(running, shard);
  // The tests' Postgres commits without waiting for the disk, and would forget the tenant when it is killed. This commit waits,
  // and what was committed before is on the disk then too.
  await pool.transaction((tx) =>
    tx.query(`SET LOCAL synchronous_commit = on; COMMENT ON SCHEMA "${tenant.role}" IS 'on the disk'`),
  );
  db = openDatabase(tenant);
});
atEnd(() => db?.close());

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => error,
  );
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function untilUp(database: { ping(): Promise<void> }): Promise<number> {
  const began = performance.now();
  await waitFor('the database to answer', async () => (await outcome(database.ping())) === 'done');
  return performance.now() - began;
}

test.each(['SIGKILL', 'SIGINT'] as const)(
  'Postgres ended by %s fails what is in flight cleanly, and the pools repair themselves',
  async (signal) => {
    await Promise.all(Array.from({ length: 5 }, () => db.ping()));
    const inFlight = [
      db.query('SELECT pg_sleep(5)'),
      db.tables.users.list({}).then(() => db.query('SELECT pg_sleep(5)')),
      db.transaction(async (tx) => {
        await tx.users.count({});
        await tx.query('SELECT pg_sleep(5)');
      }),
      pool.query('SELECT pg_sleep(5)'),
      pool.transaction(async (tx) => tx.query('SELECT pg_sleep(5)')),
    ].map(outcome);
    await pause(200);

    await running.kill('postgres', signal);

    for (const result of await Promise.all(inFlight)) expect(result).toBeInstanceOf(StoreUnavailableError);
    await untilUp(db);
    await untilUp(pool);
    expect(await Promise.all(Array.from({ length: 10 }, () => outcome(db.transaction((tx) => tx.users.count({})))))).toEqual(
      Array.from({ length: 10 }, () => 'done'),
    );
  },
);

test('a transaction that loses its connection before the commit fails and leaves nothing', async () => {
  const superuser = new SqlPool({ url: running.postgres.superuser, poolSize: 1, log: silentLogger });
  const cut = db.transaction(async (tx) => {
    await tx.users.insert({ uuid: crypto.randomUUID(), email: 'cut@example.org', username: 'cut' });
    const [me] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await superuser.query('SELECT pg_terminate_backend($1)', [me?.pid]);
  });

  expect(await outcome(cut)).toBeInstanceOf(StoreUnavailableError);
  expect(await db.tables.users.find({ username: 'cut' })).toBeNull();
  await superuser.close();
});

test('a Postgres that hangs is reported within ten seconds, and used again when it continues', async () => {
  await db.ping();

  running.signal('postgres', 'SIGSTOP');
  const began = performance.now();
  // The postmaster alone is frozen: what is connected goes on, what must connect cannot.
  const fresh = openDatabase(tenant);
  const result = await outcome(fresh.ping());
  const took = performance.now() - began;
  running.signal('postgres', 'SIGCONT');

  expect(result).toBeInstanceOf(StoreUnavailableError);
  expect(took).toBeLessThan(30_000); // ten seconds; the rest is a busy machine's
  await untilUp(fresh);
  await fresh.close();
});

test('a connection whose answer is overdue is left, and the next one answers', async () => {
  const hasty = openDatabase(tenant, { queryTimeoutMs: 2_000, poolSize: 1 }); // which a new connection has, too

  expect(await outcome(hasty.query('SELECT pg_sleep(5)'))).toBeInstanceOf(StoreUnavailableError);
  expect(await hasty.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await outcome(hasty.transaction((tx) => tx.query('SELECT pg_sleep(5)')))).toBeInstanceOf(StoreUnavailableError);
  expect(await hasty.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await hasty.close();
});

test('a statement that runs too long is cancelled by the server', async () => {
  await expect(
    db.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = '100ms'`);
      await tx.query('SELECT pg_sleep(2)');
    }),
  ).rejects.toBeInstanceOf(StatementTimeout);
});

test('a full pool is reported within its time-out', async () => {
  const small = openDatabase(tenant, { poolSize: 1 });

  const [held, waiting] = await Promise.all([outcome(small.query('SELECT pg_sleep(6)')), outcome(small.query('SELECT 1'))]);

  expect(held).toBe('done');
  expect(waiting).toBeInstanceOf(StoreUnavailableError);
  await small.close();
});

test('a database that is idle holds no connection', async () => {
  const idle = openDatabase(tenant);
  const connections = async (): Promise<number> => {
    const [row] = await pool.query<{ n: number }>(
      `SELECT count(*) AS n FROM pg_stat_activity WHERE usename = $1 AND pid <> pg_backend_pid()`,
      [tenant.role],
    );
    return row?.n ?? -1;
  };
  await db.close();
  await Promise.all(Array.from({ length: 5 }, () => idle.query('SELECT pg_sleep(0.1)')));
  expect(await connections()).toBeGreaterThan(0);

  await waitFor('the end of the idle connections', async () => (await connections()) === 0);
  await idle.close();
});
