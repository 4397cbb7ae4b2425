import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { SqlPool, type Sql } from '../../../pkg/store/postgres/pool.ts';
import { ensureShard, WORKER_ROLE } from '../../../pkg/store/postgres/provisioning.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { waitFor } from '../../support/wait.ts';

const { running, pool } = storeSuite();
const time = { clock: systemClock, random: systemRandom };

const SETTINGS = { searchPath: '"$user", ext', statementTimeout: '50s', lockTimeout: '5s', idleTimeout: '1min' };

async function settingsOf(sql: Sql): Promise<unknown> {
  const [settings] = await sql.query(
    `SELECT current_setting('search_path') AS "searchPath", current_setting('statement_timeout') AS "statementTimeout",
       current_setting('lock_timeout') AS "lockTimeout", current_setting('idle_in_transaction_session_timeout') AS "idleTimeout"`,
  );
  return settings;
}

async function backendOf(sql: Sql): Promise<unknown> {
  const [row] = await sql.query('SELECT pg_backend_pid() AS pid');
  return row?.['pid'];
}

/** An empty database, and a worker's two kinds of connections to it. */
async function newDatabase(name: string) {
  await pool.query(`CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0`);
  const at = (url: string): string => url.replace(/\/carrel$/, `/${name}`);
  const shard = new SqlPool({ url: at(running.postgres.operator), poolSize: 2, log: silentLogger });
  const options = { url: at(running.postgres.worker), poolSize: 1, log: silentLogger };
  const workers: (Database | SqlPool)[] = [new Database(options), new SqlPool({ ...options, connectionUses: Infinity })];
  const close = () => Promise.all([shard, ...workers].map((open) => open.close()));
  return { shard: { pool: shard, ...time }, workers, close };
}

/** The worker may not have seen yet that its connection has ended; then a statement fails, and the next one has a new one. */
const settingsOfNext = (worker: Sql): Promise<unknown> => waitFor('the settings of a connection', () => settingsOf(worker));

test('a worker that was connected before the base was made has the settings of its role as soon as it is there', async () => {
  await pool.query(`ALTER ROLE ${WORKER_ROLE} RESET ALL`);
  const { shard, workers, close } = await newDatabase('later_base');
  const before = await Promise.all(workers.map(settingsOf));

  await ensureShard(shard);
  const after = await Promise.all(workers.map(settingsOfNext));
  const paths = await Promise.all(workers.map((worker) => worker.query(`SELECT ltree2text('a.b'::ext.ltree) AS path`)));
  await close();

  expect(before).not.toContainEqual(SETTINGS);
  expect(after).toEqual([SETTINGS, SETTINGS]);
  expect(paths).toEqual([[{ path: 'a.b' }], [{ path: 'a.b' }]]);
});

test('an operator that was killed between the settings of the role and the base leaves no session without them', async () => {
  const { shard, workers, close } = await newDatabase('killed_between');
  // The role has its settings from another shard of the server, and these sessions are without them.
  const here = `ALTER ROLE ${WORKER_ROLE} IN DATABASE killed_between`;
  await pool.query(`${here} SET search_path = "$user", public`);
  const before = await Promise.all(workers.map(settingsOf));
  await pool.query(`${here} RESET search_path`);

  await ensureShard(shard);
  const after = await Promise.all(workers.map(settingsOfNext));
  await close();

  expect(before).not.toContainEqual(SETTINGS);
  expect(after).toEqual([SETTINGS, SETTINGS]);
});

test('settings that have changed reach the workers that are connected', async () => {
  const { shard, workers, close } = await newDatabase('other_settings');
  await ensureShard(shard);
  await pool.query(`ALTER ROLE ${WORKER_ROLE} SET lock_timeout = '6s'`);
  const before = await Promise.all(workers.map(settingsOf));

  await ensureShard(shard);
  const after = await Promise.all(workers.map(settingsOfNext));
  await close();

  expect(before).toEqual([
    { ...SETTINGS, lockTimeout: '6s' },
    { ...SETTINGS, lockTimeout: '6s' },
  ]);
  expect(after).toEqual([SETTINGS, SETTINGS]);
});

test('a shard that is right costs a worker no connection', async () => {
  const { shard, workers, close } = await newDatabase('right_base');
  await ensureShard(shard);
  const before = await Promise.all(workers.map(backendOf));

  await ensureShard(shard);
  const after = await Promise.all(workers.map(backendOf));
  await close();

  expect(after).toEqual(before);
});
