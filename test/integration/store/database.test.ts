import { beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { CheckViolation, ForeignKeyViolation, UniqueViolation } from '../../../pkg/store/postgres/errors.ts';
import type { User } from '../../../pkg/store/postgres/tables.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant, openDatabase, type TenantLogin } from '../../support/backends/tenant.ts';
import { range } from '../../support/wait.ts';

const { running, pool, shard } = storeSuite();
let tenant: TenantLogin;
let db: Database;
let user: User;
const seen: string[] = [];

beforeAll(async () => {
  tenant = await newTenant(running, shard);
  db = openDatabase(tenant, { observe: ({ sql }) => void seen.push(sql) });
  user = await db.tables.users.insert({ uuid: randomUUID(), email: 'Ada@example.org', username: 'ada' });
});
atEnd(() => db?.close());

const newFile = (name: string) => ({ uuid: randomUUID(), name, path: `/${name}`, ownerId: user.id, folderId: null });

test('a row comes back with its defaults, ids and sizes as numbers, times to the millisecond', async () => {
  const file = await db.tables.files.insert({ ...newFile('Ärger & Café.PDF'), size: 2 ** 40, mimeType: 'application/pdf' });

  expect(file).toMatchObject({
    id: expect.any(Number),
    size: 2 ** 40,
    storageProvider: 's3',
    isDirectory: false,
    deletedAt: null,
    revision: 1,
  });
  expect(file.createdAt).toBeInstanceOf(Date);
  expect(await db.tables.files.find({ uuid: file.uuid })).toEqual(file);
  expect(user).toMatchObject({ roles: ['member'], tenantId: 7, storageQuota: 10737418240, storageUsed: 0, isActive: true });
  const [found] = await db.query<{ id: number }>(`SELECT id FROM files WHERE name_search LIKE '%' || carrel.fold($1) || '%'`, [
    'cafe',
  ]);
  expect(found).toEqual({ id: file.id });
});

test('an update returns the new rows with their revision and time; counting bytes leaves a user’s as they were', async () => {
  const file = await db.tables.files.insert(newFile('a.txt'));

  const [changed] = await db.tables.files.update({ id: file.id }, { name: 'b.txt', extension: undefined });
  const [counted] = await db.tables.users.update({ id: user.id }, { storageUsed: 5 });

  expect(changed).toMatchObject({ id: file.id, name: 'b.txt', revision: 2 });
  expect(changed?.updatedAt.getTime()).toBeGreaterThanOrEqual(file.updatedAt.getTime());
  expect(counted).toMatchObject({ storageUsed: 5, revision: user.revision, updatedAt: user.updatedAt });
});

test('conditions take equality, null and lists, and refuse undefined', async () => {
  const files = await Promise.all(['x1', 'x2', 'x3'].map((name) => db.tables.files.insert(newFile(name))));
  const ids = files.map(({ id }) => id);

  const listed = await db.tables.files.list({ id: ids, deletedAt: null }, { orderBy: [['name', 'desc']], limit: 2 });

  expect(listed.map(({ name }) => name)).toEqual(['x3', 'x2']);
  expect(await db.tables.files.count({ id: ids })).toBe(3);
  expect(await db.tables.files.delete({ id: ids })).toBe(3);
  await expect(db.tables.files.delete({ id: undefined as unknown as number })).rejects.toThrow('undefined');
});

test('a violated constraint is reported by kind and name', async () => {
  await db.tables.files.insert(newFile('taken'));

  const twice = db.tables.files.insert(newFile('taken'));
  const upperCase = db.tables.users.insert({ uuid: randomUUID(), email: 'ADA@EXAMPLE.ORG', username: 'other' });

  await expect(twice).rejects.toMatchObject({ name: 'UniqueViolation', constraint: 'files_live_root_name_key', table: 'files' });
  await expect(upperCase).rejects.toBeInstanceOf(UniqueViolation);
  await expect(db.tables.files.insert({ ...newFile('nobody'), ownerId: 999_999 })).rejects.toBeInstanceOf(ForeignKeyViolation);
  await expect(db.tables.files.insert({ ...newFile('less'), size: -1 })).rejects.toBeInstanceOf(CheckViolation);
  expect(await db.tables.files.insertIfAbsent(newFile('taken'))).toBeNull();
  expect(await db.tables.files.insertIfAbsent(newFile('free'))).toMatchObject({ name: 'free', revision: 1 });
});

test('a transaction commits whole or not at all, and does what was left for after the commit only then', async () => {
  const done: string[] = [];

  const failed = db.transaction(async (tx) => {
    tx.afterCommit(() => void done.push('failed'));
    await tx.files.insert(newFile('gone'));
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  const result = await db.transaction(async (tx) => {
    tx.afterCommit(() => void done.push('kept'));
    const file = await tx.files.insert(newFile('kept'));
    expect(done).toEqual([]);
    return file;
  });

  expect(done).toEqual(['kept']);
  expect(await db.tables.files.find({ name: 'gone' })).toBeNull();
  expect(await db.tables.files.find({ id: result.id })).toEqual(result);
});

test('a folder stores its path; children follow their parent', async () => {
  const root = await db.tables.folders.insert({ uuid: randomUUID(), name: 'top', path: '/top', ownerId: user.id });
  const below = await db.tables.folders.insert({
    uuid: randomUUID(),
    name: 'below',
    path: '/top/below',
    parentId: root.id,
    ownerId: user.id,
  });

  const tree = await db.query<{ name: string }>('SELECT name FROM folders WHERE ancestry <@ $1::ltree ORDER BY depth', [
    root.ancestry,
  ]);

  expect(root).toMatchObject({ depth: 0, ancestry: `${root.id}` });
  expect(below).toMatchObject({ depth: 1, ancestry: `${root.id}.${below.id}` });
  expect(tree.map(({ name }) => name)).toEqual(['top', 'below']);
});

test('statements are counted, log-in, BEGIN and COMMIT are not', async () => {
  const file = await db.tables.files.insert(newFile('counted'));
  const fresh: string[] = [];
  const other = openDatabase(tenant, { observe: ({ sql }) => void fresh.push(sql) });

  await other.transaction(async (tx) => {
    await tx.files.find({ id: file.id });
    await tx.files.update({ id: file.id }, { name: 'counted twice' });
  });
  const rows = await other.prepared<{ name: string }>('file-name', 'SELECT name FROM files WHERE id = $1', [file.id]);
  await other.close();

  expect(rows).toEqual([{ name: 'counted twice' }]);
  expect(fresh.map((sql) => sql.split(' ')[0])).toEqual(['SELECT', 'UPDATE', 'SELECT']);
});

test('a prepared statement outlives a change of its table', async () => {
  const read = () => db.prepared<object>('all-tags', 'SELECT t.* FROM tags t');
  await Promise.all(Array.from({ length: 8 }, read));

  await pool.query(`ALTER TABLE "${tenant.role}".tags ADD COLUMN extra integer`);
  const after = await Promise.all(Array.from({ length: 8 }, read));
  await pool.query(`ALTER TABLE "${tenant.role}".tags DROP COLUMN extra`);

  expect(after).toHaveLength(8);
});

test('versions are immutable for the tenant, whose makers alone may pass to another', async () => {
  const file = await db.tables.files.insert(newFile('versioned'));
  const version = await db.tables.fileVersions.insert({
    fileId: file.id,
    versionNumber: 1,
    size: 3,
    checksum: 'c'.repeat(64),
    blobName: 'b',
    createdBy: user.id,
  });

  await expect(db.query('UPDATE file_versions SET size = 4 WHERE id = $1', [version.id])).rejects.toThrow('permission denied');
  expect(
    await db.query('UPDATE file_versions SET created_by = $2 WHERE id = $1 RETURNING id', [version.id, user.id]),
  ).toHaveLength(1);
});

test('jsonb, lists and score numbers go in and come out as they are', async () => {
  const key = {
    userId: user.id,
    key: 'k',
    fingerprint: 'f',
    lockedUntil: new Date(0),
    expiresAt: new Date(0),
    headers: { etag: '"x"' },
  };
  const inserted = await db.tables.idempotencyKeys.insertIfAbsent(key);
  const hook = await db.tables.webhooks.insert({
    uuid: randomUUID(),
    url: 'https://x.example',
    events: ['file.created', 'with,comma "quote"'],
    secret: 's',
  });

  expect(inserted).toMatchObject({ headers: { etag: '"x"' }, lockedUntil: new Date(0), statusCode: null });
  expect(await db.tables.idempotencyKeys.insertIfAbsent(key)).toBeNull();
  expect(hook.events).toEqual(['file.created', 'with,comma "quote"']);
  expect(await db.query('SELECT 12.50::numeric(5,2) AS score, count(*) AS n FROM tags')).toEqual([{ score: 12.5, n: 0 }]);
  await expect(db.query('SELECT 9007199254740993::bigint AS id')).rejects.toThrow('above 2^53-1');
});

test('a nested transaction that throws leaves nothing; otherwise the outer one commits or discards it', async () => {
  const insert = (inner: Database, name: string) => inner.transaction((tx) => tx.files.insert(newFile(name)));
  const fill = (fails: boolean) =>
    db.transaction(async (tx) => {
      const inner = db.within(tx);
      await insert(inner, 'inner.txt');
      await expect(insert(inner, 'inner.txt')).rejects.toThrow(UniqueViolation);
      await expect(inner.transaction(() => insert(inner, 'inner.txt'))).rejects.toThrow(UniqueViolation);
      expect(await db.tables.files.count({ name: 'inner.txt' })).toBe(0);
      expect(await inner.tables.files.count({ name: 'inner.txt' })).toBe(1);
      if (fails) throw new Error('refused');
    });

  await expect(fill(true)).rejects.toThrow('refused');
  expect(await db.tables.files.count({ name: 'inner.txt' })).toBe(0);
  await fill(false);
  expect(await db.tables.files.count({ name: 'inner.txt' })).toBe(1);
});

test('a connection ends after its bound of uses while statements and transactions go on, and nothing is lost', async () => {
  const bounded = openDatabase(tenant, { poolSize: 2, connectionUses: 5 });
  const pid = 'SELECT pg_backend_pid() AS pid';
  const ask = async (at: number): Promise<number> => {
    const [row] = await (at % 3 === 0
      ? bounded.transaction(async (tx) => (await tx.query(pid), tx.query<{ pid: number }>(pid)))
      : at % 3 === 1
        ? bounded.prepared<{ pid: number }>('uses', pid)
        : bounded.query<{ pid: number }>(pid));
    return row?.pid ?? 0;
  };

  const pids = await Promise.all(range(60).map(ask));
  await bounded.close();

  const uses = [...new Set(pids)].map((one) => pids.filter((each) => each === one).length);
  expect(uses.reduce((sum, count) => sum + count, 0)).toBe(60);
  expect(Math.max(...uses)).toBe(5);
});
