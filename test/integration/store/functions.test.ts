import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureShard, missingInShard } from '../../../pkg/store/postgres/provisioning.ts';
import { catalogOf } from '../../support/models/catalog.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';

const { running, pool } = storeSuite();
const time = { clock: systemClock, random: systemRandom };

/** A shard in a database of its own, and every statement that is made there. */
async function newShard(name: string) {
  await pool.query(`CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0`);
  const seen: string[] = [];
  const own = new SqlPool({
    url: running.postgres.operator.replace(/\/carrel$/, `/${name}`),
    poolSize: 4,
    log: silentLogger,
    observe: ({ sql }) => void seen.push(sql),
  });
  await ensureShard({ pool: own, ...time });
  return { own, seen };
}

/** Returns the catalog of the shared schema. Names of other schemas are in full, whatever the connection's search path. */
const catalog = (own: SqlPool): Promise<string[]> =>
  own.transaction(async (tx) => {
    await tx.query('SET LOCAL search_path TO pg_catalog');
    return catalogOf(tx, 'carrel');
  });

/** Makes the functions of a release that has another `touch`, a function that this one lacks, and rights of its own. */
const OTHER_RELEASE = `
  CREATE OR REPLACE FUNCTION carrel.touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
  GRANT EXECUTE ON FUNCTION carrel.touch TO PUBLIC;
  UPDATE carrel.schema_functions SET sha256 = 'another', replaced_at = 'epoch'`;

test('another release’s functions are replaced by this one’s, with their rights; present ones cost no DDL', async () => {
  const { own, seen } = await newShard('functions_replaced');
  const ours = await catalog(own);
  await own.query(OTHER_RELEASE);
  const missing = await missingInShard(own);

  await ensureShard({ pool: own, ...time });
  const replaced = await catalog(own);
  seen.length = 0;
  await ensureShard({ pool: own, ...time });

  expect(missing).toEqual(['functions']);
  expect(replaced).toEqual(ours);
  expect(await missingInShard(own)).toEqual([]);
  expect(await own.query(`SELECT replaced_at > now() - interval '1 hour' AS "isNew" FROM carrel.schema_functions`)).toEqual([
    { isNew: true },
  ]);
  expect(seen.filter((sql) => /FUNCTION carrel\./.test(sql))).toEqual([]);
  await own.close();
});

test('a function that this release no longer has stays, since servers of the former one call it', async () => {
  const { own } = await newShard('functions_kept');
  await own.query(`CREATE FUNCTION carrel.former() RETURNS int LANGUAGE sql AS 'SELECT 1'; ${OTHER_RELEASE}`);

  await ensureShard({ pool: own, ...time });

  expect(await own.query('SELECT carrel.former() AS one')).toEqual([{ one: 1 }]);
  await own.close();
});

test('operators that race replace the functions without an error', async () => {
  const { own } = await newShard('functions_raced');
  const ours = await catalog(own);
  await own.query(OTHER_RELEASE);

  await Promise.all(Array.from({ length: 4 }, () => ensureShard({ pool: own, ...time })));

  expect(await catalog(own)).toEqual(ours);
  expect(await missingInShard(own)).toEqual([]);
  await own.close();
});

test('functions that cannot be replaced leave the former ones as they were', async () => {
  const { own } = await newShard('functions_refused');
  // Another result needs another name.
  await own.query(`DROP FUNCTION carrel.expire_audit; ${OTHER_RELEASE};
    CREATE FUNCTION carrel.expire_audit() RETURNS text LANGUAGE sql AS $$ SELECT '' $$`);
  const sources = () =>
    own.query(
      `SELECT oid::regprocedure::text AS name, prosrc FROM pg_proc WHERE pronamespace = 'carrel'::regnamespace ORDER BY 1`,
    );
  const before = await sources();

  await expect(ensureShard({ pool: own, ...time })).rejects.toThrow(/cannot change return type/);

  expect(await sources()).toEqual(before);
  await own.close();
});

test('nobody but the operator may call a function, unless it is offered', async () => {
  const rows = await pool.query<{ name: string; role: string }>(
    `SELECT p.proname AS name, coalesce(r.rolname, 'PUBLIC') AS role FROM pg_proc p
     CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a LEFT JOIN pg_roles r ON r.oid = a.grantee
     WHERE p.pronamespace = 'carrel'::regnamespace AND a.grantee <> p.proowner ORDER BY role, name`,
  );

  expect(rows.filter(({ role }) => role === 'PUBLIC')).toEqual([]);
  expect(rows.filter(({ role }) => role === 'carrel_worker').map(({ name }) => name)).toEqual(['fold', 'trim_outbox']);
  expect(rows.filter(({ role }) => role === 'carrel_tenant').map(({ name }) => name)).toEqual([
    'audit_line_item',
    'audit_refused_sign_in',
    'count_storage',
    'expire_audit',
    'fold',
    'limits_of_tenant',
    'remaining_of_tenant',
    'reserve_storage',
    'store_files',
  ]);
});
