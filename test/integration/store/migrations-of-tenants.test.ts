import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import {
  ensureShard,
  ensureTenantDatabase,
  LATEST_VERSION,
  migrateTenant,
  rollbackTenant,
  tenantRole,
} from '../../../pkg/store/postgres/provisioning.ts';
import { tenantMigrations } from '../../../pkg/store/postgres/migrations/tenant/index.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { catalogOf } from '../../support/catalog.ts';
import { storeSuite } from '../../support/store-suite.ts';
import { newDatabase } from '../../support/tenant.ts';

const { running, pool, shard } = storeSuite();
const time = { clock: systemClock, random: systemRandom };

/** A tenant with this many migrations taken back; `undefined`: one that is not there yet. */
async function outdated(migrations: number | undefined) {
  const tenant = newDatabase();
  if (migrations === undefined) return tenant;
  await ensureTenantDatabase(shard, tenant);
  await migrateTenant(shard, tenant);
  await rollbackTenant(shard, tenant, tenantMigrations.at(-migrations)?.name ?? 0);
  return tenant;
}

/** A new tenant gets its migrations in one transaction, one that has some each in its own. */
const EARLIER = [
  { which: 'a new tenant', missing: undefined },
  { which: 'a tenant of an earlier release', missing: 5 },
];

test('a new tenant’s migrations are one text for the server', async () => {
  const tenant = newDatabase();
  await ensureTenantDatabase(shard, tenant);
  const seen: string[] = [];
  const observe = ({ sql }: { sql: string }): void => void seen.push(sql);
  const watched = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger, observe });

  await migrateTenant({ pool: watched, ...time }, tenant);
  await watched.close();

  // Settings, the lock and the look at what is applied come before, as one text that begins with SET LOCAL and so is not
  // observed.
  expect(seen.map((sql) => /^\s*(\w+ \w+)/.exec(sql)?.[1])).toEqual(['CREATE TABLE', 'UPDATE carrel']);
});

test.each(EARLIER)('operators that race bring $which to this release, without an error', async ({ missing }) => {
  const tenant = await outdated(missing);
  const others = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const own = new SqlPool({ url: running.postgres.operator, poolSize: 2, log: silentLogger });
      const racer = { pool: own, ...time };
      await ensureShard(racer);
      await ensureTenantDatabase(racer, tenant);
      await migrateTenant(racer, tenant);
      await own.close();
      return racer;
    }),
  );

  expect(others).toHaveLength(4);
  expect(await ensureTenantDatabase(shard, tenant)).toEqual({ changed: false, schemaVersion: LATEST_VERSION, isMigrated: true });
});

test.each(EARLIER)(
  'an operator whose connection is cut at any step leaves of $which what the next one finishes',
  async ({ missing }) => {
    const tenant = await outdated(missing);
    const clean = newDatabase();
    await ensureTenantDatabase(shard, clean);
    await migrateTenant(shard, clean);

    for (let cut = 1; ; cut += 1) {
      let statements = 0;
      const own = new SqlPool({
        url: `${running.postgres.operator}?application_name=cut-me`,
        poolSize: 1,
        log: silentLogger,
        observe: () => {
          statements += 1;
          if (statements === cut)
            void pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut-me'`);
        },
      });
      const killed = { pool: own, ...time };
      const outcome = await (async () => {
        await ensureTenantDatabase(killed, tenant);
        await migrateTenant(killed, tenant);
      })().then(
        () => 'done',
        (error: unknown) => error,
      );
      await own.close();
      if (outcome === 'done' && statements < cut) break;
      if (outcome !== 'done') expect(outcome).toBeInstanceOf(StoreUnavailableError);
    }

    expect(await ensureTenantDatabase(shard, tenant)).toEqual({
      changed: false,
      schemaVersion: LATEST_VERSION,
      isMigrated: true,
    });
    const rename = (catalog: string[], from: string): string[] => catalog.map((line) => line.replaceAll(from, 'tenant'));
    expect(rename(await catalogOf(pool, tenantRole(tenant.slug)), tenantRole(tenant.slug))).toEqual(
      rename(await catalogOf(pool, tenantRole(clean.slug)), tenantRole(clean.slug)),
    );
  },
);
