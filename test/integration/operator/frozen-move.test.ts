import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { programEnvironment, ROOT, testBackends } from '../../support/backends/backends.ts';
import { fillTenant } from '../../support/data/filled-tenant.ts';
import {
  operatorEnvironment,
  playPods,
  ready,
  secretValues,
  startOperator,
  tenantOf,
  unique,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { stores, type TestStores } from '../../support/backends/stores.ts';
import { waitFor } from '../../support/wait.ts';

/** Two shards on servers of their own. */
const { cluster, namespace } = operatorSuite({ operator: false });
let [main, other] = [{} as TestStores, {} as TestStores];
let pool: SqlPool;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  [main, other] = await Promise.all([stores(), stores()]);
  const folder = await mkdtemp(join(testBackends().scratch, 'shards-'));
  const shardsDir = join(folder, 'shards');
  for (const [name, from] of Object.entries({ main, other }))
    await cp(join(from.shardsDir, 'main'), join(shardsDir, name), { recursive: true });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.operatorConfig.exportConfig());
  env = { ...operatorEnvironment({ ...main, shardsDir }), KUBECONFIG: kubeconfig, CARREL_HOME: folder };
  pool = new SqlPool({ url: main.postgres.operator, poolSize: 2, log: silentLogger });
  playPods(cluster);
  await startOperator(cluster, { stores: { ...main, shardsDir } });
}, 180_000);
afterAll(async () => {
  await cluster.close?.();
  await pool?.close();
  await Promise.all([main.stop?.(), other.stop?.()]);
}, 60_000);

/** The operator prepares a shard within some seconds of the first Tenant. */
async function prepared({ postgres }: TestStores): Promise<void> {
  const shard = new SqlPool({ url: postgres.operator, poolSize: 1, log: silentLogger });
  await waitFor('the tables of the shard', () => shard.query('SELECT FROM carrel.tenants').then(() => true));
  await shard.close();
}

/** A server of Postgres with all its processes. */
function processesOf({ folder }: TestStores): number[] {
  const server = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const parentOf = (pid: string): number => {
    try {
      return Number(/\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
    } catch {
      return 0;
    }
  };
  const backends = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === server);
  return [server, ...backends.map(Number)];
}

/** Signals the sessions that still exist: one may have ended since it was listed. */
function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // it has ended
    }
  }
}

/** Moves the tenant to shard `other`; `freeze` is called when its rows are copied. */
async function moved(slug: string, freeze: () => void): Promise<{ code: number | null; stderr: string }> {
  const mover = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(ROOT, 'cmd/carrel/main.ts'), 'tenants', 'move', slug, '--to', 'other'],
    { env: { ...programEnvironment(), ...env }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let stderr = '';
  let isFrozen = false;
  mover.stderr.on('data', (chunk) => {
    stderr += String(chunk);
    if (isFrozen || !stderr.includes('copying its rows')) return;
    isFrozen = true;
    freeze();
  });
  const code = await new Promise<number | null>((resolve) => mover.once('close', resolve));
  return { code, stderr };
}

test('a move to a shard that no longer answers is given up, and the tenant can be written to again', async () => {
  const key = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, key.name, { database: { shard: 'main' } }));
  await ready(cluster.tenants, key);
  await cluster.tenants.patch(key, { spec: { database: { shard: null } } } as object);
  const objects = new Objects((await secretValues(cluster, namespace, `${key.name}-storage`)) as unknown as ObjectsOptions);
  const tenantId = (await cluster.tenants.get(key)).status?.tenantId ?? '';
  await fillTenant({ pool, slug: key.name, tenantId, objects }, main.platformKeys);
  objects.close();
  await prepared(other);
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const frozen: number[] = [];

  const outcome = await moved(key.name, () => {
    frozen.push(...processesOf(other));
    signal(frozen, 'SIGSTOP');
  });
  const login = new SqlPool({ url, poolSize: 1, log: silentLogger });
  const write = () => login.query(`UPDATE users SET display_name = 'written' WHERE username = 'ada' RETURNING id`);
  await waitFor('the tenant to write', async () => (await write().catch(() => [])).length === 1);
  await login.close();
  const [registered] = await pool.query<{ shard: string }>('SELECT shard FROM registry.tenants WHERE slug = $1', [key.name]);
  signal(frozen, 'SIGCONT');

  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain('carrel: shard other has not answered for 15 s; nothing has moved');
  expect(registered).toEqual({ shard: 'main' });
  await ready(cluster.tenants, key);
}, 360_000);
