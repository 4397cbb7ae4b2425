import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { parts } from '../../support/parts.ts';
import { waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  conditionOf,
  newNamespace,
  playPods,
  ready,
  secretValues,
  startCluster,
  startOperator,
  tenantOf,
  unique,
  type Cluster,
} from './harness.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
  playPods(cluster);
  await startOperator(cluster);
}, 120_000);

afterAll(() => cluster.close());

test('storage of a person’s own is used once its key opens the bucket, and is theirs still when the tenant is deleted with its data', async () => {
  const namespace = await newNamespace(cluster);
  const key = { namespace, name: unique() };
  const secret = { namespace, name: 'my-storage' };
  const own = { bucket: unique('own'), accessKeyId: unique('key'), secretAccessKey: unique('secret') };
  const { s3 } = parts().stores;
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

  expect(conditionOf(refused, 'StorageReady')?.message).toMatch(`spec.storage: bucket ${own.bucket} cannot be reached with the key given`);
  expect(await secretValues(cluster, namespace, `${key.name}-storage`)).toEqual({
    ...own,
    endpoint: s3.endpoint,
    region: s3.region,
    prefix: 'files/',
  });
  await cluster.tenants.delete(key);
  await waitFor('the tenant to be gone', async () => (await cluster.tenants.find(key)) === undefined);
  expect(await new StorageAdmin(s3).ensureBucketWithUser(own)).toEqual({ changed: false });
});

test('a tenant may be called like anybody who administers a store', async () => {
  const namespace = await newNamespace(cluster);

  for (const name of ['admin', 'root', 'operator', 'worker']) {
    await cluster.tenants.create(tenantOf(namespace, name, { deletionPolicy: 'Delete' }));
    await ready(cluster.tenants, { namespace, name });
  }
  for (const { metadata } of await cluster.tenants.list({ namespace })) await cluster.tenants.delete({ namespace, name: metadata.name });
  await waitFor('the tenants to be gone', async () => (await cluster.tenants.list({ namespace })).length === 0);
});
