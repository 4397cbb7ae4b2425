import { expect, test } from '@jest/globals';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { condition, conditionOf } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, readyTenant, databaseUrl } = operatorSuite();

test("spec.limits bounds a tenant's people together, also with its credentials; a condition says when", async () => {
  const key = await readyTenant({ limits: { storage: '1Ki', files: 2 } });
  const sql = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  const add = (bytes: number, entries: number) =>
    sql.query('UPDATE users SET storage_used = storage_used + $1, entries = entries + $2 WHERE NOT is_system', [bytes, entries]);

  const limits = () => sql.query('SELECT storage, files FROM carrel.limits_of_tenant()');
  const shown = [await limits()];
  await add(1_000, 1);
  await expect(add(25, 0)).rejects.toThrow('This institution may store 1024 bytes');
  await expect(add(0, 2)).rejects.toThrow('This institution has 2 files, folders');
  const before = conditionOf(await cluster.tenants.get(key), 'WithinLimits');
  await cluster.tenants.patch(key, { spec: { limits: { storage: 0 } } });
  await condition(cluster.tenants, key, 'WithinLimits', 'False', 'LimitReached');
  await expect(add(1, 0)).rejects.toThrow('This institution may store 0 bytes');
  await add(-500, 0);
  await cluster.tenants.patch(key, { spec: { limits: { storage: null, files: null } } });
  await condition(cluster.tenants, key, 'WithinLimits', 'True', 'HasRoom');
  shown.push(await limits());
  await add(10_000, 10);
  await sql.close();

  expect(before).toMatchObject({ status: 'True', reason: 'HasRoom' });
  expect(shown).toEqual([[{ storage: 1_024, files: 2 }], [{ storage: null, files: null }]]);
});

test('a limit that is set below what a tenant has is reached at once, by a count of that moment', async () => {
  const key = await readyTenant();
  const sql = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  await sql.query('UPDATE users SET storage_used = storage_used + 1000, entries = entries + 3 WHERE NOT is_system');
  await sql.close();

  await cluster.tenants.patch(key, { spec: { limits: { files: 2 } } });
  const reached = await condition(cluster.tenants, key, 'WithinLimits', 'False', 'LimitReached');

  expect(conditionOf(reached, 'WithinLimits')?.message).toContain('3 of 2 files, folders and their parts are stored');
  expect(reached.status?.usage).toMatchObject({ bytes: 1_000, entries: 3 });
});

test('a tenant larger than spec.limits.database is read-only until the limit is raised', async () => {
  const key = await readyTenant();
  const sql = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  const write = () =>
    sql.query('UPDATE users SET storage_used = storage_used').then(
      () => 'written',
      (error: Error) => error.message,
    );
  const database = (limit: string) => cluster.tenants.patch(key, { spec: { limits: { database: limit } } });

  const outcomes = [await write()];
  await database('0');
  await condition(cluster.tenants, key, 'WithinLimits', 'False', 'OverLimit');
  const from = [(await cluster.tenants.get(key)).status?.usage?.readOnlyFromBytes];
  await sql.query('SELECT FROM users').catch(() => undefined); // its session was ended
  const read = await sql.query<{ users: number }>('SELECT count(*) AS users FROM users');
  outcomes.push(await write());
  await database('1Gi');
  await condition(cluster.tenants, key, 'WithinLimits', 'True', 'HasRoom');
  from.push((await cluster.tenants.get(key)).status?.usage?.readOnlyFromBytes);
  await sql.query('SELECT FROM users').catch(() => undefined);
  outcomes.push(await write());
  await sql.close();

  expect(outcomes).toEqual(['written', expect.stringContaining('read-only transaction'), 'written']);
  expect(read[0]?.users).toBeGreaterThan(0);
  expect(from).toEqual([expect.any(Number), undefined]);
});
