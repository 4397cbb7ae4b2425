import { beforeAll, describe, expect, test } from '@jest/globals';
import { payloadSchema } from '../../../pkg/events/catalogue.ts';
import type { Api, ApiReply } from '../../support/api.ts';
import { serverSuite } from '../../support/server-suite.ts';
import type { TestTenant } from '../../support/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/webhooks.ts';
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

  test('for ever, gives back the quota of each owner and the objects to purge, with one event for each file that was live', async () => {
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

describe('a job', () => {
  const empty = ({ api }: Person) => api.delete('/trash');
  const ended = (id: string, failed: number) =>
    tenant.db.query(
      "UPDATE tasks SET state = 'succeeded', total = $2, done = $2, failed = $2, ended_at = now() WHERE uuid = $1",
      [id, failed],
    );

  test('is one, however many requests to empty the trash race, and later ones join it until it has ended', async () => {
    const carl = await tenant.user();
    await carl.api.get('/jobs');
    const first = await cost(() => empty(carl));
    const racing = await Promise.all(range(50).map(() => untilServed(() => empty(carl))));
    const joined = await cost(() => empty(carl));
    const { body: job } = racing[0] ?? (await empty(carl));

    expect([first, joined]).toEqual([
      [202, 5],
      [202, 3],
    ]);
    expect(new Set(racing.map(({ status, body }) => `${status} ${body.id}`))).toEqual(new Set([`202 ${job.id}`]));
    expect(job).toEqual({
      id: job.id,
      kind: 'empty_trash',
      state: 'queued',
      progress: { done: 0, total: 0, failed: 0, skipped: 0 },
      created_at: job.created_at,
      started_at: null,
      ended_at: null,
      result: null,
      error: null,
      cancelable: true,
      retry_of: null,
    });
    await ended(job.id, 0);
    expect((await empty(carl)).body.id).not.toBe(job.id);
    expect((await tenant.anonymous.delete('/trash')).status).toBe(401);
    expect((await (await tenant.user({ roles: ['viewer'] })).api.delete('/trash')).status).toBe(403);
  });

  test("is its owner's, and administrators see and cancel it without what it is about", async () => {
    const [carl, dora] = [await tenant.user(), await tenant.user()];
    const { id } = (await empty(carl)).body;
    const [path, get] = [`/jobs/${id}`, (by: Api, of: string, query = {}) => by.get(of, { query })];

    const [list, one, items] = [
      await cost(() => get(carl.api, '/jobs')),
      await cost(() => get(carl.api, path)),
      await cost(() => get(carl.api, `${path}/items`)),
    ];
    const strangers = [
      get(dora.api, path),
      get(dora.api, `${path}/items`),
      dora.api.post(`${path}/cancel`),
      dora.api.post(`${path}/retry`),
      get(dora.api, '/jobs', { all: true }),
      get(tenant.admin, `${path}/items`),
      tenant.admin.post(`${path}/retry`),
    ];

    expect([list, one, items]).toEqual([
      [200, 1],
      [200, 1],
      [200, 2],
    ]);
    expect(await Promise.all(strangers.map(async (reply) => (await reply).status))).toEqual([404, 404, 404, 404, 403, 404, 404]);
    expect((await get(dora.api, '/jobs')).body.data).toEqual([]);
    expect((await get(tenant.admin, '/jobs')).body.data).toEqual([]);
    expect((await get(tenant.admin, '/jobs', { all: true, state: 'queued' })).body.data[0].id).toBe(id);
    expect((await get(tenant.admin, path)).body.id).toBe(id);
    expect((await tenant.admin.post(`${path}/cancel`)).body).toMatchObject({ id, state: 'canceled', cancelable: false });
    await tenant.admin.delete(`/users/${carl.user.id}`);
    expect((await get(tenant.admin, path)).status).toBe(404);
  });

  test('is canceled once of 50 times, is never more than ten of a person, and is listed page by page', async () => {
    const carl = await tenant.user();
    const { id } = (await empty(carl)).body;
    const cancels = await Promise.all(range(50).map(() => untilServed(() => carl.api.post(`/jobs/${id}/cancel`))));
    await tenant.db.query(
      `INSERT INTO tasks (uuid, kind, user_id, arguments, created_at)
       SELECT gen_random_uuid(), 'empty_trash', u.id, '{}', now() - n * interval '1 minute' FROM users u, generate_series(1, 10) n WHERE u.uuid = $1`,
      [carl.user.id],
    );
    const tooMany = await empty(carl);
    const pages: { id: string; state: string; created_at: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await carl.api.get('/jobs', { query: { limit: 4, ...(cursor === '' ? {} : { cursor }) } });
      pages.push(...body.data);
      cursor = body.pagination.next_cursor;
    }

    expect(countBy(cancels, ({ status }) => status)).toEqual({ 202: 1, 409: 49 });
    expect([tooMany.status, tooMany.body.error]).toEqual([409, 'conflict']);
    expect(new Set(pages.map((job) => job.id)).size).toBe(11);
    expect(pages.map((job) => job.created_at)).toEqual(
      pages
        .map((job) => job.created_at)
        .toSorted()
        .toReversed(),
    );
    const filtered = await carl.api.get('/jobs', { query: { state: 'canceled', kind: 'empty_trash' } });
    expect(filtered.body.data.map((job: { id: string }) => job.id)).toEqual([id]);
    expect((await carl.api.get('/jobs', { query: { kind: 'dance' } })).status).toBe(400);
  });

  test('is followed by server-sent events until it ends, five at once, and no longer than its session', async () => {
    const [carl, dora] = [await tenant.user(), await tenant.user()];
    const [{ id }, other] = [(await empty(carl)).body, (await empty(dora)).body];
    const follow = (by: Api, of: string) =>
      by.raw('GET', `/jobs/${of}`, { headers: { accept: 'application/json;q=0.1, text/event-stream' } });
    const eventsOf = ({ bytes }: ApiReply): { state: string }[] =>
      [...bytes.toString().matchAll(/^data: (.*)$/gm)].map(([, text = '']) => JSON.parse(text));

    const six = range(6).map(() => follow(carl.api, id));
    const refused = await Promise.race(six);
    await carl.api.post(`/jobs/${id}/cancel`);
    const followed = (await Promise.all(six)).filter(({ status }) => status === 200);
    const cut = follow(dora.api, other.id);
    await tenant.admin.patch(`/users/${dora.user.id}`, { is_active: false });
    await cut.catch(() => undefined);

    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limit_exceeded']);
    expect(followed.map(({ headers }) => headers['content-type'])).toEqual(range(5).map(() => 'text/event-stream'));
    const { body: job } = await carl.api.get(`/jobs/${id}`);
    expect(followed.map((reply) => eventsOf(reply).at(-1))).toEqual(range(5).map(() => job));
    expect((await follow(carl.api, id)).status).toBe(200);
    expect((await follow(tenant.admin, NOBODYS)).status).toBe(404);
  });

  test('is tried again for what failed, once of 50 times', async () => {
    const carl = await tenant.user();
    const { id } = (await empty(carl)).body;
    const early = await carl.api.post(`/jobs/${id}/retry`);
    await ended(id, 0);
    const nothing = await carl.api.post(`/jobs/${id}/retry`);
    await tenant.db.query(
      `INSERT INTO task_items (task_id, rank, target_type, target, target_name, state, error_code, error_message)
       SELECT t.id, 0, 'file', gen_random_uuid(), 'item ' || n, CASE WHEN n < 3 THEN 'failed' ELSE 'succeeded' END, CASE WHEN n < 3 THEN 'not_found' END, 'gone'
       FROM tasks t, generate_series(1, 5) n WHERE t.uuid = $1`,
      [id],
    );
    await ended(id, 2);
    const [retries, failed] = [
      await Promise.all(range(50).map(() => untilServed(() => carl.api.post(`/jobs/${id}/retry`)))),
      (await carl.api.get(`/jobs/${id}/items`, { query: { state: 'failed' } })).body.data,
    ];

    const [retry] = retries.filter(({ status }) => status === 202);
    expect([early.status, nothing.status]).toEqual([409, 409]);
    expect(countBy(retries, ({ status }) => status)).toEqual({ 202: 1, 409: 49 });
    expect(retry?.body).toMatchObject({ retry_of: id, state: 'queued', progress: { done: 0, total: 2, failed: 0 } });
    expect(failed.map(({ target, error }: Record<string, Record<string, string>>) => [target?.name, error?.code])).toEqual([
      ['item 1', 'not_found'],
      ['item 2', 'not_found'],
    ]);
    const again = (await carl.api.get(`/jobs/${retry?.body.id}/items`, { query: { sort: '-position', limit: 1 } })).body;
    expect(again).toMatchObject({
      data: [{ target: { name: 'item 2' }, state: 'queued', error: null }],
      pagination: { has_more: true },
    });
  });
});
