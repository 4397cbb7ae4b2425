import { expect, test } from '@jest/globals';
import { POD } from '../../../pkg/kube/kinds.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { adoptionToken } from './carrel.ts';
import { StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { testBackends } from '../../support/backends/backends.ts';
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
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster } = operatorSuite();

test('a person’s own storage is used once its key opens the bucket, and stays theirs after the tenant’s deletion', async () => {
  const namespace = await newNamespace(cluster);
  const key = { namespace, name: unique() };
  const secret = { namespace, name: 'my-storage' };
  const own = { bucket: unique('own'), accessKeyId: unique('key'), secretAccessKey: unique('secret') };
  const { s3 } = testBackends().stores;
  await new StorageAdmin(s3).ensureBucketWithUser(own);
  const storage = { credentialsSecretRef: { name: secret.name }, bucket: own.bucket, prefix: 'files/' };

  await cluster.tenants.create(tenantOf(namespace, key.name, { storage, deletionPolicy: 'Delete' }));
  await condition(cluster.tenants, key, 'StorageReady', 'False', 'SecretMissing');
  await cluster.of(children.SECRET).create({ metadata: secret, stringData: { accessKeyId: own.accessKeyId } });
  await condition(cluster.tenants, key, 'StorageReady', 'False', 'SecretIncomplete');
  await cluster.of(children.SECRET).patch(secret, { stringData: { secretAccessKey: 'wrong' } });
  const refused = await condition(cluster.tenants, key, 'StorageReady', 'False', 'StorageUnreachable');
  await cluster.of(children.SECRET).patch(secret, { stringData: { secretAccessKey: own.secretAccessKey } });
  await ready(cluster.tenants, key);

  expect(conditionOf(refused, 'StorageReady')?.message).toMatch(
    `spec.storage: bucket ${own.bucket} cannot be reached with the key given`,
  );
  expect(await secretValues(cluster, namespace, `${key.name}-storage`)).toEqual({
    ...own,
    endpoint: s3.endpoint,
    region: s3.region,
    prefix: 'files/',
    guarded: 'false',
    marker: expect.stringMatching(/^tenant \d+ of [0-9a-f-]{36}$/),
  });
  await cluster.tenants.delete(key);
  await waitFor('the tenant to be gone', async () => (await cluster.tenants.find(key)) === undefined);
  expect(await new StorageAdmin(s3).ensureBucketWithUser(own)).toEqual({ changed: false });
});

test('a value of the Secret that no request can carry is named by the condition, with what it may hold', async () => {
  const namespace = await newNamespace(cluster);
  const key = { namespace, name: unique() };
  const secret = { namespace, name: 'my-storage' };
  const good = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'us-east-1' };
  await cluster.of(children.SECRET).create({ metadata: secret, stringData: { ...good, accessKeyId: 'key\r\nX-Other: 1' } });
  const storage = { credentialsSecretRef: { name: secret.name }, bucket: unique('own') };
  await cluster.tenants.create(tenantOf(namespace, key.name, { storage }));
  const said = (text: string) =>
    waitFor(`a condition that says ${text}`, async () =>
      conditionOf(await cluster.tenants.find(key), 'StorageReady')?.message.includes(`${text} in Secret my-storage`),
    );

  const refused = await condition(cluster.tenants, key, 'StorageReady', 'False', 'SecretInvalid');
  for (const [name, value] of [
    ['accessKeyId', 'key\0'],
    ['secretAccessKey', 'two ends\n\n'],
    ['region', '../x'],
  ] as const) {
    await cluster.of(children.SECRET).patch(secret, { stringData: { ...good, [name]: value } });
    await said(name);
  }

  expect(conditionOf(refused, 'StorageReady')?.message).toBe(
    'spec.storage: accessKeyId in Secret my-storage may hold letters, digits and signs of ASCII alone, and no space ' +
      'or second line end',
  );
  await cluster.tenants.delete(key);
});

test('a changed storage location is used only once the files are there; until then the tenant keeps the former one', async () => {
  const namespace = await newNamespace(cluster);
  const key = { namespace, name: unique() };
  const { s3 } = testBackends().stores;
  const named = await ownStorage(namespace);
  await cluster.tenants.create(tenantOf(namespace, key.name, { deletionPolicy: 'Delete' }));
  const { status } = await ready(cluster.tenants, key);
  const before = (await secretValues(cluster, namespace, `${key.name}-storage`)) as unknown as ObjectsOptions;
  const file = await addFile(key, before);
  const storage = { credentialsSecretRef: { name: 'my-storage' }, bucket: named.bucket, prefix: 'moved/' };

  const pod = { namespace, name: 'writing' };
  const labels = Object.fromEntries((status?.selector ?? '').split(',').map((pair) => pair.split('=') as [string, string]));
  await cluster.of(POD).create({ metadata: { ...pod, labels }, spec: { containers: [{ name: 'server', image: 'carrel:dev' }] } });

  await cluster.tenants.patch(key, { spec: { storage } });
  const running = await condition(cluster.tenants, key, 'StorageReady', 'False', 'PodsRunning');
  await cluster.tenants.patch(key, { spec: { suspended: true } });
  const suspended = await condition(cluster.tenants, key, 'WorkloadAvailable', 'False', 'Suspended');
  const { spec } = await cluster.of(children.DEPLOYMENT).get(key);
  await cluster.of(POD).patchStatus(pod, { phase: 'Failed', reason: 'Evicted' });
  const refused = await condition(cluster.tenants, key, 'StorageReady', 'False', 'FilesElsewhere');
  const values = await secretValues(cluster, namespace, `${key.name}-storage`);
  await put({ ...before, ...named, prefix: 'moved/' }, file.key, file.content);
  await cluster.tenants.patch(key, { spec: { suspended: false } });
  await ready(cluster.tenants, key);

  const [here, there] = [`${before.bucket}/ at ${s3.endpoint}`, `${named.bucket}/moved/ at ${s3.endpoint}`];
  expect(conditionOf(running, 'StorageReady')?.message).toContain(`spec.storage names ${there} while 1 pod writes to ${here}`);
  expect(conditionOf(suspended, 'Ready')).toMatchObject({ status: 'False', reason: 'Suspended' });
  expect(spec?.replicas).toBe(0);
  expect(conditionOf(refused, 'StorageReady')?.message).toContain(
    `the tenant's files are in ${here}; of 1 checked in ${there}, 1 are missing`,
  );
  expect(conditionOf(refused, 'Stalled')).toMatchObject({ status: 'True' });
  expect(values).toEqual(before);
  expect(await secretValues(cluster, namespace, `${key.name}-storage`)).toMatchObject({ ...named, prefix: 'moved/' });
});

test('a Tenant that adopts data must name the location of its files', async () => {
  const namespace = await newNamespace(cluster);
  const key = { namespace, name: unique() };
  const elsewhere = { ...key, namespace: await newNamespace(cluster) };
  const named = await ownStorage(namespace, elsewhere.namespace);
  const storage = { credentialsSecretRef: { name: 'my-storage' }, bucket: named.bucket };
  await cluster.tenants.create(tenantOf(namespace, key.name, { storage }));
  await ready(cluster.tenants, key);
  await addFile(key, (await secretValues(cluster, namespace, `${key.name}-storage`)) as unknown as ObjectsOptions);
  await cluster.tenants.delete(key);
  await waitFor('the tenant to be gone', async () => (await cluster.tenants.find(key)) === undefined);

  const adopting = tenantOf(elsewhere.namespace, key.name, { deletionPolicy: 'Delete' });
  const annotations = { 'carrel.dev/adopt': await adoptionToken(key.name) };
  await cluster.tenants.create({ ...adopting, metadata: { ...adopting.metadata, annotations } });
  const refused = await condition(cluster.tenants, elsewhere, 'StorageReady', 'False', 'FilesElsewhere');
  await cluster.tenants.patch(elsewhere, { spec: { storage } });
  await ready(cluster.tenants, elsewhere);

  expect(conditionOf(refused, 'StorageReady')?.message).toContain("the tenant's files are in another location; of 1 checked in");
});

/** A bucket of a person's own; its key lies in Secret `my-storage` of the namespaces. */
async function ownStorage(...namespaces: string[]): Promise<{ bucket: string; accessKeyId: string; secretAccessKey: string }> {
  const named = { bucket: unique('own'), accessKeyId: unique('key'), secretAccessKey: unique('secret') };
  await new StorageAdmin(testBackends().stores.s3).ensureBucketWithUser(named);
  const { accessKeyId, secretAccessKey } = named;
  for (const namespace of namespaces)
    await cluster
      .of(children.SECRET)
      .create({ metadata: { namespace, name: 'my-storage' }, stringData: { accessKeyId, secretAccessKey } });
  return named;
}

/** Adds a file as a server does. */
async function addFile(
  tenant: { namespace: string; name: string },
  location: ObjectsOptions,
): Promise<{ key: string; content: Buffer }> {
  const { url = '' } = (await secretValues(cluster, tenant.namespace, `${tenant.name}-database`)) ?? {};
  const db = new Database({ url, poolSize: 1, log: silentLogger });
  const [key, content] = ['00/object', Buffer.from('content')];
  await put(location, key, content);
  await db.query(
    `WITH file AS (
       INSERT INTO files (uuid, name, path, extension, mime_type, size, checksum, owner_id, blob_container, blob_name)
       SELECT gen_random_uuid(), 'a.txt', '/a.txt', 'txt', 'text/plain', 7, $1, users.id, $2, $3 FROM users LIMIT 1
       RETURNING id, owner_id
     )
     INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by) SELECT id, 1, 7, $1, $3, owner_id
     FROM file`,
    ['0'.repeat(64), location.bucket, key],
  );
  await db.close();
  return { key, content };
}

async function put(location: ObjectsOptions, key: string, content: Buffer): Promise<void> {
  const objects = new Objects(location);
  await objects.put(key, content);
  objects.close();
}

test('a tenant may be called like anybody who administers a store', async () => {
  const namespace = await newNamespace(cluster);

  for (const name of ['admin', 'root', 'operator', 'worker']) {
    await cluster.tenants.create(tenantOf(namespace, name, { deletionPolicy: 'Delete' }));
    await ready(cluster.tenants, { namespace, name });
  }
  for (const { metadata } of await cluster.tenants.list({ namespace }))
    await cluster.tenants.delete({ namespace, name: metadata.name });
  await waitFor('the tenants to be gone', async () => (await cluster.tenants.list({ namespace })).length === 0);
});
