import { beforeAll, expect, test } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { isDeleting, type ObjectKey } from '../../../pkg/kube/object.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { waitFor } from '../../support/wait.ts';
import { difference, writes } from '../../support/cluster/apiserver-metrics.ts';
import { children, newNamespace, ready, registrationOf, webhookOf } from '../../support/cluster/operator.ts';
import { runOperator } from '../../support/cluster/operator-in-process.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const metrics = createMetrics('test');
const statements: string[] = [];
/** Statements that look for changes of shards, and that count what tenants use. */
const looks: string[] = [];
/** When a shard was polled. */
const polls: number[] = [];
const { cluster, stores: running, namespace, readyTenant, databaseUrl } = operatorSuite({ ownStores: true, operator: false });

/**
 * The operator in this process, so that its statements can be counted; stores of the test's own, since it handles what all
 * tenants of a shard left it.
 */
beforeAll(() => {
  const observe = ({ sql }: { sql: string }): void => {
    if (sql.includes('AS change')) polls.push(performance.now());
    (/AS change|pg_stat_activity|AS files/.test(sql) ? looks : statements).push(sql);
  };
  runOperator(cluster, { stores: running, metrics, observe, usageIntervals: { searchMs: 200, everyMs: 1_000 } });
});

/** The number of statements of each controller's reconcile that finds nothing to do. */
const STATEMENTS = { tenant: 2, webhook: 1, ltiregistration: 1 } as const;
type Controller = keyof typeof STATEMENTS;
const CONTROLLERS = Object.keys(STATEMENTS) as Controller[];

const valuesOf = async (metric: string) => (await metrics.getSingleMetric(metric)?.get())?.values ?? [];

async function reconciles(): Promise<Record<Controller, number>> {
  const values = await valuesOf('controller_runtime_reconcile_total');
  const of = (controller: Controller): number =>
    values.filter(({ labels }) => labels['controller'] === controller).reduce((sum, { value }) => sum + value, 0);
  return { tenant: of('tenant'), webhook: of('webhook'), ltiregistration: of('ltiregistration') };
}

async function isAtWork(): Promise<boolean> {
  const values = await Promise.all(['controller_runtime_active_workers', 'workqueue_depth'].map(valuesOf));
  return values.flat().some(({ value }) => value > 0);
}

interface Snapshot {
  readonly reconciles: Record<Controller, number>;
  readonly statements: number;
  readonly writes: Record<string, number>;
}

/** Taken while no reconcile runs or waits, so that its counts belong together. */
const snapshot = (): Promise<Snapshot> =>
  waitFor('a moment without a reconcile', async () => {
    if (await isAtWork()) return undefined;
    const before = await reconciles();
    const taken = { reconciles: before, statements: statements.length, writes: await writes(cluster) };
    return JSON.stringify(await reconciles()) === JSON.stringify(before) && !(await isAtWork()) ? taken : undefined;
  });

/** An annotation of no meaning at each of the three, a reconcile of each controller, and what that added. */
async function touchAll(key: ObjectKey): Promise<Snapshot> {
  const before = await snapshot();
  const touched = { metadata: { annotations: { touched: random.hex(4) } } };
  await cluster.webhooks.patch(key, touched);
  await cluster.registrations.patch(key, touched);
  await cluster.tenants.patch(key, touched);
  const after = await waitFor('a reconcile of each', async () => {
    const now = await snapshot();
    return CONTROLLERS.every((name) => now.reconciles[name] > before.reconciles[name]) ? now : undefined;
  });
  const more = CONTROLLERS.map((name) => [name, after.reconciles[name] - before.reconciles[name]]);
  return {
    reconciles: Object.fromEntries(more) as Record<Controller, number>,
    statements: after.statements - before.statements,
    writes: difference(before.writes, after.writes),
  };
}

/** The patches of touchAll. */
const TOUCHES = { 'PATCH webhooks': 1, 'PATCH ltiregistrations': 1, 'PATCH tenants': 1 };

test('a reconcile without changes is two statements for a Tenant, one for other kinds, and no write', async () => {
  const key = await readyTenant();
  const tenantRef = { name: key.name };
  await cluster.webhooks.create(
    webhookOf(namespace, key.name, { tenantRef, url: 'https://example.com/', events: ['file.created'] }),
  );
  const platform = { preset: 'moodle', issuer: 'https://moodle.example' };
  await cluster.registrations.create(registrationOf(namespace, key.name, { tenantRef, platform, clientId: 'x' }));
  await Promise.all([ready(cluster.webhooks, key), ready(cluster.registrations, key)]);
  // Writes that follow the creation, such as Events, come some time after Ready.
  await waitFor('the end of the writes', async () => isDeepStrictEqual((await touchAll(key)).writes, TOUCHES));

  const found = await touchAll(key);

  expect(found.statements).toBe(CONTROLLERS.reduce((sum, name) => sum + found.reconciles[name] * STATEMENTS[name], 0));
  expect(found.writes).toEqual(TOUCHES);
});

test('a tenant’s usage is in its status and in the metrics, and is counted again', async () => {
  const key = await readyTenant();
  const usage = async () => (await cluster.tenants.get(key)).status?.usage;
  const first = await usage();
  const sql = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  await sql.query("INSERT INTO users (uuid, email, username, storage_used) VALUES (gen_random_uuid(), 'a@example.org', 'a', 7)");
  await sql.close();

  await waitFor('the next count', async () => (await usage())?.users === 2);

  expect([first, await usage()]).toEqual([
    { users: 1, files: 0, bytes: 0, entries: 0, databaseBytes: expect.any(Number) },
    { users: 2, files: 0, bytes: 7, entries: 0, databaseBytes: expect.any(Number) },
  ]);
  const measured = (await valuesOf('carrel_tenant_bytes')).filter(({ labels }) => labels['tenant'] === key.name);
  expect(measured).toEqual([{ value: 7, labels: { namespace, tenant: key.name } }]);
});

test('a tenant that notifies the operator without end has its shard polled twice a second at most', async () => {
  const sql = new SqlPool({ url: await databaseUrl(await readyTenant()), poolSize: 1, log: silentLogger });
  const from = polls.length;
  await waitFor('five polls', async () => {
    await sql.query('NOTIFY carrel_operator');
    return polls.length >= from + 5;
  });
  await sql.close();

  const gaps = polls.slice(from).map((at, index, all) => at - (all[index - 1] ?? -Infinity));
  expect(Math.min(...gaps)).toBeGreaterThan(450);
});

test('in a terminating namespace nothing is created, and the finalizers of its Tenants are removed', async () => {
  const where = await newNamespace(cluster);
  const key = await readyTenant({}, where);

  await cluster.of(children.NAMESPACE).delete({ namespace: '', name: where });
  await waitFor('the namespace to be terminating', async () =>
    isDeleting(await cluster.of(children.NAMESPACE).get({ namespace: '', name: where })),
  );
  // Made later, and Ready: the operator has seen the namespace by then, and what it had begun before has ended.
  await readyTenant();
  const { writes: before } = await snapshot();
  await cluster.of(children.SERVICE).delete(key);
  // And the deletion of the Service.
  await readyTenant();
  const made = difference(before, await writes(cluster));
  await cluster.tenants.delete(key);
  await waitFor('the Tenant to be gone', async () => (await cluster.tenants.find(key)) === undefined);

  // Only that of the later Tenant.
  expect(made['POST services']).toBe(1);
});
