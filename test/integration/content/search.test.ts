import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { foundNames } from '../../../pkg/content/search/search.sql.ts';
import { fillWithFiles } from '../../bench/filled.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { rowsRead } from '../../support/measures/rows-read.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range } from '../../support/wait.ts';

const tenant = serverSuite();

type Query = Record<string, string | number>;
interface Found {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly rank: number;
  readonly highlight: string;
}

const search = (api: Api, q: string, query: Query = {}): Promise<ApiReply> => api.get('/search', { query: { q, ...query } });
const found = async (api: Api, q: string, query: Query = {}): Promise<Found[]> => {
  const { status, body } = await search(api, q, query);
  expect([q, status]).toEqual([q, 200]);
  return body.data;
};
const names = async (api: Api, q: string, query: Query = {}): Promise<string[]> =>
  (await found(api, q, query)).map(({ name }) => name);
const upload = async (
  api: Api,
  name: string,
  fields: Record<string, string> = {},
  text = 'x',
  type?: string,
): Promise<{ id: string }> => {
  const { status, body } = await api.upload('/files', {
    file: Buffer.from(text),
    name,
    fields,
    ...(type === undefined ? {} : { type }),
  });
  expect([name, status]).toEqual([name, 201]);
  return body;
};
const folder = async (api: Api, name: string, parent_id: string | null = null): Promise<{ id: string }> =>
  (await api.post('/folders', { name, parent_id })).body;

test('whole words come first, then beginnings, then parts, the shorter first; each match says how well and where', async () => {
  const { api } = await tenant.user();
  for (const name of ['synthesis.pdf', 'theses.pdf', 'my thesis, final version.pdf', 'Thesis.pdf', 'hypothesis notes.txt'])
    await upload(api, name);
  await folder(api, 'Thesis-2026');
  await upload(api, 'thesispaper.txt');

  const items = await found(api, 'thesis');

  expect(items.map(({ type, highlight }) => `${type} ${highlight.replaceAll('\uE000', '[').replaceAll('\uE001', ']')}`)).toEqual([
    'file [Thesis].pdf',
    'folder [Thesis]-2026',
    'file my [thesis], final version.pdf',
    'file [thesis]paper.txt',
    'file syn[thesis].pdf',
    'file hypo[thesis] notes.txt',
  ]);
  const ranks = items.map(({ rank }) => rank);
  expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
  expect(ranks.every((rank) => rank > 0 && rank <= 1)).toBe(true);
});

test('case and accents do not matter, in several scripts; of several words all have to occur, in any order', async () => {
  const { api } = await tenant.user();
  const all = [
    'Čeština pro začátečníky.pdf',
    'Отчёт за май.docx',
    'Ελληνική ιστορία.txt',
    '東京大学 案内.pdf',
    'تقرير سنوي.pdf',
    'Straße und Weg.txt',
  ];
  for (const name of all) await upload(api, name);

  const hits = [
    await names(api, 'cestina'),
    await names(api, 'ZAČÁTEČNÍKY čeština'),
    await names(api, 'отчет МАЙ'),
    await names(api, 'ελληνικη'),
    await names(api, '大学'),
    await names(api, '東'),
    await names(api, 'سنوي'),
    await names(api, 'strasse weg'),
    await names(api, 'strasse weg stein'),
  ];

  expect(hits).toEqual([[all[0]], [all[0]], [all[1]], [all[2]], [all[3]], [all[3]], [all[4]], [all[5]], []]);
});

test('nobody finds what they may not see: not by an item, a path, nor by how many there are', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const secret = await folder(ada.api, 'secret plans');
  const open = await folder(ada.api, 'open plans', secret.id);
  await upload(ada.api, 'plan one.txt', { folder_id: secret.id });
  const two = await upload(ada.api, 'plan two.txt', { folder_id: open.id });
  const three = await upload(ada.api, 'plan three.txt');
  const before = await names(bob.api, 'plan');
  await ada.api.post(`/folders/${open.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
  const grant = await ada.api.post(`/files/${three.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
  await upload(bob.api, 'my plan.txt');

  const shared = await found(bob.api, 'plan', { limit: 2 });
  const all = await found(bob.api, 'plan');
  const pages = (await search(bob.api, 'plan', { limit: 2 })).body.pagination;
  const below = await names(bob.api, 'plan', { folder_id: open.id });
  await ada.api.delete(`/files/${three.id}/permissions/${grant.body.id}`);
  await ada.api.delete(`/files/${two.id}`);

  expect(before).toEqual([]);
  expect(all.map(({ path }) => path).toSorted()).toEqual([
    '/my plan.txt',
    '/open plans',
    '/open plans/plan two.txt',
    '/plan three.txt',
  ]);
  expect([shared.length, pages.has_more]).toEqual([2, true]);
  expect((await names(bob.api, 'plan')).toSorted()).toEqual(['my plan.txt', 'open plans']);
  expect((await search(bob.api, 'plan', { folder_id: secret.id })).status).toBe(404);
  expect([below, await names(bob.api, 'plan', { folder_id: open.id })]).toEqual([['plan two.txt'], []]);
});

test('each filter leaves out what it should', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const { api } = ada;
  const top = await folder(api, 'lists');
  const below = await folder(api, 'older lists', top.id);
  await upload(api, 'list a.txt', { folder_id: below.id }, 'x'.repeat(100));
  const b = await upload(api, 'list b.csv', {}, 'a,b', 'text/csv');
  await api.post(`/folders/${top.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
  await upload(bob.api, 'list of bob.txt', { folder_id: top.id });
  const { body: tag } = await api.post('/tags', { name: 'To do' });
  await api.put(`/files/${b.id}/tags/${tag.id}`);
  await tenant.db.query(`UPDATE files SET created_at = now() - interval '10 days' WHERE uuid = $1`, [b.id]);
  const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString();
  const of = async (query: Query): Promise<string[]> => (await names(api, 'list', query)).toSorted();

  expect(await of({})).toEqual(['list a.txt', 'list b.csv', 'list of bob.txt', 'lists', 'older lists']);
  expect(await of({ type: 'folder' })).toEqual(['lists', 'older lists']);
  expect(await of({ type: 'file', owner: bob.user.id })).toEqual(['list of bob.txt']);
  expect(await of({ folder_id: below.id })).toEqual(['list a.txt']);
  expect(await of({ mime_type: 'text/csv', type: 'folder' })).toEqual([]);
  expect(await of({ mime_type: 'text/csv' })).toEqual(['list b.csv']);
  expect(await of({ mime_type: 'text/*', size_min: 50 })).toEqual(['list a.txt']);
  expect(await of({ size_max: 3 })).toEqual(['list b.csv', 'list of bob.txt']);
  expect(await of({ tag: 'to do' })).toEqual(['list b.csv']);
  expect(await of({ created_before: weekAgo })).toEqual(['list b.csv']);
  expect(await of({ created_after: weekAgo, type: 'file' })).toEqual(['list a.txt', 'list of bob.txt']);
});

test('pages show each item once; the first 1,000 of many are ranked, in three statements a page', async () => {
  const { api, user } = await tenant.user();
  await upload(api, 'seed');
  // A statement of a tenant may take 8 s.
  for (const from of range(6).map((at) => 250 * at + 1))
    await tenant.db.query(
      `INSERT INTO files (uuid, name, path, owner_id, size, checksum, version_number)
       SELECT gen_random_uuid(), 'budget ' || n, '/budget ' || n, u.id, 0, repeat('0', 64), 1
       FROM users u, generate_series($2::int, $2::int + 249) n WHERE u.uuid = $1`,
      [user.id, from],
    );
  await folder(api, 'budget');
  const seenOf = async (): Promise<string[]> => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: ApiReply = await search(api, 'budget', { limit: 100, ...(cursor === null ? {} : { cursor }) });
      seen.push(...body.data.map(({ id }: Found) => id));
      cursor = body.pagination.next_cursor;
    } while (cursor !== null);
    return seen;
  };
  const seen = await seenOf();
  const { sql } = await tenant.counting(() => search(api, 'budget', { limit: 10 }));

  expect([seen.length, new Set(seen).size]).toEqual([1_000, 1_000]);
  expect(sql).toHaveLength(3);
  expect(await names(api, 'budget', { limit: 1 })).toEqual(['budget']);
  // After a search beyond the newest names, the next one asks the index at once.
  expect(await names(api, 'bud 1499')).toEqual(['budget 1499']);
  const byIndex = await seenOf();
  expect([byIndex.length, new Set(byIndex).size]).toEqual([1_000, 1_000]);
});

test('a search of two characters reads files once where nobody else has any, and finds others’ in own folders', async () => {
  const FILES = 2_000;
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  await fillWithFiles(testBackends().stores, tenant, ada.user.email, [[1, FILES]]);
  const [row] = await tenant.db.query<{ id: number }>('SELECT id FROM users WHERE uuid = $1', [ada.user.id]);
  const readFor = async (q: string): Promise<number> => {
    const searcher = { userId: row?.id ?? 0, files: [], folders: [] };
    return rowsRead(tenant.db, 'files', foundNames(searcher, [q], { q, limit: 10 }));
  };

  expect(await readFor('zq')).toBeLessThan(2 * FILES);
  const shared = await folder(ada.api, 'shared');
  await ada.api.post(`/folders/${shared.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
  await upload(bob.api, 'zq of bob.txt', { folder_id: shared.id });

  expect(await names(ada.api, 'zq')).toEqual(['zq of bob.txt']);
});

test.each([
  ['', 'q'],
  ['   ', 'q'],
  ['x'.repeat(256), 'q'],
])('q=%j is a 400 that names the field', async (q, field) => {
  const { status, body } = await search(tenant.admin, q);

  expect([status, body.error, body.details?.[0]?.field]).toEqual([400, 'validation_failed', field]);
});

test('characters with a meaning in SQL, LIKE or regular expressions are text', async () => {
  const { api } = await tenant.user();
  await upload(api, '100%_done (v1.0) [a].txt');
  await upload(api, '1000 done.txt');

  expect(await names(api, "100%_done'; DROP TABLE files; --")).toEqual([]);
  expect(await names(api, '100%_done')).toEqual(['100%_done (v1.0) [a].txt', '1000 done.txt']);
  expect(await names(api, '%_')).toEqual(['100%_done (v1.0) [a].txt']);
  expect(await names(api, '.* v1')).toEqual(['100%_done (v1.0) [a].txt']);
  expect(await names(api, '\\ [a] & ! | <->')).toEqual(['100%_done (v1.0) [a].txt']);
  expect((await search(api, 'a', { folder_id: randomUUID() })).status).toBe(404);
  expect((await search(api, 'a', { size_min: -1 })).status).toBe(400);
  expect((await search(api, 'a', { cursor: 'x' })).status).toBe(400);
});
