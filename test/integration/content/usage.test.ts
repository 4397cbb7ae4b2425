import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DAY_MS } from '../../../pkg/runtime/time.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { faultsOf, quotaOf } from './tenant-state.ts';

const tenant = serverSuite();

test('usage counts files, trash, and the bytes of versions that are no longer the current ones', async () => {
  const { api, user } = await tenant.user({ storage_quota: 1_000 });
  const upload = async (name: string, bytes: number): Promise<string> =>
    (await api.upload('/files', { name, file: Buffer.alloc(bytes) })).body.id;
  const again = (id: string, bytes: number) =>
    api.upload(`/files/${id}`, { method: 'PUT', name: 'x', file: Buffer.alloc(bytes) });
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

  expect(empty).toEqual({
    storage_quota: 1_000,
    storage_used: 0,
    files: 0,
    trashed_files: 0,
    versions_bytes: 0,
    trash_bytes: 0,
    metadata_bytes: 0,
  });
  expect([own.reply.status, own.reply.body, own.sql.length]).toEqual([
    200,
    {
      storage_quota: 1_000,
      storage_used: 274,
      files: 2,
      trashed_files: 1,
      versions_bytes: 41,
      trash_bytes: 201,
      metadata_bytes: 0,
    },
    1,
  ]);
  expect((await tenant.admin.get(`/users/${user.id}/usage`)).body).toEqual(own.reply.body);
  expect((await api.get(`/users/${user.id}/usage`)).body).toEqual(own.reply.body);
});

test('administrators see what all people store together, by person, type, month and day', async () => {
  const fresh = await startTenant();
  try {
    const [ada, bob] = [await fresh.user({ storage_quota: 1_000 }), await fresh.user()];
    const add = (api: typeof ada.api, name: string, bytes: number) =>
      api.upload('/files', { name, file: Buffer.alloc(bytes, 'a') });
    const { body: file } = await add(ada.api, 'a.txt', 300);
    await ada.api.upload(`/files/${file.id}`, { method: 'PUT', name: 'a.txt', file: Buffer.alloc(200, 'a') });
    await add(bob.api, 'b.csv', 50);
    const { body: trashed } = await add(bob.api, 'c.txt', 7);
    await bob.api.delete(`/files/${trashed.id}`);
    await bob.api.put(`/files/${(await add(bob.api, 'd.txt', 3)).body.id}/metadata/pages`, { value: 7, value_type: 'number' });
    const versions = `"${tenantRole(fresh.slug)}".file_versions`;
    const deliveries = [
      [tenantRole(fresh.slug), 0, 4, 1],
      [tenantRole(fresh.slug), 0, 2, 0],
      [tenantRole(fresh.slug), 7, 9, 9],
      ['tenant_of_others', 0, 5, 5],
    ];
    for (const [role, days, sent, failed] of deliveries)
      await fresh.rows.pool.query(
        `INSERT INTO carrel.delivery_statistics (tenant, endpoint, hour, sent, failed, latency)
         VALUES ($1, gen_random_uuid(), date_trunc('day', now(), 'UTC') - $2::int * interval '1 day', $3, $4, '{}')`,
        [role, days, sent, failed],
      );
    await fresh.db.query(
      `INSERT INTO request_counts (hour, succeeded, refused, failed)
       SELECT date_trunc('day', now(), 'UTC') - hours * interval '1 hour', 5, 2, 1 FROM unnest($1::int[]) AS hours`,
      [[0, -1, 29 * 24, 29 * 24 + 1]],
    );
    await fresh.rows.pool.query(`UPDATE ${versions} SET created_at = now() - interval '13 months' WHERE size = 3`);

    const { status, body } = await fresh.admin.get('/usage');
    await add(bob.api, 'later.txt', 1_000);
    const again = (await fresh.admin.get('/usage')).body;

    const day = new Date().toISOString().slice(0, 10);
    expect([status, again]).toEqual([200, body]);
    expect(body).toEqual({
      counted_at: expect.stringMatching(/Z$/),
      people: 3,
      storage_used: 560 + 1_024,
      files: 3,
      trashed_files: 1,
      versions_bytes: 300,
      trash_bytes: 7,
      metadata_bytes: 1_024,
      largest_users: [
        { user: { id: bob.user.id, name: bob.user.username }, storage_used: 1_084, storage_quota: expect.any(Number) },
        { user: { id: ada.user.id, name: ada.user.username }, storage_used: 500, storage_quota: 1_000 },
      ],
      types: [
        { mime_type: 'text/plain', files: 2, bytes: 203 },
        { mime_type: 'text/csv', files: 1, bytes: 50 },
      ],
      months: [{ month: day.slice(0, 7), versions: 4, bytes: 557 }],
      days: [{ day, people: 3, uploads: 5, sign_ins: expect.any(Number) }],
      requests: [
        { day: new Date(Date.parse(day) - 29 * DAY_MS).toISOString().slice(0, 10), succeeded: 5, refused: 2, failed: 1 },
        { day, succeeded: 10, refused: 4, failed: 2 },
      ],
      deliveries: [{ day, sent: 6, failed: 1 }],
    });
    expect((await bob.api.get('/usage')).status).toBe(403);
    expect((await fresh.admin.get('/usage', { query: { days: 7 } })).status).toBe(400);
  } finally {
    await fresh.stop();
  }
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

describe('a copy of a file', () => {
  const MIB = 1024 * 1024;

  test('has its content, metadata and the copier’s tags, no grants and no older versions, and counts to the copier', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const fields = { folder_id: (await ada.api.post('/folders', { name: 'shared' })).body.id };
    const { id } = (await ada.api.upload('/files', { name: 'a.txt', file: Buffer.from('first'), fields })).body;
    await ada.api.upload(`/files/${id}`, { method: 'PUT', name: 'a.txt', file: Buffer.from('second') });
    await ada.api.put(`/files/${id}/metadata/pages`, { value: 7, value_type: 'number' });
    await ada.api.post(`/files/${id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
    for (const [{ api }, name] of [
      [ada, 'Ada’s'],
      [bob, 'Bob’s'],
    ] as const)
      await api.put(`/files/${id}/tags/${(await api.post('/tags', { name })).body.id}`);
    const webhook = await addWebhook(tenant, { events: ['file.created'] });

    const { reply: copied, sql } = await tenant.counting(() => bob.api.post(`/files/${id}/copy`, {}));

    expect(copied).toMatchObject({
      status: 201,
      body: { name: 'a.txt', size: 6, version: 1, folder_id: null, mime_type: 'text/plain' },
    });
    expect(sql.filter((text) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK)/i.test(text)).length).toBe(6);
    const include = 'tags,metadata,versions_count,permissions';
    expect((await bob.api.get(`/files/${copied.body.id}`, { query: { include } })).body).toMatchObject({
      owner: { id: bob.user.id },
      path: '/a.txt',
      tags: [{ name: 'Bob’s' }],
      metadata: [{ key: 'pages', value: 7 }],
      versions_count: 1,
      permissions: [],
    });
    expect((await bob.api.get(`/files/${copied.body.id}/download`)).bytes.toString()).toBe('second');
    // an entry of metadata each
    expect([await quotaOf(tenant, ada.user.id), await quotaOf(tenant, bob.user.id)]).toEqual([11 + 1024, 6 + 1024]);
    expect((await ada.api.get(`/files/${copied.body.id}`)).status).toBe(404);
    const events = (await writtenEvents(tenant)).filter(({ endpoints }) => endpoints.includes(webhook));
    expect(events.map(({ data }) => [data.id, data.owner_id])).toEqual([[copied.body.id, bob.user.id]]);
    await ada.api.delete(`/files/${id}`, { query: { permanent: true } });
    expect((await bob.api.get(`/files/${copied.body.id}/download`)).bytes.toString()).toBe('second');
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('goes to a folder or by a name, and is refused where that is taken, closed or full, with nothing left', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user({ storage_quota: 10 * MIB })];
    const [top, closed] = [
      (await bob.api.post('/folders', { name: 'top' })).body,
      (await ada.api.post('/folders', { name: 'closed' })).body,
    ];
    const { id } = (await bob.api.upload('/files', { name: 'a.txt', file: Buffer.alloc(9 * MIB) })).body;
    const small = (await bob.api.upload('/files', { name: 'b.txt', file: Buffer.from('b'), fields: { folder_id: top.id } })).body;
    const copy = (file: string, body: object, { api } = bob): Promise<ApiReply> => api.post(`/files/${file}/copy`, body);

    const replies = [
      await copy(small.id, {}),
      await copy(small.id, { on_conflict: 'rename' }),
      await copy(small.id, { folder_id: null, name: 'c.txt' }),
      await copy(small.id, { folder_id: closed.id }),
      await copy(small.id, { folder_id: randomUUID() }),
      await copy(small.id, { name: 'a/b' }),
      await copy(small.id, { on_conflict: 'replace' }),
      await copy(small.id, {}, ada),
      await copy(id, { name: 'big.bin' }),
    ];

    expect(replies.map(({ status, body }) => [status, body.error ?? body.name])).toEqual([
      [409, 'name_conflict'],
      [201, 'b (1).txt'],
      [201, 'c.txt'],
      [404, 'not_found'],
      [404, 'not_found'],
      [400, 'validation_failed'],
      [400, 'validation_failed'],
      [404, 'not_found'],
      [507, 'quota_exceeded'],
    ]);
    expect(replies[1]?.body.folder_id).toBe(top.id);
    expect(await quotaOf(tenant, bob.user.id)).toBe(9 * MIB + 3);
    expect(await tenant.db.query('SELECT FROM storage_reservations')).toEqual([]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('fifty at once, with a quota for five and a purge of the file, are at most five, all with their bytes', async () => {
    const { api, user } = await tenant.user({ storage_quota: 60 });
    const { id } = (await api.upload('/files', { name: 'a.txt', file: Buffer.alloc(10) })).body;

    const replies = await Promise.all(
      range(50).map((at) => untilServed(() => api.post(`/files/${id}/copy`, { name: `copy ${at}` }))),
    );
    const copies = replies.filter(({ status }) => status === 201);
    const other = copies[0]?.body.id;
    await api.delete(`/files/${copies[1]?.body.id}`, { query: { permanent: true } });
    const racing = await Promise.all([
      untilServed(() => api.delete(`/files/${other}`, { query: { permanent: true } })),
      ...range(10).map((at) => untilServed(() => api.post(`/files/${other}/copy`, { name: `late ${at}` }))),
    ]);

    expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 5, 507: 45 });
    expect(racing.map(({ status }) => status).filter((status) => ![201, 204, 404, 507].includes(status))).toEqual([]);
    expect(await quotaOf(tenant, user.id)).toBeLessThanOrEqual(60);
    expect(await faultsOf(tenant)).toEqual([]);
  });
});
