import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { tenantMigrations } from '../../../pkg/store/postgres/migrations/tenant/index.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import {
  ensureShard,
  ensureTenantDatabase,
  LATEST_VERSION,
  migrateTenant,
  replaceSchema,
  rollbackTenant,
  tenantRole,
  UnknownMigrations,
} from '../../../pkg/store/postgres/provisioning.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { catalogOf } from '../../support/models/catalog.ts';
import { NEXT_RELEASE } from '../../support/models/later-migrations.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newDatabase } from '../../support/backends/tenant.ts';

const { running, pool, shard } = storeSuite();
const time = { clock: systemClock, random: systemRandom };

/** A tenant of this release, to be brought to the next one; `undefined`: one that is not there yet. */
async function outdated(which: (typeof EARLIER)[number]['which']) {
  const tenant = newDatabase();
  if (which === 'a new tenant') return tenant;
  await ensureTenantDatabase(shard, tenant);
  await migrateTenant(shard, tenant);
  return tenant;
}

/** A new tenant gets its migrations in one transaction, one that has some each in its own. */
const EARLIER = [{ which: 'a new tenant' }, { which: 'a tenant of an earlier release' }] as const;
const NEWEST = NEXT_RELEASE.at(-1)?.name;

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

test.each(EARLIER)('operators that race bring $which to their release, without an error', async ({ which }) => {
  const tenant = await outdated(which);
  const others = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const own = new SqlPool({ url: running.postgres.operator, poolSize: 2, log: silentLogger });
      const racer = { pool: own, ...time };
      await ensureShard(racer);
      await ensureTenantDatabase(racer, tenant);
      await migrateTenant(racer, tenant, NEXT_RELEASE);
      await own.close();
      return racer;
    }),
  );

  expect(others).toHaveLength(4);
  expect(await ensureTenantDatabase(shard, tenant)).toEqual({ changed: false, schemaVersion: NEWEST, isMigrated: true });
});

test.each(EARLIER)(
  'an operator whose connection is cut at any step leaves of $which what the next one finishes',
  async ({ which }) => {
    const tenant = await outdated(which);
    const clean = newDatabase();
    await ensureTenantDatabase(shard, clean);
    await migrateTenant(shard, clean, NEXT_RELEASE);

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
        await migrateTenant(killed, tenant, NEXT_RELEASE);
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
      schemaVersion: NEWEST,
      isMigrated: true,
    });
    const rename = (catalog: string[], from: string): string[] => catalog.map((line) => line.replaceAll(from, 'tenant'));
    expect(rename(await catalogOf(pool, tenantRole(tenant.slug)), tenantRole(tenant.slug))).toEqual(
      rename(await catalogOf(pool, tenantRole(clean.slug)), tenantRole(clean.slug)),
    );
  },
);

test('a tenant lacks a migration of any number, whatever the newest one that it has', async () => {
  const tenant = newDatabase();
  const own = tenantRole(tenant.slug);
  const isMigrated = async (): Promise<boolean> => (await ensureTenantDatabase(shard, tenant)).isMigrated;

  const empty = await isMigrated();
  await migrateTenant(shard, tenant);
  const full = await isMigrated();
  await pool.query(`UPDATE "${own}".schema_migrations SET name = '9999-of-a-later-release' WHERE name = $1`, [LATEST_VERSION]);
  const withoutOne = await isMigrated();
  await pool.query(`INSERT INTO "${own}".schema_migrations (name) VALUES ($1)`, [LATEST_VERSION]);
  const withAnother = await isMigrated();

  expect({ empty, full, withoutOne, withAnother }).toEqual({ empty: false, full: true, withoutOne: false, withAnother: true });
});

test('reverted migrations leave the previous release’s schema, and reverting one that is not applied is refused', async () => {
  const tenant = newDatabase();
  await ensureTenantDatabase(shard, tenant);
  await migrateTenant(shard, tenant);
  const before = await catalogOf(pool, tenantRole(tenant.slug));
  await migrateTenant(shard, tenant, NEXT_RELEASE);

  const unknown = await rollbackTenant(shard, tenant, '9004-nothing', NEXT_RELEASE).catch((error: unknown) => String(error));
  const version = await rollbackTenant(shard, tenant, '9001-initials', NEXT_RELEASE);

  expect(unknown).toMatch(/9004-nothing is not applied/);
  expect(version).toBe(LATEST_VERSION);
  expect(await catalogOf(pool, tenantRole(tenant.slug))).toEqual(before);
});

test('rows of an older release are loaded before the later migrations, and those of a later release are refused', async () => {
  const tenant = newDatabase();
  const role = tenantRole(tenant.slug);
  await ensureTenantDatabase(shard, tenant);
  const replaced = (names: readonly string[], migrations?: typeof NEXT_RELEASE): Promise<void> =>
    pool.transaction((tx) =>
      replaceSchema(
        tx,
        tenant,
        names,
        async () => void (await tx.query(`INSERT INTO users (uuid, email, username) VALUES (gen_random_uuid(), 'a@x', 'ada')`)),
        migrations,
      ),
    );

  await replaced(
    tenantMigrations.map(({ name }) => name),
    NEXT_RELEASE,
  );
  const later = await replaced(NEXT_RELEASE.map(({ name }) => name)).catch((error: unknown) => error);

  expect(await pool.query(`SELECT username, initials FROM "${role}".users ORDER BY id`)).toEqual([
    { username: 'system', initials: 's' },
    { username: 'ada', initials: 'a' },
  ]);
  expect((await ensureTenantDatabase(shard, tenant)).schemaVersion).toBe(NEWEST);
  expect(later).toBeInstanceOf(UnknownMigrations);
});

test('a schema of a build before the first release is refused with a word on what to do', async () => {
  const tenant = newDatabase();
  await ensureTenantDatabase(shard, tenant);
  await pool.query(`INSERT INTO "${tenantRole(tenant.slug)}".schema_migrations (name) VALUES ('0001-people')`);

  await expect(migrateTenant(shard, tenant)).rejects.toThrow(/0001-people in place of 0001-baseline.*make clean/);
});
