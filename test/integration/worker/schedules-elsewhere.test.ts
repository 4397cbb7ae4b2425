import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, type SealingKey } from '../../../pkg/runtime/sealing.ts';
import { quoteIdentifier, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureShard, tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { backUp } from '../../../pkg/tenantdata/backup.ts';
import { moveTenant } from '../../../pkg/tenantdata/move.ts';
import { FolderRepository } from '../../../pkg/tenantdata/repository/folder.ts';
import { restore } from '../../../pkg/tenantdata/restore.ts';
import { openBackup } from '../../../pkg/tenantdata/verify.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { everyHour } from '../../support/data/crons.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { stores } from '../../support/backends/stores.ts';
import { untilServed, waitFor } from '../../support/wait.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ending.toReversed()) await end();
});

const MINUTE_MS = 60_000;
const time = { clock, random };
const silent = { signal: new AbortController().signal, onProgress: () => undefined };

/**
 * A tenant with a schedule that exports a folder every hour and has done it once. The hourly minute is half an hour from now, so
 * the schedule is never due by itself while a test runs.
 */
async function scheduledTenant(): Promise<{ tenant: TestTenant; schedule: string }> {
  const tenant = await platform.tenant();
  const { admin } = tenant;
  const folder = (await admin.post('/folders', { name: 'papers' })).body.id;
  await untilServed(() => admin.upload('/files', { name: 'a.txt', file: Buffer.from('a'), fields: { folder_id: folder } }));
  const { body } = await admin.post('/schedules', {
    name: 'Backup',
    kind: 'export_folder',
    cron: everyHour(),
    arguments: { folder_id: folder, keep: 2 },
  });
  await admin.post(`/schedules/${body.id}/run`);
  await waitFor('the first run', async () => (await runsOn(platform.pool, tenant)).join() === 'succeeded');
  return { tenant, schedule: body.id };
}

const schemaOf = ({ slug }: TestTenant): string => quoteIdentifier(tenantRole(slug));
/** The states of the runs, the oldest first. */
const runsOn = async (pool: SqlPool, tenant: TestTenant): Promise<string[]> =>
  (
    await pool.query<{ state: string }>(`SELECT state FROM ${schemaOf(tenant)}.tasks WHERE schedule_id IS NOT NULL ORDER BY id`)
  ).map(({ state }) => state);
const archivesOn = async (pool: SqlPool, tenant: TestTenant): Promise<string[]> =>
  (
    await pool.query<{ key: string }>(`SELECT key FROM ${schemaOf(tenant)}.exports WHERE expires_at = 'infinity' ORDER BY id`)
  ).map(({ key }) => key);
/** Lets time pass: the times move back, since Postgres' clock stays. */
const passOn = async (pool: SqlPool, tenant: TestTenant, ms: number): Promise<void> => {
  await pool.query(`UPDATE ${schemaOf(tenant)}.schedules SET next_tick = next_tick - make_interval(secs => $1)`, [ms / 1000]);
  await pool.query(
    `UPDATE carrel.work SET due_at = due_at - make_interval(secs => $2) WHERE kind = 'schedules.tick' AND tenant = $1`,
    [tenantRole(tenant.slug), ms / 1000],
  );
};
const nextIsAhead = (pool: SqlPool, tenant: TestTenant) =>
  waitFor('the next time to be ahead', async () => {
    const [schedule] = await pool.query(`SELECT FROM ${schemaOf(tenant)}.schedules WHERE next_tick > now()`);
    return schedule !== undefined;
  });
const ended = (pool: SqlPool, tenant: TestTenant) =>
  waitFor('the runs to end', async () =>
    (await runsOn(pool, tenant)).every((state) => state !== 'queued' && state !== 'running'),
  );

/** Suspends as the operator does: the role may not log in. */
async function suspend(tenant: TestTenant): Promise<void> {
  const role = tenantRole(tenant.slug);
  await platform.pool.query(`ALTER ROLE ${quoteIdentifier(role)} CONNECTION LIMIT 0`);
  await platform.pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  await waitFor('its sessions to end', async () => {
    return (await platform.pool.query('SELECT FROM pg_stat_activity WHERE usename = $1', [role])).length === 0;
  });
}

async function backedUp(tenant: TestTenant): Promise<{ repository: FolderRepository; stamp: string }> {
  const registry = platform.registryOn(platform.pool);
  const repository = new FolderRepository(mkdtempSync(join(testBackends().scratch, 'schedules-')));
  const [platformKey] = parseSealingKeys(platform.platformKeys) as [SealingKey];
  const { tenantId } = (await registry.find(tenant.slug)) ?? { tenantId: '' };
  const source = { ...tenant, tenantId, installation: await registry.installation(), pool: platform.pool, platformKey };
  return { repository, stamp: (await backUp(source, { repository, clock, ...silent })).stamp };
}

async function restored(into: TestTenant, from: { slug: string; repository: FolderRepository; stamp: string }): Promise<void> {
  const registry = platform.registryOn(platform.pool);
  const platformKeys = parseSealingKeys(platform.platformKeys);
  const found = await registry.find(into.slug);
  if (!found) throw new Error(`${into.slug} is not in the registry`);
  const backup = await openBackup(from.repository, from, platformKeys);
  const { tenantId, credentials } = found;
  await restore(
    { slug: into.slug, objects: into.objects, tenantId, credentials, pool: platform.pool, registry },
    { repository: from.repository, backup, replace: true, unsigned: false, former: false, platformKeys, ...time, ...silent },
  );
}

test('after a restore a schedule is caught up with once, and its archives of then are there', async () => {
  const { tenant } = await scheduledTenant();
  const before = await archivesOn(platform.pool, tenant);
  const backup = await backedUp(tenant);
  await tenant.admin.delete(`/schedules/${(await tenant.admin.get('/schedules')).body.data[0].id}`);
  await tenant.objects.delete(before);
  await worker.end('SIGTERM');
  await suspend(tenant);
  await restored(tenant, { slug: tenant.slug, ...backup });
  await passOn(platform.pool, tenant, 120 * MINUTE_MS);
  await worker.start();
  await nextIsAhead(platform.pool, tenant);
  await ended(platform.pool, tenant);

  expect(await runsOn(platform.pool, tenant)).toEqual(['succeeded', 'succeeded']);
  const [first = '', second = '', ...more] = await archivesOn(platform.pool, tenant);
  expect([first, more]).toEqual([before[0], []]);
  expect([await tenant.objects.head(first), await tenant.objects.head(second)]).not.toContain(null);
});

test('in a copy of a tenant no schedule runs, and what had not ended has', async () => {
  const [{ tenant, schedule }, copy] = [await scheduledTenant(), await platform.tenant()];
  await tenant.db.query(`UPDATE tasks SET state = 'running', ended_at = NULL`);
  const backup = await backedUp(tenant);
  await tenant.db.query(`UPDATE tasks SET state = 'succeeded', ended_at = now()`);
  await suspend(copy);
  await restored(copy, { slug: tenant.slug, ...backup });

  expect(await platform.pool.query(`SELECT uuid, active, next_tick FROM ${schemaOf(copy)}.schedules`)).toEqual([
    { uuid: schedule, active: false, next_tick: null },
  ]);
  expect(await runsOn(platform.pool, copy)).toEqual(['canceled']);
});

test('a schedule of a suspended tenant goes on, so nothing is missed when it is resumed', async () => {
  const { tenant } = await scheduledTenant();
  await suspend(tenant);
  await passOn(platform.pool, tenant, 60 * MINUTE_MS);
  await nextIsAhead(platform.pool, tenant);
  await ended(platform.pool, tenant);

  expect(await runsOn(platform.pool, tenant)).toEqual(['succeeded', 'succeeded']);
  await platform.pool.query(`ALTER ROLE ${quoteIdentifier(tenantRole(tenant.slug))} CONNECTION LIMIT -1`);
  await untilServed(() => tenant.admin.get('/schedules'));
  expect((await tenant.admin.get('/schedules')).body.data[0]).toMatchObject({ skipped_runs: 0, missed_runs: 0 });
});

test('a schedule moves to another shard with its runs and archives, and is caught up with once there', async () => {
  const { tenant } = await scheduledTenant();
  const before = await archivesOn(platform.pool, tenant);
  const other = await stores();
  ending.push(() => other.stop());
  const pool = new SqlPool({ url: other.postgres.operator, poolSize: 3, log: silentLogger });
  ending.push(() => pool.close());
  await ensureShard({ pool, ...time });
  const { tenantId = '' } = (await platform.registryOn(platform.pool).find(tenant.slug)) ?? {};
  const moved = await moveTenant({
    slug: tenant.slug,
    move: { tenantId, from: 'one', to: 'other', by: randomUUID() },
    registry: platform.pool,
    from: { pool: platform.pool, ...time },
    to: { pool, ...time },
    maxTenants: 10,
    ...time,
    onStep: () => undefined,
  });
  expect(moved.left).toBeUndefined();
  await passOn(pool, tenant, 120 * MINUTE_MS);
  const shards = mkdtempSync(join(tmpdir(), 'carrel-shards-'));
  ending.push(async () => rmSync(shards, { recursive: true, force: true }));
  for (const [name, url] of [
    ['one', platform.workerUrl],
    ['other', other.postgres.worker],
  ] as const) {
    mkdirSync(join(shards, name));
    writeFileSync(join(shards, name, 'worker-url'), url);
  }
  const ofBoth = await startWorkerProcess(platform, { CARREL_SHARDS_DIR: shards });
  ending.push(() => ofBoth.end('SIGTERM'));
  await nextIsAhead(pool, tenant);
  await ended(pool, tenant);

  expect(await runsOn(pool, tenant)).toEqual(['succeeded', 'succeeded']);
  expect((await archivesOn(pool, tenant)).slice(0, 1)).toEqual(before);
});
