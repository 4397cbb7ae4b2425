import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { untilServed } from '../../support/wait.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;

const folderOf = async (person: Person, name: string, parent_id: string | null = null): Promise<{ id: string }> =>
  (await person.api.post('/folders', { name, parent_id })).body;

const grant = async (by: Person, path: string, to: Person, permission_level: string): Promise<string> =>
  (await by.api.post(`${path}/permissions`, { permission_level, user_id: to.user.id })).body.id;

const move = (person: Person, file: { id: string }, folder: { id: string | null }): Promise<ApiReply> =>
  person.api.patch(`/files/${file.id}`, { folder_id: folder.id });

/** Ada's folder with a file in it, and Bob, who may write in the folder. */
async function writerBob() {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const folder = await folderOf(ada, 'shared');
  const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a.txt', fields: { folder_id: folder.id } }))
    .body;
  const granted = await grant(ada, `/folders/${folder.id}`, bob, 'write');
  return { ada, bob, folder, file, granted };
}

describe('a user with write access to a file', () => {
  test('cannot become its admin by moving it into a folder of theirs, and their access ends with the grant', async () => {
    const { ada, bob, folder, file, granted } = await writerBob();
    const own = await folderOf(bob, 'mine');
    const below = await folderOf(bob, 'mine too', folder.id);

    for (const into of [own, below]) {
      const refused = await move(bob, file, into);
      expect(refused).toMatchObject({ status: 403, body: { error: 'forbidden' } });
      expect(refused.body.message).toMatch(/more access than you have; the owner of the file can move it/);
    }
    expect((await bob.api.put(`/files/${file.id}`, { name: 'b.txt', folder_id: own.id })).status).toBe(403);

    expect((await ada.api.get(`/files/${file.id}`)).body).toMatchObject({ name: 'a.txt', folder: { id: folder.id } });
    await ada.api.delete(`/folders/${folder.id}/permissions/${granted}`);
    expect((await bob.api.get(`/files/${file.id}`)).status).toBe(404);
  });

  test('cannot get more by a grant on the folder where it goes', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a.txt' })).body;
    const managed = await folderOf(ada, 'managed');
    await grant(ada, `/files/${file.id}`, bob, 'write');
    await grant(ada, `/folders/${managed.id}`, bob, 'admin');

    expect((await move(bob, file, managed)).status).toBe(403);
  });

  test("cannot make another user its admin by moving it into that user's folder", async () => {
    const { bob, file } = await writerBob();
    const carl = await tenant.user();
    const carls = await folderOf(carl, 'from Carl');
    await grant(carl, `/folders/${carls.id}`, bob, 'write');

    expect((await move(bob, file, carls)).status).toBe(403);
    expect((await carl.api.get(`/files/${file.id}`)).status).toBe(404);
  });

  test('moves it to where its owner granted them write, and keeps their access', async () => {
    const { ada, bob, folder, file } = await writerBob();
    const other = await folderOf(ada, 'other');
    const inner = await folderOf(ada, 'inner', folder.id);
    await grant(ada, `/folders/${other.id}`, bob, 'write');

    expect((await move(bob, file, inner)).status).toBe(200);
    expect((await move(bob, file, other)).status).toBe(200);

    expect((await bob.api.patch(`/files/${file.id}`, { name: 'still.txt' })).status).toBe(200);
    expect((await bob.api.get(`/files/${file.id}/permissions`)).status).toBe(403);
  });
});

describe('an admin of a file by a grant without an end', () => {
  test('cannot move it into a folder of theirs, so that what they have ends with the grant', async () => {
    const { ada, bob, folder, file } = await writerBob();
    const granted = await grant(ada, `/folders/${folder.id}`, bob, 'admin');
    const own = await folderOf(bob, 'mine');
    const below = await folderOf(bob, 'mine too', folder.id);

    for (const into of [own, below])
      expect(await move(bob, file, into)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    await ada.api.delete(`/folders/${folder.id}/permissions/${granted}`);

    expect((await bob.api.get(`/files/${file.id}`)).status).toBe(404);
    expect((await grant(bob, `/files/${file.id}`, bob, 'admin')) ?? 'refused').toBe('refused');
  });

  test('cannot either where it is a group that has the grant, and leaves with nothing', async () => {
    const { ada, bob, folder, file } = await writerBob();
    const group = systemRandom.uuid();
    await tenant.db.query(
      `WITH made AS (INSERT INTO groups (uuid, name, created_by) SELECT $1, 'team', id FROM users WHERE is_system RETURNING id)
       INSERT INTO group_members (group_id, user_id) SELECT made.id, u.id FROM made, users u WHERE u.uuid = $2`,
      [group, bob.user.id],
    );
    await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'admin', group_id: group });
    const own = await folderOf(bob, 'mine');

    expect((await move(bob, file, own)).status).toBe(403);
  });

  test("cannot make another user its admin, and moves it between its owner's folders", async () => {
    const { ada, bob, file } = await writerBob();
    const [carl, other] = [await tenant.user(), await folderOf(ada, 'other')];
    const carls = await folderOf(carl, 'from Carl');
    await grant(carl, `/folders/${carls.id}`, bob, 'write');
    await grant(ada, `/folders/${other.id}`, bob, 'admin');
    await grant(ada, `/files/${file.id}`, bob, 'admin');

    expect((await move(bob, file, carls)).status).toBe(403);
    expect((await move(bob, file, other)).status).toBe(200);
  });
});

test("the owner of a file moves it into another's folder with write access", async () => {
  const { bob, folder } = await writerBob();
  const bobs = (await bob.api.upload('/files', { file: Buffer.from('bob'), name: 'b.txt' })).body;
  expect((await move(bob, bobs, folder)).status).toBe(200);
});

describe("a grant by a folder's owner on another user's file", () => {
  /** Bob's file in Ada's folder, on which Ada has granted herself and Carl what she could. */
  async function grantedByAda() {
    const { ada, bob, folder } = await writerBob();
    const carl = await tenant.user();
    const file = (await bob.api.upload('/files', { file: Buffer.from('bob'), name: 'b.txt', fields: { folder_id: folder.id } }))
      .body;
    const onFile = `/files/${file.id}`;
    await grant(ada, onFile, ada, 'admin');
    await grant(ada, onFile, carl, 'admin');
    const reading = () => Promise.all([ada, carl].map(async ({ api }) => (await api.get(onFile)).status));
    expect(await reading()).toEqual([200, 200]);
    return { ada, bob, carl, folder, file, onFile, reading };
  }

  test('ends when its owner moves the file away, with what rests on it, but for what the owner gave', async () => {
    const { bob, carl, file, onFile, reading } = await grantedByAda();
    const [dora, eve] = [await tenant.user(), await tenant.user()];
    await grant(carl, onFile, dora, 'read');
    await grant(bob, onFile, eve, 'read');

    expect((await move(bob, file, { id: null })).status).toBe(200);

    expect(await reading()).toEqual([404, 404]);
    expect((await dora.api.get(onFile)).status).toBe(404);
    expect((await eve.api.get(onFile)).status).toBe(200);
    expect((await bob.api.get(`${onFile}/permissions`)).body.data).toMatchObject([{ user_id: eve.user.id }]);
  });

  test('lasts while the file stays below a folder of theirs', async () => {
    const { ada, bob, folder, file, reading } = await grantedByAda();
    const inner = await folderOf(ada, 'inner', folder.id);

    expect((await move(bob, file, inner)).status).toBe(200);

    expect(await reading()).toEqual([200, 200]);
  });
});

test('a temporary admin of a file cannot make that permanent by a move', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a.txt' })).body;
  const open = await folderOf(ada, 'open');
  await grant(ada, `/folders/${open.id}`, bob, 'write');
  const expires_at = new Date(Date.now() + 600_000).toISOString();
  await ada.api.post(`/files/${file.id}/permissions`, { permission_level: 'admin', user_id: bob.user.id, expires_at });

  for (const into of [await folderOf(bob, 'mine'), open]) {
    const refused = await move(bob, file, into);
    expect(refused).toMatchObject({ status: 403, body: { error: 'forbidden' } });
  }
  expect((await move(ada, file, open)).status).toBe(200);
});

describe('a copy of a folder', () => {
  const copy = (person: Person, id: string, body: object = {}): Promise<ApiReply> => person.api.post(`/folders/${id}/copy`, body);

  test('is there at once, under the name that is asked for or another, and a job fills it', async () => {
    const { ada, bob, folder } = await writerBob();
    await folderOf(bob, 'shared');
    const [own, inner] = [await folderOf(bob, 'own'), await folderOf(ada, 'inner', folder.id)];
    await bob.api.get('/folders');

    const counted = await tenant.counting(() => copy(bob, folder.id, { parent_id: own.id, name: 'copy' }));
    const replies = [
      await copy(ada, folder.id),
      await copy(ada, folder.id, { on_conflict: 'rename' }),
      await copy(bob, folder.id),
      await copy(bob, folder.id, { name: 'other' }),
      await copy(bob, inner.id, { name: 'beside' }),
    ];

    const sql = counted.sql.filter((text) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK)/i.test(text));
    expect([counted.reply.status, sql.length]).toEqual([202, 9]);
    expect(counted.reply.body).toMatchObject({ kind: 'copy_folder', state: 'queued', cancelable: true });
    expect(replies.map(({ status, body }) => [status, body.error])).toEqual([
      [409, 'name_conflict'],
      [202, null],
      [409, 'name_conflict'],
      [202, null],
      [202, null],
    ]);
    const made = await Promise.all(
      [counted.reply, ...replies].flatMap(({ body }) =>
        body.result ? [tenant.db.query('SELECT path, owner_id FROM folders WHERE uuid = $1', [body.result.folder_id])] : [],
      ),
    );
    expect(made.map(([row]) => row?.path)).toEqual(['/own/copy', '/shared (1)', '/other', '/shared/beside']);
    expect((await bob.api.get(`/folders/${counted.reply.body.result.folder_id}`)).body.owner.id).toBe(bob.user.id);
  });

  test('is refused into itself, below it, where nobody may write or where nothing is', async () => {
    const { ada, bob, folder } = await writerBob();
    const [inner, closed] = [await folderOf(ada, 'inner', folder.id), await folderOf(ada, 'closed')];
    await grant(ada, `/folders/${closed.id}`, bob, 'read');
    const nobodys = '00000000-0000-4000-8000-000000000000';

    const refused = [
      await copy(ada, folder.id, { parent_id: folder.id }),
      await copy(bob, folder.id, { parent_id: inner.id }),
      await copy(bob, folder.id, { parent_id: closed.id }),
      await copy(bob, nobodys),
      await copy(bob, folder.id, { parent_id: nobodys }),
      await copy(await tenant.user(), folder.id),
      await copy(ada, folder.id, { on_conflict: 'replace' }),
      await copy(await tenant.user({ roles: ['viewer'] }), folder.id),
    ];

    expect(refused.map(({ status }) => status)).toEqual([409, 409, 403, 404, 404, 404, 400, 403]);
    expect((await ada.api.get('/jobs')).body.data).toEqual([]);
  });

  test('is made ten times of 50 that race for its name, each under one of its own', async () => {
    const ada = await tenant.user();
    const folder = await folderOf(ada, 'raced');

    const replies = await Promise.all(
      Array.from({ length: 50 }, () => untilServed(() => copy(ada, folder.id, { on_conflict: 'rename' }))),
    );

    expect(replies.map(({ status }) => status).filter((status) => status === 202)).toHaveLength(10);
    expect(replies.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(40);
    const names = (await ada.api.get('/folders', { query: { q: 'raced' } })).body.data.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual(['raced', ...Array.from({ length: 10 }, (_, n) => `raced (${n + 1})`)].toSorted());
  });
});
