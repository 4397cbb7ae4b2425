import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';
import { faultsOf } from './tenant-state.ts';

const tenant = serverSuite();

/** Every status of the replies, and how often. */
const statuses = (replies: readonly { status: number }[]): Record<string, number> => countBy(replies, ({ status }) => status);

/** Returns the number of the tenant's connections that wait for a lock. */
const waiting = async (): Promise<number> =>
  (await tenant.db.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = current_user`)).length;
const somebodyWaits = async (): Promise<boolean> => (await waiting()) > 0;

test('a write that Postgres gives up for another, in a deadlock, is run again', async () => {
  const { api, user } = await tenant.user();
  const { body: file } = await api.upload('/files', { file: Buffer.from('one'), name: 'a' });

  let reply: ReturnType<typeof api.upload> | undefined;
  await tenant.db.transaction(async (tx) => {
    await tx.query('SELECT FROM users WHERE uuid = $1 FOR UPDATE', [user.id]);
    // Postgres may give up this side instead, which is then run again: the upload is through by then.
    if (reply !== undefined) return;
    reply = api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from('two'), name: 'a' });
    await waitFor('the upload to wait for its owner', somebodyWaits);
    // The upload holds the file; whoever has waited longer is given up.
    await tx.query('SELECT FROM files WHERE uuid = $1 FOR UPDATE', [file.id]);
  });

  expect(await reply).toMatchObject({ status: 200, body: { version: 2 } });
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a rename that waits for a move leaves the file where it was moved', async () => {
  const { api } = await tenant.user();
  const { body: from } = await api.post('/folders', { name: 'from' });
  const { body: to } = await api.post('/folders', { name: 'to' });
  const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'a', fields: { folder_id: from.id } });
  const [moved, renamed] = await tenant.db.transaction(async (tx) => {
    await tx.query('SELECT FROM files WHERE uuid = $1 FOR UPDATE', [file.id]);
    const move = api.patch(`/files/${file.id}`, { folder_id: to.id });
    await waitFor('the move to wait', async () => (await waiting()) === 1);
    const rename = api.patch(`/files/${file.id}`, { name: 'b' });
    await waitFor('both to wait', async () => (await waiting()) === 2);
    return [move, rename];
  });
  expect(await moved).toMatchObject({ status: 200, body: { name: 'a', folder: { id: to.id }, path: '/to/a' } });
  expect(await renamed).toMatchObject({ status: 200, body: { name: 'b', folder: { id: to.id }, path: '/to/b' } });
  expect(await faultsOf(tenant)).toEqual([]);
});

describe('a user who is deleted', () => {
  test('while an upload of theirs commits makes the upload a 401', async () => {
    const { api, user } = await tenant.user();
    const upload = await tenant.db.transaction(async (tx) => {
      await tx.query('SELECT FROM users WHERE uuid = $1 FOR UPDATE', [user.id]);
      const reply = api.upload('/files', { file: Buffer.from('late'), name: 'late' });
      await waitFor('the upload to wait for its owner', somebodyWaits);
      await tx.query('DELETE FROM users WHERE uuid = $1', [user.id]);
      return { reply };
    });
    expect(await upload.reply).toMatchObject({ status: 401, body: { error: 'unauthenticated' } });
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('while a folder of theirs is made, or they are given a grant, is no such user', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const { body: file } = await ada.api.upload('/files', { file: Buffer.from('a'), name: 'a' });
    const replies = await tenant.db.transaction(async (tx) => {
      await tx.query('SELECT FROM users WHERE uuid = $1 FOR UPDATE', [bob.user.id]);
      const folder = bob.api.post('/folders', { name: 'late' });
      const grant = ada.api.post(`/files/${file.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
      await waitFor('both to wait', async () => (await waiting()) === 2);
      await tx.query('DELETE FROM users WHERE uuid = $1', [bob.user.id]);
      return [folder, grant];
    });
    const [folder, grant] = await Promise.all(replies);
    expect(folder).toMatchObject({ status: 401 });
    expect(grant).toMatchObject({ status: 400, body: { details: [{ field: 'user_id' }] } });
  });

  test('while they upload leaves no file, and every upload gets its answer', async () => {
    for (const _ of range(5)) {
      const { api, user } = await tenant.user();
      const uploads = range(12).map((at) =>
        untilServed(() => api.upload('/files', { file: Buffer.alloc(100, at), name: `f${at}` })),
      );
      await waitFor('the first uploads', async () => (await api.get('/files')).body.data.length > 0);
      const deletion = await untilServed(() => tenant.admin.delete(`/users/${user.id}`));

      expect(deletion.status).toBe(204);
      const counts = statuses(await Promise.all(uploads));
      expect(Object.keys(counts).filter((status) => status !== '201' && status !== '401')).toEqual([]);
    }
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('while others write into their folders: what the others keep there stays in its folder', async () => {
    for (const _ of range(5)) {
      const [ada, bob] = [await tenant.user(), await tenant.user()];
      const { body: folder } = await ada.api.post('/folders', { name: 'shared' });
      await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
      const { body: file } = await ada.api.upload('/files', {
        file: Buffer.from('a'),
        name: 'f0',
        fields: { folder_id: folder.id },
      });
      const put = (at: number) => {
        const body = { file: Buffer.alloc(10, at), name: `f${at % 4}`, fields: { folder_id: folder.id, on_conflict: 'replace' } };
        return at % 3 === 0
          ? bob.api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.alloc(10, at), name: 'f0' })
          : bob.api.upload('/files', body);
      };
      expect((await untilServed(() => put(1))).status).toBe(201);
      const uploads = range(12).map((number) => untilServed(() => put(number)));
      const deletion = await untilServed(() => tenant.admin.delete(`/users/${ada.user.id}`));

      expect(deletion.status).toBe(204);
      const counts = statuses(await Promise.all(uploads));
      expect(Object.keys(counts).filter((status) => !['200', '201', '404'].includes(status))).toEqual([]);
      const left: { name: string; folder: { id: string } | null }[] = (await bob.api.get('/files')).body.data;
      expect(left.map(({ name }) => name)).toContain('f1');
      for (const each of left) expect(each.folder).toMatchObject({ id: folder.id });
    }
    expect(await faultsOf(tenant)).toEqual([]);
  });
});

describe('fifty racing', () => {
  /** All at once, each until it is served. */
  const fifty = (ask: (at: number) => Promise<ApiReply>): Promise<ApiReply[]> =>
    Promise.all(range(50).map((at) => untilServed(() => ask(at))));

  test('renames to one name: one wins', async () => {
    const { api } = await tenant.user();
    const files = await fifty((at) => api.upload('/files', { file: Buffer.from('x'), name: `r${at}` }));
    const replies = await fifty((at) => api.patch(`/files/${files[at]?.body.id}`, { name: 'wanted' }));
    expect(statuses(replies)).toEqual({ 200: 1, 409: 49 });
  });

  test('deletions and restores of one file end in one of the two states', async () => {
    const { api } = await tenant.user();
    const { body: file } = await api.upload('/files', { file: Buffer.from('x'), name: 'x' });
    const replies = await fifty((at) => (at % 2 === 0 ? api.delete(`/files/${file.id}`) : api.post(`/files/${file.id}/restore`)));
    expect(Object.keys(statuses(replies)).filter((status) => !['200', '204', '404'].includes(status))).toEqual([]);
    const lists = await Promise.all([api.get('/files'), api.get('/files', { query: { trashed: 'true' } })]);
    expect(lists.flatMap(({ body }) => body.data)).toHaveLength(1);
  });

  test('new versions under one If-Match: one wins, and only it counts', async () => {
    const { api } = await tenant.user();
    const { body: file } = await api.upload('/files', { file: Buffer.from('0'), name: 'v' });
    const headers = { 'if-match': `"${file.etag}"` };
    const replies = await fifty((at) =>
      api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from(`v${at}`), name: 'v', headers }),
    );
    expect(statuses(replies)).toEqual({ 200: 1, 412: 49 });
    expect((await api.get(`/files/${file.id}`)).body.version).toBe(2);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('replacements of one name become versions without a gap', async () => {
    const { api } = await tenant.user();
    const replies = await fifty((at) =>
      api.upload('/files', { file: Buffer.from(`${at}`), name: 'one', fields: { on_conflict: 'replace' } }),
    );
    expect(statuses(replies)).toEqual({ 200: 49, 201: 1 });
    expect(replies.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual(range(50).map((at) => at + 1));
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('writes by a grant end with it: none that begins after its end is served, and each served one is a version', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const { body: file } = await ada.api.upload('/files', { file: Buffer.from('0'), name: 'granted' });
    const path = `/files/${file.id}/permissions`;
    const grant = (await ada.api.post(path, { permission_level: 'write', user_id: bob.user.id })).body.id;
    const write = (at: number): Promise<ApiReply> =>
      bob.api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from(`v${at}`), name: 'granted' });
    const late: Promise<ApiReply>[] = [];
    const replies = await Promise.all([
      ...range(50).map((at) => untilServed(() => write(at))),
      untilServed(() => ada.api.delete(`${path}/${grant}`)).then((reply) => {
        late.push(...range(10).map((at) => untilServed(() => write(50 + at))));
        return reply;
      }),
    ]);

    expect(statuses(await Promise.all(late))).toEqual({ 404: 10 });
    const served = replies.filter(({ status }) => status === 200).length;
    expect(Object.keys(statuses(replies)).filter((status) => !['200', '204', '404'].includes(status))).toEqual([]);
    expect((await ada.api.get(`/files/${file.id}`)).body.version).toBe(1 + served);
    expect(await faultsOf(tenant)).toEqual([]);
  });
});
