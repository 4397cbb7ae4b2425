import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as s3 from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from '@jest/globals';
import { serviceUser } from '../../../pkg/local/programs/unprivileged.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { newClient, Objects } from '../../../pkg/store/s3/objects.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';

const running = ownStores();
let admin: StorageAdmin;
let a: TenantBucket;
let b: TenantBucket;
let client: s3.S3Client;
let ofB: Objects;
/** An upload of A's own that is under way. */
let own: { Bucket: string; Key: string; UploadId: string };
const clients: { destroy(): void }[] = [];

const clientOf = (key: { accessKeyId: string; secretAccessKey: string }): s3.S3Client => {
  const made = newClient({ endpoint: running.s3.endpoint, region: running.s3.region, ...key });
  clients.push(made);
  return made;
};

async function newBucket(): Promise<TenantBucket> {
  const bucket = bucketName(`t-${systemRandom.hex(5)}`);
  const made = { bucket, accessKeyId: bucket, secretAccessKey: systemRandom.base64url(24) };
  await admin.ensureBucketWithUser(made);
  return made;
}

beforeAll(async () => {
  admin = new StorageAdmin(running.s3);
  [a, b] = [await newBucket(), await newBucket()];
  client = clientOf(a);
  ofB = new Objects({ ...running.s3, ...b });
  for (const name of ['one', 'two']) await ofB.put(`victim/${name}`, Buffer.from(name));
  await client.send(new s3.PutObjectCommand({ Bucket: a.bucket, Key: 'mine', Body: 'mine' }));
  mkdirSync(join(running.folder, 'outside', 'inner'), { recursive: true });
  writeFileSync(join(running.folder, 'outside', 'inner', 'file'), 'outside of every bucket');
  const begun = await client.send(new s3.CreateMultipartUploadCommand({ Bucket: a.bucket, Key: 'mp' }));
  own = { Bucket: a.bucket, Key: 'mp', UploadId: begun.UploadId ?? '' };
});
atEnd(async () => {
  for (const each of clients) each.destroy();
  ofB?.close();
  admin?.close();
});

/** All files that are not in A's own bucket, with what is in them. */
function elsewhere(folder = running.folder): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === a.bucket || entry.name === 'postgres' || entry.name.startsWith('valkey')) continue;
    if (entry.isDirectory()) Object.assign(found, { [path]: 'folder' }, elsewhere(path));
    else found[path] = createHash('sha256').update(readFileSync(path)).digest('hex');
  }
  return found;
}

type Outcome = readonly [what: string, status: number, code: string];

const outcomeOf = async (what: string, call: () => Promise<unknown>): Promise<Outcome> => {
  try {
    await call();
    return [what, 200, ''];
  } catch (error) {
    const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    return [what, $metadata?.httpStatusCode ?? 0, name];
  }
};

/** From the folder of an upload of A's to a key that is not A's. */
const up = '../../../..';
const uploadIds = (): string[] => [
  `${up}/${b.bucket}/victim`,
  `${up}/../outside`,
  `${up}/../outside/inner`,
  `${up}/../s3-users`,
  `/${join(running.folder, 'outside')}`,
  '..',
  '.',
  '../..',
  `${own.UploadId}/../${up}/${b.bucket}/victim`,
  `${own.UploadId}/..`,
  `${own.UploadId}/`,
  `./${own.UploadId}`,
  `${own.UploadId}.inprogress`,
  own.UploadId.toUpperCase(),
  `{${own.UploadId}}`,
  `urn:uuid:${own.UploadId}`,
  own.UploadId.replaceAll('-', ''),
  `..%2f..%2f..%2f..%2f${b.bucket}%2fvictim`,
  `..\\..\\${b.bucket}`,
  `${own.UploadId}\n`,
  `${own.UploadId}\0`,
  'x'.repeat(300),
];

test('an upload id that the store did not make is no upload, in every call that takes one', async () => {
  const before = elsewhere();
  const Body = 'written by another';
  const part = { PartNumber: 7, Body };
  const CopySource = `${a.bucket}/mine`;
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: '"x"' }] };
  const outcomes: Outcome[] = [];

  for (const UploadId of uploadIds()) {
    const hostile = { Bucket: a.bucket, Key: 'mp', UploadId };
    for (const command of [
      new s3.UploadPartCommand({ ...hostile, ...part }),
      new s3.UploadPartCopyCommand({ ...hostile, PartNumber: 7, CopySource }),
      new s3.ListPartsCommand(hostile),
      new s3.CompleteMultipartUploadCommand({ ...hostile, MultipartUpload }),
      new s3.AbortMultipartUploadCommand(hostile),
    ])
      outcomes.push(
        await outcomeOf(`${command.constructor.name} ${UploadId}`, () => client.send(command as s3.ListPartsCommand)),
      );
  }

  expect(outcomes.filter(([, status, code]) => status !== 404 || code !== 'NoSuchUpload')).toEqual([]);
  expect(outcomes).toHaveLength(uploadIds().length * 5);
  expect(elsewhere()).toEqual(before);
  await client.send(new s3.ListPartsCommand(own)); // A's own is still there
});

test("another's upload is no upload of one's own, and part numbers are those of S3", async () => {
  const theirs = await clientOf(b).send(new s3.CreateMultipartUploadCommand({ Bucket: b.bucket, Key: 'mp' }));
  const foreign = { Bucket: a.bucket, Key: 'mp', UploadId: theirs.UploadId };
  const before = elsewhere();

  const outcomes = [
    await outcomeOf('list', () => client.send(new s3.ListPartsCommand(foreign))),
    await outcomeOf('abort', () => client.send(new s3.AbortMultipartUploadCommand(foreign))),
    await outcomeOf('in their bucket', () => client.send(new s3.AbortMultipartUploadCommand({ ...foreign, Bucket: b.bucket }))),
    ...(await Promise.all(
      [0, -1, 10_001, 2 ** 31 - 1].map((PartNumber) =>
        outcomeOf(`part ${PartNumber}`, () => client.send(new s3.UploadPartCommand({ ...own, PartNumber, Body: 'x' }))),
      ),
    )),
  ];

  expect(outcomes).toEqual([
    ['list', 404, 'NoSuchUpload'],
    ['abort', 404, 'NoSuchUpload'],
    ['in their bucket', 403, 'AccessDenied'],
    ...[0, -1, 10_001, 2 ** 31 - 1].map((number) => [`part ${number}`, 400, 'InvalidArgument']),
  ]);
  expect(elsewhere()).toEqual(before);
});

test('a version id, a marker, a key or a source that leads elsewhere is refused in every call', async () => {
  const before = elsewhere();
  // 26 characters long, as the store's own are, which is all that upstream looks at.
  const versions = [
    `../../${b.bucket}/victim/one`.padEnd(26, '/').slice(0, 26),
    '../../../outside/././inner',
    '..',
    '/etc/passwd',
    'x',
  ];
  const keys = [
    `../${b.bucket}/victim/one`,
    `x/../../${b.bucket}/victim/one`,
    `./../${b.bucket}/victim/one`,
    '..',
    '../../outside/inner/file',
  ];
  const Bucket = a.bucket;
  const commands: (readonly [string, s3.$Command<never, never, never>])[] = [];
  const add = (what: string, ...made: unknown[]): void => {
    for (const command of made)
      commands.push([`${(command as object).constructor.name} ${what}`, command as s3.$Command<never, never, never>]);
  };
  const Tagging = { TagSet: [{ Key: 'k', Value: 'v' }] };
  for (const VersionId of versions) {
    const one = { Bucket, Key: 'mine', VersionId };
    add(
      `version ${VersionId}`,
      new s3.GetObjectCommand(one),
      new s3.HeadObjectCommand(one),
      new s3.DeleteObjectCommand(one),
      new s3.GetObjectAttributesCommand({ ...one, ObjectAttributes: ['ETag'] }),
      new s3.GetObjectTaggingCommand(one),
      new s3.PutObjectTaggingCommand({ ...one, Tagging }),
      new s3.DeleteObjectTaggingCommand(one),
      new s3.GetObjectAclCommand(one),
      new s3.PutObjectAclCommand({ ...one, ACL: 'public-read' }),
      new s3.GetObjectRetentionCommand(one),
      new s3.PutObjectRetentionCommand({ ...one, Retention: { Mode: 'COMPLIANCE', RetainUntilDate: new Date('2099-01-01') } }),
      new s3.GetObjectLegalHoldCommand(one),
      new s3.PutObjectLegalHoldCommand({ ...one, LegalHold: { Status: 'ON' } }),
      new s3.RestoreObjectCommand({ ...one, RestoreRequest: { Days: 1 } }),
      new s3.CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/mine?versionId=${VersionId}` }),
      new s3.UploadPartCopyCommand({
        ...own,
        PartNumber: 1,
        CopySource: `${Bucket}/mine?versionId=${encodeURIComponent(VersionId)}`,
      }),
      new s3.ListObjectVersionsCommand({ Bucket, KeyMarker: 'mine', VersionIdMarker: VersionId }),
    );
  }
  for (const Key of keys) {
    add(
      `key ${Key}`,
      new s3.GetObjectCommand({ Bucket, Key }),
      new s3.HeadObjectCommand({ Bucket, Key }),
      new s3.PutObjectCommand({ Bucket, Key, Body: 'x' }),
      new s3.DeleteObjectCommand({ Bucket, Key }),
      new s3.CreateMultipartUploadCommand({ Bucket, Key }),
      new s3.CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/${Key}` }),
      new s3.CopyObjectCommand({ Bucket, Key: 'copy', CopySource: encodeURIComponent(`${Bucket}/${Key}`) }),
      new s3.CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/mine` }),
      new s3.UploadPartCopyCommand({ ...own, PartNumber: 1, CopySource: `${Bucket}/${Key}` }),
      new s3.UploadPartCopyCommand({
        ...own,
        PartNumber: 1,
        CopySource: `${Bucket}/${Key}`.replaceAll('.', '%2e').replaceAll('/', '%2f'),
      }),
    );
  }
  for (const UploadIdMarker of uploadIds().slice(0, 8))
    add(`marker ${UploadIdMarker}`, new s3.ListMultipartUploadsCommand({ Bucket, KeyMarker: 'a', UploadIdMarker }));

  const outcomes: Outcome[] = [];
  for (const [what, command] of commands) outcomes.push(await outcomeOf(what, () => client.send(command as never)));
  const Objects = [...keys.map((Key) => ({ Key })), ...versions.map((VersionId) => ({ Key: 'mine', VersionId }))];
  const deleted = await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects } })).catch((error: Error) => error);

  expect(outcomes.filter(([, status]) => status < 400 || (status >= 500 && status !== 501))).toEqual([]);
  if (!(deleted instanceof Error)) expect([deleted.Deleted ?? [], deleted.Errors?.length]).toEqual([[], Objects.length]);
  expect(elsewhere()).toEqual(before);
  expect((await client.send(new s3.GetObjectCommand({ Bucket, Key: 'mine' }))).ContentLength).toBe(4);
});

test("a tenant's key reads, writes and lists nothing of another's bucket", async () => {
  const before = elsewhere();
  const Bucket = b.bucket;
  const Key = 'victim/one';
  const commands = [
    new s3.ListObjectsV2Command({ Bucket }),
    new s3.ListObjectsCommand({ Bucket }),
    new s3.ListObjectVersionsCommand({ Bucket }),
    new s3.ListMultipartUploadsCommand({ Bucket }),
    new s3.HeadBucketCommand({ Bucket }),
    new s3.GetBucketAclCommand({ Bucket }),
    new s3.GetBucketPolicyCommand({ Bucket }),
    new s3.GetObjectCommand({ Bucket, Key }),
    new s3.HeadObjectCommand({ Bucket, Key }),
    new s3.GetObjectAttributesCommand({ Bucket, Key, ObjectAttributes: ['ETag'] }),
    new s3.PutObjectCommand({ Bucket, Key, Body: 'x' }),
    new s3.CreateMultipartUploadCommand({ Bucket, Key }),
    new s3.DeleteObjectCommand({ Bucket, Key }),
    new s3.CopyObjectCommand({ Bucket: a.bucket, Key: 'copy', CopySource: `${Bucket}/${Key}` }),
    new s3.CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${a.bucket}/mine` }),
    new s3.UploadPartCopyCommand({ ...own, PartNumber: 1, CopySource: `${Bucket}/${Key}` }),
    new s3.DeleteBucketCommand({ Bucket }),
    new s3.CreateBucketCommand({ Bucket: bucketName(`t-${systemRandom.hex(5)}`) }),
  ];

  const outcomes: Outcome[] = [];
  for (const command of commands) outcomes.push(await outcomeOf(command.constructor.name, () => client.send(command as never)));
  const buckets = (await client.send(new s3.ListBucketsCommand())).Buckets?.map(({ Name }) => Name);
  const several = await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key }] } })).then(
    ({ Errors = [] }) => Errors.map(({ Code }) => Code),
    (error: Error) => [error.name],
  );

  expect(outcomes.filter(([, status]) => status !== 403)).toEqual([]);
  expect([buckets, several]).toEqual([[a.bucket], ['AccessDenied']]);
  expect(elsewhere()).toEqual(before);
});

test('only the administrator configures a bucket; nobody opens their own to others', async () => {
  const Bucket = a.bucket;
  const everybody = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`] },
    ],
  });
  const CORSRules = [{ AllowedMethods: ['GET'], AllowedOrigins: ['*'] }];
  const OwnershipControls = { Rules: [{ ObjectOwnership: 'ObjectWriter' as const }] };
  const commands = [
    new s3.PutBucketPolicyCommand({ Bucket, Policy: everybody }),
    new s3.DeleteBucketPolicyCommand({ Bucket }),
    new s3.PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }),
    new s3.DeleteBucketOwnershipControlsCommand({ Bucket }),
    new s3.PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }),
    new s3.DeleteBucketCorsCommand({ Bucket }),
    new s3.PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration: { IndexDocument: { Suffix: 'index.html' } } }),
    new s3.DeleteBucketWebsiteCommand({ Bucket }),
    new s3.PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'k', Value: 'v' }] } }),
    new s3.DeleteBucketTaggingCommand({ Bucket }),
    new s3.DeleteBucketCommand({ Bucket }),
    new s3.PutObjectAclCommand({ Bucket, Key: 'mine', ACL: 'public-read' }),
  ];
  // Refused for another reason before it is asked who calls; what counts is that they do nothing.
  const besides = [
    new s3.PutBucketAclCommand({ Bucket, ACL: 'public-read-write' }),
    new s3.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
    new s3.PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' } }),
    new s3.PutBucketLifecycleConfigurationCommand({
      Bucket,
      LifecycleConfiguration: { Rules: [{ Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 1 } }] },
    }),
    new s3.DeleteBucketLifecycleCommand({ Bucket }),
    new s3.PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration: { BlockPublicAcls: false } }),
  ];

  const outcomes: Outcome[] = [];
  for (const command of commands) outcomes.push(await outcomeOf(command.constructor.name, () => client.send(command as never)));
  const others: Outcome[] = [];
  for (const command of besides) others.push(await outcomeOf(command.constructor.name, () => client.send(command as never)));
  const root = clientOf(running.s3);
  // Only the administrator can allow the owner to use ACLs at all.
  await root.send(new s3.PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }));
  const withAcls = await outcomeOf('acl', () => client.send(new s3.PutBucketAclCommand({ Bucket, ACL: 'public-read-write' })));
  await root.send(new s3.DeleteBucketOwnershipControlsCommand({ Bucket }));
  const anonymous = await Promise.all(
    ['', 'mine'].map(async (path) => (await fetch(`${running.s3.endpoint}/${Bucket}/${path}`)).status),
  );
  const policy = await outcomeOf('policy', () => root.send(new s3.GetBucketPolicyCommand({ Bucket })));
  const acl = await root.send(new s3.GetBucketAclCommand({ Bucket }));

  expect(outcomes.filter(([, status, code]) => status !== 403 || code !== 'AccessDenied')).toEqual([]);
  expect(others.filter(([, status]) => status < 400)).toEqual([]);
  expect(withAcls).toEqual(['acl', 403, 'AccessDenied']);
  expect(anonymous).toEqual([403, 403]);
  expect(policy).toEqual(['policy', 404, 'NoSuchBucketPolicy']);
  expect(acl.Grants?.map(({ Grantee, Permission }) => [Grantee?.ID, Permission])).toEqual([[a.accessKeyId, 'FULL_CONTROL']]);
});

const statusOfStore = (): string => {
  const pid = readFileSync(join(running.folder, '..', 'run', 'versitygw.pid'), 'utf8').trim();
  return readFileSync(`/proc/${pid}/status`, 'utf8');
};

test('the object store has no privileges, also where all else runs as root', () => {
  expect(/^CapEff:\s*(\w+)$/m.exec(statusOfStore())?.[1]).toBe('0000000000000000');
});

test('the object store is not root to the machine, where root can become another user', async () => {
  const user = await serviceUser();
  const ids = /^Uid:\s*(.*)$/m.exec(statusOfStore())?.[1]?.split('\t');

  if (user) expect(ids).toEqual(Array.from({ length: 4 }, () => String(user.uid)));
  else if (process.getuid?.() !== 0) expect(ids).not.toContain('0');
});

test('objects that root’s object store wrote before are there after the next start, with their attributes', async () => {
  const key = { Bucket: a.bucket, Key: 'from before' };
  await client.send(new s3.PutObjectCommand({ ...key, Body: 'kept', ContentType: 'text/x-kept' }));
  if (await serviceUser())
    for (const folder of ['s3', 's3-users']) execFileSync('chown', ['-hR', '0:0', join(running.folder, folder)]);

  await running.kill('versitygw');
  const found = await waitFor('the object store', () => client.send(new s3.GetObjectCommand(key)).catch(() => undefined));

  expect(found.ContentType).toBe('text/x-kept');
  expect(await found.Body?.transformToString()).toBe('kept');
  await client.send(new s3.DeleteObjectCommand(key));
});

test('a large object goes up in parts, is copied, read and deleted by the key of its bucket', async () => {
  const objects = new Objects({ ...running.s3, ...a });
  clients.push({ destroy: () => objects.close() });
  const bytes = systemRandom.bytes(20 << 20);

  await objects.put('large', bytes);
  await objects.copy('large', 'copy of it');
  const read = createHash('sha256');
  for await (const chunk of (await objects.get('copy of it')).body) read.update(chunk as Buffer);
  await objects.delete(['large', 'copy of it']);

  expect(read.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(await objects.head('large')).toBeNull();
});
