import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Sealer } from '../../../pkg/runtime/sealing.ts';
import type { Migration } from '../../../pkg/store/postgres/migrations/migration.ts';
import { registryMigrations } from '../../../pkg/store/postgres/migrations/registry/index.ts';
import { shardMigrations } from '../../../pkg/store/postgres/migrations/shard/index.ts';
import { type Sql, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureShard, LATEST_VERSION, migrateTenant, rollbackTenant } from '../../../pkg/store/postgres/provisioning.ts';
import { Registry } from '../../../pkg/store/postgres/registry.ts';
import { definitions } from '../../../pkg/store/postgres/tables.ts';
import { catalogOf } from '../../support/models/catalog.ts';
import { insertRows, ORIGIN, ROWS_OF_TENANT } from '../../support/data/every-table.ts';
import { ROWS_OF_REGISTRY, ROWS_OF_SHARD } from '../../support/data/every-table-of-shards.ts';
import { NEXT_RELEASE } from '../../support/models/later-migrations.ts';
import { type Step, unfilled, walkDown } from '../../support/models/migration-walk.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant, openDatabase } from '../../support/backends/tenant.ts';

const { running, pool, shard } = storeSuite();
const time = { clock: systemClock, random: systemRandom };

/** Tables of both versions whose rows a `down` changes: the older version cannot hold them as they are. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  // Links of folders are deleted, which the audit log shows, and no longer count to whoever made them.
  '0002-folder-shares': ['audit_entries', 'shares', 'users'],
};

/**
 * The expected result of each step: the previous catalog, the rows of tables that both versions have, and no loss that the
 * migration does not name.
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
  await migrateTenant(shard, tenant, NEXT_RELEASE);
  await pool.query(
    `INSERT INTO "${role}".badges (user_id, name) SELECT id, 'first'
     FROM "${role}".users; UPDATE "${role}".users SET initials = 'xyz'`,
  );

  const steps = await walkDown({ pool, schema: role, migrations: NEXT_RELEASE, context: tenant, prepare });
  const bare = await catalog();
  await pool.query(`DELETE FROM "${role}".schema_migrations`);
  await migrateTenant(shard, tenant, NEXT_RELEASE);
  await fill();
  const version = await rollbackTenant(shard, tenant, '9001-initials', NEXT_RELEASE);
  const db = openDatabase(tenant);
  const names = Object.keys(definitions) as (keyof typeof definitions)[];
  const read = await Promise.all(
    names.map(async (name) => [definitions[name].name, (await db.tables[name].list({})).length] as const),
  );
  await db.close();

  expect(empty).toEqual([]);
  expect(steps).toEqual(expected(NEXT_RELEASE));
  expect(bare.filter((line) => !/schema_migrations/.test(line))).toHaveLength(1);
  expect(full.length).toBeGreaterThan(150);
  expect(version).toBe(LATEST_VERSION);
  expect(await catalog()).toEqual(full);
  // The rows of the tables that both releases have came through, the system's user with them.
  const survived = ([table, rows]: readonly [string, number]): boolean =>
    rows === (table === 'users' ? 1 : 0) + (ROWS_OF_TENANT[table]?.length ?? 0);
  expect(read.filter((each) => !survived(each)).map(([table]) => table)).toEqual([]);
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
