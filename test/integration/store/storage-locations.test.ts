import { beforeAll, expect, test } from '@jest/globals';
import { type AddressInfo, createServer } from 'node:net';
import { recordStorage } from '../../../pkg/operator/tenant/storage/record-storage.ts';
import { AskedStore, takeStorage } from '../../../pkg/operator/tenant/storage/storage-location.ts';
import { ConditionError } from '../../../pkg/operator/conditions/runner.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { normalizedEndpoint, StorageTaken } from '../../../pkg/store/postgres/storage-locations.ts';
import { StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { markerOf, writeFirstMarker, writeMarker } from '../../../pkg/store/s3/owner-marker.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { range } from '../../support/wait.ts';

const { running, pool, registry } = storeSuite();
let bucket: TenantBucket;
let objects: Objects;

beforeAll(async () => {
  await pool.query(`INSERT INTO registry.shards (name) VALUES ('one') ON CONFLICT DO NOTHING`);
  const name = `own-${systemRandom.hex(4)}`;
  bucket = { bucket: name, accessKeyId: name, secretAccessKey: systemRandom.base64url(24) };
  const admin = new StorageAdmin(running.s3);
  await admin.ensureBucketWithUser(bucket);
  admin.close();
  objects = new Objects({ ...running.s3, ...bucket });
});
atEnd(() => objects?.close());

async function newTenant(): Promise<string> {
  const slug = `t-${systemRandom.hex(5)}`;
  const { tenantId } = await registry.claim({
    slug,
    owner: { namespace: 'n', namespaceUid: 'u', name: slug },
    hosts: [],
    shards: ['one'],
  });
  return tenantId;
}

const at = (endpoint: string, name: string, prefix = '') => ({ endpoint, bucket: name, prefix, isOwn: false });
const outcomeOf = (taking: Promise<void>): Promise<string> =>
  taking.then(
    () => 'taken up',
    (error: unknown) => (error instanceof StorageTaken ? 'StorageTaken' : String(error)),
  );

test('one of twenty tenants that claim nested locations at once gets its own', async () => {
  const tenants = await Promise.all(range(20).map(newTenant));
  const prefixes = ['', 'a/', 'a/b/', 'a/b/c/'];
  const name = `b-${systemRandom.hex(4)}`;

  const outcomes = await Promise.all(
    tenants.map((tenant, index) =>
      outcomeOf(registry.setStorage(tenant, at('https://s3.example.org', name, prefixes[index % prefixes.length]), 'sealed')),
    ),
  );

  expect(outcomes.filter((outcome) => outcome === 'taken up')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'StorageTaken')).toHaveLength(19);
  const sealed = await Promise.all(tenants.map((tenant) => registry.getSecret(tenant, 'storage')));
  expect(sealed.filter((value) => value !== null)).toHaveLength(1);
});

test('one address of a store in other letters, with its port, a slash or another scheme is the same location', async () => {
  const [first, second] = [await newTenant(), await newTenant()];
  const name = `b-${systemRandom.hex(4)}`;
  await registry.setStorage(first, at('https://s3.example.org', name), 'sealed');

  const same = [
    'https://S3.Example.ORG',
    'https://s3.example.org:443/',
    'http://s3.example.org',
    'http://s3.example.org:80',
    'https://s3.example.org./',
  ];
  const outcomes = await Promise.all(
    same.map((endpoint) => outcomeOf(registry.setStorage(second, at(endpoint, name), 'sealed'))),
  );

  expect(outcomes).toEqual(same.map(() => 'StorageTaken'));
  expect(
    ['https://s3.example.org:9000', 'https://eu.s3.example.org', 'https://s3.example.org/eu'].map(normalizedEndpoint),
  ).toEqual(['s3.example.org:9000', 'eu.s3.example.org', 's3.example.org/eu']);
});

test('a location is free again when its tenant leaves it or is deleted, and taken while its data are retained', async () => {
  const [first, second] = [await newTenant(), await newTenant()];
  const [one, two] = [
    at('https://s3.example.org', `b-${systemRandom.hex(4)}`),
    at('https://s3.example.org', `b-${systemRandom.hex(4)}`),
  ];
  await registry.setStorage(first, one, 'sealed');
  await registry.setStorage(first, two, 'sealed');
  await registry.retain(first);

  expect(await outcomeOf(registry.setStorage(second, one, 'sealed'))).toBe('taken up');
  expect(await outcomeOf(registry.setStorage(second, two, 'sealed'))).toBe('StorageTaken');
  await registry.remove(first);
  expect(await outcomeOf(registry.setStorage(second, two, 'sealed'))).toBe('taken up');
});

test('a bucket that was made for a tenant stays its while its files are elsewhere', async () => {
  const [first, second] = [await newTenant(), await newTenant()];
  const own = { ...at('https://s3.example.org', `carrel-${systemRandom.hex(4)}`), isOwn: true };
  await registry.setStorage(first, own, 'sealed');

  await registry.setStorage(first, at('https://s3.example.org', `b-${systemRandom.hex(4)}`), 'sealed');

  expect(await outcomeOf(registry.setStorage(second, { ...own, isOwn: false }, 'sealed'))).toBe('StorageTaken');
  expect([await registry.hasBucket(first), await registry.hasBucket(second)]).toEqual([true, false]);
});

async function taking(wanted: ObjectsOptions, as: { readonly tenantId: string; readonly marker: string }): Promise<void> {
  const store = new AskedStore(wanted, { isOwn: false, signal: new AbortController().signal });
  try {
    await takeStorage({ registry, ...as, isOwn: false, before: wanted, store, sealed: JSON.stringify(wanted) });
  } finally {
    store.close();
  }
}

test('if two tenants shared a location before locations were recorded, neither’s sweep may delete from then on', async () => {
  const [first, second] = [await newTenant(), await newTenant()];
  const wanted = { endpoint: running.s3.endpoint, region: running.s3.region, ...bucket, prefix: 'both/' };
  const atLocation = new Objects(wanted);
  const take = (tenantId: string): Promise<void> => taking(wanted, { tenantId, marker: `tenant ${tenantId} of here` });

  await take(first);
  const alone = await markerOf(atLocation);
  const refused = await take(second).catch((error: unknown) => error);

  expect(alone).toBe(`tenant ${first} of here`);
  expect(refused).toBeInstanceOf(ConditionError);
  expect(refused).toMatchObject({ reason: 'StorageTaken', isTerminal: true });
  expect(await markerOf(atLocation)).toBe('shared by several tenants');
  // Nor where the first one's marker has not come yet when the second looks.
  await atLocation.delete(['.carrel-tenant']);
  await expect(take(second)).rejects.toMatchObject({ reason: 'StorageTaken' });
  expect(await markerOf(atLocation)).toBe('shared by several tenants');
  atLocation.close();
});

/** Makes tenants as an operator left them that recorded no locations: with the sealed access alone. */
async function upgraded(prefixes: readonly string[], folder: string) {
  const tenants = await Promise.all(
    prefixes.map(async (prefix) => ({
      tenantId: await newTenant(),
      wanted: { endpoint: running.s3.endpoint, region: running.s3.region, ...bucket, prefix: folder + prefix },
    })),
  );
  tenants.sort((a, b) => Number(a.tenantId) - Number(b.tenantId));
  for (const { tenantId, wanted } of tenants) await registry.setSecret(tenantId, 'storage', JSON.stringify(wanted));
  return tenants.map(({ tenantId, wanted }) => ({
    tenantId,
    prefix: wanted.prefix,
    marker: `tenant ${tenantId} of here`,
    objects: new Objects(wanted),
    take: () => taking(wanted, { tenantId, marker: `tenant ${tenantId} of here` }),
  }));
}

/** Returns the options of a sealed access. Some tests here seal texts that are not one. */
const options = (sealed: string) =>
  sealed.startsWith('{')
    ? (JSON.parse(sealed) as TenantBucket & { endpoint: string; region: string; prefix?: string })
    : { ...running.s3, bucket: '', endpoint: '', prefix: '' };
const record = (): Promise<void> => recordStorage({ registry, options, log: silentLogger });

test.each([
  ['in one location', ['', '']],
  ['one within the other', ['', 'files/']],
])(
  'where a tenant that is retained has its objects %s with another one’s since before locations were recorded, ' +
    'neither’s sweep may delete',
  async (_what, prefixes) => {
    const [first, second] = await upgraded(prefixes, `${systemRandom.hex(4)}/`);
    if (!first || !second) throw new Error('two tenants were expected');
    await registry.retain(second.tenantId);

    await record();
    await first.take();
    const marker = await markerOf(first.objects);
    const refused = await second.take().catch((error: unknown) => error);
    await record();
    await first.take();

    expect(marker).toBe('shared by several tenants');
    expect(refused).toMatchObject({ reason: 'StorageTaken', isTerminal: true });
    expect([await markerOf(first.objects), await markerOf(second.objects)]).toEqual([marker, marker]);
    const third = await newTenant();
    const { endpoint } = running.s3;
    expect(await outcomeOf(registry.setStorage(third, at(endpoint, bucket.bucket, `${second.prefix}more/`), 'sealed'))).toBe(
      'StorageTaken',
    );
    for (const { objects: each } of [first, second]) each.close();
  },
);

test('a shared location that cannot be marked while it is recorded is marked by who takes it', async () => {
  const [first, second] = await upgraded(['', ''], `${systemRandom.hex(4)}/`);
  if (!first || !second) throw new Error('two tenants were expected');
  await writeMarker(first.objects, first.marker);

  await recordStorage({ registry, options: (sealed) => ({ ...options(sealed), secretAccessKey: 'wrong' }), log: silentLogger });
  const unmarked = await markerOf(first.objects);
  await first.take();

  expect(unmarked).toBe(first.marker);
  expect(await markerOf(first.objects)).toBe('shared by several tenants');
  for (const { objects: each } of [first, second]) each.close();
});

test('a shared location whose endpoint accepts connections and never replies delays the others for a bounded time', async () => {
  let attempts = 0;
  const stalled = createServer(() => (attempts += 1));
  await new Promise<void>((resolve) => stalled.listen(0, '127.0.0.1', resolve));
  const folder = `${systemRandom.hex(4)}/`;
  const [first, second] = await upgraded(['', ''], folder);
  const silent = await upgraded(['', ''], `${systemRandom.hex(4)}/`);
  if (!first || !second) throw new Error('two tenants were expected');
  const isSilent = (sealed: string): boolean => silent.some(({ prefix }) => options(sealed).prefix === prefix);
  const endpoint = `http://127.0.0.1:${(stalled.address() as AddressInfo).port}`;

  await recordStorage({
    registry,
    options: (sealed) => ({ ...options(sealed), ...(isSilent(sealed) ? { endpoint } : {}) }),
    log: silentLogger,
    markingMs: 2_000,
  });

  // A silent store is given 4.5 s for an attempt, and two attempts: the bound ends the first for each of the tenants.
  expect(attempts).toBe(silent.length);
  expect(await markerOf(first.objects)).toBe('shared by several tenants');
  for (const { objects: each } of [first, second, ...silent]) each.close();
  stalled.close();
});

test('one of twenty concurrent writers of the first marker succeeds, and each learns what it says', async () => {
  const atLocation = new Objects({
    endpoint: running.s3.endpoint,
    region: running.s3.region,
    ...bucket,
    prefix: `${systemRandom.hex(4)}/`,
  });

  const said = await Promise.all(range(20).map((index) => writeFirstMarker(atLocation, `tenant ${index} of here`)));

  expect(new Set(said)).toEqual(new Set([await markerOf(atLocation)]));
  atLocation.close();
});
