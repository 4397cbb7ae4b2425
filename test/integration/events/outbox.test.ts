import { beforeEach, expect, test } from '@jest/globals';
import { Events } from '../../../pkg/events/events.ts';
import { WorkerNotifier } from '../../../pkg/events/worker-notifier.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';

const tenant = serverSuite();
let endpoint: string;
beforeEach(async () => {
  await tenant.db.query('DELETE FROM webhooks');
  endpoint = await addWebhook(tenant);
});

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** The events that `work` makes. */
async function eventsOf(work: () => Promise<unknown>) {
  const before = (await writtenEvents(tenant)).length;
  await work();
  return (await writtenEvents(tenant)).slice(before);
}

test('an upload gives file.created with exactly the specified fields, beside the file', async () => {
  const { api, user } = await tenant.user();
  let file: Record<string, unknown> = {};

  const [event, ...more] = await eventsOf(async () => {
    file = (await api.upload('/files', { file: Buffer.from('12345'), name: 'ä.txt' })).body;
  });

  expect(more).toEqual([]);
  expect(JSON.parse(event?.payload ?? '')).toEqual({
    event: 'file.created',
    timestamp: TIME,
    data: { id: file.id, name: 'ä.txt', size: 5, owner_id: user.id, created_at: file.created_at },
  });
  expect(event?.endpoints).toEqual([endpoint]);
});

test('rename, move, new content and restoration give file.updated; a change of nothing gives none', async () => {
  const { api } = await tenant.user();
  const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'a' });
  const { body: folder } = await api.post('/folders', { name: 'f' });

  const events = await eventsOf(async () => {
    await api.patch(`/files/${file.id}`, { name: 'b' });
    await api.patch(`/files/${file.id}`, { name: 'b' });
    await api.patch(`/files/${file.id}`, { name: 'c', folder_id: folder.id });
    await api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from('longer'), name: 'c' });
    await api.upload('/files', {
      file: Buffer.from('once more'),
      name: 'c',
      fields: { folder_id: folder.id, on_conflict: 'replace' },
    });
    await api.delete(`/files/${file.id}`);
    await api.post(`/files/${file.id}/restore`, {});
  });

  expect(events.map(({ event, data }) => [event, data.changes, data.name, data.size])).toEqual([
    ['file.updated', ['name'], 'b', 1],
    ['file.updated', ['name', 'folder'], 'c', 1],
    ['file.updated', ['content'], 'c', 6],
    ['file.updated', ['content'], 'c', 9],
    ['file.deleted', undefined, 'c', 9],
    ['file.updated', ['restored'], 'c', 9],
  ]);
  expect(events[1]?.data).toMatchObject({ id: file.id, folder_id: folder.id, path: '/f/c', version: 1, updated_at: TIME });
});

test('file.deleted comes once: at the soft deletion, else at the purge', async () => {
  const { api } = await tenant.user();
  const [trashed, purged] = [
    (await api.upload('/files', { file: Buffer.from('a'), name: 'trashed' })).body,
    (await api.upload('/files', { file: Buffer.from('a'), name: 'purged' })).body,
  ];

  const events = await eventsOf(async () => {
    await api.delete(`/files/${trashed.id}`);
    await api.delete(`/files/${trashed.id}`, { query: { permanent: true } });
    await api.delete(`/files/${purged.id}`, { query: { permanent: true } });
  });

  expect(events.map(({ event, data }) => [event, data.id, data.permanent])).toEqual([
    ['file.deleted', trashed.id, false],
    ['file.deleted', purged.id, true],
  ]);
  expect(events[0]?.data.deleted_at).toEqual(TIME);
});

test('creating and changing a user gives user.created and user.updated, which never hold a password', async () => {
  const events = await eventsOf(async () => {
    const { user, api } = await tenant.user({ email: 'event@example.org', password: 'correct horse battery' });
    await tenant.admin.patch(`/users/${user.id}`, { display_name: 'New', roles: ['viewer'] });
    await tenant.admin.patch(`/users/${user.id}`, { display_name: 'New' });
    await tenant.admin.patch(`/users/${user.id}`, { password: 'another horse battery' });
    await api.get('/users/me');
  });

  expect(events.map(({ event, data }) => [event, data.email, data.changes])).toEqual([
    ['user.created', 'event@example.org', undefined],
    ['user.updated', 'event@example.org', ['display_name', 'roles']],
    ['user.updated', 'event@example.org', ['password']],
  ]);
  expect(events[1]?.data).toMatchObject({
    display_name: 'New',
    roles: ['viewer'],
    is_active: true,
    created_at: TIME,
    updated_at: TIME,
  });
  expect(events.map(({ payload }) => payload).join()).not.toMatch(/horse|argon2/);
});

test('deleting a user emits one event for each live file, also for 1,200', async () => {
  const { api, user } = await tenant.user();
  const trashed = (await api.upload('/files', { file: Buffer.from('a'), name: 'trashed' })).body;
  await api.delete(`/files/${trashed.id}`);
  await tenant.db.query(
    `INSERT INTO files (uuid, name, path, owner_id) SELECT gen_random_uuid(), n::text, '/' || n, u.id
     FROM generate_series(1, 1200) n, users u WHERE u.uuid = $1`,
    [user.id],
  );

  const events = await eventsOf(() => tenant.admin.delete(`/users/${user.id}`));

  expect(new Set(events.map(({ data }) => data.id)).size).toBe(1200);
  expect(new Set(events.map(({ event, data }) => [event, data.owner_id, data.permanent].join()))).toEqual(
    new Set([`file.deleted,${user.id},true`]),
  );
});

test('each active endpoint that wants the event has a delivery; an event that none wants is not written', async () => {
  const other = await addWebhook(tenant, { events: ['user.created', 'file.created'] });
  await addWebhook(tenant, { events: ['file.created'], active: false });
  await addWebhook(tenant, { events: ['grade.submitted'] });
  const { api } = await tenant.user();

  const [event] = await eventsOf(() => api.upload('/files', { file: Buffer.from('a'), name: 'a' }));
  await tenant.db.query('DELETE FROM webhooks');
  const unheard = await eventsOf(() => api.upload('/files', { file: Buffer.from('a'), name: 'b' }));

  expect(event?.endpoints).toEqual([endpoint, other]);
  expect(unheard).toEqual([]);
});

test('a rolled-back transaction leaves no event, and an event of another shape is refused', async () => {
  const events = new Events({
    notifier: new WorkerNotifier({ redis: tenant.redis, log: silentLogger }),
    clock: systemClock,
    random: systemRandom,
  });
  const now = new Date().toISOString();
  const grade = { id: '7', launch_id: 'l', user_id: 'u', score: 1, score_maximum: 2, timestamp: now, submitted_at: now };

  const written = await eventsOf(async () => {
    await tenant.db
      .transaction(async (tx) => {
        await events.emit(tx, 'grade.submitted', grade);
        throw new Error('given up');
      })
      .catch(() => undefined);
    await expect(
      tenant.db.transaction((tx) => events.emit(tx, 'grade.submitted', { ...grade, comment: 'secret' } as typeof grade)),
    ).rejects.toThrow(/comment/);
    await tenant.db.transaction((tx) => events.emit(tx, 'grade.submitted', grade));
  });

  expect(written.map(({ event, data }) => [event, data])).toEqual([['grade.submitted', grade]]);
});

test('a refused upload leaves no event', async () => {
  const { api } = await tenant.user({ storage_quota: 2 });
  const events = await eventsOf(async () => {
    expect((await api.upload('/files', { file: Buffer.from('too long'), name: 'a' })).status).toBe(507);
  });
  expect(events).toEqual([]);
});

test('without traces no row of an event or a job has a traceparent', async () => {
  const { api } = await tenant.user();
  const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'untraced' });
  await api.patch(
    `/files/${file.id}`,
    { name: 'untraced still' },
    { headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } },
  );
  await api.delete(`/files/${file.id}?permanent=true`);

  const kinds = await tenant.db.query(
    'SELECT DISTINCT traceparent FROM carrel.events UNION ALL SELECT DISTINCT traceparent FROM carrel.work',
  );
  expect(kinds).toEqual([{ traceparent: null }, { traceparent: null }]);
});
