import { expect, test } from '@jest/globals';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range } from '../../support/wait.ts';

const tenant = serverSuite();

type Item = Record<string, unknown>;

const add = async (api: Api, name: string, folderId?: string): Promise<string> => {
  const fields = folderId === undefined ? {} : { folder_id: folderId };
  return (await api.upload('/files', { name, file: Buffer.from(name), fields })).body.id;
};
const folder = async (api: Api, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const share = (api: Api, path: string, user_id: string, permission_level: string): Promise<ApiReply> =>
  api.post(`${path}/permissions`, { permission_level, user_id });

/** The file as each of these lists shows it, without what only that list says of it. */
async function listed(api: Api, paths: readonly string[], id: string): Promise<(Item | undefined)[]> {
  const shown: (Item | undefined)[] = [];
  for (const path of paths) {
    const { status, body } = await api.get(path);
    expect([path, status]).toEqual([path, 200]);
    const item = (body.data as Item[]).find((each) => each['id'] === id);
    const { type: _, rank: __, highlight: ___, grant: ____, ...file } = item ?? {};
    shown.push(item && file);
  }
  return shown;
}

test('what lists have shown of a file is shown again only while it is so: each change shows at once in all', async () => {
  const ada = await tenant.user();
  const [top, other] = [await folder(ada.api, 'History'), await folder(ada.api, 'Other')];
  const below = await folder(ada.api, 'Week 1', top);
  const id = await add(ada.api, 'essay.txt', below);
  const changes: Record<string, (folderId: string) => Promise<ApiReply | string>> = {
    nothing: async () => '',
    'a name': () => ada.api.patch(`/files/${id}`, { name: 'essay 2.txt' }),
    'the name of its folder': () => ada.api.patch(`/folders/${below}`, { name: 'Week one' }),
    'the name of a folder above': () => ada.api.patch(`/folders/${top}`, { name: 'History 1' }),
    'its owner’s name': () => tenant.admin.patch(`/users/${ada.user.id}`, { display_name: 'Ada O.' }),
    'its content': () => ada.api.upload(`/files/${id}`, { method: 'PUT', name: 'essay 2.txt', file: Buffer.from('longer') }),
    'an older version': () => ada.api.post(`/files/${id}/versions/1/restore`, {}),
    'its place': () => ada.api.patch(`/files/${id}`, { folder_id: other }),
    'the place of its folder': () => ada.api.patch(`/folders/${other}`, { parent_id: top }),
  };

  for (const [what, change] of Object.entries(changes)) {
    const changed = await change(below);
    const { body: file } = await ada.api.get(`/files/${id}`);
    const inside = file.folder.id as string;
    const paths = ['/files', `/files?folder_id=${inside}`, `/folders/${inside}/children`, '/search?q=essay', '/files?q=essay'];
    const [first, again] = [await listed(ada.api, paths, id), await listed(ada.api, paths, id)];

    expect([what, typeof changed === 'string' || changed.status < 300]).toEqual([what, true]);
    expect([what, first]).toEqual([what, paths.map(() => file)]);
    expect([what, again]).toEqual([what, first]);
  }
});

test('a file in the trash is in no list but that of the trash, and is shown as before once it is restored', async () => {
  const ada = await tenant.user();
  const id = await add(ada.api, 'notes.txt');
  const paths = ['/files', '/folders/root/children', '/search?q=notes', '/files?q=notes', '/files?trashed=true'];
  const before = await listed(ada.api, paths, id);
  await ada.api.delete(`/files/${id}`);
  const deleted = await listed(ada.api, paths, id);
  await ada.api.post(`/files/${id}/restore`, {});
  const { body: file } = await ada.api.get(`/files/${id}`);

  expect(before.map((item) => item !== undefined)).toEqual([true, true, true, true, false]);
  expect(deleted.map((item) => item?.['deleted_at'] ?? null)).toEqual([null, null, null, null, expect.any(String)]);
  expect(deleted.filter((item) => item !== undefined)).toHaveLength(1);
  expect(await listed(ada.api, paths, id)).toEqual([file, file, file, file, undefined]);
});

test('no reply shows what was changed before it was asked for, however many ask while it changes', async () => {
  const ada = await tenant.user();
  const top = await folder(ada.api, 'Busy');
  const id = await add(ada.api, 'draft 0.txt', top);
  const paths = ['/files', `/files?folder_id=${top}`, `/folders/${top}/children`, '/search?q=draft', '/files?q=draft'];
  const numberOf = (item: Item | undefined): number => Number(/ (\d+)\.txt$/.exec(String(item?.['name']))?.[1]);
  const stale: string[] = [];
  const progress = { acknowledged: 0, isDone: false };
  let asked = 0;
  const ask = async (path: string): Promise<void> => {
    while (!progress.isDone) {
      const least = progress.acknowledged;
      const [item] = await listed(ada.api, [path], id);
      asked += 1;
      if (!(numberOf(item) >= least)) stale.push(`${path} showed ${String(item?.['name'])} after ${least}`);
    }
  };
  const readers = paths.flatMap((path) => [ask(path), ask(path)]);
  for (const n of range(40).map((at) => at + 1)) {
    const { status } = await ada.api.patch(`/files/${id}`, { name: `draft ${n}.txt` });
    expect(status).toBe(200);
    progress.acknowledged = n;
  }
  progress.isDone = true;
  await Promise.all(readers);

  expect(stale).toEqual([]);
  expect(asked).toBeGreaterThan(40);
});

test('the new name of a folder shows before the paths of its files have followed, which a job may change', async () => {
  const ada = await tenant.user();
  const below = await folder(ada.api, 'Before');
  const id = await add(ada.api, 'paper.txt', below);
  const paths = ['/files', `/folders/${below}/children`, '/search?q=paper', '/files?q=paper'];
  await listed(ada.api, paths, id);
  await tenant.db.query(`UPDATE folders SET name = 'After' WHERE uuid = $1`, [below]);

  const shown = await listed(ada.api, paths, id);

  expect(shown.map((item) => item?.['folder'])).toEqual(paths.map(() => ({ id: below, name: 'After' })));
});

test('a text that was made for one person is never shown to another who sees less', async () => {
  const [ada, bob, cyd, dan] = [await tenant.user(), await tenant.user(), await tenant.user(), await tenant.user()];
  const eve = await tenant.user();
  const top = await folder(ada.api, 'Secret name');
  const below = await folder(ada.api, 'Shared', top);
  const id = await add(ada.api, 'plan.txt', below);
  await share(ada.api, `/folders/${below}`, bob.user.id, 'write');
  await share(ada.api, `/folders/${below}`, dan.user.id, 'read');
  await share(ada.api, `/files/${id}`, cyd.user.id, 'read');
  const people = [ada, bob, dan, cyd];
  const paths = ['/files', '/search?q=plan', '/files?q=plan'];
  const seen: Item[] = [];
  // Each after each other, so that each finds what another has left.
  for (const { api } of [...people, ...people, ...people.toReversed()]) {
    const { body: file } = await api.get(`/files/${id}`);
    const shown = await listed(api, paths, id);

    expect(shown).toEqual(paths.map(() => file));
    seen.push(file);
  }

  expect(seen.slice(0, 4).map(({ access, path, folder: of }) => [access, path, (of as Item | null)?.['name'] ?? null])).toEqual([
    ['admin', '/Secret name/Shared/plan.txt', 'Shared'],
    ['write', '/Shared/plan.txt', 'Shared'],
    ['read', '/Shared/plan.txt', 'Shared'],
    ['read', '/plan.txt', null],
  ]);
  expect(await listed(eve.api, paths, id)).toEqual([undefined, undefined, undefined]);

  await share(ada.api, `/files/${id}`, eve.user.id, 'read');
  await share(ada.api, `/folders/${below}`, cyd.user.id, 'admin');
  for (const { api } of [eve, cyd]) {
    const { body: file } = await api.get(`/files/${id}`);
    expect(await listed(api, paths, id)).toEqual(paths.map(() => file));
  }
});

test('a page that was asked for before costs no statement more, and one where a file has changed', async () => {
  const ada = await tenant.user();
  const top = await folder(ada.api, 'Notes');
  const id = await add(ada.api, 'one.txt', top);
  await add(ada.api, 'two.txt', top);
  const cost = async (path: string): Promise<number> => (await tenant.counting(() => ada.api.get(path))).sql.length;
  const paths: Record<string, number> = {
    '/files': 1,
    [`/files?folder_id=${top}`]: 1,
    [`/folders/${top}/children`]: 2,
    '/files?q=txt': 1,
    '/search?q=txt': 2,
  };
  let n = 0;

  for (const [path, statements] of Object.entries(paths)) {
    const [first, again] = [await cost(path), await cost(path)];
    await ada.api.patch(`/files/${id}`, { name: `one ${(n += 1)}.txt` });
    const [changed, last] = [await cost(path), await cost(path)];

    expect([path, first, again, changed, last]).toEqual([path, statements, statements, statements + 1, statements]);
  }
});

test('each page of a list that is asked for again is the same', async () => {
  const ada = await tenant.user();
  const top = await folder(ada.api, 'Many');
  for (const n of range(7)) await add(ada.api, `file ${n}.txt`, top);
  const pagesOf = async (path: string, q?: string): Promise<unknown[]> => {
    const pages: unknown[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { body } = await ada.api.get(path, { query: { limit: 3, ...(q && { q }), ...(cursor && { cursor }) } });
      pages.push(body);
      cursor = body.pagination.next_cursor;
    }
    return pages;
  };

  for (const [path, q] of [['/files'], ['/files', 'file'], [`/folders/${top}/children`], ['/search', 'txt']] as const) {
    const [first, again] = [await pagesOf(path, q), await pagesOf(path, q)];
    expect([path, q, first.length]).toEqual([path, q, 3]);
    expect([path, q, again]).toEqual([path, q, first]);
  }
});

test('a part of a name is found beyond the newest thousand of one’s own and others’ files, in the list’s order', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const top = await folder(ada.api, 'Shared');
  await share(ada.api, `/folders/${top}`, bob.user.id, 'write');
  await add(bob.api, 'seed', top);
  // A statement of a tenant may take 8 s.
  const fill = async (owner: string, prefix: string, folderId: string | null, needles: readonly number[]): Promise<void> => {
    for (const from of range(5).map((at) => 250 * at + 1))
      await tenant.db.query(
        `INSERT INTO files (uuid, name, path, owner_id, folder_id, size, checksum, version_number, updated_at)
         SELECT gen_random_uuid(), $3 || n || CASE WHEN n = ANY ($5::int[]) THEN ' needle' ELSE '' END, '/' || $3 || n, u.id,
           (SELECT id FROM folders WHERE uuid = $4), 0, repeat('0', 64), 1, now() - n * interval '1 minute'
         FROM users u, generate_series($2::int, $2::int + 249) n WHERE u.uuid = $1`,
        [owner, from, prefix, folderId, needles],
      );
  };
  await fill(ada.user.id, 'own ', null, [3, 700, 1_200, 1_250]);
  const names = async (path: string): Promise<string[]> =>
    ((await ada.api.get(path)).body.data as Item[]).map(({ name }) => String(name));

  // The first three by the newest alone; all only by the index of names.
  expect(await names('/files?q=needle&limit=1')).toEqual(['own 3 needle']);
  expect(await names('/files?q=needle')).toEqual(['own 3 needle', 'own 700 needle', 'own 1200 needle', 'own 1250 needle']);
  expect((await names('/search?q=needle')).toSorted()).toEqual([
    'own 1200 needle',
    'own 1250 needle',
    'own 3 needle',
    'own 700 needle',
  ]);
  expect(await names('/files?q=own&limit=2')).toEqual(['own 1', 'own 2']);

  await fill(bob.user.id, 'of bob ', top, [2, 1_100]);
  const all = ['of bob 2 needle', 'own 3 needle', 'own 700 needle', 'of bob 1100 needle', 'own 1200 needle', 'own 1250 needle'];

  expect(await names('/files?q=needle')).toEqual(all);
  expect(await names('/files?q=needle&limit=2')).toEqual(all.slice(0, 2));
  expect((await names('/search?q=needle')).toSorted()).toEqual(all.toSorted());
  expect((await names('/search?q=ne')).toSorted()).toEqual(all.toSorted());
  expect(await names('/files?q=nothing+like+it')).toEqual([]);
  expect(await names('/search?q=nothing+like+it')).toEqual([]);
});
