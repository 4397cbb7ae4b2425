import { beforeAll, expect, test } from '@jest/globals';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  conditionOf,
  newNamespace,
  ready,
  secretValues,
  tenantOf,
  unique,
} from '../../support/cluster/operator.ts';
import { SCHOOL_NAMESPACE } from '../../support/cluster/shared-cluster-access.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace } = operatorSuite({ namespace: SCHOOL_NAMESPACE });
/** The namespace of a customer who may create Tenants in it and nothing else. */
let stranger: string;

beforeAll(async () => {
  stranger = await newNamespace(cluster);
}, 180_000);

async function create(where: string, spec: object = {}): Promise<ObjectKey> {
  const key = { namespace: where, name: unique() };
  await cluster.tenants.create(tenantOf(where, key.name, spec));
  return key;
}

async function remove(key: ObjectKey): Promise<void> {
  await cluster.tenants.delete(key);
  await waitFor(`${key.name} to be gone`, async () => (await cluster.tenants.find(key)) === undefined);
}

const refusal = async (key: ObjectKey, reason: string): Promise<string | undefined> =>
  conditionOf(await condition(cluster.tenants, key, 'Accepted', 'False', reason), 'Accepted')?.message;

test('the hosts of a slug are refused to every other Tenant, even before its tenant exists, which then gets them', async () => {
  const victim = { namespace, name: unique() };
  const hosts = [`${victim.name}.localhost`, `lti.${victim.name}.localhost`];
  const squatters = await Promise.all(hosts.map((host) => create(stranger, { hosts: { lti: host } })));

  const messages = await Promise.all(squatters.map((key) => refusal(key, 'HostNotAllowed')));
  await cluster.tenants.create(tenantOf(namespace, victim.name));
  const tenant = await ready(cluster.tenants, victim);

  expect(messages).toEqual(hosts.map((host) => `spec.hosts: ${host} belongs to the slug ${victim.name}; choose another host`));
  expect(tenant.status).toMatchObject({ appUrl: `http://${hosts[0]}:8080`, ltiUrl: `http://${hosts[1]}:8080` });
  for (const key of squatters) expect(await cluster.of(children.INGRESS).find(key)).toBeUndefined();
});

test('a host of its own lies under a domain that the operator allows, or allows that namespace', async () => {
  const [app, lti] = [`${unique()}.example.org`, `${unique()}.school.example`];
  const allowed = await create(namespace, { hosts: { app, lti } });
  const refused = await create(stranger, { hosts: { app: `${unique()}.school.example` } });
  const foreign = await create(namespace, { hosts: { app: 'argocd.corp.example' } });

  expect((await ready(cluster.tenants, allowed)).status?.ltiUrl).toBe(`http://${lti}:8080`);
  expect(await refusal(refused, 'HostNotAllowed')).toMatch(
    /is not allowed in namespace .*; this namespace may use hosts under example\.org\. /,
  );
  expect(await refusal(foreign, 'HostNotAllowed')).toContain(
    'this namespace may use hosts under example.org, school.example. ' +
      "The platform's operator allows domains in CARREL_ALLOWED_HOSTS",
  );
});

test('a slug whose host is reserved must name hosts of its own', async () => {
  const key = await create(namespace, { slug: 'lms' });

  expect(await refusal(key, 'HostReserved')).toBe(
    'this operator reserves the host lms.localhost; set spec.hosts, since lms would be there',
  );
});

test('the hosts of data that are kept stay theirs until the data are deleted; the sessions are over', async () => {
  const host = `${unique()}.example.org`;
  const key = await create(namespace, { hosts: { app: host, lti: host } });
  await ready(cluster.tenants, key);
  const sessions = async <T extends object>(statement: string): Promise<T[]> => {
    const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
    const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
    try {
      return await pool.query<T>(statement);
    } finally {
      await pool.close();
    }
  };
  await sessions(
    `INSERT INTO sessions (id, user_id, expires_at) SELECT gen_random_uuid(), id, now() + interval '30 days' FROM users
     WHERE NOT is_system`,
  );

  await remove(key);
  const squatter = await create(stranger, { hosts: { app: host } });
  const reserved = await refusal(squatter, 'HostTaken');
  await cluster.tenants.create(tenantOf(namespace, key.name, { hosts: { app: host, lti: host }, deletionPolicy: 'Delete' }));
  const again = await ready(cluster.tenants, key);
  const open = await sessions('SELECT id FROM sessions WHERE ended_at IS NULL');
  await remove(key);
  await ready(cluster.tenants, squatter);

  expect(reserved).toBe(
    `the host ${host} belongs to a deleted tenant whose data are retained; it is free once they are adopted or deleted`,
  );
  expect(again.status?.appUrl).toBe(`http://${host}:8080`);
  expect(open).toEqual([]);
});
