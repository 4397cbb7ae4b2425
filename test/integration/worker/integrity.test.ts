import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Finding } from '../../../pkg/content/upkeep/faults.ts';
import { checkIntegrity } from '../../../pkg/content/upkeep/integrity-check.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { newContentKey } from '../../../pkg/store/s3/content-key.ts';
import { dayOf } from '../../../pkg/store/s3/upload-day.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { programEnvironment, ROOT } from '../../support/backends/backends.ts';
import type { Api } from '../../support/clients/api.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { range, untilServed, waitFor } from '../../support/wait.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { platformSuite } from '../../support/suites/worker-suite.ts';

const platform = platformSuite();

const DAY_MS = 24 * 3_600_000;
const ALL = { versions: 'all', maxBytes: Number.MAX_SAFE_INTEGER } as const;

/** Runs the check by the tenant's own role, at that time. */
async function check(tenant: TestTenant, { repair = false, inDays = 0, slug = '' } = {}): Promise<Finding[]> {
  const found: Finding[] = [];
  const checked = {
    slug,
    transaction: <T>(fn: Parameters<typeof tenant.db.transaction<T>>[0]) => tenant.db.transaction(fn),
    recounting: (fn: Parameters<typeof tenant.db.transaction<void>>[0]) => tenant.db.transaction(fn),
    storage: { objects: tenant.objects, marker: `tenant ${tenant.tenantId} of a test`, isNamed: false },
    now: new Date(Date.now() + inDays * DAY_MS),
    signal: new AbortController().signal,
  };
  for await (const finding of checkIntegrity(checked, { repair, sample: ALL })) found.push(finding);
  return found;
}
const upload = async (api: Api, name: string, content = name): Promise<string> =>
  (await untilServed(() => api.upload('/files', { name, file: Buffer.from(content) }))).body.id;
const keyOf = async ({ db }: TestTenant, id: string): Promise<string> =>
  (await db.query<{ key: string }>('SELECT blob_name AS key FROM files WHERE uuid = $1', [id]))[0]?.key ?? '';
const unownedKey = (): string => newContentKey(dayOf(new Date()), systemRandom);

/** A tenant with one fault of each kind, and some files that are as they should be. */
async function faulty() {
  const tenant = await platform.tenant();
  const { api, user } = await tenant.user();
  const ids: string[] = [];
  for (const name of ['lost', 'short', 'other', 'right', 'shared']) ids.push(await upload(api, name));
  const [lost = '', short = '', other = '', , shared = ''] = ids;
  await api.upload(`/files/${shared}`, { method: 'PUT', name: 'shared', file: Buffer.from('second') });
  await api.post(`/files/${shared}/versions/1/restore`);
  const keys = {
    lost: await keyOf(tenant, lost),
    short: await keyOf(tenant, short),
    other: await keyOf(tenant, other),
    unowned: unownedKey(),
  };
  await tenant.objects.delete([keys.lost]);
  await tenant.objects.put(keys.short, Buffer.from('sh'));
  await tenant.objects.put(keys.other, Buffer.from('OTHER'));
  await tenant.objects.put(keys.unowned, Buffer.from('nobody'));
  await tenant.objects.put('somebody-elses/object', Buffer.from('not of Carrel'));
  const counted = (
    await tenant.db.query<{ used: number }>(
      'UPDATE users SET storage_used = storage_used + 7 WHERE uuid = $1 RETURNING storage_used AS used',
      [user.id],
    )
  )[0]!.used;
  return { tenant, api, user, lost, short, other, keys, counted };
}

test('each fault is found, and only what can be repaired safely is repaired', async () => {
  const { tenant, user, lost, short, other, keys, counted } = await faulty();
  const ofVersion = (file: string, key: string) => ({ file, version: 1, key });
  const expected = (isRepaired: boolean): Finding[] => [
    { fault: { kind: 'missing_object', ...ofVersion(lost, keys.lost) }, isRepaired: false },
    { fault: { kind: 'wrong_size', ...ofVersion(short, keys.short), expected: 5, found: 2 }, isRepaired: false },
    { fault: { kind: 'unowned_object', key: keys.unowned, size: 6 }, isRepaired },
    { fault: { kind: 'wrong_checksum', ...ofVersion(other, keys.other) }, isRepaired: false },
    { fault: { kind: 'wrong_usage', user: user.id, counted, found: counted - 7 }, isRepaired },
  ];
  const inOrder = (found: readonly Finding[]): Finding[] =>
    found.toSorted((a, b) => JSON.stringify(a.fault).localeCompare(JSON.stringify(b.fault)));

  expect(inOrder(await check(tenant, { inDays: 3 }))).toEqual(inOrder(expected(false)));
  expect(inOrder(await check(tenant, { inDays: 3, repair: true }))).toEqual(inOrder(expected(true)));
  const rest = (await check(tenant, { inDays: 3, repair: true })).map(({ fault }) => fault.kind);
  expect(rest.toSorted()).toEqual(['missing_object', 'wrong_checksum', 'wrong_size']);
  expect((await tenant.objects.head('somebody-elses/object'))?.size).toBe(13);
});

test('the check skips objects of uploads in progress, and deletes none in a location without the marker', async () => {
  const tenant = await platform.tenant();
  const key = unownedKey();
  await tenant.objects.put(key, Buffer.from('an upload'));

  expect(await check(tenant, { repair: true, inDays: 1 })).toEqual([]);
  await tenant.objects.delete(['.carrel-tenant']);
  const fault = { kind: 'unowned_object', key, size: 9 };
  expect(await check(tenant, { repair: true, inDays: 3 })).toEqual([{ fault, isRepaired: false }]);
  expect((await tenant.objects.head(key))?.size).toBe(9);
});

test('nothing is found while people upload, replace, restore and purge', async () => {
  const tenant = await platform.tenant();
  const { api } = await tenant.user();
  const over = new AbortController();
  const busy = range(4).map(async (person) => {
    for (let n = 0; !over.signal.aborted; n += 1) {
      const id = await upload(api, `${person}-${n}`);
      await untilServed(() => api.upload(`/files/${id}`, { method: 'PUT', name: 'x', file: Buffer.from(`${n}`) }));
      if (n % 2 === 0) await api.delete(`/files/${id}`, { query: { permanent: true } });
    }
  });
  const found = [];
  for (let n = 0; n < 5; n += 1) found.push(...(await check(tenant, { repair: true })));
  over.abort();
  await Promise.all(busy);

  expect(found).toEqual([]);
  expect(await check(tenant)).toEqual([]);
});

test('a CRC-32 that is not known is that of the content which was read, where this is right', async () => {
  const tenant = await platform.tenant();
  const { api } = await tenant.user();
  const [right, other] = [await upload(api, 'right'), await upload(api, 'other')];
  await api.upload(`/files/${right}`, { method: 'PUT', name: 'right', file: Buffer.from('second') });
  await api.post(`/files/${right}/versions/1/restore`);
  await tenant.objects.put(await keyOf(tenant, other), Buffer.from('OTHER'));
  await tenant.db.query('UPDATE file_versions SET crc32 = NULL');

  await check(tenant, { repair: true });

  const crcs = await tenant.db.query(
    `SELECT f.uuid, v.version_number AS version, v.crc32 AS crc FROM file_versions v JOIN files f ON f.id = v.file_id
     ORDER BY v.id`,
  );
  expect(crcs).toEqual([
    { uuid: right, version: 1, crc: crc32('right') },
    { uuid: other, version: 1, crc: null },
    { uuid: right, version: 2, crc: crc32('second') },
    { uuid: right, version: 3, crc: crc32('right') },
  ]);
});

test('usage is counted again also where it is more than the limits allow', async () => {
  const tenant = await platform.tenant();
  const { api, user } = await tenant.user();
  for (const name of ['one', 'two']) await upload(api, name);
  await tenant.db.query('UPDATE users SET storage_used = 0, entries = 0 WHERE uuid = $1', [user.id]);
  await platform.pool.query('UPDATE carrel.tenants SET storage_limit = 1, files_limit = 1 WHERE role = $1', [
    tenantRole(tenant.slug),
  ]);

  const found = await check(tenant, { repair: true });

  expect(found).toEqual([{ fault: { kind: 'wrong_usage', user: user.id, counted: 0, found: 6 }, isRepaired: true }]);
  expect(await check(tenant)).toEqual([]);
  expect((await api.post('/folders', { name: 'more' })).status).toBe(507);
});

test('objects that a tenant’s key adds beside Carrel’s are found in a platform bucket, and stay', async () => {
  const tenant = await platform.tenant();
  await upload((await tenant.user()).api, 'own');
  await tenant.objects.put('filled/1', Buffer.from('not of Carrel'));

  const found = await check(tenant, { repair: true, inDays: 3, slug: tenant.objects.bucket.replace('carrel-', '') });

  expect(found).toEqual([{ fault: { kind: 'foreign_object', key: 'filled/1', size: 13 }, isRepaired: false }]);
  expect(await check(tenant, { repair: true, inDays: 3 })).toEqual([]);
});

test('five thousand versions are compared page by page, those of one object together', async () => {
  const tenant = await platform.tenant();
  const { api } = await tenant.user();
  const id = await upload(api, 'many');
  // In several statements: each version counts to the owner.
  for (const first of [2, 1_002, 2_002, 3_002, 4_002])
    await tenant.db.query(
      `INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by)
       SELECT v.file_id, n, v.size, v.checksum, v.blob_name, v.created_by
       FROM file_versions v JOIN files f ON f.id = v.file_id AND f.uuid = $1, generate_series($2::int, least($2 + 999, 5000)) n
       WHERE v.version_number = 1`,
      [id, first],
    );
  await tenant.db.query('UPDATE users SET storage_used = 4 * 5000 WHERE storage_used = 4');

  expect(await check(tenant, { inDays: 3 })).toEqual([]);
});

describe('the worker', () => {
  test('checks each tenant, once a week at a time of its own, counts what it finds and notes it for the operator', async () => {
    const { tenant } = await faulty();
    const role = tenantRole(tenant.slug);
    const worker = await startWorkerProcess(platform);
    const waiting = (): Promise<{ days: number }[]> =>
      platform.pool.query(
        `SELECT (extract(epoch FROM due_at - now()) / 86400)::float8 AS days FROM carrel.work
         WHERE tenant = $1 AND kind = 'integrity.check'`,
        [role],
      );
    await waitFor('the check to be scheduled', async () => (await waiting()).length === 1);
    const [{ days } = { days: 0 }] = await waiting();
    await tenant.db.transaction((tx) => insertJob(tx, { kind: 'integrity.check', payload: {} }));
    const notes = (): Promise<unknown[]> =>
      platform.pool.query('SELECT kind, found, repaired FROM carrel.integrity_faults WHERE tenant = $1 ORDER BY kind', [role]);
    await waitFor('the notes of the check', async () => (await notes()).length === 6);

    expect(days).toBeGreaterThan(-0.01);
    expect(days).toBeLessThan(7);
    expect(await notes()).toEqual([
      { kind: 'foreign_object', found: expect.any(Number), repaired: 0 },
      { kind: 'missing_object', found: 1, repaired: 0 },
      { kind: 'unowned_object', found: 0, repaired: 0 },
      { kind: 'wrong_checksum', found: expect.any(Number), repaired: 0 },
      { kind: 'wrong_size', found: 1, repaired: 0 },
      { kind: 'wrong_usage', found: 1, repaired: 1 },
    ]);
    const metrics = await worker.metrics();
    expect(metrics).toMatch(/carrel_integrity_faults_total\{kind="missing_object"[^}]*\} [1-9]/);
    expect(metrics).toMatch(/carrel_integrity_repaired_total\{kind="wrong_usage"[^}]*\} [1-9]/);
    expect(await worker.end('SIGTERM')).toBe(0);
  });
});

describe('carrel doctor', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-doctor-'));
    mkdirSync(join(folder, 'one'));
    writeFileSync(join(folder, 'one', 'worker-url'), platform.workerUrl);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const doctor = async (args: readonly string[], settings: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, ['cmd/carrel/main.ts', 'doctor', ...args], {
      cwd: ROOT,
      env: {
        ...programEnvironment(),
        CARREL_SHARDS_DIR: folder,
        CARREL_PLATFORM_KEYS: platform.platformKeys,
        CARREL_EGRESS_ALLOW: '127.0.0.0/8',
        ...settings,
      },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (text) => (out += text));
    child.stderr.on('data', (text) => (err += text));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, out, err };
  };

  test('says in sentences what is wrong with a tenant, and what it repaired; its last line is the result', async () => {
    const { tenant, user, lost, keys, counted } = await faulty();
    const first = await doctor(['--tenant', tenant.slug, '--sample', 'all']);
    const second = await doctor(['--tenant', tenant.slug, '--repair', '--sample', '0']);

    expect(first.code).toBe(1);
    expect(first.out.trimEnd().split('\n')).toHaveLength(6);
    expect(first.out).toContain('object "somebody-elses/object" of 13 bytes was not written by Carrel\n');
    expect(first.out).toContain(`version 1 of file ${lost} has no object: ${keys.lost} is missing\n`);
    expect(first.out).toContain(`user ${user.id}: ${counted} bytes are counted, ${counted - 7} are there\n`);
    expect(first.out).toMatch(new RegExp(`${tenant.slug}: 5 faults\\. --repair repairs what it safely can; .*\\n$`));
    expect(second.code).toBe(1);
    expect(second.out).toMatch(/are there; repaired\n[^\n]*: 4 faults, 1 repaired\. The rest needs a person: [^\n]*\n$/);
    expect(first.err + second.err).toBe('');
  });

  test('ends with 0 where nothing is wrong', async () => {
    const tenant = await platform.tenant();
    expect(await doctor(['--tenant', tenant.slug])).toEqual({ code: 0, out: `${tenant.slug}: nothing is wrong.\n`, err: '' });
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['a tenant that does not exist', ['--tenant', 'nobody'], {}, /^carrel: there is no tenant with the slug nobody/],
    ['--repair without a tenant', ['--repair'], {}, /^carrel: --repair and --sample need a tenant\. Name it with --tenant/],
    ['a sample that is no number', ['--tenant', 'x', '--sample', 'some'], {}, /It must be a whole number/],
    [
      'no platform keys',
      ['--tenant', 'x'],
      { CARREL_PLATFORM_KEYS: '' },
      /CARREL_PLATFORM_KEYS is not set\. Run this where the worker runs/,
    ],
    ['broken platform keys', ['--tenant', 'x'], { CARREL_PLATFORM_KEYS: 'p1:x' }, /CARREL_PLATFORM_KEYS is not valid/],
    [
      'a folder without shards',
      ['--tenant', 'x'],
      { CARREL_SHARDS_DIR: '/nonexistent' },
      /^carrel: \/nonexistent cannot be read\. Set CARREL_SHARDS_DIR as the worker has it\./,
    ],
  ])('refuses %s in one line', async (_what, args, settings, words) => {
    const { code, out, err } = await doctor(args, settings);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(words);
  });
});
