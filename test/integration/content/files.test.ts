import { describe, expect, test } from '@jest/globals';
import { pageRequest } from '../../../pkg/api/paging.ts';
import { FILES, fileList } from '../../../pkg/content/lists/file-list.sql.ts';
import { fillWithFiles } from '../../bench/filled.ts';
import { Api } from '../../support/clients/api.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range } from '../../support/wait.ts';

const tenant = serverSuite();

const put = async (api: Api, name: string, fields: Record<string, string> = {}, type = 'text/plain') => {
  const reply = await api.upload('/files', { file: Buffer.from(name), name, fields, type });
  expect(reply.status).toBe(201);
  return reply.body;
};
const folder = async (api: Api, name: string, parent_id?: string) => {
  const reply = await api.post('/folders', { name, ...(parent_id ? { parent_id } : {}) });
  expect(reply.status).toBe(201);
  return reply.body;
};
const names = async (api: Api, query: Record<string, string | number> = {}): Promise<string[]> =>
  (await api.get('/files', { query })).body.data.map(({ name }: { name: string }) => name);

describe('metadata', () => {
  test('has the specified shape, and none of it costs SQL when warm', async () => {
    const { api, user } = await tenant.user();
    const home = await folder(api, 'Home');
    const { id } = await put(api, 'Notes.TXT', { folder_id: home.id });
    await api.get(`/files/${id}`);

    const { reply, sql, redisTrips } = await tenant.counting(() => api.get(`/files/${id}`));

    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      id,
      name: 'Notes.TXT',
      size: 9,
      mime_type: 'text/plain',
      owner: { id: user.id, name: user.username },
      folder: { id: home.id, name: 'Home' },
      path: '/Home/Notes.TXT',
      version: 1,
      deleted_at: null,
      uploaded_by: null,
    });
    expect(sql).toEqual([]);
    expect(redisTrips).toBe(1);
  });

  test('of files that are asked for together, none of them cached, each reply has its own', async () => {
    const { api } = await tenant.user();
    const other = await tenant.user();
    const ids: string[] = [];
    for (const at of range(6)) ids.push((await put(api, `together ${at}`)).id);
    const foreign = await put(other.api, 'foreign');
    const none = '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11';
    const asked = [...ids, none, foreign.id, ids[0]?.toUpperCase() ?? ''];

    const replies = await Promise.all(asked.map((id) => api.get(`/files/${id}`)));

    expect(replies.map(({ status, body }) => (status === 200 ? body.name : status))).toEqual([
      ...range(6).map((at) => `together ${at}`),
      404,
      404,
      'together 0',
    ]);
  });

  test('is a 304 for a client that has it, until it changes', async () => {
    const { api } = await tenant.user();
    const { id } = await put(api, 'a');
    const first = await api.get(`/files/${id}`);
    const known = { headers: { 'if-none-match': first.headers['etag'] ?? '' } };

    expect((await api.get(`/files/${id}`, known)).status).toBe(304);
    await api.patch(`/files/${id}`, { name: 'b' });
    expect((await api.get(`/files/${id}`, known)).body).toMatchObject({ name: 'b' });
  });

  test('shows the new name of its owner at once', async () => {
    const { api, user } = await tenant.user();
    const { id } = await put(api, 'a');
    await api.get(`/files/${id}`);
    const { body } = await tenant.admin.get(`/users/${user.id}`);
    const { email, username, roles, storage_quota, is_active } = body;
    const changed = await tenant.admin.put(`/users/${user.id}`, {
      email,
      username,
      roles,
      storage_quota,
      is_active,
      display_name: 'Ada',
    });
    expect(changed.status).toBe(200);
    expect((await api.get(`/files/${id}`)).body.owner).toEqual({ id: user.id, name: 'Ada' });
  });
});

describe('a change', () => {
  test('renames and moves, and conflicts are a 409', async () => {
    const { api } = await tenant.user();
    const [a, b] = [await folder(api, 'A'), await folder(api, 'B')];
    const file = await put(api, 'x.txt', { folder_id: a.id });
    await put(api, 'taken.txt', { folder_id: b.id });

    const moved = await api.put(`/files/${file.id}`, { name: 'y.md', folder_id: b.id });
    expect(moved.body).toMatchObject({ name: 'y.md', folder: { id: b.id }, path: '/B/y.md' });
    expect((await api.patch(`/files/${file.id}`, { name: 'taken.txt' })).body.error).toBe('name_conflict');
    expect((await api.put(`/files/${file.id}`, { name: 'z.md' })).body).toMatchObject({ name: 'z.md', folder: { id: b.id } });
    expect((await api.put(`/files/${file.id}`, {})).status).toBe(400);
    expect((await api.patch(`/files/${file.id}`, { name: 'a/b' })).status).toBe(400);
    expect((await api.patch(`/files/${file.id}`, { folder_id: null })).body).toMatchObject({ folder: null, path: '/z.md' });
    expect(await names(api, { folder_id: b.id })).toEqual(['taken.txt']);
  });

  test('is refused when If-Match names an older version', async () => {
    const { api } = await tenant.user();
    const file = await put(api, 'a');
    const guard = { headers: { 'if-match': `"${file.etag}"` } };
    expect((await api.patch(`/files/${file.id}`, { name: 'b' }, guard)).status).toBe(200);
    expect((await api.patch(`/files/${file.id}`, { name: 'c' }, guard)).status).toBe(412);
    expect((await api.delete(`/files/${file.id}`, guard)).status).toBe(412);
    expect((await api.get(`/files/${file.id}`)).body.name).toBe('b');
  });
});

describe('the trash', () => {
  test('takes a file out of everything but itself, and gives it back', async () => {
    const { api } = await tenant.user();
    const file = await put(api, 'a');
    await api.get(`/files/${file.id}`);

    expect((await api.delete(`/files/${file.id}`)).status).toBe(204);

    expect((await api.get(`/files/${file.id}`)).status).toBe(404);
    expect((await api.get(`/files/${file.id}/download`)).status).toBe(404);
    expect((await api.patch(`/files/${file.id}`, { name: 'b' })).status).toBe(404);
    expect((await api.delete(`/files/${file.id}`)).status).toBe(404);
    expect(await names(api)).toEqual([]);
    expect(await names(api, { trashed: 'true' })).toEqual(['a']);
    const restored = await api.post(`/files/${file.id}/restore`);
    expect(restored).toMatchObject({ status: 200, body: { id: file.id, deleted_at: null } });
    expect(await names(api)).toEqual(['a']);
  });

  test('does not give back a file whose name was taken since', async () => {
    const { api } = await tenant.user();
    const file = await put(api, 'a');
    await api.delete(`/files/${file.id}`);
    await put(api, 'a');
    expect((await api.post(`/files/${file.id}/restore`)).body.error).toBe('name_conflict');
  });

  test('is left for ever by a permanent deletion', async () => {
    const { api } = await tenant.user();
    const file = await put(api, 'a');
    await api.delete(`/files/${file.id}`);
    expect((await api.delete(`/files/${file.id}`, { query: { permanent: true } })).status).toBe(204);
    expect((await api.post(`/files/${file.id}/restore`)).status).toBe(404);
    expect(await names(api, { trashed: 'true' })).toEqual([]);
  });
});

describe('a list', () => {
  test('gives every file once, page by page, in each order, in one statement a page', async () => {
    const { api } = await tenant.user();
    for (const at of range(7)) await put(api, `f${at}`);
    for (const sort of ['name', '-name', '-updated_at', 'size,-name', undefined]) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const query: Record<string, string | number> = { limit: 3, ...(sort ? { sort } : {}), ...(cursor ? { cursor } : {}) };
        const { reply, sql } = await tenant.counting(() => api.get('/files', { query }));
        expect(sql).toHaveLength(1);
        expect(reply.headers['link']?.includes('rel="next"') ?? false).toBe(reply.body.pagination.has_more);
        seen.push(...reply.body.data.map(({ name }: { name: string }) => name));
        cursor = reply.body.pagination.next_cursor;
      } while (cursor);
      expect(seen.toSorted()).toEqual(range(7).map((at) => `f${at}`));
      if (sort === 'name') expect(seen).toEqual(seen.toSorted());
      if (sort === '-name' || sort === 'size,-name') expect(seen).toEqual(seen.toSorted().toReversed());
    }
  });

  test('filters by text, type, owner, folder', async () => {
    const { api, user } = await tenant.user();
    const home = await folder(api, 'home');
    await put(api, 'Résumé 100%.pdf', { folder_id: home.id }, 'application/pdf');
    await put(api, 'photo.png', {}, 'image/png');

    expect(await names(api, { q: 'resume' })).toEqual(['Résumé 100%.pdf']);
    expect(await names(api, { q: '100%' })).toEqual(['Résumé 100%.pdf']);
    expect(await names(api, { q: '%' })).toEqual(['Résumé 100%.pdf']);
    expect(await names(api, { q: '_' })).toEqual([]);
    // Full-width signs are folded to the same signs.
    expect(await names(api, { q: '％' })).toEqual(['Résumé 100%.pdf']);
    expect(await names(api, { q: '＿' })).toEqual([]);
    expect(await names(api, { q: '＼' })).toEqual([]);
    expect(await names(api, { mime_type: 'image/*' })).toEqual(['photo.png']);
    expect(await names(api, { mime_type: 'application/pdf' })).toEqual(['Résumé 100%.pdf']);
    expect(await names(api, { owner: user.id })).toHaveLength(2);
    expect(await names(api, { folder_id: home.id })).toEqual(['Résumé 100%.pdf']);
    expect(await names(api, { folder_id: 'root' })).toEqual(['photo.png']);
  });

  test.each([
    { limit: 0 },
    { limit: 201 },
    { cursor: 'x' },
    { sort: 'colour' },
    { colour: 'red' },
    { folder_id: 'x' },
    { mime_type: 'x' },
  ])('with %j is a 400', async (query) => {
    expect((await tenant.admin.get('/files', { query: query as Record<string, string> })).status).toBe(400);
  });
});

describe('folders', () => {
  test('nest, with unique names among siblings', async () => {
    const { api } = await tenant.user();
    const top = await folder(api, 'top');
    const sub = await folder(api, 'sub', top.id);
    expect(sub).toMatchObject({ path: '/top/sub', depth: 1, parent_id: top.id });
    expect((await api.post('/folders', { name: 'sub', parent_id: top.id })).body.error).toBe('name_conflict');
    expect((await api.post('/folders', { name: '..' })).status).toBe(400);
    expect((await api.post('/folders', { name: 'x', parent_id: '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
    expect((await api.get(`/folders/${sub.id}`)).body).toEqual(sub);
  });

  test('nest 100 levels deep and no deeper', async () => {
    const { api } = await tenant.user();
    let parent: string | undefined;
    for (const _ of range(99)) parent = (await folder(api, 'd', parent)).id;
    const deepest = await folder(api, 'd', parent);

    const refused = await api.post('/folders', { name: 'd', parent_id: deepest.id });

    expect(deepest.depth).toBe(99);
    expect(refused).toMatchObject({
      status: 400,
      body: { details: [{ field: 'parent_id', message: 'is too deep to hold another folder' }] },
    });
  });

  test('refuse a path of more than 2048 characters', async () => {
    const { api } = await tenant.user();
    let parent: string | undefined;
    for (const _ of range(8)) parent = (await folder(api, 'x'.repeat(255), parent)).id;
    const refused = await api.post('/folders', { name: 'y', parent_id: parent });
    expect(refused).toMatchObject({ status: 400, body: { error: 'validation_failed' } });
  });
});

describe('a page of files', () => {
  test('of a person with few files or 20,000 reads at most 500 blocks, since it reads no files of others', async () => {
    const [few, many] = await Promise.all([tenant.user(), tenant.user()]);
    const { stores } = testBackends();
    await fillWithFiles(stores, tenant, few.user.email, [[1, 100]]);
    await fillWithFiles(stores, tenant, many.user.email, [[1, 20_000]]);
    const blocks = [await blocksOf(few.user.id), await blocksOf(many.user.id)];

    expect(blocks.filter((count) => count > 500)).toEqual([]);
  });

  test('of a granted folder with 2,000 files of others reads at most 500 blocks, for guest and owner', async () => {
    const [owner, viewer] = await Promise.all([tenant.user(), tenant.user()]);
    await fillWithFiles(testBackends().stores, tenant, owner.user.email, [[1, 20_000]]);
    const [shared] = await tenant.db.query<{ uuid: string }>(
      `SELECT d.uuid FROM folders d JOIN users u ON u.id = d.owner_id WHERE d.name = 'folder 0' AND u.uuid = $1`,
      [owner.user.id],
    );
    const granted = [String(shared?.uuid)];
    await owner.api.post(`/folders/${granted[0]}/permissions`, { permission_level: 'write', user_id: viewer.user.id });
    await put(viewer.api, 'of a guest', { folder_id: String(granted[0]) });

    const blocks = [await blocksOf(viewer.user.id, { granted }), await blocksOf(owner.user.id)];

    expect(blocks.filter((count) => count > 500)).toEqual([]);
    expect(await names(owner.api, { limit: 1 })).toEqual(['of a guest']);
    expect(await names(viewer.api, { limit: 3 })).toEqual(['of a guest', '20000.txt', '19990.txt']);
  });

  test('of a person with 400 folders in each other reads 3,000 blocks at most, since it reads each folder once', async () => {
    const { api, user } = await tenant.user();
    const top = await folder(api, 'top');
    for (const level of range(40))
      await tenant.db.query(
        `INSERT INTO folders (uuid, name, path, parent_id, owner_id)
         SELECT gen_random_uuid(), n::text, d.path || '/' || n, d.id, d.owner_id FROM folders d, generate_series(1, 10) n
         WHERE d.owner_id = (SELECT owner_id FROM folders WHERE uuid = $1) AND d.depth = $2 AND d.name IN ('top', '1')`,
        [top.id, level],
      );

    expect(await blocksOf(user.id)).toBeLessThan(3_000);
  });

  test("has a guest's file once, however many of the folders above it are the viewer's", async () => {
    const [owner, guest] = await Promise.all([tenant.user(), tenant.user()]);
    const outer = await folder(owner.api, 'outer');
    const inner = await folder(owner.api, 'inner', outer.id);
    await owner.api.post(`/folders/${inner.id}/permissions`, { permission_level: 'write', user_id: guest.user.id });
    await put(guest.api, 'of a guest', { folder_id: inner.id });

    expect(await names(owner.api)).toEqual(['of a guest']);
  });
});

type Plan = readonly [{ readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number } }];

/** Blocks that the first page of 100 files reads. `granted`: the folders that are granted to the viewer. */
async function blocksOf(uuid: string, { granted = [] }: { granted?: readonly string[] } = {}): Promise<number> {
  const [user] = await tenant.db.query<{ id: number }>('SELECT id FROM users WHERE uuid = $1', [uuid]);
  const viewer = { userId: Number(user?.id), files: [], folders: granted, known: granted };
  const { sql, params } = fileList(viewer, { limit: 100 }, pageRequest({ limit: 100 }, FILES.order));
  const [row] = await tenant.db.query<{ 'QUERY PLAN': Plan }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, params);
  const [{ Plan: plan }] = (row as { 'QUERY PLAN': Plan })['QUERY PLAN'];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
