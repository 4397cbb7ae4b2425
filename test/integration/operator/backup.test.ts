import { expect, test } from '@jest/globals';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, type SealingKey } from '../../../pkg/runtime/sealing.ts';
import { quoteIdentifier } from '../../../pkg/store/postgres/pool.ts';
import { dropTenant, ensureShard, replaceSchema, tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import type { RegisteredTenant } from '../../../pkg/store/postgres/registry.ts';
import type { Objects } from '../../../pkg/store/s3/objects.ts';
import { backUp } from '../../../pkg/tenantdata/backup.ts';
import { pruneBackups } from '../../../pkg/tenantdata/prune-backups.ts';
import { loadTables } from '../../../pkg/tenantdata/load-tables.ts';
import { FolderRepository } from '../../../pkg/tenantdata/repository/folder.ts';
import type { Repository } from '../../../pkg/tenantdata/repository/repository.ts';
import { restore } from '../../../pkg/tenantdata/restore.ts';
import { signed } from '../../../pkg/tenantdata/signature.ts';
import { takeSnapshot } from '../../../pkg/tenantdata/snapshot.ts';
import { openBackup, rowsIn } from '../../../pkg/tenantdata/verify.ts';
import { type AlteredManifest, withoutSignature } from '../../support/data/altered-backup.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { catalogOf } from '../../support/models/catalog.ts';
import { insertRows, ROWS_OF_TENANT } from '../../support/data/every-table.ts';
import { openedSecret, rowsOfTenant, unanalyzed } from '../../support/data/filled-tenant.ts';
import { condition, unique } from '../../support/cluster/operator.ts';
import { newTenant } from '../../support/backends/tenant.ts';
import { backupSuite, type Ready } from './backup-suite.ts';

const { cluster, pool, carrel, backup, backups, restored, readyOne, filled, suspend, newFolder, inSchema } = backupSuite();
const { stores } = testBackends();
const platformKeys = parseSealingKeys(stores.platformKeys);
const [platformKey] = platformKeys as [SealingKey];

const contentOf = async (objects: Objects, key: string): Promise<string> =>
  Buffer.concat((await (await objects.get(key)).body.toArray()) as Buffer[]).toString('utf8');
/** Everybody is signed out by a restore, and the audit log says so; what all tenants share gets new ids. */
const lasting = (rows: Record<string, unknown[]>) => ({
  ...Object.fromEntries(
    Object.entries(rows).map(([table, found]) => [
      table,
      table.startsWith('carrel.') ? found.map((row) => withoutIds(row as object)) : found,
    ]),
  ),
  'tenant.sessions': rows['tenant.sessions']?.length,
  'tenant.audit_entries': rows['tenant.audit_entries']?.filter((entry) => (entry as { action: string }).action !== 'session.end'),
});
const withoutIds = (row: object): object => ({ ...row, id: undefined, event_id: undefined });

test('a tenant that lost rows and objects gets all of them back, and only a suspended one is restored', async () => {
  const tenant = await filled();
  const folder = await newFolder();
  const before = await rowsOfTenant(pool, tenant.slug);

  const backedUp = await carrel(['tenants', 'backup', tenant.slug, '--to', folder]);
  await inSchema(
    tenant,
    `DELETE FROM files; DELETE FROM folders; UPDATE users SET display_name = 'changed' WHERE username = 'ada'`,
  );
  await pool.query('DELETE FROM carrel.events WHERE tenant = $1', [tenantRole(tenant.slug)]);
  await tenant.objects.delete(tenant.keys.slice(0, 2));
  const early = await restored(tenant.slug, folder);
  const nobody = await backup(['nobody'], folder);
  const file = await backup([tenant.slug], '/dev/null/x');
  await suspend(tenant);
  const unasked = await restored(tenant.slug, folder);
  const done = await carrel(['tenants', 'restore', tenant.slug, '--from', folder, '--replace']);

  expect([backedUp.code, backedUp.stdout]).toEqual([
    0,
    expect.stringMatching(/read back: \d+ rows, 4 objects \(97\.\d KiB\), of which 4 new/),
  ]);
  expect([nobody.stderr, file.stderr]).toEqual([
    'carrel: there is no tenant with the slug nobody, and no data of one\n',
    expect.stringMatching(/^carrel: [^\n]*\/dev\/null\/x[^\n]*\n$/),
  ]);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('is in use. Set suspended: true')]);
  expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('--replace')]);
  expect([done.code, done.stderr, done.stdout]).toEqual([0, '', expect.stringContaining('2 objects')]);
  expect(lasting(await rowsOfTenant(pool, tenant.slug))).toEqual(lasting(before));
  expect(await contentOf(tenant.objects, tenant.keys[0] ?? '')).toContain('first');
  expect(await inSchema(tenant, 'SELECT FROM sessions WHERE ended_at IS NULL')).toEqual([]);
  await cluster.tenants.patch(tenant.key, { spec: { suspended: false } });
  await condition(cluster.tenants, tenant.key, 'Ready', 'True');
  // Numbers go on, and foreign keys and triggers are back.
  await expect(
    inSchema(tenant, `INSERT INTO folders (uuid, name, path, owner_id) VALUES (gen_random_uuid(), 'z', '/z', 999999)`),
  ).rejects.toThrow('violates foreign key');
  await inSchema(
    tenant,
    `INSERT INTO folders (uuid, name, path, owner_id) SELECT gen_random_uuid(), 'z', '/z', id FROM users WHERE username = 'ada'`,
  );
  expect(await inSchema(tenant, `SELECT ancestry::text = id::text AS placed FROM folders WHERE name = 'z'`)).toEqual([
    { placed: true },
  ]);
});

test('every column of every table comes back, ids continue, migrated data are the same, and plans are ready', async () => {
  const shard = { pool, clock: systemClock, random: systemRandom };
  await ensureShard(shard);
  const tenant = await newTenant(stores, shard);
  cluster.onClose(async () => void (await dropTenant(shard, tenant.slug)));
  await pool.transaction(async (tx) => {
    await tx.query(`SET LOCAL search_path = ${quoteIdentifier(tenant.role)}, ext`);
    await insertRows(tx, ROWS_OF_TENANT);
  });
  const [before, shape] = [await rowsOfTenant(pool, tenant.slug), await catalogOf(pool, tenant.role)];
  const [repository, stamp] = [new FolderRepository(await newFolder()), '20261123T000000Z'];

  const { migrations, tables } = await takeSnapshot({ pool, slug: tenant.slug, repository, stamp });
  await pool.copying((tx) =>
    replaceSchema(tx, tenant, migrations, async () => {
      const loaded = tables
        .filter(({ of }) => of === 'tenant')
        .map((table) => ({ ...table, expected: table, rowsOf: () => rowsIn(repository, { slug: tenant.slug, stamp }, table) }));
      await loadTables(tx, tenant.slug, loaded);
    }),
  );

  expect(await rowsOfTenant(pool, tenant.slug)).toEqual(before);
  expect(Object.entries(before).filter(([table, rows]) => table.startsWith('tenant.') && rows.length === 0)).toEqual([]);
  expect(await catalogOf(pool, tenant.role)).toEqual(shape);
  expect(await unanalyzed(pool, tenant.slug)).toEqual([]);
  expect(
    await pool.query(
      `INSERT INTO ${quoteIdentifier(tenant.role)}.users (uuid, email, username) VALUES (gen_random_uuid(), 'n@example.org', 'n')
       RETURNING id`,
    ),
  ).toEqual([{ id: (before['tenant.users']?.length ?? 0) + 1 }]);
});

test('a second backup copies only what is new; older ones go with objects no other has, and each is verified', async () => {
  const tenant = await filled();
  const folder = await newFolder();
  const list = async () =>
    (await readdir(join(folder, tenant.slug, 'objects'), { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    ).length;

  await backup([tenant.slug], folder);
  await inSchema(tenant, `DELETE FROM files WHERE name = 'file 3.txt'`);
  const second = await backup([tenant.slug], folder);
  const [oldest = ''] = await readdir(join(folder, tenant.slug));
  const both = await list();
  const third = await backup([tenant.slug], folder, undefined, 1);
  const verified = await backups(tenant.slug, folder, true);
  const one = await list();
  const [, object = ''] = (await readdir(join(folder, tenant.slug), { recursive: true })).filter((name) =>
    /^objects\/.*\/.{32}$/.test(name),
  );
  await writeFile(join(folder, tenant.slug, object), 'something else');
  const damaged = await backups(tenant.slug, folder, true);

  expect(second.stdout).toContain('of which 0 new');
  expect([both, one]).toEqual([4, 3]);
  expect(third.stdout).toContain(`deleted ${oldest}`);
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringMatching(/^\d{8}T\d{6}Z  \d+ rows, 3 objects[^]*Every byte is as it was written\.\n$/),
  ]);
  expect([damaged.code, damaged.stdout]).toEqual([1, expect.stringContaining(`WRONG  ${tenant.slug}/${object} is damaged`)]);
});

test('a backup in a bucket becomes a copy whose secrets open and that calls nobody; the tenant keeps its own', async () => {
  const [tenant, copy] = await Promise.all([filled(), readyOne()]);
  const own = { bucket: unique('backups'), accessKeyId: unique('key'), secretAccessKey: unique('secret') };
  await new StorageAdmin(stores.s3).ensureBucketWithUser(own);
  const env = {
    AWS_ACCESS_KEY_ID: own.accessKeyId,
    AWS_SECRET_ACCESS_KEY: own.secretAccessKey,
    AWS_ENDPOINT_URL: stores.s3.endpoint,
  };
  const repository = `s3://${own.bucket}/daily`;
  await suspend(copy);
  // The copy's data key was replaced three times.
  await pool.query(
    `INSERT INTO registry.credentials (tenant_id, name, changed_at, step_at, generation) VALUES ($1, 'data', now(), now(), 3)`,
    [copy.tenantId],
  );
  // The tenant's role can do this too.
  await inSchema(
    tenant,
    `INSERT INTO webhooks (uuid, url, events, secret)
     VALUES (gen_random_uuid(), 'https://x.example/', '{file.created}', 'v1.a.b')`,
  );

  const unset = await backup([tenant.slug], repository);
  const within = await backup([tenant.slug], `s3://carrel-${tenant.slug}/x`, env);
  const wrongKey = await backup([tenant.slug], repository, { ...env, AWS_SECRET_ACCESS_KEY: 'wrong' });
  const away = await backup([tenant.slug], repository, { ...env, AWS_ENDPOINT_URL: 'http://127.0.0.1:9' });
  const backedUp = await backup([tenant.slug, copy.slug], repository, env);
  const foreign = await restored(
    copy.slug,
    repository,
    { of: tenant.slug },
    {
      ...env,
      CARREL_PLATFORM_KEYS: `other:${Buffer.alloc(32).toString('base64')}`,
    },
  );
  const copied = await restored(copy.slug, repository, { of: tenant.slug }, env);

  expect([unset.code, unset.stderr]).toEqual([1, expect.stringContaining('AWS_ACCESS_KEY_ID')]);
  expect([within.code, within.stderr]).toEqual([1, expect.stringContaining('name another one')]);
  expect([backedUp.code, backedUp.stdout]).toEqual([0, expect.stringContaining('2 of 2 tenants are backed up completely.')]);
  expect([wrongKey.code, wrongKey.stderr]).toEqual([
    1,
    expect.stringMatching(/^carrel: s3:\/\/\S+: SignatureDoesNotMatch: [^\n]+\n$/),
  ]);
  expect([away.code, away.stderr]).toEqual([1, expect.stringMatching(/^carrel: s3:\/\/\S+ does not answer: [^\n]+\n$/)]);
  expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringMatching(/^carrel: CARREL_PLATFORM_KEYS [^\n]+\n$/)]);
  expect([copied.code, copied.stdout, copied.stderr]).toEqual([
    0,
    expect.stringContaining('inactive'),
    expect.stringContaining('1 secret of webhooks or registrations cannot be opened'),
  ]);
  const rows = await rowsOfTenant(pool, copy.slug);
  expect(rows['tenant.users']).toContainEqual(expect.objectContaining({ username: 'ada', tenant_id: Number(copy.tenantId) }));
  expect(rows['tenant.webhooks']).toEqual(Array.from({ length: 2 }, () => expect.objectContaining({ active: false })));
  expect([rows['carrel.events'], rows['carrel.deliveries'], rows['carrel.work']]).toEqual([[], [], []]);
  expect(await openedSecret(pool, copy.slug, copy.tenantId, stores.platformKeys)).toBe(tenant.secret);
  expect(await openedSecret(pool, tenant.slug, tenant.tenantId, stores.platformKeys)).toBe(tenant.secret);
  expect(rows['tenant.webhooks']).toContainEqual(expect.objectContaining({ secret: expect.stringMatching(/^v1\.[^.~]+~3\./) }));
  expect(await contentOf(copy.objects, tenant.keys[1] ?? '')).toContain('second');
});

test('a damaged backup, and one of a later release, change nothing; an object that the storage has lost is named', async () => {
  const tenant = await filled();
  const folder = await newFolder();
  await tenant.objects.delete(tenant.keys.slice(0, 1));

  const lossy = await backup([tenant.slug], folder);
  await suspend(tenant);
  const before = await rowsOfTenant(pool, tenant.slug);
  const [stamp = ''] = await readdir(join(folder, tenant.slug));
  const [users, manifest] = ['tenant/users.copy.gz', 'manifest.json'].map((file) => join(folder, tenant.slug, stamp, file)) as [
    string,
    string,
  ];
  const [rows, text] = await Promise.all([readFile(users), readFile(manifest, 'utf8')]);
  const restore = () => restored(tenant.slug, folder, { replace: true });
  await writeFile(users, rows.subarray(0, rows.length - 20));
  const cut = await restore();
  await writeFile(users, rows);
  const written = withoutSignature(JSON.parse(text) as AlteredManifest);
  await writeFile(
    manifest,
    JSON.stringify(signed({ ...written, migrations: [...written.migrations, '9999-later'] }, platformKey)),
  );
  const later = await restore();
  await rm(manifest);
  const none = await restore();

  expect([lossy.code, lossy.stderr]).toEqual([1, expect.stringContaining(`such as ${tenant.keys[0]}`)]);
  expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining('damaged')]);
  expect([later.code, later.stderr]).toEqual([1, expect.stringContaining('9999-later')]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('has no backup')]);
  expect(await rowsOfTenant(pool, tenant.slug)).toEqual(before);
});

/** The options of the command, in this process. */
const options = (repository: Repository, more: Partial<{ clock: Clock }> = {}) => ({
  repository,
  clock: systemClock,
  signal: new AbortController().signal,
  onProgress: () => undefined,
  ...more,
});
const sourceOf = (tenant: Ready) => ({ ...tenant, pool, installation: 'test', platformKey });

/** A folder that calls `after` once it has written something. */
class HookedFolder extends FolderRepository {
  readonly #after: (name: string) => Promise<void>;

  constructor(path: string, after: (name: string) => Promise<void>) {
    super(path);
    this.#after = after;
  }

  override async put(name: string, body: Readable | Buffer): Promise<void> {
    await super.put(name, body);
    await this.#after(name);
  }
}

test('files deleted for good during a backup are in it neither as rows nor as objects', async () => {
  const tenant = await filled();
  let snapshots = 0;
  const repository = new HookedFolder(await newFolder(), async (name) => {
    if (!name.endsWith('shared/work.copy.gz') || ++snapshots > 1) return;
    await inSchema(tenant, `DELETE FROM files WHERE name = 'file 0.txt'`);
    await tenant.objects.delete(tenant.keys.slice(0, 1));
  });

  const { manifest } = await backUp(sourceOf(tenant), options(repository));

  expect(manifest).toMatchObject({ missing: [], objects: { count: 3 } });
  expect([snapshots, manifest.tables.find(({ name }) => name === 'files')?.rows]).toEqual([2, 2]);
});

test('backups that nobody signed do not crowd out those that are signed, nor are they counted as kept', async () => {
  const tenant = await filled();
  const folder = await newFolder();
  await backup([tenant.slug], folder);
  const own = join(folder, tenant.slug);
  const [first = ''] = await readdir(own);
  for (const forged of ['20000101T000000Z', '20980101T000000Z', '20990101T000000Z'])
    await cp(join(own, first), join(own, forged), { recursive: true });

  const manifests = async (): Promise<string[]> =>
    (await readdir(own, { recursive: true }))
      .filter((name) => name.endsWith('/manifest.json'))
      .map((name) => name.split('/')[0] ?? '');

  const second = await backup([tenant.slug], folder, undefined, 1);
  const verified = await backups(tenant.slug, folder, true);

  expect(second.stdout).toContain(`${tenant.slug}: deleted 20000101T000000Z, ${first}; the newest 1 are kept.`);
  expect((await manifests()).toSorted()).toEqual([expect.stringMatching(/^202/), '20980101T000000Z', '20990101T000000Z']);
  expect(verified.stdout).toMatch(/^(?!2098|2099)\d{8}T\d{6}Z  \d+ rows, 4 objects/m);
});

test('a backup that is cut off is none and is gone a day later, and the next one uses the objects that it copied', async () => {
  const tenant = await filled();
  const folder = await newFolder();
  const full = new HookedFolder(folder, async (name) => {
    if (name.endsWith(tenant.keys[1] ?? '')) throw new Error('no space left on device');
  });

  await expect(backUp(sourceOf(tenant), options(full))).rejects.toThrow('no space left');
  const unfinished = await backups(tenant.slug, folder);
  const next = await backUp(sourceOf(tenant), options(new FolderRepository(folder)));
  const early = await pruneBackups(new FolderRepository(folder), tenant.slug, { keep: 5, keys: [platformKey], now: new Date() });
  const late = await pruneBackups(new FolderRepository(folder), tenant.slug, {
    keep: 5,
    keys: [platformKey],
    now: new Date(Date.now() + 25 * 3_600_000),
  });

  expect(unfinished.stdout).toMatch(/^\d{8}T\d{6}Z  unfinished/);
  expect(next.copied.objects).toBeLessThan(4);
  expect([early.length, late.length]).toEqual([0, 1]);
});

test('a restore begins once no job of the tenant runs', async () => {
  const tenant = await filled();
  const repository = new FolderRepository(await newFolder());
  const { stamp } = await backUp(sourceOf(tenant), options(repository));
  const backedUp = await openBackup(repository, { slug: tenant.slug, stamp }, platformKeys);
  await suspend(tenant);
  const role = tenantRole(tenant.slug);
  await pool.query(
    `UPDATE carrel.work SET leased_until = now() + interval '1 hour', fence = gen_random_uuid() WHERE tenant = $1`,
    [role],
  );
  let waits = 0;
  const clock: Clock = {
    ...systemClock,
    sleep: async () => {
      waits += 1;
      await pool.query('UPDATE carrel.work SET leased_until = NULL, fence = NULL WHERE tenant = $1', [role]);
    },
  };
  const registry = {
    beginAdoption: async () => undefined,
    installation: async () => 'test',
    find: async () => ({ tenantId: tenant.tenantId }) as RegisteredTenant,
  };

  await restore(
    { ...tenant, credentials: {}, pool, registry },
    {
      ...options(repository, { clock }),
      backup: backedUp,
      replace: true,
      unsigned: false,
      former: false,
      random: systemRandom,
      platformKeys,
    },
  );

  expect(waits).toBe(1);
});
