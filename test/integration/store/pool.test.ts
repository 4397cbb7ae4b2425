import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool, USES_OF_A_CONNECTION } from '../../../pkg/store/postgres/pool.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

const { running } = storeSuite();
const backendOf = async (pool: SqlPool): Promise<number | undefined> =>
  (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid;

test('a statement that the server refuses leaves its connection to the next one', async () => {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger });
  const before = await backendOf(pool);

  await expect(pool.query('SELECT FROM nowhere.nothing')).rejects.toThrow('relation "nowhere.nothing" does not exist');
  await expect(pool.query('SELECT 1 / $1::int', [0])).rejects.toMatchObject({ name: 'DataException' });
  await expect(pool.query('SELECT 1; SELECT 1 / 0; SELECT 1')).rejects.toMatchObject({ name: 'DataException' });
  const after = await backendOf(pool);
  await pool.close();

  expect(after).toBe(before);
});

test('a statement with which the server ends the connection, or that is not answered in time, costs it', async () => {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger, queryTimeoutMs: 2_000 });
  const first = await backendOf(pool);

  await expect(pool.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
    name: 'StoreUnavailableError',
  });
  const second = await backendOf(pool);
  await expect(pool.query('SELECT pg_sleep(30)')).rejects.toMatchObject({ name: 'StoreUnavailableError' });
  const third = await backendOf(pool);
  await pool.close();

  expect(new Set([first, second, third]).size).toBe(3);
});

test('a statement for which the server has no room costs its connection, and who waits for one gets another', async () => {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger });
  const first = await backendOf(pool);

  const full = pool.query(`DO $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$`);
  const waiting = backendOf(pool);

  await expect(full).rejects.toMatchObject({ name: 'StoreUnavailableError' });
  expect(await waiting).not.toBe(first);
  await pool.close();
});

test('a statement with a name gets one plan for all parameters, and another one when the table has grown', async () => {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger });
  await pool.query('CREATE TABLE grown (id int PRIMARY KEY, name text) WITH (autovacuum_enabled = false)');
  await pool.query('VACUUM grown');
  const find = (): Promise<unknown[]> => pool.query('SELECT name FROM grown WHERE id = $1', [7], 'find-grown');
  const plan = async (): Promise<string> => JSON.stringify(await pool.query('EXPLAIN EXECUTE "find-grown" (7)'));
  for (const _ of range(10)) await find();
  expect(await plan()).toContain('Seq Scan on grown');

  await pool.query(`INSERT INTO grown SELECT n, 'name ' || n FROM generate_series(1, 10000) n`);
  await waitFor('a plan that uses the index', async () => {
    expect(await find()).toEqual([{ name: 'name 7' }]);
    return (await plan()).includes('Index Scan');
  });

  const [statement] = await pool.query<{ generic: number }>(
    `SELECT generic_plans::int AS generic FROM pg_prepared_statements WHERE name = 'find-grown'`,
  );
  expect(statement?.generic).toBeGreaterThan(0);
  await pool.query('DROP TABLE grown');
  await pool.close();
});

test('a statement with a name survives a migration that changes its columns', async () => {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 2, log: silentLogger });
  await pool.query('CREATE TABLE migrated AS SELECT 1 AS id, 2::int AS name');
  const read = (): Promise<unknown[]> => pool.query('SELECT name FROM migrated WHERE id = $1', [1], 'read-migrated');
  await Promise.all(range(2).map(read));

  await pool.query('ALTER TABLE migrated ALTER COLUMN name TYPE text');

  expect(await Promise.all(range(2).map(read))).toEqual([[{ name: '2' }], [{ name: '2' }]]);
  expect(await read()).toEqual([{ name: '2' }]);
  await pool.query('DROP TABLE migrated');
  await pool.close();
});

test('a pool that is abandoned fails what waits for an answer, and goes on with new connections at once', async () => {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 2, log: silentLogger });
  const busy = pool.query('SELECT pg_sleep(600)').catch((error: Error) => error.name); // the statement that is abandoned
  const runs = `SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'`;
  await waitFor('the statement that waits', async () => (await pool.query(runs)).length === 1);
  const idle = await backendOf(pool);

  pool.abandon();
  const after = await backendOf(pool);

  expect(await busy).toBe('StoreUnavailableError');
  expect(after).not.toBe(idle);
  await pool.close();
});

test('connections end after so many statements and transactions while work goes on, and nothing is lost', async () => {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 3, log: silentLogger });
  const count = 6 * USES_OF_A_CONNECTION;
  await pool.query('CREATE TABLE carrel.uses (id integer PRIMARY KEY, pids integer[] NOT NULL)');
  const insert = `INSERT INTO carrel.uses (id, pids) VALUES ($1, ARRAY[pg_backend_pid()])`;
  const one = (id: number) => pool.query(insert, [id]);
  const several = (id: number) =>
    pool.transaction(async (tx) => {
      await tx.query(insert, [id]);
      await tx.query('UPDATE carrel.uses SET pids = pids || pg_backend_pid() WHERE id = $1', [id]);
    });

  await Promise.all(range(count).map((id) => (id % 2 === 0 ? one(id) : several(id))));
  const rows = await pool.query<{ pids: number[] }>('SELECT pids FROM carrel.uses');
  await pool.query('DROP TABLE carrel.uses');
  await pool.close();

  const uses = new Map<number, number>();
  for (const { pids } of rows) for (const pid of new Set(pids)) uses.set(pid, (uses.get(pid) ?? 0) + 1);
  expect(rows).toHaveLength(count);
  expect(rows.filter(({ pids }) => new Set(pids).size > 1)).toEqual([]);
  expect(Math.max(...uses.values())).toBeLessThanOrEqual(USES_OF_A_CONNECTION);
});

test('a connection that listens stays, however much it is used, and hears what is notified', async () => {
  let heard = 0;
  const pool = new SqlPool({
    url: running.postgres.operator,
    poolSize: 1,
    log: silentLogger,
    onNotification: () => (heard += 1),
  });
  await pool.query('LISTEN uses');
  const before = await backendOf(pool);
  for (const _ of range(USES_OF_A_CONNECTION + 1)) await pool.query('SELECT 1');

  await pool.query('NOTIFY uses');
  await waitFor('the notification', () => heard === 1);

  expect(await backendOf(pool)).toBe(before);
  await pool.close();
});
