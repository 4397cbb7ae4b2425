import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';
import { faultsOf, quotaOf } from './tenant-state.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await startTenant();
});
afterAll(() => tenant.stop());

const upload = (api: Api, name: string, fields: Record<string, string> = {}): Promise<ApiReply> =>
  untilServed(() => api.upload('/files', { file: Buffer.from(name), name, fields }));
const stores = (): string[] => tenant.observed.sql.filter((sql) => sql.includes('store_files'));

test('uploads that end together share statements, and each has its own event', async () => {
  const people = await Promise.all(range(4).map(() => tenant.user()));
  const hook = { url: 'https://receiver.example.org/', events: ['file.created'] };
  const { status, body: webhook } = await tenant.admin.post('/webhooks', hook);
  expect(status).toBe(201);

  const { reply } = await tenant.counting(() =>
    Promise.all(range(40).map((at) => upload((people[at % 4] as (typeof people)[0]).api, `"quoted" ${at}.txt`))),
  );

  expect(countBy(reply, ({ status }) => status)).toEqual({ 201: 40 });
  expect(stores().length).toBeLessThan(20);
  const events = await tenant.db.query<{ payload: string; deliveries: number }>(
    `SELECT e.payload, (SELECT count(*) FROM carrel.deliveries d WHERE d.event_id = e.id) AS deliveries FROM carrel.events e`,
  );
  expect(events.map(({ deliveries }) => deliveries)).toEqual(range(40).map(() => 1));
  const ids = new Map(people.map(({ user }) => [user.id, user]));
  const data = events.map(
    ({ payload }) => JSON.parse(payload) as { event: string; timestamp: string; data: Record<string, unknown> },
  );
  expect(data.map(({ data }) => ({ ...data, owner_id: ids.has(data['owner_id'] as string) })).toSorted(byId)).toEqual(
    reply.map(({ body: { id, name, size, created_at } }) => ({ id, name, size, owner_id: true, created_at })).toSorted(byId),
  );
  expect(await faultsOf(tenant)).toEqual([]);
  await tenant.admin.delete(`/webhooks/${webhook.id}`);
});

const byId = (a: Record<string, unknown>, b: Record<string, unknown>): number => String(a['id']).localeCompare(String(b['id']));

test('of uploads of one name that end together, one gets it, and the others what they asked for', async () => {
  const { api, user } = await tenant.user();
  const { id } = (await api.post('/folders', { name: 'same' })).body;

  const asked = ['fail', 'fail', 'rename', 'rename', 'replace', 'replace'];
  const replies = await Promise.all(asked.map((on_conflict) => upload(api, 'same.txt', { folder_id: id, on_conflict })));

  const names = (await api.get('/files', { query: { folder_id: id } })).body.data.map(({ name }: { name: string }) => name);
  expect(names.toSorted()).toContain('same.txt');
  expect(new Set(names).size).toBe(names.length);
  const stored = replies.filter(({ status }) => status < 300).length;
  expect(replies.slice(2).every(({ status }) => status < 300)).toBe(true);
  expect(await quotaOf(tenant, user.id)).toBe(stored * 'same.txt'.length);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('an upload whose owner or folder another transaction holds waits for it, and the uploads of others do not', async () => {
  const [held, free] = [await tenant.user(), await tenant.user()];
  const folder = (await free.api.post('/folders', { name: 'held' })).body;

  const waiting = await tenant.db.transaction(async (tx) => {
    await tx.query('SELECT FROM users WHERE uuid = $1 FOR UPDATE', [held.user.id]);
    await tx.query('SELECT FROM folders WHERE uuid = $1 FOR UPDATE', [folder.id]);
    const before = stores().length;
    const waiting = [upload(held.api, 'owner'), upload(free.api, 'folder', { folder_id: folder.id })];
    await waitFor('the two uploads to try at once', () => stores().length > before);
    const others = await Promise.all(range(10).map((at) => upload(free.api, `free-${at}`)));
    expect(countBy(others, ({ status }) => status)).toEqual({ 201: 10 });
    return { waiting };
  });

  const replies = await Promise.all(waiting.waiting);
  expect(replies.map(({ status }) => status)).toEqual([201, 201]);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a file is where its folder is at the end of the upload', async () => {
  const { api } = await tenant.user();
  const parent = (await api.post('/folders', { name: 'parent' })).body;
  const folder = (await api.post('/folders', { name: 'child', parent_id: parent.id })).body;
  const statements = tenant.observed.sql.length;
  const file = Readable.from(
    (async function* () {
      yield Buffer.alloc(100_000);
      await waitFor('the folder to be read', () =>
        tenant.observed.sql.slice(statements).some((sql) => sql.includes('storage_quota')),
      );
      await tenant.db.query(
        `UPDATE folders SET name = CASE uuid WHEN $1 THEN 'renamed' ELSE name END,
           path = CASE uuid WHEN $1 THEN '/renamed' ELSE '/renamed/child' END
         WHERE uuid IN ($1, $2)`,
        [parent.id, folder.id],
      );
      yield Buffer.from('end');
    })(),
  );

  const reply = await api.upload('/files', { file, name: 'moved.bin', fields: { folder_id: folder.id } });

  expect(reply).toMatchObject({ status: 201, body: { folder_id: folder.id } });
  expect((await api.get(`/files/${reply.body.id}`)).body.path).toBe('/renamed/child/moved.bin');
  expect(await faultsOf(tenant)).toEqual([]);
});

test('an upload that does not fit beside what was stored is refused, with the reason', async () => {
  const { api, user } = await tenant.user({ storage_quota: 10 });
  expect((await upload(api, 'within')).status).toBe(201);
  const refused = await upload(api, 'too much');
  expect(refused).toMatchObject({ status: 507, body: { error: 'quota_exceeded' } });
  expect(await quotaOf(tenant, user.id)).toBe(6);
});
