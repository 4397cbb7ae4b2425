import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from '@jest/globals';
import { bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { newContentKey } from '../../../pkg/store/s3/content-key.ts';
import { MARKER_KEY } from '../../../pkg/store/s3/content-key.ts';
import { newClient, Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { range, waitFor } from '../../support/wait.ts';
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
let admin: StorageAdmin;

beforeAll(() => {
  admin = new StorageAdmin(testBackends().stores.s3);
  cluster.onClose(async () => admin.close());
});

const access = (): { endpoint: string; region: string } => ({
  endpoint: testBackends().stores.s3.endpoint,
  region: testBackends().stores.s3.region,
});

/** A bucket of a person's own; its key lies in Secret `my-storage` of the namespaces. */
async function ownBucket(namespaces: readonly string[], more: Record<string, string> = {}): Promise<TenantBucket> {
  const own = { bucket: unique('own'), accessKeyId: unique('key'), secretAccessKey: unique('secret') };
  await admin.ensureBucketWithUser(own);
  const { accessKeyId, secretAccessKey } = own;
  const stringData = { accessKeyId, secretAccessKey, ...more };
  for (const namespace of namespaces)
    await cluster.of(children.SECRET).create({ metadata: { namespace, name: 'my-storage' }, stringData });
  return own;
}

const storageIn = (bucket: string, prefix?: string) => ({
  credentialsSecretRef: { name: 'my-storage' },
  bucket,
  ...(prefix === undefined ? {} : { prefix }),
});

const gone = async (key: { namespace: string; name: string }): Promise<void> =>
  void (await waitFor('the tenant to be gone', async () => (await cluster.tenants.find(key)) === undefined));

test('no two tenants have the same or nested storage locations, and no message says whose a location is', async () => {
  const { port, hostname } = new URL(access().endpoint);
  const namespace = await newNamespace(cluster);
  const second = await newNamespace(cluster);
  const own = await ownBucket([namespace]);
  const spelled = {
    accessKeyId: own.accessKeyId,
    secretAccessKey: own.secretAccessKey,
    endpoint: `HTTP://${hostname.toUpperCase()}:${port}/`,
  };
  await cluster.of(children.SECRET).create({ metadata: { namespace: second, name: 'my-storage' }, stringData: spelled });
  const first = { namespace, name: unique() };
  await cluster.tenants.create(
    tenantOf(namespace, first.name, { storage: storageIn(own.bucket, 'files/'), deletionPolicy: 'Retain' }),
  );
  await ready(cluster.tenants, first);

  const refusals: string[] = [];
  for (const prefix of ['files/', undefined, 'files/ours/']) {
    const key = { namespace: second, name: unique() };
    await cluster.tenants.create(
      tenantOf(second, key.name, { storage: storageIn(own.bucket, prefix), deletionPolicy: 'Delete' }),
    );
    const refused = await condition(cluster.tenants, key, 'StorageReady', 'False', 'StorageTaken');
    expect(conditionOf(refused, 'Stalled')).toMatchObject({ status: 'True' });
    refusals.push(conditionOf(refused, 'StorageReady')?.message ?? '');
    expect(await secretValues(cluster, second, `${key.name}-storage`)).toBeUndefined();
    await cluster.tenants.delete(key);
    await gone(key);
  }
  const beside = { namespace: second, name: unique() };
  await cluster.tenants.create(
    tenantOf(second, beside.name, { storage: storageIn(own.bucket, 'other/'), deletionPolicy: 'Delete' }),
  );
  await ready(cluster.tenants, beside);

  expect(refusals.join()).toMatch(/is another tenant's/);
  for (const secret of [namespace, first.name]) expect(refusals.join()).not.toContain(secret);

  // Held while the data are kept.
  await cluster.tenants.delete(first);
  await gone(first);
  const late = { namespace: second, name: unique() };
  await cluster.tenants.create(
    tenantOf(second, late.name, { storage: storageIn(own.bucket, 'files/'), deletionPolicy: 'Delete' }),
  );
  await condition(cluster.tenants, late, 'StorageReady', 'False', 'StorageTaken');
  await cluster.tenants.delete(late);
  await gone(late);
});

test('deleting a tenant with its own storage deletes Carrel’s objects there, nothing else, and frees the location', async () => {
  const namespace = await newNamespace(cluster);
  const own = await ownBucket([namespace]);
  const key = { namespace, name: unique() };
  const spec = { storage: storageIn(own.bucket, 'files/'), deletionPolicy: 'Delete' };
  await cluster.tenants.create(tenantOf(namespace, key.name, spec));
  await ready(cluster.tenants, key);
  const theirs = (await secretValues(cluster, namespace, `${key.name}-storage`)) as unknown as ObjectsOptions & {
    marker: string;
  };
  const inside = new Objects({ ...theirs });
  const whole = new Objects({ ...access(), ...own });
  for (const _ of range(3)) await inside.put(newContentKey('20260102', systemRandom), Buffer.from('a file'));
  const strangers = ['files/20260102/report.pdf', 'files/backups/db.dump', 'not theirs'];
  for (const name of strangers) await whole.put(name, Buffer.from('stays'));
  const client = newClient({ ...access(), ...own });
  const upload = (name: string) => client.send(new CreateMultipartUploadCommand({ Bucket: own.bucket, Key: name }));
  await upload('files/20260102/upload.pdf');
  await upload(`files/${newContentKey('20260102', systemRandom)}`);
  const marked = await (
    await client.send(new GetObjectCommand({ Bucket: own.bucket, Key: `files/${MARKER_KEY}` }))
  ).Body?.transformToString();

  await cluster.tenants.delete(key);
  await gone(key);
  const left: string[] = [];
  for await (const object of whole.list()) left.push(object.key);
  const again = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, again.name, spec));
  await ready(cluster.tenants, again);

  expect(marked).toBe(theirs.marker);
  expect(left).toEqual(strangers);
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: own.bucket }));
  expect(Uploads.map(({ Key }) => Key)).toEqual(['files/20260102/upload.pdf']);
  await cluster.tenants.delete(again);
  await gone(again);
  for (const each of [inside, whole]) each.close();
  client.destroy();
});

test('a location that another installation has marked is refused, and nothing is deleted there', async () => {
  const namespace = await newNamespace(cluster);
  const own = await ownBucket([namespace]);
  const objects = new Objects({ ...access(), ...own });
  await objects.put(MARKER_KEY, Buffer.from('tenant 1 of another installation'));
  await objects.put('theirs', Buffer.from('theirs'));
  const key = { namespace, name: unique() };

  await cluster.tenants.create(tenantOf(namespace, key.name, { storage: storageIn(own.bucket), deletionPolicy: 'Delete' }));
  const refused = await condition(cluster.tenants, key, 'StorageReady', 'False', 'StorageTaken');
  await cluster.tenants.delete(key);
  await gone(key);

  expect(conditionOf(refused, 'StorageReady')?.message).toContain(`says its object ${MARKER_KEY}`);
  expect(await objects.head('theirs')).toMatchObject({ size: 6 });
  objects.close();
});

test('a private endpoint, or a prefix with two spellings, is refused with a condition that says so', async () => {
  const namespace = await newNamespace(cluster);
  await ownBucket([namespace], { endpoint: 'http://169.254.169.254' });
  const key = { namespace, name: unique() };

  await cluster.tenants.create(tenantOf(namespace, key.name, { storage: storageIn(unique('own')), deletionPolicy: 'Delete' }));
  const refused = await condition(cluster.tenants, key, 'StorageReady', 'False', 'EndpointRefused');
  await cluster.of(children.SECRET).patch({ namespace, name: 'my-storage' }, { stringData: { endpoint: 'ftp://example.org' } });
  await condition(cluster.tenants, key, 'StorageReady', 'False', 'EndpointInvalid');
  await cluster
    .of(children.SECRET)
    .patch({ namespace, name: 'my-storage' }, { stringData: { endpoint: 'https://s3.example.org' } });
  await cluster.tenants.patch(key, { spec: { storage: { prefix: './files/' } } });
  await condition(cluster.tenants, key, 'StorageReady', 'False', 'PrefixInvalid');
  await cluster.tenants.delete(key);
  await gone(key);

  expect(conditionOf(refused, 'StorageReady')?.message).toBe(
    'spec.storage: http://169.254.169.254 is not allowed: 169.254.169.254 leads to a private address (CARREL_EGRESS_ALLOW)',
  );
});

test('the key that the operator makes for a tenant opens its bucket alone, whatever upload it names', async () => {
  const namespace = await newNamespace(cluster);
  const [one, other] = [
    { namespace, name: unique() },
    { namespace, name: unique() },
  ];
  for (const { name } of [one, other]) await cluster.tenants.create(tenantOf(namespace, name, { deletionPolicy: 'Delete' }));
  for (const key of [one, other]) await ready(cluster.tenants, key);
  const [mine, theirs] = (await Promise.all(
    [one, other].map(({ name }) => secretValues(cluster, namespace, `${name}-storage`)),
  )) as unknown as [ObjectsOptions, ObjectsOptions];
  const inTheirs = new Objects(theirs);
  await inTheirs.put('victim/one', Buffer.from('one'));
  const client = newClient(mine);
  const begun = await client.send(new CreateMultipartUploadCommand({ Bucket: mine.bucket, Key: 'mp' }));
  const hostile = { Bucket: mine.bucket, Key: 'mp', UploadId: `../../../../${theirs.bucket}/victim` };
  const nameOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'done',
      (error: Error) => error.name,
    );

  const names = [
    await nameOf(client.send(new UploadPartCommand({ ...hostile, PartNumber: 7, Body: 'x' }))),
    await nameOf(client.send(new AbortMultipartUploadCommand(hostile))),
    await nameOf(client.send(new AbortMultipartUploadCommand({ ...hostile, Bucket: theirs.bucket, UploadId: begun.UploadId }))),
    await nameOf(client.send(new PutBucketPolicyCommand({ Bucket: mine.bucket, Policy: '{}' }))),
    await nameOf(client.send(new GetObjectCommand({ Bucket: theirs.bucket, Key: 'victim/one' }))),
    await nameOf(client.send(new GetObjectCommand({ Bucket: theirs.bucket, Key: MARKER_KEY }))),
  ];

  expect(names).toEqual([
    'NoSuchUpload',
    'NoSuchUpload',
    'AccessDenied',
    expect.stringMatching(/^(AccessDenied|MalformedPolicy)$/),
    'AccessDenied',
    'AccessDenied',
  ]);
  expect(await inTheirs.head('victim/one')).toMatchObject({ size: 3 });
  expect(await inTheirs.head('victim/7')).toBeNull();
  inTheirs.close();
  client.destroy();
  for (const key of [one, other]) await cluster.tenants.delete(key);
  for (const key of [one, other]) await gone(key);
});

test('an adopted bucket comes without the policy and the access list of its former owner', async () => {
  const [slug, root] = [unique(), newClient(testBackends().stores.s3)];
  const bucket = { bucket: bucketName(slug), accessKeyId: bucketName(slug), secretAccessKey: 'one-secret-of-a-key' };
  await admin.ensureBucketWithUser(bucket);
  const everybody = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: '*',
        Action: 's3:*',
        Resource: [`arn:aws:s3:::${bucket.bucket}`, `arn:aws:s3:::${bucket.bucket}/*`],
      },
    ],
  };
  const anonymous = async (): Promise<number> => (await fetch(`${access().endpoint}/${bucket.bucket}?list-type=2`)).status;
  await root.send(new PutBucketPolicyCommand({ Bucket: bucket.bucket, Policy: JSON.stringify(everybody) }));
  expect(await anonymous()).toBe(200);

  const sameKey = await admin.ensureBucketWithUser(bucket);
  const afterAssertion = await anonymous();
  await root.send(new PutBucketPolicyCommand({ Bucket: bucket.bucket, Policy: JSON.stringify(everybody) }));
  await admin.ensureBucketWithUser({ ...bucket, secretAccessKey: 'another-secret-of-a-key' });

  expect([sameKey, afterAssertion, await anonymous()]).toEqual([{ changed: false }, 403, 403]);
  const client = newClient({ ...access(), ...bucket, secretAccessKey: 'another-secret-of-a-key' });
  await waitFor('the new key', () =>
    client.send(new PutObjectCommand({ Bucket: bucket.bucket, Key: 'k', Body: 'v' })).then(
      () => true,
      () => false,
    ),
  );
  await admin.removeBucketWithUser(bucket);
  for (const each of [root, client]) each.destroy();
});
