import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;

/** Ada's folders /Private/Grades/Week 1 with a file in the last, and Bob, who has nothing yet. */
async function scene() {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const folder = async (name: string, parent_id?: string) =>
    (await ada.api.post('/folders', { name, ...(parent_id ? { parent_id } : {}) })).body;
  const top = await folder('Private');
  const middle = await folder('Grades', top.id);
  const week = await folder('Week 1', middle.id);
  const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a.txt', fields: { folder_id: week.id } })).body;
  return { ada, bob, top, middle, week, file };
}

const grant = (by: Person, path: string, to: Person, permission_level: string): Promise<ApiReply> =>
  by.api.post(`${path}/permissions`, { permission_level, user_id: to.user.id });
const listed = async (who: Person, id: string) =>
  (await who.api.get('/files')).body.data.find((file: { id: string }) => file.id === id);

describe('a user with a grant on a file alone', () => {
  test('sees no folder, and a path that begins at the file, wherever it is shown', async () => {
    const { ada, bob, week, file } = await scene();
    await grant(ada, `/files/${file.id}`, bob, 'write');
    await ada.api.get(`/files/${file.id}`);

    const shown = [
      (await bob.api.get(`/files/${file.id}`)).body,
      await listed(bob, file.id),
      (await bob.api.patch(`/files/${file.id}`, { name: 'a.txt' })).body,
      (await bob.api.put(`/files/${file.id}`, { name: 'a.txt', folder_id: null })).body,
      (await bob.api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from('bob'), name: 'a' })).body,
      (await bob.api.post(`/files/${file.id}/restore`)).body,
    ];

    for (const one of shown) expect(one).toMatchObject({ id: file.id, folder: null, path: '/a.txt' });
    expect(JSON.stringify(shown)).not.toMatch(new RegExp(`Private|Grades|Week|${week.id}`));
    expect((await ada.api.get(`/files/${file.id}`)).body).toMatchObject({
      folder: { id: week.id },
      path: '/Private/Grades/Week 1/a.txt',
    });
  });

  test('cannot probe for the folder, neither by its id nor by an entity tag that depends on its name', async () => {
    const { ada, bob, week, file } = await scene();
    await grant(ada, `/files/${file.id}`, bob, 'write');

    expect((await bob.api.get('/files', { query: { folder_id: week.id } })).status).toBe(404);
    expect((await bob.api.patch(`/files/${file.id}`, { folder_id: week.id })).status).toBe(404);
    const before = (await bob.api.get(`/files/${file.id}`)).body.etag;
    expect(before).not.toBe((await ada.api.get(`/files/${file.id}`)).body.etag);
    expect((await bob.api.patch(`/files/${file.id}`, { name: 'b.txt' }, { headers: { 'if-match': `"${before}"` } })).status).toBe(
      200,
    );
    expect((await bob.api.delete(`/files/${file.id}`, { headers: { 'if-match': `"${before}"` } })).status).toBe(412);
  });

  test('is shown their part from the cache too, which costs no SQL', async () => {
    const { ada, bob, week, file } = await scene();
    await grant(ada, `/files/${file.id}`, bob, 'read');
    for (const { api } of [ada, bob]) await api.get(`/files/${file.id}`);

    const { reply, sql, redisTrips } = await tenant.counting(() => bob.api.get(`/files/${file.id}`));
    expect(reply.body).toMatchObject({ folder: null, path: '/a.txt' });
    expect(sql).toEqual([]);
    expect(redisTrips).toBe(1);
    expect((await ada.api.get(`/files/${file.id}`)).body).toMatchObject({ folder: { id: week.id } });
  });

  test('gets another entity tag once they see more', async () => {
    const { ada, bob, middle, week, file } = await scene();
    const tags = new Set<string>();
    for (const path of [`/files/${file.id}`, `/folders/${week.id}`, `/folders/${middle.id}`]) {
      await grant(ada, path, bob, 'read');
      tags.add((await bob.api.get(`/files/${file.id}`)).body.etag);
    }
    expect(tags.size).toBe(3);
  });
});

describe('a user with a grant on a folder', () => {
  test('sees paths that begin there, in metadata, lists, uploads and folders', async () => {
    const { ada, bob, top, middle, week, file } = await scene();
    await grant(ada, `/folders/${middle.id}`, bob, 'write');

    const added = (await bob.api.upload('/files', { file: Buffer.from('bob'), name: 'b.txt', fields: { folder_id: week.id } }))
      .body;
    const below = (await bob.api.post('/folders', { name: 'Day 1', parent_id: week.id })).body;

    expect(added).toMatchObject({ folder_id: week.id, etag: (await bob.api.get(`/files/${added.id}`)).body.etag });
    for (const one of [(await bob.api.get(`/files/${file.id}`)).body, await listed(bob, file.id)])
      expect(one).toMatchObject({ folder: { id: week.id, name: 'Week 1' }, path: '/Grades/Week 1/a.txt' });
    const inFolder = (await bob.api.get('/files', { query: { folder_id: week.id, sort: 'name' } })).body.data;
    expect(inFolder.map(({ path }: { path: string }) => path)).toEqual(['/Grades/Week 1/a.txt', '/Grades/Week 1/b.txt']);
    expect((await bob.api.get(`/folders/${middle.id}`)).body).toMatchObject({ path: '/Grades', parent_id: null, depth: 0 });
    expect((await bob.api.get(`/folders/${week.id}`)).body).toMatchObject({
      path: '/Grades/Week 1',
      parent_id: middle.id,
      depth: 1,
    });
    expect(below).toMatchObject({ path: '/Grades/Week 1/Day 1', parent_id: week.id, depth: 2 });
    expect((await ada.api.get(`/folders/${week.id}`)).body).toMatchObject({
      path: '/Private/Grades/Week 1',
      parent_id: middle.id,
      depth: 2,
    });
    expect((await bob.api.get(`/folders/${top.id}`)).status).toBe(404);
  });

  test('sees no more of it once that is taken back, though a file of theirs lies there', async () => {
    const { ada, bob, week } = await scene();
    const granted = (await grant(ada, `/folders/${week.id}`, bob, 'write')).body;
    const own = (await bob.api.upload('/files', { file: Buffer.from('bob'), name: 'b.txt', fields: { folder_id: week.id } }))
      .body;
    await ada.api.delete(`/folders/${week.id}/permissions/${granted.id}`);

    expect((await bob.api.get(`/files/${own.id}`)).body).toMatchObject({ folder: null, path: '/b.txt' });
    // Sending back the location that they see leaves the file where it is.
    expect((await bob.api.put(`/files/${own.id}`, { name: 'b.txt', folder_id: null })).body).toMatchObject({
      folder: null,
      path: '/b.txt',
    });
    expect((await ada.api.get(`/files/${own.id}`)).body).toMatchObject({ folder: { id: week.id } });

    const mine = (await bob.api.post('/folders', { name: 'mine' })).body;
    expect((await bob.api.patch(`/files/${own.id}`, { folder_id: mine.id })).body).toMatchObject({ path: '/mine/b.txt' });
    expect((await bob.api.patch(`/files/${own.id}`, { folder_id: null })).body).toMatchObject({ folder: null, path: '/b.txt' });
    expect((await ada.api.get(`/files/${own.id}`)).status).toBe(404);
  });

  test('does not learn how long the path above it is when a name is too long', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    let parent = '';
    for (const at of range(8)) {
      const name = `${at}`.padEnd(250, 'n');
      parent = (await ada.api.post('/folders', { name, ...(parent === '' ? {} : { parent_id: parent }) })).body.id;
    }
    const onFolder = `/folders/${parent}`;
    const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a', fields: { folder_id: parent } })).body;
    const name = 'x'.repeat(255);
    const refusals = async ({ api }: Person): Promise<ApiReply[]> => [
      await api.patch(`/files/${file.id}`, { name }),
      await api.post('/folders', { name, parent_id: parent }),
      await api.upload('/files', { file: Buffer.from('x'), name, fields: { folder_id: parent } }),
    ];
    await grant(ada, onFolder, bob, 'write');

    for (const { status, body } of await refusals(ada))
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('2048')]);
    for (const { status, body } of await refusals(bob)) {
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('too long for this folder')]);
      expect(JSON.stringify(body)).not.toContain('2048');
    }
  });
});

describe('a permanent deletion', () => {
  test('takes the level admin, of a live file and of one in the trash', async () => {
    const { ada, bob, week, file } = await scene();
    await grant(ada, `/folders/${week.id}`, bob, 'write');
    const purge = (who: Person): Promise<ApiReply> => who.api.delete(`/files/${file.id}`, { query: { permanent: true } });

    expect((await purge(bob)).status).toBe(403);
    expect((await bob.api.delete(`/files/${file.id}`)).status).toBe(204);
    expect((await purge(bob)).status).toBe(403);
    expect((await bob.api.get('/files', { query: { trashed: 'true', folder_id: week.id } })).body.data).toMatchObject([
      { id: file.id },
    ]);

    await grant(ada, `/folders/${week.id}`, bob, 'admin');
    expect((await purge(bob)).status).toBe(204);
    expect((await ada.api.post(`/files/${file.id}/restore`)).status).toBe(404);
  });

  test('does not show trashed files to readers', async () => {
    const { ada, bob, week, file } = await scene();
    await grant(ada, `/folders/${week.id}`, bob, 'read');
    await ada.api.delete(`/files/${file.id}`);

    expect((await bob.api.delete(`/files/${file.id}`, { query: { permanent: true } })).status).toBe(404);
    expect((await bob.api.get('/files', { query: { trashed: 'true', folder_id: week.id } })).body.data).toEqual([]);
  });
});

test.each(['photo\u202egpj.exe', '\u200b', ' ', '..\\..\\x'])('a file or folder cannot be called %j', async (name) => {
  const { api } = await tenant.user();
  const replies = [await api.upload('/files', { file: Buffer.from('x'), name }), await api.post('/folders', { name })];
  for (const reply of replies) expect(reply).toMatchObject({ status: 400, body: { error: 'validation_failed' } });
});
