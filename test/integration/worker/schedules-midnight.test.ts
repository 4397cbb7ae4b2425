import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureTenantDatabase, migrateTenant, tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { syncManagedSchedules } from '../../../pkg/schedules/managed-schedules.ts';
import { offsetOf, runAt } from '../../../pkg/schedules/tick.policy.ts';
import { everyDay } from '../../support/data/crons.ts';
import { newSlug } from '../../support/programs/server.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite({}, { asInChart: true });

/** `make faults` has 1,000 of them. */
const DUE = Number(process.env['DUE'] ?? 12);
/** In the short form most of the minute over which runs are spread is over when it begins. */
const BEGUN_MS = DUE < 100 ? 55_000 : -2_000;
const MIB = 1 << 20;

/** Its midnight is written into its row, so that none comes by itself meanwhile. */
const NIGHTLY = { name: 'nightly', kind: 'recount_usage', cron: everyDay(), timeZone: 'UTC', active: true, catchUp: true };
const SETTINGS = { trashRetentionMs: 86_400_000, appUrl: 'https://files.example.org', versions: { keep: 50, days: null } };

interface Run {
  readonly slug: string;
  /** Seconds after the tick. */
  readonly after: number;
  readonly runs: number;
  readonly ticks: number;
  readonly state: string;
}

/**
 * Each tenant gets a connection of its own: a connection keeps the plans of the functions that it ran, and Postgres goes
 * through all of them whenever a table is created. The 400th tenant of one connection takes five times as long as the first.
 */
async function tenantsWithSchedules(count: number): Promise<string[]> {
  const pool = new SqlPool({ url: platform.stores.postgres.operator, poolSize: 1, log: silentLogger });
  const slugs: string[] = [];
  for (const _ of range(count)) slugs.push(await tenantWithSchedule(pool));
  await pool.close();
  return slugs;
}

async function tenantWithSchedule(pool: SqlPool): Promise<string> {
  const shard = { pool, clock: systemClock, random: systemRandom };
  const [slug, tenantId] = [newSlug(), String(systemRandom.bytes(4).readUInt32BE())];
  await ensureTenantDatabase(shard, { slug, tenantId, password: systemRandom.hex(16), connections: 5 });
  await migrateTenant(shard, { slug, tenantId });
  const administrator = `admin@${slug}.example`;
  await pool.query(
    `INSERT INTO "${tenantRole(slug)}".users (uuid, email, provisioned_as, username, roles)
     VALUES ($1, $2, $2, 'admin', '{admin}')`,
    [systemRandom.uuid(), administrator],
  );
  await syncManagedSchedules(shard, slug, { schedules: [NIGHTLY], administrator, settings: SETTINGS });
  return slug;
}

/** Midnight comes: for each tenant its own offset later. */
async function midnight(slugs: readonly string[], tick: Date): Promise<void> {
  for (const slug of slugs) {
    await platform.pool.query(`UPDATE "${tenantRole(slug)}".schedules SET next_tick = $1`, [tick]);
    await platform.pool.query(`UPDATE carrel.work SET due_at = $2 WHERE tenant = $1 AND kind = 'schedules.tick'`, [
      tenantRole(slug),
      runAt(tick, slug),
    ]);
  }
}

async function runOf(slug: string, tick: Date): Promise<Run> {
  const role = tenantRole(slug);
  const [run] = await platform.pool.query<Omit<Run, 'slug'>>(
    `SELECT count(*)::int AS runs, extract(epoch FROM min(created_at) - $1)::float8 AS after, min(state) AS state,
       (SELECT count(*)::int FROM "${role}".schedule_ticks WHERE tick = $1 AND task IS NOT NULL) AS ticks FROM "${role}".tasks`,
    [tick],
  );
  if (!run) throw new Error('no row');
  return { slug, ...run };
}

const residentBytes = (metrics: string): number => Number(/^process_resident_memory_bytes\S* (\S+)$/m.exec(metrics)?.[1]);

test(
  `the runs of ${DUE} tenants that are due at midnight begin once each, none is lost, spread over the minute, in a ` +
    'worker whose memory stays flat',
  async () => {
    const slugs: string[] = [];
    while (slugs.length < DUE) slugs.push(...(await tenantsWithSchedules(Math.min(20, DUE - slugs.length))));
    const other = await startWorkerProcess(platform);
    const before = residentBytes(await worker.metrics());
    const tick = new Date(Math.floor((Date.now() - BEGUN_MS) / 1000) * 1000);

    await midnight(slugs, tick);
    const ended = async (): Promise<Run[] | undefined> => {
      const runs: Run[] = [];
      for (const slug of slugs) {
        const run = await runOf(slug, tick);
        if (run.state !== 'succeeded') return undefined;
        runs.push(run);
      }
      return runs;
    };
    const runs = await waitFor('all runs', ended, 150_000);
    const grown = residentBytes(await worker.metrics()) - before;
    await other.end('SIGTERM');

    expect(runs.filter(({ runs: count, ticks }) => count !== 1 || ticks !== 1)).toEqual([]);
    expect(runs.filter(({ slug, after }) => after < offsetOf(slug) / 1000 - 0.1)).toEqual([]);
    if (DUE >= 100) {
      const busiest = Math.max(...Object.values(countBy(runs, ({ after }) => Math.floor(after / 6))));
      expect(busiest).toBeLessThan((DUE / 10) * 2);
    }
    expect(grown).toBeLessThan(96 * MIB);
  },
  DUE * 3_000 + 200_000,
);
