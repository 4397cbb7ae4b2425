import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { move as moveCommand } from '../../../pkg/admin/commands/move.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { quoteIdentifier, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureTenantDatabase, migrateTenant, missingInShard, tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { programEnvironment, ROOT, testBackends } from '../../support/backends/backends.ts';
import { fillTenant, openedSecret, rowsOfTenant, unanalyzed } from '../../support/data/filled-tenant.ts';
import {
  condition,
  operatorEnvironment,
  playPods,
  ready,
  secretValues,
  startOperator,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { stores, type TestStores } from '../../support/backends/stores.ts';
import { waitFor } from '../../support/wait.ts';
import { writer, writes } from '../../support/programs/writing-tenant.ts';
import { inProcess, type Outcome } from './carrel.ts';

/** Two shards on servers of their own: `main` has the registry. */
const { cluster, namespace } = operatorSuite({ operator: false });
let [main, other] = [{} as TestStores, {} as TestStores];
let pools: { readonly main: SqlPool; readonly other: SqlPool };
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  [main, other] = await Promise.all([stores(), stores()]);
  const folder = await mkdtemp(join(testBackends().scratch, 'shards-'));
  const shardsDir = join(folder, 'shards');
  for (const [name, from] of Object.entries({ main, other, twin: main }))
    await cp(join(from.shardsDir, 'main'), join(shardsDir, name), { recursive: true });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.operatorConfig.exportConfig());
  await mkdir(join(folder, 'home'));
  env = { ...operatorEnvironment({ ...main, shardsDir }), KUBECONFIG: kubeconfig, CARREL_HOME: join(folder, 'home') };
  const poolOf = ({ postgres }: TestStores) => new SqlPool({ url: postgres.operator, poolSize: 4, log: silentLogger });
  pools = { main: poolOf(main), other: poolOf(other) };
  playPods(cluster);
  await startOperator(cluster, { stores: { ...main, shardsDir } });
}, 180_000);
afterAll(async () => {
  await cluster.close?.();
  await Promise.all(Object.values(pools ?? {}).map((pool) => pool.close()));
  await Promise.all([main.stop?.(), other.stop?.()]);
}, 60_000);

const move = (slug: string, to: string): Promise<Outcome> => inProcess((options) => moveCommand(slug, { ...options, to }), env);

/** A mover that is killed once it has said this. */
async function killedMover(slug: string, to: string, step: string): Promise<void> {
  const mover = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(ROOT, 'cmd/carrel/main.ts'), 'tenants', 'move', slug, '--to', to],
    {
      env: { ...programEnvironment(), ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let output = '';
  mover.stderr.on('data', (chunk) => {
    output += String(chunk);
    if (output.includes(step)) mover.kill('SIGKILL');
  });
  const signal = await new Promise((resolve) => mover.once('close', (_code, by) => resolve(by)));
  expect([signal, output]).toEqual(['SIGKILL', expect.stringContaining(step)]);
}

async function filledTenant(): Promise<{ key: ObjectKey; slug: string; tenantId: string; objects: Objects; secret: string }> {
  const key = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, key.name, { database: { shard: 'main' } }));
  await ready(cluster.tenants, key);
  await cluster.tenants.patch(key, { spec: { database: { shard: null } } } as object);
  const objects = new Objects((await secretValues(cluster, namespace, `${key.name}-storage`)) as unknown as ObjectsOptions);
  cluster.onClose(async () => objects.close());
  const tenantId = (await cluster.tenants.get(key)).status?.tenantId ?? '';
  const { secret } = await fillTenant({ pool: pools.main, slug: key.name, tenantId, objects }, main.platformKeys);
  return { key, slug: key.name, tenantId, objects, secret };
}

/** Makes the lease of a move look as if its mover had been killed 30 s ago. */
const expire = (tenantId: string) =>
  pools.main.query(
    `UPDATE registry.tenants SET moving_until = now() - interval '1 second' WHERE id = $1 AND moving_until IS NOT NULL`,
    [tenantId],
  );

const leftOn = async (pool: SqlPool, slug: string) =>
  (
    await pool.query<{ what: string }>(
      `SELECT 'schema' AS what FROM pg_namespace WHERE nspname = $1 UNION ALL SELECT 'role' FROM pg_roles WHERE rolname = $1
       UNION ALL SELECT 'tenant' FROM carrel.tenants WHERE role = $1 UNION ALL SELECT 'work' FROM carrel.work WHERE tenant = $1
       UNION ALL SELECT 'events' FROM carrel.events WHERE tenant = $1`,
      [tenantRole(slug)],
    )
  ).map(({ what }) => what);
const held = async (pool: SqlPool, slug: string) =>
  pool.query(
    `SELECT FROM carrel.work WHERE tenant = $1 AND leased_until = 'infinity' UNION ALL SELECT FROM carrel.deliveries
     WHERE tenant = $1 AND leased_until = 'infinity'`,
    [tenantRole(slug)],
  );

test('an impossible move is refused in one line, and the tenant stays as it is', async () => {
  const { key, slug } = await filledTenant();
  await cluster.tenants.patch(key, { spec: { database: { shard: 'main' } } } as object);
  const attempt = async (to: string) => (await move(slug, to)).stderr;

  const pinned = await attempt('other');
  await cluster.tenants.patch(key, { spec: { database: { shard: null } } } as object);
  const found = [pinned, await attempt('nowhere'), await attempt('main'), await attempt('twin')];

  expect(found).toEqual([
    expect.stringContaining('spec.database.shard of Tenant'),
    expect.stringContaining('there is no shard nowhere; the operator has main, other, twin'),
    expect.stringContaining('is already on shard main'),
    expect.stringContaining('are databases of one server'),
  ]);
  await ready(cluster.tenants, key);
});

test('a tenant that writes all the time moves with every acknowledged row, and its resources follow', async () => {
  const { key, slug, tenantId, secret } = await filledTenant();
  const before = await rowsOfTenant(pools.main, slug);
  const writing = writer(cluster, { namespace, name: slug });
  await waitFor('the first rows', () => writing.acknowledged > 5);
  await waitFor('the operator to have prepared the other shard', async () => {
    const missing = await missingInShard(pools.other).catch(() => ['its tables']);
    return missing.length === 0;
  });

  const moved = await move(slug, 'other');
  const during = writing.acknowledged;
  await waitFor('rows on the other shard', () => writing.acknowledged > during + 5);
  await writing.end();

  expect(moved).toEqual({
    code: 0,
    stderr: expect.stringContaining('is read-only from now on'),
    stdout: expect.stringMatching(
      / rows are on shard other, read back and verified. The tenant was read-only for \d+\.\d s\.[^]*its pods use shard other/,
    ),
  });
  const after = await rowsOfTenant(pools.other, slug);
  const names = new Set((after['tenant.folders'] as { name: string }[]).map(({ name }) => name));
  expect(
    Array.from({ length: writing.acknowledged }, (_, index) => `acknowledged ${index}`).filter((name) => !names.has(name)),
  ).toEqual([]);
  expect(after['tenant.files']).toEqual(before['tenant.files']);
  expect([after['carrel.events'], after['carrel.deliveries'], after['carrel.work']]).toEqual([
    before['carrel.events'],
    before['carrel.deliveries'],
    before['carrel.work'],
  ]);
  expect([await leftOn(pools.main, slug), await held(pools.other, slug)]).toEqual([[], []]);
  expect(await unanalyzed(pools.other, slug)).toEqual([]);
  expect(await openedSecret(pools.other, slug, tenantId, main.platformKeys)).toBe(secret);
  await ready(cluster.tenants, key);
  const hook = { namespace, name: unique() };
  await cluster.webhooks.create(
    webhookOf(namespace, hook.name, { tenantRef: { name: key.name }, url: 'https://example.com/', events: ['file.created'] }),
  );
  await ready(cluster.webhooks, hook);
  expect(
    await pools.other.query(`SELECT FROM ${quoteIdentifier(tenantRole(slug))}.webhooks WHERE managed_ref IS NOT NULL`),
  ).toHaveLength(1);
}, 360_000);

test('a Tenant that names the new shard can be written to after its mover was killed; the next mover moves it', async () => {
  const { key, slug, tenantId } = await filledTenant();
  await cluster.tenants.patch(key, { spec: { database: { shard: 'other' } } } as object);
  await condition(cluster.tenants, key, 'Accepted', 'False', 'ShardConflict');

  await killedMover(slug, 'other', 'is read-only from now on');
  await expire(tenantId);
  await waitFor('its role to write again', () => writes(cluster, { namespace, name: slug }));
  const again = await move(slug, 'other');

  expect(again).toMatchObject({ code: 0 });
  await ready(cluster.tenants, key);
  expect(await leftOn(pools.main, slug)).toEqual([]);
}, 360_000);

test('a tenant moves beside thousands of due jobs, as soon as those that run have ended', async () => {
  const { key, slug } = await filledTenant();
  const role = tenantRole(slug);
  await pools.main.query(
    `INSERT INTO carrel.work (tenant, kind, payload, due_at) SELECT $1, 'waits', '{}', now() FROM generate_series(1, 2000)`,
    [role],
  );
  const worker = { isOver: false };
  // They run one after the other, each for half a second: at every moment some run.
  const working = (async () => {
    while (!worker.isOver) {
      await pools.main.query(
        `UPDATE carrel.work SET leased_until = now() + interval '0.5 s' WHERE (tenant, id) = (
           SELECT tenant, id FROM carrel.work WHERE tenant = $1 AND due_at <= now()
             AND (leased_until IS NULL OR leased_until <= now())
           LIMIT 1 FOR UPDATE SKIP LOCKED)`,
        [role],
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();

  const moved = await move(slug, 'other');
  worker.isOver = true;
  await working;

  // If new ones began while it waits, some would run at every moment, and it would give up.
  expect(moved).toMatchObject({ code: 0 });
  expect(await pools.other.query(`SELECT FROM carrel.work WHERE tenant = $1 AND kind = 'waits'`, [role])).toHaveLength(2_000);
  expect([await held(pools.other, slug), await leftOn(pools.main, slug)]).toEqual([[], []]);
  await ready(cluster.tenants, key);
}, 360_000);

test('a tenant goes on at its new shard while its former schema is read, which goes when the reader has ended', async () => {
  const { key, slug } = await filledTenant();
  const schema = quoteIdentifier(tenantRole(slug));
  const endReading: { call?: () => void } = {};
  const reading = pools.main.transaction(async (tx) => {
    await tx.query(`SELECT FROM ${schema}.files`); // as a backup that copies one table after the other
    await new Promise<void>((resolve) => (endReading.call = resolve));
  });
  await waitFor('the reader', () => endReading.call !== undefined);

  const moved = await move(slug, 'other');
  await waitFor('its role to write', () => writes(cluster, { namespace, name: slug }));
  const whileRead = await condition(cluster.tenants, key, 'DatabaseReady', 'True');
  endReading.call?.();
  await reading;
  await waitFor('its former schema to go', async () => (await leftOn(pools.main, slug)).length === 0);

  expect(moved).toMatchObject({ code: 0, stdout: expect.stringContaining('its pods use shard other') });
  expect(JSON.stringify(whileRead)).toContain('what it left on shard main is not removed yet');
  await ready(cluster.tenants, key);
}, 360_000);

test('a slug gets no rows that a tenant of before has left on a shard', async () => {
  const key = { namespace, name: unique() };
  const shard = { pool: pools.other, clock: systemClock, random: systemRandom };
  const former = { slug: key.name, tenantId: '900000001' };
  await ensureTenantDatabase(shard, { ...former, password: 'p'.repeat(32), connections: 4 });
  await migrateTenant(shard, former);
  await cluster.tenants.create(tenantOf(namespace, key.name, { database: { shard: 'other' } }));

  await condition(cluster.tenants, key, 'DatabaseReady', 'False', 'ShardUnfit');
  const refused = (await cluster.tenants.get(key)).status?.conditions?.find(({ type }) => type === 'DatabaseReady');
  const moving = await filledTenant();
  const another = { slug: moving.slug, tenantId: '900000002' };
  await ensureTenantDatabase(shard, { ...another, password: 'p'.repeat(32), connections: 4 });
  const moved = await move(moving.slug, 'other');
  await ready(cluster.tenants, moving.key);
  const stays = await pools.other.query('SELECT tenant_id::text AS id FROM carrel.tenants WHERE role = $1', [
    tenantRole(moving.slug),
  ]);
  const [, lines = ''] =
    /### Remove what another tenant has left on a shard[^]*?```sql\n([^]*?)```/.exec(
      readFileSync(join(ROOT, 'docs/operate/backup-move-restore.md'), 'utf8'),
    ) ?? [];
  await pools.other.query(lines.replaceAll('biology', key.name));
  await cluster.tenants.patch(key, { spec: { displayName: 'again' } });
  await ready(cluster.tenants, key);

  expect(refused?.message).toContain('is that of another tenant, of id 900000001');
  expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining('is that of another tenant, of id 900000002')]);
  expect(stays).toEqual([{ id: '900000002' }]);
  expect(
    await pools.other.query('SELECT tenant_id::text AS id FROM carrel.tenants WHERE role = $1', [tenantRole(key.name)]),
  ).toEqual([{ id: (await cluster.tenants.get(key)).status?.tenantId }]);
}, 360_000);

test('a copy that a dead mover has left is not forgotten by the next move', async () => {
  const { key, slug, tenantId } = await filledTenant();
  await cluster.tenants.patch(key, { spec: { database: { shard: 'other' } } } as object);
  await condition(cluster.tenants, key, 'Accepted', 'False', 'ShardConflict');
  await pools.main.query(
    `UPDATE registry.tenants SET moving_to = 'third', moving_by = gen_random_uuid(), moving_until = now() - interval '1 s'
     WHERE id = $1`,
    [tenantId],
  );

  const refused = await move(slug, 'other');
  await cluster.tenants.patch(key, { spec: { database: { shard: null } } } as object);
  await ready(cluster.tenants, key);
  // No shard is called third any more: whoever takes a shard out of the configuration has given it up.
  const moved = await move(slug, 'other');

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('on shard third. The operator removes it') });
  expect(moved).toMatchObject({ code: 0 });
}, 360_000);

/** Lines that a mover prints between its steps; `make faults` kills it at each of them. */
const STEPS = process.env['KILLS'] === 'all' ? ['is read-only', 'copying its rows', 'the copy matches'] : ['copying its rows'];

test.each(STEPS)(
  'a mover that is killed when it said "%s" leaves the tenant whole on one shard, and nothing on the other',
  async (step) => {
    const { key, slug, tenantId } = await filledTenant();
    const before = await rowsOfTenant(pools.main, slug);

    await killedMover(slug, 'other', step);
    await expire(tenantId);
    const shard = await waitFor('the operator to put right what it left', async () => {
      const [row] = await pools.main.query<{ shard: 'main' | 'other'; formerShard: string | null }>(
        'SELECT shard, former_shard AS "formerShard" FROM registry.tenants WHERE id = $1',
        [tenantId],
      );
      const there = row?.shard === 'main' ? pools.other : pools.main;
      return row?.formerShard === null && (await leftOn(there, slug)).length === 0 && row.shard;
    });
    const [here, there] = shard === 'main' ? [pools.main, pools.other] : [pools.other, pools.main];
    await waitFor('its role to write again', () => writes(cluster, { namespace, name: slug }));

    expect((await rowsOfTenant(here, slug))['tenant.files']).toEqual(before['tenant.files']);
    expect((await rowsOfTenant(here, slug))['carrel.deliveries']).toEqual(before['carrel.deliveries']);
    expect([await leftOn(there, slug), await held(here, slug)]).toEqual([[], []]);
    await ready(cluster.tenants, key);
  },
  360_000,
);

test('a shard that is lost harms no tenant of another one: those change, and new ones are put where it answers', async () => {
  const lost = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, lost.name, { database: { shard: 'other' } }));
  const { key } = await filledTenant();
  const abandoned = await filledTenant();
  await ready(cluster.tenants, lost);
  await killedMover(abandoned.slug, 'other', 'is read-only from now on');

  await other.stop();
  await expire(abandoned.tenantId);
  await cluster.tenants.patch(key, { spec: { displayName: 'changed while a shard is lost' } });
  const unplaced = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, unplaced.name));
  await cluster.tenants.patch(lost, { spec: { displayName: 'changed' } });

  await condition(cluster.tenants, lost, 'DatabaseReady', 'False');
  await ready(cluster.tenants, unplaced);
  await ready(cluster.tenants, key);
  // Its mover died, and with the shard that it was to move to its copy there cannot be removed.
  await waitFor('its role to write again', () => writes(cluster, { namespace, name: abandoned.slug }));
  expect(await pools.main.query('SELECT shard FROM registry.tenants WHERE slug = $1', [unplaced.name])).toEqual([
    { shard: expect.stringMatching(/^(main|twin)$/) },
  ]);
}, 360_000);
