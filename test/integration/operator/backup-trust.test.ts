import { beforeAll, expect, test } from '@jest/globals';
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { parseSealingKeys, type SealingKey } from '../../../pkg/runtime/sealing.ts';
import { sharedTables } from '../../../pkg/store/postgres/data-tables.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { backUp } from '../../../pkg/tenantdata/backup.ts';
import { FolderRepository } from '../../../pkg/tenantdata/repository/folder.ts';
import { signed } from '../../../pkg/tenantdata/signature.ts';
import { AlteredBackup, type AlteredManifest, withoutSignature } from '../../support/data/altered-backup.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { type Filled, openedSecret, rowsOfTenant } from '../../support/data/filled-tenant.ts';
import { backupSuite, type Ready } from './backup-suite.ts';

/** Whoever can write to the repository has no key of the platform. */

const { pool, carrel, backup, backups, restored, filled, suspend, newFolder, inSchema } = backupSuite();
const { stores } = testBackends();
const [platformKey] = parseSealingKeys(stores.platformKeys) as [SealingKey];
const MAX_SAFE = '9007199254740991';

let tenant: Ready & Filled;
let neighbour: Ready & Filled;
let repository: string;
let older: string;
let newer: string;
let before: Awaited<ReturnType<typeof rowsOfTenant>>;

beforeAll(async () => {
  [tenant, neighbour] = await Promise.all([filled(), filled()]);
  repository = await newFolder();
  await backup([tenant.slug], repository);
  await inSchema(tenant, `UPDATE users SET display_name = 'Later' WHERE username = 'ada'`);
  await backup([tenant.slug, neighbour.slug], repository);
  [older = '', newer = ''] = (await readdir(join(repository, tenant.slug))).filter((name) => name !== 'objects').toSorted();
  await suspend(tenant);
  before = await rowsOfTenant(pool, tenant.slug);
}, 180_000);

const altered = (stamp?: string): Promise<AlteredBackup> => AlteredBackup.of(repository, tenant.slug, stamp);
const signedBy = (key: SealingKey) => (manifest: AlteredManifest) => signed(withoutSignature(manifest), key);
/** Returns the last values of the sequences of tables that all tenants share. Other tenants go on meanwhile. */
async function sequences(): Promise<bigint[]> {
  const found: bigint[] = [];
  for (const { name, identity } of await sharedTables(pool)) {
    if (identity === null) continue;
    const [row] = await pool.query<{ last: string }>(
      `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0)::text AS last`,
      [`carrel.${name}`, identity],
    );
    found.push(BigInt(row?.last ?? 0));
  }
  return found;
}
const isNear = (after: readonly bigint[], before: readonly bigint[]): boolean =>
  after.every((last, index) => last >= (before[index] ?? 0n) && last - (before[index] ?? 0n) < 1_000_000n);
const administrator = (rows: Record<string, string>[]): void => {
  for (const row of rows) if (row['username'] === 'ada') row['roles'] = '{admin}';
};
const idOf = (id: string) => (rows: Record<string, string>[]) => void (rows[0] ? (rows[0]['id'] = id) : undefined);
/** Another content of the same length, in place of an object. */
async function replaceObject({ folder, slug }: AlteredBackup, key: string): Promise<void> {
  const path = join(folder, slug, 'objects', key);
  await writeFile(path, Buffer.alloc((await readFile(path)).length, 'z'));
}

const ALTERATIONS: [string, (backup: AlteredBackup) => Promise<void>, string | RegExp][] = [
  ['another slug', (b) => b.manifest((m) => void (m.slug = neighbour.slug)), 'another tenant was put among those of'],
  ['another tenant’s id', (b) => b.manifest((m) => void (m.tenantId = neighbour.tenantId)), 'it was altered'],
  ['another installation', (b) => b.manifest((m) => void (m.installation = 'x')), 'it was altered'],
  ['a member who is an administrator', (b) => b.rows('tenant/users', administrator), 'it was altered'],
  ['an id of 2^53 − 1', (b) => b.rows('shared/work', idOf(MAX_SAFE)), 'it was altered'],
  ['an id of 2^63 − 1', (b) => b.rows('shared/work', idOf('9223372036854775807')), 'it was altered'],
  [
    'a secret that is sealed for another tenant, and its id',
    async (b) => {
      await b.rows('tenant/webhooks', (rows) => void (rows[0] && (rows[0]['secret'] = 'v1.other.sealed')));
      await b.manifest((m) => void (m.tenantId = neighbour.tenantId));
    },
    'it was altered',
  ],
  ['a list with another object', (b) => b.list((text) => text.replace(/[0-9a-f]{64}/, '0'.repeat(64))), 'it was altered'],
  ['no signature', (b) => b.manifest((m) => void delete m.signature), 'is not signed'],
  ['the former format', (b) => b.manifest((m) => ({ ...withoutSignature(m), format: 'carrel-backup/1' })), 'is not signed'],
  [
    'the signature of another key',
    (b) => b.manifest(signedBy({ id: 'foreign', key: Buffer.alloc(32) })),
    'is signed with platform key foreign, which is not among CARREL_PLATFORM_KEYS',
  ],
  [
    'the signature of another key of the same name',
    (b) => b.manifest(signedBy({ ...platformKey, key: Buffer.alloc(32) })),
    'it was altered',
  ],
  [
    'rows of an older backup',
    (b) => cp(join(b.folder, b.slug, older, 'tenant/users.copy.gz'), b.path('tenant/users.copy.gz')),
    'part of another backup',
  ],
  ['a file less', (b) => rm(b.path('tenant/users.copy.gz')), 'tenant/users.copy.gz is missing'],
  [
    'the files of an older backup under its name',
    async (b) => {
      await rm(b.path(''), { recursive: true });
      await rename(join(b.folder, b.slug, older), b.path(''));
    },
    'its folder was renamed',
  ],
  [
    'all files of another tenant’s backup',
    async (b) => {
      await rm(join(b.folder, b.slug), { recursive: true });
      await rename(join(b.folder, neighbour.slug), join(b.folder, b.slug));
    },
    'another tenant was put among those of',
  ],
  ['a manifest of 2 MiB', (b) => writeFile(b.path('manifest.json'), Buffer.alloc(2 << 20, ' ')), 'has more than 1048576 bytes'],
];

test.each(ALTERATIONS)('a backup with %s is refused, and nothing has changed', async (_what, alter, reason) => {
  const given = await sequences();
  const changed = await altered();
  await alter(changed);

  const { code, stdout, stderr } = await restored(tenant.slug, changed.folder, { replace: true });

  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^carrel: [^\n]*\n$/)]);
  expect(stderr).toMatch(reason);
  expect(await rowsOfTenant(pool, tenant.slug)).toEqual(before);
  expect(isNear(await sequences(), given)).toBe(true);
});

test.each([
  ['whose row has a checksum', () => tenant.keys[0] ?? ''],
  ['that is a part of an unfinished upload', () => tenant.keys[2] ?? ''],
])('an object that was replaced, and %s, is named by --verify and not stored', async (_what, key) => {
  const changed = await altered();
  await replaceObject(changed, key());
  await tenant.objects.delete([key()]);

  const verified = await backups(tenant.slug, changed.folder, true);
  const refused = await restored(tenant.slug, changed.folder, { replace: true });
  const isThere = await tenant.objects.head(key());
  await restored(tenant.slug, repository, { replace: true });

  expect([verified.code, verified.stdout]).toEqual([
    1,
    expect.stringContaining(`WRONG  ${tenant.slug}/objects/${key()} is damaged`),
  ]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`${key()} is damaged`)]);
  expect(isThere).toBeNull();
  expect(await tenant.objects.head(key())).not.toBeNull();
});

test('--verify names a backup that was altered, and goes on with the others', async () => {
  const changed = await altered(older);
  await changed.rows('tenant/users', administrator);

  const verified = await carrel(['tenants', 'backups', tenant.slug, '--at', changed.folder, '--verify']);

  expect(verified.code).toBe(1);
  expect(verified.stdout).toMatch(
    new RegExp(`^${older} [^\\n]*\\n  WRONG  [^\\n]*it was altered[^\\n]*\\n${newer} [^\\n]*\\nSomething is wrong`),
  );
});

test('an altered backup is restored by --unsigned alone, which says what nobody knows', async () => {
  const changed = await altered();
  await changed.rows('tenant/users', administrator);

  const { code, stderr } = await carrel(['tenants', 'restore', tenant.slug, '--from', changed.folder, '--replace', '--unsigned']);
  const [ada] = await inSchema(tenant, `SELECT roles FROM users WHERE username = 'ada'`);

  expect([code, stderr]).toEqual([0, expect.stringContaining('So the people, rights, links, secrets and files may not be')]);
  expect(ada).toEqual({ roles: ['admin'] });
});

test.each([MAX_SAFE, '9223372036854775807'])(
  'with --unsigned too, a row with the id %s is refused, and no sequence goes on from it',
  async (id) => {
    const given = await sequences();
    for (const table of ['shared/work', 'shared/events', 'tenant/users']) {
      const changed = await altered();
      await changed.rows(table, idOf(id));

      const { code, stderr } = await restored(tenant.slug, changed.folder, { replace: true, unsigned: true });

      expect([code, stderr]).toEqual([1, expect.stringContaining(`has a row with the id ${id}`)]);
    }
    expect(isNear(await sequences(), given)).toBe(true);
  },
);

test.each([
  ['an event that is not there', 'shared/deliveries', 'event_id', '12345'],
  ['a time that is none', 'tenant/users', 'created_at', 'x'],
  ['two rows of one id', 'tenant/users', 'id', '1'],
])('with --unsigned too, rows with %s are refused in words', async (_what, table, column, value) => {
  const changed = await altered();
  await changed.rows(table, (rows) => rows.forEach((row) => (row[column] = value)));

  const { code, stderr } = await restored(tenant.slug, changed.folder, { replace: true, unsigned: true });

  expect([code, stderr]).toEqual([1, expect.stringMatching(/^carrel: [^\n]* cannot be restored: [^\n]*\n$/)]);
});

test('an unsigned backup that names another tenant’s id does not have that one’s secrets opened', async () => {
  const [hook] = (await inSchema(neighbour, 'SELECT uuid, secret FROM webhooks')) as { uuid: string; secret: string }[];
  const changed = await altered();
  await changed.rows('tenant/webhooks', (rows) => void Object.assign(rows[0] ?? {}, hook));
  await changed.manifest((manifest) => void (manifest.tenantId = neighbour.tenantId));

  const unasked = await restored(tenant.slug, changed.folder, { replace: true, unsigned: true });
  const asked = await restored(tenant.slug, changed.folder, { replace: true, unsigned: true, former: true });
  const [stored] = await inSchema(tenant, 'SELECT secret FROM webhooks');
  const opened = openedSecret(pool, tenant.slug, tenant.tenantId, stores.platformKeys);
  await expect(opened).rejects.toThrow('does not belong to');
  await restored(tenant.slug, repository, { replace: true });

  expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('Add --former')]);
  expect([asked.code, asked.stderr]).toEqual([
    0,
    expect.stringContaining('1 secret of webhooks or registrations cannot be opened'),
  ]);
  expect(stored).toEqual({ secret: hook?.secret });
  expect(await openedSecret(pool, tenant.slug, tenant.tenantId, stores.platformKeys)).toBe(tenant.secret);
});

test('a backup that carries the slug of the copy is a copy all the same: its webhooks call nobody', async () => {
  const changed = await AlteredBackup.of(repository, neighbour.slug);
  await changed.manifest((manifest) => void (manifest.slug = tenant.slug));

  const { code, stderr } = await restored(tenant.slug, changed.folder, { of: neighbour.slug, replace: true, unsigned: true });

  expect([code, stderr]).toEqual([1, expect.stringContaining(`belongs to ${tenant.slug}`)]);
});

test('a list of objects that is changed while the backup is made is not signed', async () => {
  const folder = await newFolder();
  let isChanged = false;
  const repository = new (class extends FolderRepository {
    override async put(name: string, body: Readable | Buffer): Promise<void> {
      await super.put(name, body);
      if (isChanged || !name.startsWith(`${neighbour.slug}/objects/`)) return;
      isChanged = true;
      await (await AlteredBackup.at(folder, neighbour.slug)).list((text) => text.replace(/[0-9a-f]{64}/, '0'.repeat(64)));
    }
  })(folder);
  const source = { ...neighbour, pool, installation: 'test', platformKey };
  const time = { clock: systemClock, signal: new AbortController().signal, onProgress: () => undefined };

  await expect(backUp(source, { repository, ...time })).rejects.toThrow('objects.copy.gz was changed while it was read');
});

test('an older backup of the tenant that was signed is restored: that is what a backup is for', async () => {
  const { code, stdout, stderr } = await restored(tenant.slug, repository, { replace: true, backup: older });
  const [ada] = await inSchema(tenant, `SELECT display_name AS name FROM users WHERE username = 'ada'`);

  expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('restored as of')]);
  expect(ada).not.toEqual({ name: 'Later' });
});

test('--former restores a backup of a former tenant or of another installation, with that one’s key', async () => {
  const foreign = { id: 'foreign', key: Buffer.alloc(32, 7) };
  const changed = await altered();
  await changed.manifest((manifest) => signedBy(foreign)({ ...manifest, installation: 'of-another-cluster' }) as AlteredManifest);
  const env = { CARREL_PLATFORM_KEYS: `${stores.platformKeys},foreign:${foreign.key.toString('base64')}` };

  const keyless = await restored(tenant.slug, changed.folder, { replace: true, former: true });
  const unasked = await restored(tenant.slug, changed.folder, { replace: true }, env);
  const asked = await restored(tenant.slug, changed.folder, { replace: true, former: true }, env);

  expect([keyless.code, keyless.stderr]).toEqual([1, expect.stringContaining('goes to the end of CARREL_PLATFORM_KEYS')]);
  expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('of installation of-another-cluster')]);
  expect(unasked.stderr).toContain('Add --former');
  expect([asked.code, asked.stderr]).toEqual([0, '']);
  // It is no copy.
  expect(await inSchema(tenant, 'SELECT active FROM webhooks')).toEqual([{ active: true }]);
});

test('a restored tenant’s jobs, events and deliveries have new ids in their order, and belong together as before', async () => {
  const role = tenantRole(tenant.slug);
  const pairs = () =>
    pool.query<{ event: string; endpoint: string }>(
      `SELECT e.uuid AS event, d.endpoint FROM carrel.deliveries d
       JOIN carrel.events e ON e.tenant = d.tenant AND e.id = d.event_id WHERE d.tenant = $1 ORDER BY 1`,
      [role],
    );
  const ids = () => pool.query<{ id: string }>(`SELECT id::text AS id FROM carrel.events WHERE tenant = $1`, [role]);
  await restored(tenant.slug, repository, { replace: true });
  const [pairsBefore, idsBefore, given] = [await pairs(), await ids(), await sequences()];

  await restored(tenant.slug, repository, { replace: true });

  expect(pairsBefore).toHaveLength(1);
  expect(await pairs()).toEqual(pairsBefore);
  expect(await ids()).not.toEqual(idsBefore);
  expect(isNear(await sequences(), given)).toBe(true);
});
