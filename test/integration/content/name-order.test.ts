import { expect, test } from '@jest/globals';
import { pageRequest } from '../../../pkg/api/paging.ts';
import { FOLDERS, filesIn } from '../../../pkg/content/lists/folder-list.sql.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { fillWithFiles } from '../../bench/filled.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;

/**
 * In the order that people expect: signs, digits by their value, letters whatever their accents and case, which decide between
 * what is else alike.
 */
const IN_ORDER = [
  '_x',
  '(1)',
  '100% done.txt',
  '1000 done.txt',
  'a01',
  'a1',
  'a2',
  'apple',
  'Ärger',
  'ärmel',
  'Banana',
  'cherry',
  'éclair',
  'Émile',
  'file 2',
  'file2',
  'file10',
  'resume',
  'Resume',
  'résumé',
  'Zebra',
  'zoo',
  'Ωmega',
  'яблоко',
  '東京',
];
const SHUFFLED = IN_ORDER.toSorted();

/** All names of a list, page by page. */
async function names(api: Api, path: string, limit: number, nameOf: (item: Record<string, never>) => string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { status, body }: ApiReply = await api.get(`${path}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
    if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`);
    found.push(...(body.data as Record<string, never>[]).map(nameOf));
    cursor = body.pagination.next_cursor as string | null;
  }
  return found;
}
const nameOf = ({ name }: { name: string }): string => name;

const ofUser = (item: Record<string, never>): string => (item as { user?: { name: string } }).user?.name ?? '';

async function expectOrder(
  api: Api,
  path: string,
  of = nameOf as never as (item: Record<string, never>) => string,
): Promise<void> {
  const query = path.includes('?') ? '&' : '?';
  for (const limit of [200, 3]) {
    expect([path, limit, await names(api, `${path}${query}sort=name`, limit, of)]).toEqual([path, limit, IN_ORDER]);
    expect([path, limit, await names(api, `${path}${query}sort=-name`, limit, of)]).toEqual([path, limit, IN_ORDER.toReversed()]);
  }
}

test('files, folders, children, the trash and shared items are sorted by name as people expect, on every page', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const { body: folder } = await ada.api.post('/folders', { name: 'list' });
  for (const name of SHUFFLED) {
    const file = await ada.api.upload('/files', { name, file: Buffer.from('x') });
    await ada.api.post(`/files/${file.body.id}/permissions`, { user_id: bob.user.id, permission_level: 'read' });
    await ada.api.post('/folders', { name, parent_id: folder.id });
  }

  await expectOrder(ada.api, '/files');
  await expectOrder(ada.api, '/files?folder_id=root');
  await expectOrder(ada.api, `/folders?parent_id=${folder.id}`);
  await expectOrder(ada.api, `/folders/${folder.id}/children`);
  await expectOrder(bob.api, '/shared-with-me', (item) => ((item as { file?: { name: string } }).file ?? item)['name'] as string);
  for (const { id } of (await ada.api.get('/files?limit=200')).body.data as { id: string }[])
    await ada.api.delete(`/files/${id}`);
  await expectOrder(ada.api, '/trash');
});

test('tags, groups, members of a group, and who has access to a file are by name in the same order', async () => {
  const ada = await tenant.user();
  const { body: file } = await ada.api.upload('/files', { name: 'a.txt', file: Buffer.from('x') });
  const { body: group } = await tenant.admin.post('/groups', { name: 'of all' });
  await ada.api.post(`/files/${file.id}/permissions`, { group_id: group.id, permission_level: 'read' });
  const inCase: string[] = [];
  for (const name of SHUFFLED) {
    const { user }: Person = await tenant.user();
    await tenant.admin.patch(`/users/${user.id}`, { display_name: name });
    await tenant.admin.put(`/groups/${group.id}/members/${user.id}`);
    // Tags and groups of one name in two cases are one.
    if (name === 'Resume') continue;
    await ada.api.post('/tags', { name });
    await tenant.admin.post('/groups', { name });
    inCase.push(name);
  }
  const once = IN_ORDER.filter((name) => inCase.includes(name));

  expect(await names(ada.api, '/tags?sort=name', 4, nameOf as never)).toEqual(once);
  expect((await names(tenant.admin, '/groups?sort=name', 4, nameOf as never)).filter((name) => name !== 'of all')).toEqual(once);
  await expectOrder(tenant.admin, `/groups/${group.id}/members`, ofUser);
  const access = await names(ada.api, `/files/${file.id}/access?sort=name`, 7, ofUser);
  expect(access.filter((name) => IN_ORDER.includes(name))).toEqual(IN_ORDER);
});

test('a page of the files in a folder by name is read from an index in its order, wherever it begins', async () => {
  const ada = await tenant.user();
  await fillWithFiles(testBackends().stores, tenant, ada.user.email, [[0, 20_000]]);
  const [row] = await tenant.db.query<{ id: number }>(
    `SELECT d.id FROM folders d JOIN users u ON u.id = d.owner_id WHERE u.uuid = $1 AND d.name = 'folder 1'`,
    [ada.user.id],
  );
  const cursor = Buffer.from(JSON.stringify({ s: 'name,id', v: ['9001.txt', 1] })).toString('base64url');

  for (const more of [{}, { cursor }]) {
    const request = pageRequest({ limit: 100, sort: 'name', ...more }, FOLDERS.order);
    const { sql, params } = filesIn({ folderId: row?.id ?? 0 }, undefined, request);
    const lines = await tenant.db.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${sql}`, params);
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');

    expect(plan).toMatch(/Index Scan using files_names_idx on files f \(actual rows=101(\.00)? loops=1\)/);
    expect(plan).not.toMatch(/Seq Scan on files/);
  }
});
