import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { storeSuite } from '../../support/store-suite.ts';
import { waitFor } from '../../support/wait.ts';

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

  await expect(pool.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({ name: 'StoreUnavailableError' });
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
