import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureShard, ShardUnfit } from '../../../pkg/store/postgres/provisioning.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';

const { running, pool } = storeSuite();
const time = { clock: systemClock, random: systemRandom };

test.each([
  ['SQL_ASCII', 'C', /encoded in SQL_ASCII/],
  ['UTF8', 'C', /locale treats only ASCII/],
])('a database in %s with locale %s is refused with a message that says how to fix it', async (encoding, locale, message) => {
  const name = `unfit_${encoding.toLowerCase()}`;
  await pool.query(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE '${locale}' TEMPLATE template0`);
  const own = new SqlPool({ url: running.postgres.operator.replace(/\/carrel$/, `/${name}`), poolSize: 1, log: silentLogger });

  const refusal = await ensureShard({ pool: own, ...time }).then(
    () => null,
    (error: unknown) => error,
  );
  await own.close();

  expect(refusal).toBeInstanceOf(ShardUnfit);
  expect((refusal as Error).message).toMatch(message);
});

test('a server without ICU, which cannot sort names, is refused with a message that says how to fix it', async () => {
  await pool.query(`CREATE DATABASE without_icu ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0`);
  const superuser = new SqlPool({
    url: running.postgres.superuser.replace(/\/[^/?]*($|\?)/, '/without_icu$1'),
    poolSize: 1,
    log: silentLogger,
  });
  await superuser.query(`DELETE FROM pg_collation WHERE collprovider = 'i'`);
  const own = new SqlPool({
    url: running.postgres.operator.replace(/\/carrel$/, '/without_icu'),
    poolSize: 1,
    log: silentLogger,
  });

  const refusal = await ensureShard({ pool: own, ...time }).then(
    () => null,
    (error: unknown) => error,
  );
  await Promise.all([own.close(), superuser.close()]);

  expect(refusal).toBeInstanceOf(ShardUnfit);
  expect((refusal as Error).message).toMatch(/use a build of PostgreSQL with ICU/);
});
