import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NAMESPACE } from '../../../pkg/kube/kinds.ts';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { reclaim as reclaimCommand } from '../../../pkg/admin/commands/reclaim.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { testBackends } from '../../support/backends/backends.ts';
import {
  condition,
  conditionOf,
  newNamespace,
  operatorEnvironment,
  ready,
  secretValues,
  startOperator,
  tenantOf,
  unique,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { stores, type TestStores } from '../../support/backends/stores.ts';
import { inProcess, type Outcome } from './carrel.ts';

/** A registry of the file's own: the command looks at all of its tenants. */
const { cluster } = operatorSuite({ operator: false });
let own: TestStores;
let registry: SqlPool;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  own = await stores();
  const folder = await mkdtemp(join(testBackends().scratch, 'reclaim-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.operatorConfig.exportConfig());
  env = { ...operatorEnvironment(own), KUBECONFIG: kubeconfig };
  registry = new SqlPool({ url: own.postgres.operator, poolSize: 1, log: silentLogger });
  await startOperator(cluster, { stores: own });
}, 180_000);
afterAll(async () => {
  await cluster.close?.();
  await registry?.close();
  await own?.stop?.();
}, 60_000);

const reclaim = (namespaces: string[], isMeant: boolean, more: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  inProcess((options) => reclaimCommand(namespaces, { ...options, isMeant }), { ...env, ...more });

/** A Ready Tenant in a namespace of its own. */
async function tenant(): Promise<ObjectKey> {
  const key = { namespace: await newNamespace(cluster), name: unique() };
  await cluster.tenants.create(tenantOf(key.namespace, key.name));
  await ready(cluster.tenants, key);
  return key;
}

/**
 * Makes the state after a loss of etcd: the registry knows the tenant's namespace by a uid that no namespace has, and the
 * namespace of that name is empty.
 */
async function lost({ name }: ObjectKey): Promise<ObjectKey> {
  const namespace = await newNamespace(cluster);
  await registry.query('UPDATE registry.tenants SET namespace = $2, namespace_uid = $3 WHERE slug = $1', [
    name,
    namespace,
    `lost-${namespace}`,
  ]);
  return { namespace, name };
}

/** Returns the values that the operator generated for a tenant, by Secret. */
const generated = ({ namespace, name }: ObjectKey): Promise<(Record<string, string> | undefined)[]> =>
  Promise.all(['database', 'redis', 'storage', 'keys'].map((of) => secretValues(cluster, namespace, `${name}-${of}`)));

test('after etcd was lost, tenants come back in the namespaces of their names with all that they had', async () => {
  const [former, other] = [await tenant(), await lost(await tenant())];
  const { tenantId } = (await cluster.tenants.get(former)).status ?? {};
  const before = await generated(former);
  const key = await lost(former);
  await cluster.tenants.create(tenantOf(key.namespace, key.name));
  await condition(cluster.tenants, key, 'Accepted', 'False', 'SlugTaken');

  const looked = await reclaim([key.namespace], false);
  const stillTaken = await condition(cluster.tenants, key, 'Accepted', 'False', 'SlugTaken');
  const done = await reclaim([key.namespace], true);
  const back = await ready(cluster.tenants, key);
  const again = await reclaim([key.namespace], true);

  const line = `${key.name}: of Tenant ${key.namespace}/${key.name}, active\n`;
  expect(looked).toEqual({
    code: 0,
    stdout: `${line}1 tenant would belong to the present namespace of this name. Nothing has changed; to do it, add --yes.\n`,
    stderr: '',
  });
  expect(conditionOf(stillTaken, 'Accepted')?.message).toContain(key.name);
  expect(done.stdout).toBe(
    `${line}1 tenant now belongs to the present namespace of this name. The operator checks their Tenants within 30 s.\n`,
  );
  expect(back.status?.tenantId).toBe(tenantId);
  expect(before.map((values) => Object.keys(values ?? {}).length > 0)).toEqual([true, true, true, true]);
  expect(await generated(key)).toEqual(before);
  expect(again).toEqual({ code: 0, stdout: 'No tenant belongs to a former namespace. Nothing has changed.\n', stderr: '' });
  const [kept] = await registry.query<{ uid: string }>('SELECT namespace_uid AS uid FROM registry.tenants WHERE slug = $1', [
    other.name,
  ]);
  expect(kept?.uid).toBe(`lost-${other.namespace}`);
});

test('without names it gives all, and names the namespaces that are not there', async () => {
  const [key, gone] = [await lost(await tenant()), await tenant()];
  await registry.query(`UPDATE registry.tenants SET namespace = 'not-there' WHERE slug = $1`, [gone.name]);

  const done = await reclaim([], true);

  expect(done.code).toBe(0);
  expect(done.stdout).toContain(`${key.name}: of Tenant ${key.namespace}/${key.name}, active\n`);
  expect(done.stdout).toContain('1 tenant of namespaces that are not there: not-there\n');
  expect(done.stdout).not.toContain(`${gone.name}:`);
});

test('a namespace that is not there is refused by name, before anything is written', async () => {
  const key = await lost(await tenant());

  const refused = await reclaim([key.namespace, 'nowhere'], true);
  const scoped = await reclaim([key.namespace], true, { CARREL_TENANT_NAMESPACES: 'elsewhere' });

  expect(refused).toEqual({
    code: 1,
    stdout: '',
    stderr: 'carrel: there is no namespace nowhere. Apply it first; nothing has changed\n',
  });
  expect(scoped.stderr).toBe(`carrel: there is no namespace ${key.namespace}. Apply it first; nothing has changed\n`);
  const [after] = await registry.query<{ uid: string }>('SELECT namespace_uid AS uid FROM registry.tenants WHERE slug = $1', [
    key.name,
  ]);
  expect(after?.uid).toBe(`lost-${key.namespace}`);
  expect((await cluster.of(NAMESPACE).get({ namespace: '', name: key.namespace })).metadata.uid).not.toBe(after?.uid);
});
