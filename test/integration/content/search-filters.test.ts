import { expect, test } from '@jest/globals';
import { page, pageRequest } from '../../../pkg/api/paging.ts';
import { FILTERED, filteredPage, type FilteredRow } from '../../../pkg/content/search/filtered.sql.ts';
import { fillWithFiles } from '../../bench/filled.ts';
import { testBackends } from '../../support/backends/backends.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { rowsRead } from '../../support/measures/rows-read.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range } from '../../support/wait.ts';

const tenant = serverSuite();

type Query = Record<string, string | number>;
interface Found {
  readonly id: string;
  readonly name: string;
  readonly rank: number;
  readonly highlight: string;
}

const found = async (api: Api, query: Query): Promise<Found[]> => {
  const { status, body } = await api.get('/search', { query });
  expect([query, status]).toEqual([query, 200]);
  return body.data;
};
const names = async (api: Api, query: Query): Promise<string[]> => (await found(api, query)).map(({ name }) => name);
const upload = async (
  api: Api,
  name: string,
  fields: Record<string, string> = {},
  text = 'x',
  type = 'text/plain',
): Promise<{ id: string }> => {
  const { status, body } = await api.upload('/files', { file: Buffer.from(text), name, fields, type });
  expect([name, status]).toEqual([name, 201]);
  return body;
};
const folder = async (api: Api, name: string, parent_id: string | null = null): Promise<{ id: string }> =>
  (await api.post('/folders', { name, parent_id })).body;
const tagOn = async (api: Api, name: string, ...files: { id: string }[]): Promise<{ id: string }> => {
  const { body: tag } = await api.post('/tags', { name });
  for (const { id } of files) expect((await api.put(`/files/${id}/tags/${tag.id}`)).status).toBe(204);
  return tag;
};
/** Says that something was changed so many minutes ago. A statement that sets the revision itself leaves the time as it is. */
const changedAgo = (table: 'files' | 'folders', id: string, minutes: number): Promise<unknown> =>
  tenant.db.query(`UPDATE ${table} SET updated_at = now() - $2 * interval '1 minute', revision = revision + 1 WHERE uuid = $1`, [
    id,
    minutes,
  ]);
/** Reads all pages. `between` runs after each but the last. */
async function allPages(api: Api, query: Query, between = async (): Promise<void> => {}): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { status, body }: ApiReply = await api.get('/search', { query: { ...query, ...(cursor ? { cursor } : {}) } });
    expect(status).toBe(200);
    seen.push(...body.data.map(({ name }: Found) => name));
    cursor = body.pagination.next_cursor;
    if (cursor !== null) await between();
  }
  return seen;
}

test('without words each filter by itself lists what fits it, the last changed first, with no rank and no hits', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const { api } = ada;
  const top = await folder(api, 'top');
  const below = await folder(api, 'below', top.id);
  const a = await upload(api, 'a.txt', { folder_id: below.id }, 'x'.repeat(100));
  const b = await upload(api, 'b.csv', {}, 'a,b', 'text/csv');
  await api.post(`/folders/${top.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
  const c = await upload(bob.api, 'c of bob.txt', { folder_id: top.id }, 'xyz');
  const tag = await tagOn(api, 'To do', a, b, c);
  await tenant.db.query(`UPDATE files SET created_at = now() - interval '10 days' WHERE uuid = $1`, [b.id]);
  const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString();
  for (const [minutes, [table, { id }]] of Object.entries([
    ['files', c],
    ['folders', top],
    ['files', b],
    ['folders', below],
    ['files', a],
  ] as const))
    await changedAgo(table, id, Number(minutes));

  expect(await names(api, { type: 'file' })).toEqual(['c of bob.txt', 'b.csv', 'a.txt']);
  expect(await names(api, { type: 'folder' })).toEqual(['top', 'below']);
  expect(await names(api, { folder_id: top.id })).toEqual(['c of bob.txt', 'below', 'a.txt']);
  expect(await names(api, { owner: ada.user.id })).toEqual(['top', 'b.csv', 'below', 'a.txt']);
  expect(await names(api, { owner: bob.user.id })).toEqual(['c of bob.txt']);
  expect(await names(api, { mime_type: 'text/csv' })).toEqual(['b.csv']);
  expect(await names(api, { mime_type: 'text/*' })).toEqual(['c of bob.txt', 'b.csv', 'a.txt']);
  expect(await names(api, { tag: 'to DO' })).toEqual(['c of bob.txt', 'b.csv', 'a.txt']);
  expect(await names(api, { tag: tag.id })).toEqual(['c of bob.txt', 'b.csv', 'a.txt']);
  expect(await names(api, { created_before: weekAgo })).toEqual(['b.csv']);
  expect(await names(api, { created_after: weekAgo })).toEqual(['c of bob.txt', 'top', 'below', 'a.txt']);
  expect(await names(api, { size_min: 50 })).toEqual(['a.txt']);
  expect(await names(api, { size_max: 3 })).toEqual(['c of bob.txt', 'b.csv']);
  expect((await found(api, { type: 'file' })).map(({ rank, highlight }) => [rank, highlight])).toEqual([
    [0, 'c of bob.txt'],
    [0, 'b.csv'],
    [0, 'a.txt'],
  ]);
});

test('of several filters all have to fit; folders have neither type, size nor tags', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const top = await folder(ada.api, 'top');
  const a = await upload(ada.api, 'a.txt', { folder_id: top.id });
  const b = await upload(ada.api, 'b.csv', { folder_id: top.id }, 'a,b', 'text/csv');
  const c = await upload(ada.api, 'c.txt');
  await tagOn(ada.api, 'red', a, b, c);
  await tagOn(bob.api, 'red');

  expect(await names(ada.api, { tag: 'red', folder_id: top.id, mime_type: 'text/plain' })).toEqual(['a.txt']);
  expect(await names(ada.api, { tag: 'red', owner: bob.user.id })).toEqual([]);
  expect(await names(ada.api, { tag: 'blue' })).toEqual([]);
  expect(await names(ada.api, { type: 'folder', mime_type: 'text/*' })).toEqual([]);
  expect(await names(ada.api, { type: 'folder', tag: 'red' })).toEqual([]);
  expect(await names(ada.api, { size_min: 0, folder_id: top.id })).toEqual(['b.csv', 'a.txt']);
  expect(await names(bob.api, { tag: 'red' })).toEqual([]);
});

test('what nobody may see, or is in the trash, no filter finds; nor does it count', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const secret = await folder(ada.api, 'secret');
  const open = await folder(ada.api, 'open', secret.id);
  await upload(ada.api, 'hidden.txt', { folder_id: secret.id });
  const shown = await upload(ada.api, 'shown.txt', { folder_id: open.id });
  const alone = await upload(ada.api, 'alone.txt');
  const gone = await upload(bob.api, 'gone.txt');
  await bob.api.delete(`/files/${gone.id}`);
  const ofAda = { owner: ada.user.id };
  const before = await names(bob.api, ofAda);
  await ada.api.post(`/folders/${open.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
  const grant = await ada.api.post(`/files/${alone.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
  await tagOn(bob.api, 'mine', shown, alone);

  const first = (await bob.api.get('/search', { query: { ...ofAda, limit: 3 } })).body;
  const all = await names(bob.api, ofAda);
  await ada.api.delete(`/files/${alone.id}/permissions/${grant.body.id}`);

  expect(before).toEqual([]);
  expect(all.toSorted()).toEqual(['alone.txt', 'open', 'shown.txt']);
  expect([first.data.length, first.pagination.has_more]).toEqual([3, false]);
  expect(await names(bob.api, { tag: 'mine' })).toEqual(['shown.txt']);
  expect((await bob.api.get('/search', { query: { folder_id: secret.id } })).status).toBe(404);
  expect((await names(bob.api, { type: 'file' })).toSorted()).toEqual(['shown.txt']);
});

/** A tenant of files and folders of which many were changed in the same millisecond, and of which some are others'. */
async function mixed(): Promise<{ api: Api; top: string; expected: string[] }> {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const top = await folder(ada.api, 'top');
  await ada.api.post(`/folders/${top.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
  await tenant.db.query(
    `INSERT INTO files (uuid, name, path, owner_id, folder_id, size, checksum, updated_at)
     SELECT gen_random_uuid(), u.username || n, '/top/' || u.username || n, u.id, d.id, 0, repeat('0', 64),
       timestamptz '2020-01-01' + n / 10 * interval '1 second'
     FROM users u, folders d, generate_series(1, 40) n WHERE u.uuid = ANY ($1::uuid[]) AND d.uuid = $2`,
    [[ada.user.id, bob.user.id], top.id],
  );
  await tenant.db.query(
    `INSERT INTO folders (uuid, name, path, parent_id, owner_id, updated_at)
     SELECT gen_random_uuid(), 'folder ' || n, '/top/folder ' || n, d.id, d.owner_id,
       timestamptz '2020-01-01' + n / 10 * interval '1 second'
     FROM folders d, generate_series(1, 40) n WHERE d.uuid = $1`,
    [top.id],
  );
  const rows = await tenant.db.query<{ name: string }>(
    `SELECT r.name FROM (
       SELECT name, updated_at, id * 2 AS id FROM files WHERE folder_id = (SELECT id FROM folders WHERE uuid = $1)
       UNION ALL SELECT name, updated_at, id * 2 + 1 FROM folders
         WHERE ancestry <@ (SELECT ancestry FROM folders WHERE uuid = $1) AND uuid <> $1
     ) r ORDER BY r.updated_at DESC, r.id DESC`,
    [top.id],
  );
  return { api: ada.api, top: top.id, expected: rows.map(({ name }) => name) };
}

test('pages show each file and folder once, also of those that were changed at one time', async () => {
  const { api, top, expected } = await mixed();

  expect(expected).toHaveLength(120);
  for (const limit of [7, 50]) expect(await allPages(api, { folder_id: top, limit })).toEqual(expected);
  const after = new Date(0).toISOString();
  expect(await allPages(api, { created_after: after, limit: 9 })).toEqual(['top', ...expected]);
});

test('while files are added and changed, the pages go on with no gap and nothing twice', async () => {
  const { api, top, expected } = await mixed();
  let rounds = 0;
  const seen = await allPages(api, { folder_id: top, limit: 10 }, async () => {
    rounds += 1;
    await upload(api, `new ${rounds}.txt`, { folder_id: top });
    // What the first page has shown is changed, and comes to the front.
    await changedAgo('folders', top, -rounds);
  });

  expect(rounds).toBeGreaterThan(10);
  expect(seen).toEqual(expected);
});

test('in the order of creation, which a batch reads, what is changed meanwhile is hidden from no page', async () => {
  const { api, top, expected } = await mixed();
  const { body: me } = await api.get('/me');
  const [reader] = await tenant.db.query<{ id: number }>('SELECT id FROM users WHERE uuid = $1', [me.user.id]);
  const searcher = { userId: reader?.id ?? 0, files: [], folders: [] };
  const seen: FilteredRow[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const request = pageRequest({ limit: 7, sort: 'id', ...(cursor ? { cursor } : {}) }, FILTERED.order);
    const { sql, params } = filteredPage(searcher, { limit: 7, folder_id: top }, request);
    const rows = await tenant.db.query<FilteredRow>(sql, params);
    const read = page(
      request,
      rows,
      (row) => row,
      (row) => FILTERED.valuesOf(request, row),
    );
    seen.push(...read.data);
    cursor = read.pagination.next_cursor;
    // The one that comes next is changed before it is read.
    const next = rows.at(-1);
    const table = next && next.id % 2 === 0 ? 'files' : 'folders';
    if (next)
      await tenant.db.query(`UPDATE ${table} SET updated_at = now(), revision = revision + 1 WHERE id = $1`, [
        Math.floor(next.id / 2),
      ]);
  }

  expect(new Set(seen.map(({ id }) => id)).size).toBe(expected.length);
  expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted((a, b) => a - b));
  expect(seen).toHaveLength(expected.length);
});

test('in a folder, neither a filter nor words find the folder itself: to delete what is found leaves it there', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'Plans');
  await folder(api, 'Plans of May', top.id);

  expect(await names(api, { q: 'plans', folder_id: top.id })).toEqual(['Plans of May']);
  expect(await names(api, { type: 'folder', folder_id: top.id })).toEqual(['Plans of May']);
});

test.each([{}, { limit: 5 }])('with %j alone, neither words nor a filter, it is a 400 that says what to send', async (query) => {
  const { status, body } = await tenant.admin.get('/search', { query: query as Query });

  expect([status, body.error]).toEqual([400, 'validation_failed']);
  expect(body.details).toEqual([
    {
      field: 'q',
      message:
        'is required without a filter: send words in q, or a filter (type, folder_id, owner, mime_type, tag, created_after, ' +
        'created_before, size_min, size_max)',
    },
  ]);
});

test('words that are there but empty are no search by filters alone, and an accent alone is in no name', async () => {
  const { api } = await tenant.user();
  await upload(api, 'a.txt');

  expect((await api.get('/search', { query: { q: '', type: 'file' } })).status).toBe(400);
  expect((await api.get('/search', { query: { q: '  ', type: 'file' } })).status).toBe(400);
  expect(await names(api, { q: '\u0301', type: 'file' })).toEqual([]);
  expect(await names(api, { type: 'file' })).toEqual(['a.txt']);
});

test('a cursor of words, of another list, or a made-up one is refused without words, and one of filters with words', async () => {
  const { api } = await tenant.user();
  for (const name of ['plan 1', 'plan 2', 'plan 3']) await upload(api, name);
  const cursorOf = async (path: string, query: Query): Promise<string> =>
    (await api.get(path, { query: { ...query, limit: 1 } })).body.pagination.next_cursor;
  const [words, filters, list] = [
    await cursorOf('/search', { q: 'plan' }),
    await cursorOf('/search', { type: 'file' }),
    await cursorOf('/files', {}),
  ];
  const madeUp = (values: unknown[]): string =>
    Buffer.from(JSON.stringify({ s: '-changed,-id', v: values })).toString('base64url');
  const wrong = [
    words,
    list,
    madeUp(['2026-01-01T00:00:00.000Z', 'x']),
    madeUp(['soon', 1]),
    madeUp(['2026-01-01T00:00:00.000Z', 1e300]),
    madeUp([1]),
  ];
  const statusOf = async (query: Query): Promise<unknown[]> => {
    const { status, body } = await api.get('/search', { query });
    return [status, body.details?.[0]?.field];
  };

  for (const cursor of wrong) expect(await statusOf({ type: 'file', cursor })).toEqual([400, 'cursor']);
  expect(await statusOf({ q: 'plan', cursor: filters })).toEqual([400, 'cursor']);
  expect(await statusOf({ type: 'file', cursor: filters })).toEqual([200, undefined]);
});

test('a page is three statements, one more with a folder, and one more where a file has changed since it was shown', async () => {
  const { api } = await tenant.user();
  const top = await folder(api, 'top');
  await folder(api, 'below', top.id);
  const { id } = await upload(api, 'a.txt', { folder_id: top.id });
  const statements = async (query: Query): Promise<number> => (await tenant.counting(() => found(api, query))).sql.length;

  expect(await statements({ created_after: new Date(0).toISOString() })).toBe(3);
  expect(await statements({ type: 'file' })).toBe(2);
  expect(await statements({ folder_id: top.id })).toBe(4);
  expect(await statements({ tag: 'none' })).toBe(1);
  expect(await statements({ type: 'file' })).toBe(2);
  await api.patch(`/files/${id}`, { name: 'b.txt' });
  expect(await statements({ type: 'file' })).toBe(3);
});

test('a page of many files reads a page from the index, and of a rare tag the files that have it', async () => {
  const FILES = 5_000;
  // The owners of files in each of the ten folders: an entry for each, and one behind the last.
  const OWNERS = 20;
  const PAGE = 201;
  const { api, user } = await tenant.user();
  await fillWithFiles(testBackends().stores, tenant, user.email, [[1, FILES]]);
  const [row] = await tenant.db.query<{ id: number }>('SELECT id FROM users WHERE uuid = $1', [user.id]);
  const rare = (await api.get('/files', { query: { limit: 1, sort: 'created_at' } })).body.data[0] as Found;
  await tagOn(api, 'rare', rare);
  const reads = (query: object): Promise<number> => {
    const request = pageRequest({ limit: 10 }, FILTERED.order);
    const searcher = { userId: row?.id ?? 0, files: [], folders: [] };
    return rowsRead(tenant.db, 'files', filteredPage(searcher, { ...query, limit: 10 }, request));
  };

  expect(await reads({ type: 'file' })).toBeLessThanOrEqual(PAGE + OWNERS);
  expect(await reads({ tag: 'rare' })).toBeLessThanOrEqual(2 + OWNERS);
  expect(await names(api, { tag: 'rare' })).toEqual([rare.name]);
  expect(await names(api, { mime_type: 'text/plain', limit: 3 })).toEqual(range(3).map((n) => `${FILES - n}.txt`));
});
