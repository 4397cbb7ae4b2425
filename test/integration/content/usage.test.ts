import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { serverSuite } from '../../support/server-suite.ts';
import { startTenant } from '../../support/server.ts';

const tenant = serverSuite();

test('usage counts files, trash, and the bytes of versions that are no longer the current ones', async () => {
  const { api, user } = await tenant.user({ storage_quota: 1_000 });
  const upload = async (name: string, bytes: number): Promise<string> =>
    (await api.upload('/files', { name, file: Buffer.alloc(bytes) })).body.id;
  const again = (id: string, bytes: number) => api.upload(`/files/${id}`, { method: 'PUT', name: 'x', file: Buffer.alloc(bytes) });
  const empty = (await api.get('/users/me/usage')).body;

  await upload('one', 10);
  const two = await upload('two', 20);
  await again(two, 21);
  await again(two, 22);
  const trashed = await upload('trashed', 100);
  await again(trashed, 101);
  await api.delete(`/files/${trashed}`);
  const purged = await upload('purged', 400);
  await api.delete(`/files/${purged}`, { query: { permanent: true } });
  const own = await tenant.counting(() => api.get('/users/me/usage'));

  expect(empty).toEqual({ storage_quota: 1_000, storage_used: 0, files: 0, trashed_files: 0, versions_bytes: 0, trash_bytes: 0 });
  expect([own.reply.status, own.reply.body, own.sql.length]).toEqual([
    200,
    { storage_quota: 1_000, storage_used: 274, files: 2, trashed_files: 1, versions_bytes: 41, trash_bytes: 201 },
    1,
  ]);
  expect((await tenant.admin.get(`/users/${user.id}/usage`)).body).toEqual(own.reply.body);
  expect((await api.get(`/users/${user.id}/usage`)).body).toEqual(own.reply.body);
});

test('usage is one’s own and the administrators’ to see', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user({ roles: ['instructor'] })];
  const [system] = await tenant.db.query<{ uuid: string }>('SELECT uuid FROM users WHERE is_system');
  const other = await startTenant();
  try {
    const replies = [
      await bob.api.get(`/users/${ada.user.id}/usage`),
      await tenant.admin.get(`/users/${randomUUID()}/usage`),
      await tenant.admin.get(`/users/${system?.uuid}/usage`),
      await other.admin.get(`/users/${ada.user.id}/usage`),
      await tenant.anonymous.get(`/users/${ada.user.id}/usage`),
      await tenant.anonymous.as(other.admin.token).get('/users/me/usage'),
      await ada.api.get('/users/nobody/usage'),
    ];

    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 401, 401, 400]);
  } finally {
    await other.stop();
  }
});
