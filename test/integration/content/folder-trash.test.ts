import { beforeAll, describe, expect, test } from '@jest/globals';
import { payloadSchema } from '../../../pkg/events/catalogue.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { faultsOf, quotaOf } from './tenant-state.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  [ada, bob] = [await tenant.user(), await tenant.user()];
  await addWebhook(tenant, { events: ['file.updated', 'file.deleted'] });
});

const NOBODYS = '00000000-0000-4000-8000-000000000000';
let made = 0;
/** A folder of a name of its own. */
const folder = async (api: Api, parent_id: string | null = null, name = `folder ${(made += 1)}`) =>
  (await untilServed(() => api.post('/folders', { name, parent_id }))).body;
const upload = async (api: Api, folder_id: string, name = 'a.txt') =>
  (await untilServed(() => api.upload('/files', { name, file: Buffer.from('a'), fields: { folder_id } }))).body;
const grant = (by: Person, path: string, to: Person, permission_level: string): Promise<ApiReply> =>
  by.api.post(`${path}/permissions`, { permission_level, user_id: to.user.id });
const cost = async (work: () => Promise<ApiReply>): Promise<[status: number, sql: number]> => {
  const { reply, sql } = await tenant.counting(work);
  return [reply.status, sql.filter((text) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK)/i.test(text)).length];
};

describe('a folder that is deleted', () => {
  /** A tree with files `a` and `b` that are live and things that were deleted before it, and what its owner sees of them. */
  async function tree(by: Person) {
    const top = await folder(by.api);
    const sub = await folder(by.api, top.id, 'sub');
    const old = await folder(by.api, top.id, 'old');
    const files = { a: await upload(by.api, top.id), b: await upload(by.api, sub.id, 'b.txt') };
    const before = { file: await upload(by.api, sub.id, 'before.txt'), inOld: await upload(by.api, old.id, 'in old.txt') };
    await by.api.delete(`/files/${before.file.id}`);
    await by.api.delete(`/folders/${old.id}`);
    const folders = [top, sub, old].map(({ id }) => `/folders/${id}`);
    const all = [...folders, ...[files.a, files.b, before.file, before.inOld].map(({ id }) => `/files/${id}`)];
    const statuses = () => Promise.all(all.map(async (path) => (await by.api.get(path)).status));
    return { top, sub, old, files, before, statuses, path: `/folders/${top.id}` };
  }
  const eventsSince = async (count: number) => (await writtenEvents(tenant)).slice(count);

  test('takes all below it along, and gives it back; what was deleted before stays deleted', async () => {
    const { top, files, old, sub, statuses, path } = await tree(bob);
    const inherited = await upload(ada.api, (await folder(ada.api)).id);
    const before = [
      await statuses(),
      (await bob.api.get(`/files/${files.b.id}`)).body,
      (await writtenEvents(tenant)).length,
    ] as const;

    const trashed = await cost(() => bob.api.delete(path));
    const deleted = [await statuses(), await eventsSince(before[2])] as const;
    const again = await bob.api.delete(path);
    const restored = await cost(() => bob.api.post(`${path}/restore`));

    expect([trashed, again.status, restored]).toEqual([[204, 4], 404, [200, 5]]);
    expect(before[0]).toEqual([200, 200, 404, 200, 200, 404, 404]);
    expect(deleted[0]).toEqual([404, 404, 404, 404, 404, 404, 404]);
    expect(await statuses()).toEqual(before[0]);
    expect(deleted[1].map(({ event, data }) => [event, data.id, data.permanent])).toEqual([
      ['file.deleted', files.a.id, false],
      ['file.deleted', files.b.id, false],
    ]);
    const back = (await eventsSince(before[2])).slice(2);
    expect(back.map(({ event, data }) => [event, data.id, data.changes])).toEqual([
      ['file.updated', files.a.id, ['restored']],
      ['file.updated', files.b.id, ['restored']],
    ]);
    const faults = [...deleted[1], ...back].flatMap(
      ({ event, payload }) => payloadSchema(event as 'file.deleted').safeParse(JSON.parse(payload)).error?.issues ?? [],
    );
    expect(faults).toEqual([]);
    expect((await bob.api.get(`/files/${files.b.id}`)).body).toMatchObject({
      updated_at: before[1].updated_at,
      path: before[1].path,
    });
    expect((await bob.api.post(`/folders/${old.id}/restore`)).body).toMatchObject({ path: `/${top.name}/old`, deleted_at: null });
    expect((await bob.api.post(`/folders/${sub.id}/restore`)).status).toBe(200);
    expect((await ada.api.get(`/files/${inherited.id}`)).status).toBe(200);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('is restored elsewhere or by another name, and a part of it by itself', async () => {
    const { top, sub, files, path } = await tree(bob);
    const other = await folder(bob.api);
    await bob.api.delete(path);
    await folder(bob.api, null, top.name);
    await folder(bob.api, other.id, top.name);
    const restore = (what: string, body?: object) => bob.api.post(`${what}/restore`, body);

    const refused = [
      await restore(path),
      await restore(path, { parent_id: other.id }),
      await restore(path, { parent_id: NOBODYS }),
      await restore(path, { parent_id: top.id }),
      await restore(path, { parent_id: sub.id }),
      await restore(`/folders/${sub.id}`),
      await restore(`/files/${files.a.id}`),
      await restore(`/files/${files.a.id}`, { folder_id: top.id }),
      await ada.api.post(`${path}/restore`),
      await restore(path, { on_conflict: 'replace' }),
    ];
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
      [409, 'name_conflict'],
      [409, 'name_conflict'],
      [404, 'not_found'],
      [404, 'not_found'],
      [404, 'not_found'],
      [409, 'conflict'],
      [409, 'conflict'],
      [409, 'conflict'],
      [404, 'not_found'],
      [400, 'validation_failed'],
    ]);

    const file = await restore(`/files/${files.a.id}`, { folder_id: other.id });
    const part = await restore(`/folders/${sub.id}`, { parent_id: null });
    const taken = [`${top.name} (1)`, `${top.name} (2)`];
    for (const name of taken) await folder(bob.api, other.id, name);
    const { reply: whole, sql } = await tenant.counting(() => restore(path, { parent_id: other.id, on_conflict: 'rename' }));

    expect(file).toMatchObject({ status: 200, body: { path: `/${other.name}/a.txt`, folder: { id: other.id } } });
    expect(part).toMatchObject({ status: 200, body: { path: '/sub', depth: 0 } });
    expect(whole).toMatchObject({ status: 200, body: { path: `/${other.name}/${top.name} (3)`, depth: 1, parent_id: other.id } });
    expect(sql.filter((text) => text.includes('substr(d.path'))).toHaveLength(1);
    expect((await bob.api.get(`/folders/${top.id}`)).body).toEqual(whole.body);
    expect((await bob.api.get(`/files/${files.b.id}`)).body.path).toBe('/sub/b.txt');
    const again = await upload(bob.api, other.id, 'again.txt');
    await bob.api.delete(`/files/${again.id}`);
    await upload(bob.api, other.id, 'again.txt');
    expect((await restore(`/files/${again.id}`, { on_conflict: 'rename' })).body.name).toBe('again (1).txt');
    await bob.api.delete(`/files/${again.id}`);
    expect(await restore(`/files/${again.id}`, { folder_id: other.id })).toMatchObject({
      status: 200,
      body: { folder: { id: other.id } },
    });
    expect((await restore(`/folders/${sub.id}`, {})).body).toEqual(part.body);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('for ever, frees each owner’s quota, purges the objects, with one event for each file that was live', async () => {
    const [carl, dora] = [await tenant.user(), await tenant.user()];
    const { files, path, sub, statuses } = await tree(carl);
    await grant(carl, path, dora, 'write');
    await upload(dora.api, sub.id, 'by Dora.txt');
    await dora.api.upload(`/files/${files.b.id}`, { method: 'PUT', name: 'b.txt', file: Buffer.from('second') });
    const used = () => Promise.all([carl, dora].map(({ user }) => quotaOf(tenant, user.id)));
    const [full, events] = [await used(), (await writtenEvents(tenant)).length];

    const [write, read] = [await dora.api.delete(path, { query: { permanent: true } }), await bob.api.delete(path)];
    const purged = await cost(() => carl.api.delete(path, { query: { permanent: true } }));

    expect([write.status, read.status, purged]).toEqual([403, 404, [204, 6]]);
    expect([full, await used()]).toEqual([
      [10, 1],
      [0, 0],
    ]);
    expect(new Set(await statuses())).toEqual(new Set([404]));
    const written = await eventsSince(events);
    expect(written.map(({ event, data }) => [event, data.name, data.permanent])).toEqual([
      ['file.deleted', 'a.txt', true],
      ['file.deleted', 'b.txt', true],
      ['file.deleted', 'by Dora.txt', true],
    ]);
    expect(
      written.flatMap(({ payload }) => payloadSchema('file.deleted').safeParse(JSON.parse(payload)).error?.issues ?? []),
    ).toEqual([]);
    expect((await carl.api.post(`${path}/restore`)).status).toBe(404);
    expect(
      await tenant.db.query(
        "SELECT FROM permissions WHERE resource_type = 'folder' AND user_id = (SELECT id FROM users WHERE uuid = $1)",
        [dora.user.id],
      ),
    ).toEqual([]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('or restored, 50 times at once with its files, ends in one state, as the replies say', async () => {
    const made = await Promise.all(range(10).map(() => tree(bob)));
    await Promise.all(made.map(({ path }) => untilServed(() => bob.api.delete(path))));

    const late = (path: string) => ({
      name: 'late.txt',
      file: Buffer.from('late'),
      fields: { folder_id: path.slice('/folders/'.length) },
    });
    const replies = await Promise.all(
      made.flatMap(({ path, files }) => [
        untilServed(() => bob.api.post(`${path}/restore`)),
        untilServed(() => bob.api.delete(path, { query: { permanent: true } })),
        untilServed(() => bob.api.post(`/files/${files.a.id}/restore`, { folder_id: null, on_conflict: 'rename' })),
        untilServed(() => bob.api.delete(`/files/${files.b.id}`, { query: { permanent: true } })),
        untilServed(() => bob.api.upload('/files', late(path))),
      ]),
    );

    const found = await Promise.all(made.map(async ({ path }) => (await bob.api.get(path)).status));
    expect(replies.map(({ status }) => status).filter((status) => ![200, 201, 204, 404, 409].includes(status))).toEqual([]);
    expect(found).toEqual(made.map(() => 404));
    expect(made.map((_tree, at) => replies[at * 5 + 1]?.status)).toEqual(made.map(() => 204));
    expect(await faultsOf(tenant)).toEqual([]);
  });
});

test('the trash lists what was deleted by itself, of what one may write, page by page', async () => {
  const [carl, dora] = [await tenant.user(), await tenant.user()];
  const top = await folder(carl.api, null, 'top');
  const sub = await folder(carl.api, top.id, 'sub');
  await upload(carl.api, sub.id, 'with sub.txt');
  const [first, last] = [
    await upload(carl.api, top.id, 'first.txt'),
    await upload(dora.api, (await folder(dora.api)).id, 'Dora’s.txt'),
  ];
  for (const path of [`/files/${first.id}`, `/folders/${sub.id}`]) await carl.api.delete(path);
  await dora.api.delete(`/files/${last.id}`);
  await grant(carl, `/folders/${top.id}`, dora, 'read');
  const of = async ({ api }: Person, query = {}) => (await api.get('/trash', { query })).body.data;
  const reads = await of(dora);
  await grant(carl, `/folders/${top.id}`, dora, 'write');

  const [whole, sorted] = [await of(dora), await of(dora, { sort: 'name' })];
  const pages = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await dora.api.get('/trash', { query: { limit: 1, ...(cursor === '' ? {} : { cursor }) } });
    pages.push(...body.data);
    cursor = body.pagination.next_cursor;
  }
  const listed = await cost(() => carl.api.get('/trash'));
  await carl.api.delete(`/folders/${top.id}`);

  expect(reads.map(({ id }: { id: string }) => id)).toEqual([last.id]);
  expect(whole.map(({ type, id, path, size }: Record<string, unknown>) => [type, id, path, size])).toEqual([
    ['file', last.id, expect.stringMatching(/^\/folder \d+\/Dora’s.txt$/), 1],
    ['folder', sub.id, '/top/sub', 1],
    ['file', first.id, '/top/first.txt', 1],
  ]);
  expect(Date.parse(whole[1].expires_at) - Date.parse(whole[1].deleted_at)).toBe(30 * 86_400_000);
  expect(whole[1].owner.id).toBe(carl.user.id);
  expect(sorted.map(({ name }: { name: string }) => name)).toEqual(['Dora’s.txt', 'first.txt', 'sub']);
  expect(pages).toEqual(whole);
  expect(listed).toEqual([200, 1]);
  expect((await of(carl)).map(({ name, size }: Record<string, unknown>) => [name, size])).toEqual([
    ['top', 0],
    ['sub', 1],
    ['first.txt', 1],
  ]);
  expect([
    (await tenant.anonymous.get('/trash')).status,
    (await carl.api.get('/trash', { query: { sort: 'size' } })).status,
  ]).toEqual([401, 400]);
});
