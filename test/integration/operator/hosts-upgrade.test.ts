import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { waitFor } from '../../support/wait.ts';
import { children, condition, newNamespace, ready, secretValues, startOperator, tenantOf, unique } from '../../support/operator.ts';
import { operatorSuite } from '../../support/operator-suite.ts';

const { cluster } = operatorSuite({ operator: false });

test("hosts of other slugs that Tenants have from before they were refused lead there no more, and are their slug's, without the sessions that began there", async () => {
  const [namespace, stranger] = [await newNamespace(cluster), await newNamespace(cluster)];
  const victim = { namespace, name: unique() };
  const [app, lti, own] = [`${victim.name}.localhost`, `lti.${victim.name}.localhost`, `${unique()}.example.org`];
  const [half, whole] = [1, 2].map(() => ({ namespace: stranger, name: unique() })) as [typeof victim, typeof victim];
  const hostsOf = async (key: typeof victim) => (await cluster.of(children.INGRESS).find(key))?.spec?.rules?.map(({ host }) => host);
  const before = await startOperator(cluster, { env: { CARREL_BASE_DOMAIN: 'before.example', CARREL_ALLOWED_HOSTS: '*' } });
  await cluster.tenants.create(tenantOf(stranger, half.name, { hosts: { app: own, lti } }));
  await cluster.tenants.create(tenantOf(stranger, whole.name, { hosts: { app, lti: app } }));
  await Promise.all([ready(cluster.tenants, half), ready(cluster.tenants, whole)]);
  const had = [await hostsOf(half), await hostsOf(whole)];
  await before.end();
  const { url = '' } = (await secretValues(cluster, stranger, `${half.name}-database`)) ?? {};
  const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
  await pool.query(
    `INSERT INTO sessions (id, user_id, expires_at) SELECT gen_random_uuid(), id, now() + interval '30 days' FROM users WHERE NOT is_system`,
  );

  await startOperator(cluster);
  await Promise.all([half, whole].map((key) => condition(cluster.tenants, key, 'Accepted', 'False', 'HostNotAllowed')));
  const has = [await hostsOf(half), await hostsOf(whole)];
  await cluster.tenants.create(tenantOf(namespace, victim.name));
  await ready(cluster.tenants, victim);
  const open = await pool.query('SELECT id FROM sessions WHERE ended_at IS NULL');
  await pool.close();
  await cluster.tenants.patch(half, { spec: { hosts: { lti: own } } });
  await ready(cluster.tenants, half);

  expect(had).toEqual([[own, lti], [app]]);
  expect(has).toEqual([[own], undefined]);
  expect(await hostsOf(victim)).toEqual([app, lti]);
  expect(open).toEqual([]);
  await waitFor('the host of its own to lead there', async () => (await hostsOf(half))?.join() === own);
});
