import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { objectCount, quotaOf } from './tenant-state.ts';

let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const tenant = serverSuite({ clock });

/** Ada has a folder with a file in it; Bob has nothing yet. */
async function adaAndBob() {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const folder = (await ada.api.post('/folders', { name: 'shared' })).body;
  const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a.txt', fields: { folder_id: folder.id } }))
    .body;
  return { ada, bob, folder, file };
}

describe('without a grant', () => {
  test("another person's file and folder do not exist", async () => {
    const { bob, folder, file } = await adaAndBob();
    const { api } = bob;
    const replies = await Promise.all([
      api.get(`/files/${file.id}`),
      api.get(`/files/${file.id}/download`),
      api.patch(`/files/${file.id}`, { name: 'b' }),
      api.delete(`/files/${file.id}`),
      api.delete(`/files/${file.id}`, { query: { permanent: true } }),
      api.post(`/files/${file.id}/restore`),
      api.get(`/files/${file.id}/permissions`),
      api.get(`/folders/${folder.id}`),
      api.get('/files', { query: { folder_id: folder.id } }),
      api.upload('/files', { file: Buffer.from('x'), name: 'x', fields: { folder_id: folder.id } }),
      api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from('x'), name: 'x' }),
      api.post('/folders', { name: 'x', parent_id: folder.id }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
    expect((await api.get('/files')).body.data).toEqual([]);
  });

  test('an administrator does not see it either', async () => {
    const { file } = await adaAndBob();
    expect((await tenant.admin.get(`/files/${file.id}`)).status).toBe(404);
  });
});

describe('a grant', () => {
  test('of read on a folder covers what is below it, and no more than reading', async () => {
    const { ada, bob, folder, file } = await adaAndBob();
    await bob.api.get('/files');

    const granted = await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });

    expect(granted).toMatchObject({
      status: 201,
      body: { permission_level: 'read', user_id: bob.user.id, granted_by: ada.user.id },
    });
    expect((await bob.api.get(`/files/${file.id}`)).status).toBe(200);
    expect((await bob.api.get(`/files/${file.id}/download`)).bytes.toString()).toBe('ada');
    expect((await bob.api.get('/files')).body.data).toMatchObject([{ id: file.id }]);
    expect((await bob.api.get('/files', { query: { folder_id: folder.id } })).body.data).toHaveLength(1);
    expect((await bob.api.patch(`/files/${file.id}`, { name: 'b' })).status).toBe(403);
    expect((await bob.api.delete(`/files/${file.id}`)).status).toBe(403);
    expect((await bob.api.get(`/files/${file.id}/permissions`)).status).toBe(403);
    expect((await bob.api.upload('/files', { file: Buffer.from('x'), name: 'x', fields: { folder_id: folder.id } })).status).toBe(
      403,
    );
  });

  test('of write allows to upload, edit and delete, counted to the owner of the file', async () => {
    const { ada, bob, folder, file } = await adaAndBob();
    await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });

    const own = await bob.api.upload('/files', { file: Buffer.from('bobs'), name: 'bob.txt', fields: { folder_id: folder.id } });
    const version = await bob.api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from('longer'), name: 'a' });

    expect([own.status, version.status]).toEqual([201, 200]);
    expect(await quotaOf(tenant, bob.user.id)).toBe(4);
    expect(await quotaOf(tenant, ada.user.id)).toBe(9);
    expect((await ada.api.get('/files')).body.data).toHaveLength(2);
    expect((await bob.api.post(`/files/${file.id}/permissions`, { permission_level: 'read', user_id: bob.user.id })).status).toBe(
      403,
    );
    expect((await bob.api.delete(`/files/${file.id}`)).status).toBe(204);
    expect((await bob.api.get('/files', { query: { trashed: 'true' } })).body.data).toMatchObject([{ id: file.id }]);
  });

  test('that is taken back or changed holds no longer, at once', async () => {
    const { ada, bob, file } = await adaAndBob();
    const path = `/files/${file.id}/permissions`;
    const grant = await ada.api.post(path, { permission_level: 'write', user_id: bob.user.id });
    expect((await bob.api.patch(`/files/${file.id}`, { name: 'b' })).status).toBe(200);

    const changed = await ada.api.post(path, { permission_level: 'read', user_id: bob.user.id });
    expect(changed).toMatchObject({ status: 200, body: { id: grant.body.id, permission_level: 'read' } });
    expect((await bob.api.patch(`/files/${file.id}`, { name: 'c' })).status).toBe(403);
    expect((await ada.api.get(path)).body.data).toHaveLength(1);

    expect((await ada.api.delete(`${path}/${grant.body.id}`)).status).toBe(204);
    expect((await bob.api.get(`/files/${file.id}`)).status).toBe(404);
    expect((await ada.api.delete(`${path}/${grant.body.id}`)).status).toBe(404);
  });

  test('ends when it expires, also where it is cached', async () => {
    const { ada, bob, file } = await adaAndBob();
    const expires_at = new Date(clock.now().getTime() + 60_000).toISOString();
    await ada.api.post(`/files/${file.id}/permissions`, { permission_level: 'read', user_id: bob.user.id, expires_at });
    expect((await bob.api.get(`/files/${file.id}`)).status).toBe(200);

    aheadMs += 61_000;

    expect((await bob.api.get(`/files/${file.id}`)).status).toBe(404);
    expect((await bob.api.get('/files')).body.data).toEqual([]);
  });

  test('must make sense', async () => {
    const { ada, bob, file } = await adaAndBob();
    const path = `/files/${file.id}/permissions`;
    const nobody = '00000000-0000-4000-8000-000000000000';
    for (const body of [
      { permission_level: 'read' },
      { permission_level: 'owner', user_id: bob.user.id },
      { permission_level: 'read', user_id: nobody },
      { permission_level: 'read', user_id: bob.user.id, group_id: nobody },
      { permission_level: 'read', user_id: bob.user.id, expires_at: '2001-01-01T00:00:00Z' },
    ]) {
      expect((await ada.api.post(path, body)).status).toBe(400);
    }
  });
});

describe('a user who is deleted', () => {
  test('takes their files along; what others keep in their folders stays', async () => {
    const { ada, bob, folder, file } = await adaAndBob();
    await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
    const bobs = (
      await bob.api.upload('/files', { file: Buffer.from('bobs'), name: 'bob.txt', fields: { folder_id: folder.id } })
    ).body;

    expect((await tenant.admin.delete(`/users/${ada.user.id}`)).status).toBe(204);

    expect((await bob.api.get(`/files/${file.id}`)).status).toBe(404);
    expect((await bob.api.get(`/files/${bobs.id}`)).body).toMatchObject({ folder: { id: folder.id } });
    expect((await bob.api.get(`/files/${bobs.id}/download`)).bytes.toString()).toBe('bobs');
    const [work] = await tenant.db.query<{ keys: string[] }>(
      `SELECT payload->'keys' AS keys FROM carrel.work WHERE kind = 'objects.purge'`,
    );
    expect(work?.keys).toHaveLength(1);
  });

  test('leaves a folder under another name where its name is taken, with an event and a new path for each file', async () => {
    const webhook = await addWebhook(tenant, { events: ['file.updated'] });
    const left = async (): Promise<{ user: string; file: string }> => {
      const { ada, bob, folder } = await adaAndBob();
      await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
      const fields = { folder_id: folder.id };
      const file = (await bob.api.upload('/files', { file: Buffer.from('bobs'), name: 'bob.txt', fields })).body.id;
      expect((await tenant.admin.delete(`/users/${ada.user.id}`)).status).toBe(204);
      return { user: ada.user.id, file };
    };

    await left();
    const { user, file } = await left();
    const events = (await writtenEvents(tenant)).filter(({ data }) => data.id === file);
    await tenant.db.query('DELETE FROM webhooks WHERE uuid = $1', [webhook]);

    expect(events.map(({ data }) => [data.path, data.changes])).toEqual([[`/shared (${user})/bob.txt`, ['path']]]);
  });

  test('leaves a folder under a name as long as its own where a path below has no space for more', async () => {
    const deep = async (): Promise<{ name: string; user: string }> => {
      const { ada, bob, folder } = await adaAndBob();
      await ada.api.patch(`/folders/${folder.id}`, { name: 'deep' });
      await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
      await bob.api.upload('/files', { file: Buffer.from('bobs'), name: 'bob.txt', fields: { folder_id: folder.id } });
      let parent_id = folder.id;
      for (const name of Array.from({ length: 7 }, () => 'n'.repeat(255)))
        parent_id = (await ada.api.post('/folders', { name, parent_id })).body.id;
      await ada.api.post('/folders', { name: 'n'.repeat(230), parent_id });
      expect((await tenant.admin.delete(`/users/${ada.user.id}`)).status).toBe(204);
      const [{ name } = { name: '' }] = await tenant.db.query<{ name: string }>('SELECT name FROM folders WHERE uuid = $1', [
        folder.id,
      ]);
      return { name, user: ada.user.id };
    };

    const [first, second] = [await deep(), await deep()];

    expect(first.name).toBe('deep');
    expect(second.name).toBe(second.user.slice(0, 4));
  });

  test('hands them over with transfer_to, within the quota', async () => {
    const { ada, bob, file } = await adaAndBob();
    const small = await tenant.user({ storage_quota: 1 });
    const before = await objectCount(tenant);

    const refused = await tenant.admin.delete(`/users/${ada.user.id}`, { query: { transfer_to: small.user.id } });
    const done = await tenant.admin.delete(`/users/${ada.user.id}`, { query: { transfer_to: bob.user.id } });

    expect([refused.status, done.status]).toEqual([507, 204]);
    expect((await bob.api.get(`/files/${file.id}`)).body.owner.id).toBe(bob.user.id);
    expect(await quotaOf(tenant, bob.user.id)).toBe(3);
    expect(await objectCount(tenant)).toBe(before);
  });
});
