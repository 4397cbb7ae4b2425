import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { storeSuite } from '../../support/store-suite.ts';

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
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger, queryTimeoutMs: 500 });
  const first = await backendOf(pool);

  await expect(pool.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({ name: 'StoreUnavailableError' });
  const second = await backendOf(pool);
  await expect(pool.query('SELECT pg_sleep(2)')).rejects.toMatchObject({ name: 'StoreUnavailableError' });
  const third = await backendOf(pool);
  await pool.close();

  expect(new Set([first, second, third]).size).toBe(3);
});
