import { expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { KubeObject, ObjectKey } from '../../../pkg/kube/object.ts';
import { POD } from '../../../pkg/kube/kinds.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { Objects } from '../../../pkg/store/s3/objects.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { waitFor } from '../../support/wait.ts';
import { adoptionToken, carrel } from './carrel.ts';
import {
  children,
  condition,
  conditionOf,
  newNamespace,
  ready,
  secretValues,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace, readyTenant, databaseUrl } = operatorSuite();

const gone = (key: ObjectKey): Promise<unknown> =>
  waitFor(`${key.name} to be gone`, async () => (await cluster.tenants.find(key)) === undefined);

/** Returns what a login with this address sees of the users, or why it sees nothing. */
async function usersAt(url: string): Promise<string> {
  const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
  try {
    return `${(await pool.query('SELECT email FROM users WHERE NOT is_system')).length} users`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await pool.close();
  }
}

async function objectsOf({ namespace, name }: ObjectKey): Promise<Objects> {
  const values = (await secretValues(cluster, namespace, `${name}-storage`)) as unknown as ConstructorParameters<
    typeof Objects
  >[0];
  return new Objects(values);
}

test('Retain deletes the workloads and keeps the data without a login; the same resource continues with them', async () => {
  const key = await readyTenant();
  const url = await databaseUrl(key);
  const { tenantId } = (await cluster.tenants.get(key)).status ?? {};
  const objects = await objectsOf(key);
  await objects.put('kept', Readable.from(['text']), { contentLength: 4 });

  await cluster.tenants.delete(key);
  await gone(key);
  const children_ = await Promise.all(
    [children.DEPLOYMENT, children.SERVICE, children.INGRESS].map((kind) =>
      cluster.of(kind as typeof children.SERVICE).find(key),
    ),
  );
  const whileGone = await usersAt(url);
  await cluster.tenants.create(tenantOf(namespace, key.name));
  const again = await ready(cluster.tenants, key);

  expect(children_).toEqual([undefined, undefined, undefined]);
  expect(whileGone).toMatch(/not permitted to log in/);
  expect(conditionOf(again, 'Accepted')).toMatchObject({
    reason: 'Adopted',
    message: `uses the retained data of tenant ${tenantId}`,
  });
  expect(again.status?.tenantId).toBe(tenantId);
  expect(await databaseUrl(key)).toBe(url);
  expect(await usersAt(url)).toBe('1 users');
  expect((await objects.head('kept'))?.size).toBe(4);
  objects.close();
});

test('Retain: another namespace adopts the data only with a token of the platform’s administrator', async () => {
  const key = await readyTenant();
  const { tenantId = '' } = (await cluster.tenants.get(key)).status ?? {};
  const elsewhere = { namespace: await newNamespace(cluster), name: key.name };
  const secretsOf = ({ namespace: of, name }: ObjectKey) =>
    Promise.all(['database', 'redis', 'storage', 'keys'].map((which) => secretValues(cluster, of, `${name}-${which}`)));
  const before = await secretsOf(key);
  const formerUrl = await databaseUrl(key);
  await cluster.tenants.delete(key);
  await gone(key);

  await cluster.tenants.create(tenantOf(elsewhere.namespace, elsewhere.name));
  const refused = await condition(cluster.tenants, elsewhere, 'Accepted', 'False', 'SlugTaken');
  const annotate = (token: string) =>
    cluster.tenants.patch(elsewhere, { metadata: { annotations: { 'carrel.dev/adopt': token } } });
  await annotate(tenantId);
  const guessed = await condition(cluster.tenants, elsewhere, 'Accepted', 'False', 'AdoptionRefused');
  const event = await eventOf(elsewhere, 'AdoptionRefused');
  await annotate(await adoptionToken(key.name));
  const adopted = await ready(cluster.tenants, elsewhere);

  expect(conditionOf(refused, 'Accepted')?.message).toContain(
    `a token that whoever runs the operator makes (carrel tenants adoption-token`,
  );
  expect(conditionOf(guessed, 'Accepted')?.message).toMatch(
    /^annotation carrel.dev\/adopt: the token is wrong, used or expired \(wrong tokens so far: 1\)/,
  );
  // A time has numbers of its own.
  const said = [refused, guessed].map((tenant) => conditionOf(tenant, 'Accepted')?.message.replace(/\d{4}-\d{2}-\d{2}T\S+/g, ''));
  for (const message of said) expect(message).not.toMatch(new RegExp(`\\b${tenantId}\\b`));
  expect(event).toMatchObject({ type: 'Warning', note: `Accepted: ${conditionOf(guessed, 'Accepted')?.message}` });
  expect(adopted.status?.tenantId).toBe(tenantId);
  expect(conditionOf(adopted, 'Accepted')?.reason).toBe('Adopted');
  const after = await secretsOf(elsewhere);
  const same = before.map((values, index) => Object.keys(values ?? {}).filter((name) => values?.[name] === after[index]?.[name]));
  expect(same).toEqual([[], [], ['accessKeyId', 'bucket', 'endpoint', 'guarded', 'marker', 'prefix', 'region'], ['data.json']]);
  expect(await usersAt(formerUrl)).toMatch(/password authentication failed/);
  expect(await usersAt(await databaseUrl(elsewhere))).toBe('1 users');
});

const eventOf = ({ namespace, name }: ObjectKey, reason: string) =>
  waitFor(`Event ${reason} of ${name}`, async () =>
    (await cluster.of(children.EVENT).list({ namespace })).find(
      (event) => event.reason === reason && event.regarding?.name === name,
    ),
  );

test('carrel tenants adoption-token says what is in its way, and ends with 1', async () => {
  const key = await readyTenant();
  const adoptionToken = async (args: string[], env?: NodeJS.ProcessEnv) => {
    const { code, stdout, stderr } = await carrel(['tenants', 'adoption-token', ...args], env);
    return [code, stdout, stderr.trim()];
  };
  const empty = await mkdtemp(join(testBackends().scratch, 'no-shards-'));
  const misnamed = await mkdtemp(join(testBackends().scratch, 'misnamed-'));
  const [url] = await Promise.all([
    readFile(join(testBackends().stores.shardsDir, 'main', 'url'), 'utf8'),
    mkdir(join(misnamed, 'annex')),
  ]);
  await writeFile(join(misnamed, 'annex', 'url'), url.replace(/\/\w+$/, '/postgres'));

  const unknown = await adoptionToken(['nobody-has-it']);
  const inUse = await adoptionToken([key.name]);
  const without = await adoptionToken([key.name], { CARREL_SHARDS_DIR: empty });
  const nowhere = await adoptionToken([key.name], { CARREL_SHARDS_DIR: '' });
  const elsewhere = await adoptionToken([key.name], { CARREL_SHARDS_DIR: misnamed });
  const [help] = [await carrel(['tenants', 'adoption-token', '--help'])];

  expect(unknown).toEqual([1, '', 'carrel: there is no tenant with the slug nobody-has-it, and no data of one']);
  expect(inUse).toEqual([
    1,
    '',
    `carrel: the data of ${key.name} are in use by a Tenant. Delete that Tenant with deletionPolicy: Retain first`,
  ]);
  expect(without).toEqual([1, '', `carrel: ${empty} holds no shard. Set CARREL_SHARDS_DIR as the operator has it.`]);
  expect(elsewhere).toEqual([
    1,
    '',
    expect.stringMatching(
      /^carrel: shard annex, the first by name, has no registry of this version \(relation .*registry.* does not exist\)\. /,
    ),
  ]);
  expect(nowhere).toEqual([1, '', expect.stringMatching(/^carrel: there is no platform in .*no-state/)]);
  expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/valid once, for 24 hours[\s\S]*carrel.dev\/adopt/) });
  expect(await adoptionToken([])).toEqual([1, '', expect.stringContaining("missing required argument 'slug'")]);
});

test('Retain: rows of resources that went meanwhile go when the data are adopted, those of the others stay', async () => {
  const key = await readyTenant();
  const [leaves, stays] = [unique(), unique()];
  const spec = { tenantRef: { name: key.name }, url: 'https://example.com/', events: ['file.created'] };
  for (const name of [leaves, stays]) await cluster.webhooks.create(webhookOf(namespace, name, spec));
  for (const name of [leaves, stays]) await ready(cluster.webhooks, { namespace, name });
  await cluster.tenants.delete(key);
  await gone(key);

  // Somebody's finalizer keeps it: it is being deleted all the while, as it may be for a moment.
  await cluster.webhooks.patch({ namespace, name: leaves }, { metadata: { finalizers: ['example.com/keeps'] } });
  await cluster.webhooks.delete({ namespace, name: leaves });
  await cluster.tenants.create(tenantOf(namespace, key.name));
  await ready(cluster.tenants, key);

  const pool = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  expect(await pool.query('SELECT managed_ref AS reference FROM webhooks')).toEqual([{ reference: `${namespace}/${stays}` }]);
  await cluster.webhooks.patch({ namespace, name: leaves }, { metadata: { finalizers: null } });
  await pool.close();
});

test('Delete: schema, role, bucket and name are gone, and the name is free for another', async () => {
  const key = await readyTenant({ deletionPolicy: 'Delete' });
  const url = await databaseUrl(key);
  const { tenantId } = (await cluster.tenants.get(key)).status ?? {};
  const objects = await objectsOf(key);
  for (const name of ['a', 'b', 'c']) await objects.put(name, Readable.from(['text']), { contentLength: 4 });

  await cluster.tenants.delete(key);
  await gone(key);
  const elsewhere = { namespace: await newNamespace(cluster), name: key.name };
  await cluster.tenants.create(tenantOf(elsewhere.namespace, elsewhere.name));
  const another = await ready(cluster.tenants, elsewhere);

  expect(await usersAt(url)).not.toMatch(/users$/);
  const opens = await objects.head('a').then(
    () => true,
    () => false,
  );
  expect(opens).toBe(false);
  expect(another.status?.tenantId).not.toBe(tenantId);
  objects.close();
});

test('Delete: a tenant whose role came to own a large object goes with it', async () => {
  const key = await readyTenant({ deletionPolicy: 'Delete' });
  const superuser = new SqlPool({ url: testBackends().stores.postgres.superuser, poolSize: 1, log: silentLogger });
  const [made] = await superuser.query<{ oid: number }>('SELECT lo_create(0) AS oid');
  await superuser.query(`ALTER LARGE OBJECT ${made?.oid} OWNER TO "tenant_${key.name}"`);

  await cluster.tenants.delete(key);
  await gone(key);

  expect(await superuser.query('SELECT FROM pg_largeobject_metadata WHERE oid = $1', [made?.oid])).toEqual([]);
  expect(await superuser.query('SELECT FROM pg_roles WHERE rolname = $1', [`tenant_${key.name}`])).toEqual([]);
  await superuser.close();
});

test('a deletion waits for the last pod, and says so', async () => {
  const key = await readyTenant({ deletionPolicy: 'Delete' });
  const { selector } = (await cluster.tenants.get(key)).status ?? {};
  const labels = Object.fromEntries((selector ?? '').split(',').map((pair) => pair.split('=') as [string, string]));
  const pod = { namespace, name: `${key.name}-0` };
  await cluster.of(POD).create({ metadata: { ...pod, labels }, spec: { containers: [{ name: 'server', image: 'carrel:dev' }] } });

  await cluster.tenants.delete(key);
  const waiting = await waitFor('the message', async () => {
    const tenant = await cluster.tenants.get(key);
    return conditionOf(tenant, 'Ready')?.reason === 'Deleting' ? tenant : undefined;
  });
  await cluster.of(POD).delete(pod, { gracePeriodSeconds: 0 });
  await gone(key);

  expect(conditionOf(waiting, 'Ready')).toMatchObject({ status: 'False', message: 'Waiting for 1 pod to end' });
});

test('children that lost their owner (kubectl delete --cascade=orphan) go with their Tenant; others’ objects stay', async () => {
  const key = await readyTenant({ deletionPolicy: 'Delete' });
  const kinds = [children.DEPLOYMENT, children.SERVICE, children.INGRESS, children.CONFIG_MAP, children.SECRET];
  const ours = async () =>
    (
      await Promise.all(
        kinds.map((kind) =>
          cluster.of<KubeObject>(kind).list({ namespace, labelSelector: `app.kubernetes.io/instance=${key.name}` }),
        ),
      )
    ).flat();
  const other = { namespace, name: `${key.name}-mine` };
  await cluster.of(children.CONFIG_MAP).create({ metadata: { ...other, labels: { 'app.kubernetes.io/instance': key.name } } });
  const before = await ours();
  // The garbage collector would do this before the Tenant goes.
  for (const kind of kinds)
    for (const { metadata } of await cluster
      .of<KubeObject>(kind)
      .list({ namespace, labelSelector: `app.kubernetes.io/managed-by=carrel-operator,app.kubernetes.io/instance=${key.name}` }))
      await cluster
        .of<KubeObject>(kind)
        .patch({ namespace, name: metadata.name }, { metadata: { ownerReferences: null } } as object);

  await cluster.tenants.delete(key);
  await gone(key);

  expect(before.length).toBeGreaterThan(8);
  expect((await ours()).map(({ metadata }) => metadata.name)).toEqual([other.name]);
});

test('two namespaces that want one slug, and two that want one host, at once: one of each has it', async () => {
  const [a, b] = [await newNamespace(cluster), await newNamespace(cluster)];
  const slug = unique();
  const host = `${unique()}.example.org`;
  const outcomes = async (keys: ObjectKey[]): Promise<string[]> => {
    const tenants = await Promise.all(
      keys.map((key) =>
        waitFor(`an answer to ${key.name}`, async () => {
          const accepted = conditionOf(await cluster.tenants.get(key), 'Accepted');
          return accepted && accepted.status !== 'Unknown' ? accepted : undefined;
        }),
      ),
    );
    return tenants.map(({ reason }) => reason).toSorted();
  };

  const slugs = [a, b].map((namespace) => ({ namespace, name: 'same' }));
  await Promise.all(slugs.map((key) => cluster.tenants.create(tenantOf(key.namespace, key.name, { slug }))));
  const hosts = [a, b].map((namespace) => ({ namespace, name: unique() }));
  await Promise.all(hosts.map((key) => cluster.tenants.create(tenantOf(key.namespace, key.name, { hosts: { app: host } }))));

  expect(await outcomes(slugs)).toEqual(['Accepted', 'SlugTaken']);
  expect(await outcomes(hosts)).toEqual(['Accepted', 'HostTaken']);
});

test('a Tenant that was never accepted goes without a word on data, which were never its own', async () => {
  const { name: slug } = await readyTenant();
  const [refused, accepted] = [{ namespace, name: unique() }, await readyTenant({ deletionPolicy: 'Delete' })];
  const { tenantId } = (await cluster.tenants.get(accepted)).status ?? {};
  await cluster.tenants.create(tenantOf(namespace, refused.name, { slug, deletionPolicy: 'Delete' }));
  await condition(cluster.tenants, refused, 'Accepted', 'False', 'SlugTaken');

  for (const key of [refused, accepted]) {
    await cluster.tenants.delete(key);
    await gone(key);
  }

  const notes = await waitFor('the Event of the other', async () => {
    const events = await cluster.of(children.EVENT).list({ namespace });
    const ends = events
      .filter(({ reason }) => reason === 'DataDeleted')
      .map(({ regarding, note }) => `${regarding?.name}: ${note}`);
    return ends.some((end) => end.startsWith(accepted.name)) ? ends : undefined;
  });
  expect(notes).toContain(`${accepted.name}: the data of tenant ${tenantId} are deleted`);
  expect(notes.filter((end) => end.startsWith(refused.name))).toEqual([]);
});
