import { beforeAll, describe, expect, test } from '@jest/globals';
import { payloadSchema } from '../../../pkg/events/catalogue.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { faultsOf } from './tenant-state.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  [ada, bob] = [await tenant.user(), await tenant.user()];
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
const move = (by: Person, { id }: { id: string }, to: { id: string | null }): Promise<ApiReply> =>
  by.api.patch(`/folders/${id}`, { parent_id: to.id });
const cost = async (work: () => Promise<ApiReply>): Promise<[status: number, sql: number]> => {
  const { reply, sql } = await tenant.counting(work);
  return [reply.status, sql.filter((text) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK)/i.test(text)).length];
};

describe('a folder that is renamed or moved', () => {
  test('takes all below it along: paths, depths and entity tags, and no update of a file', async () => {
    const [top, other] = [await folder(ada.api), await folder(ada.api)];
    const sub = await folder(ada.api, top.id, 'süb 𝒳');
    const [deep, file] = [await folder(ada.api, sub.id, 'deep'), await upload(ada.api, sub.id)];
    const trashed = await upload(ada.api, sub.id, 'trashed');
    await ada.api.delete(`/files/${trashed.id}`);
    const before = (await ada.api.get(`/files/${file.id}`)).body;

    const renamed = await ada.api.put(`/folders/${top.id}`, { name: 'renamed 𝒴' });
    const moved = await ada.api.patch(`/folders/${sub.id}`, { parent_id: other.id, name: 'sub' });

    expect(renamed).toMatchObject({ status: 200, body: { name: 'renamed 𝒴', path: '/renamed 𝒴', depth: 0, parent_id: null } });
    expect(moved).toMatchObject({
      status: 200,
      body: { path: `/${other.name}/sub`, depth: 1, parent_id: other.id, deleted_at: null },
    });
    expect(moved.headers.etag).toBe(`"${moved.body.etag}"`);
    expect((await ada.api.get(`/folders/${sub.id}`)).body).toEqual(moved.body);
    expect((await ada.api.get(`/folders/${deep.id}`)).body).toMatchObject({ path: `/${other.name}/sub/deep`, depth: 2 });
    const after = (await ada.api.get(`/files/${file.id}`)).body;
    expect(after).toMatchObject({ path: `/${other.name}/sub/a.txt`, updated_at: before.updated_at });
    expect(after.etag).not.toBe(before.etag);
    const back = await move(ada, sub, { id: null });
    expect(back.body).toMatchObject({ path: '/sub', depth: 0, parent_id: null });
    expect((await ada.api.get(`/folders/${deep.id}`)).body).toMatchObject({ path: '/sub/deep', depth: 1 });
    expect((await ada.api.patch(`/folders/${sub.id}`, { name: 'sub' })).body).toEqual(back.body);
  });

  test('is refused where it cannot go', async () => {
    const [top, taken] = [await folder(ada.api), await folder(ada.api)];
    const sub = await folder(ada.api, top.id);
    const change = (body: object, options = {}) => ada.api.patch(`/folders/${top.id}`, body, options);
    const refused = [
      await move(ada, top, top),
      await move(ada, top, sub),
      await change({ name: taken.name }),
      await change({ parent_id: NOBODYS }),
      await change({}),
      await change({ name: 'a/b' }),
      await change({ path: '/x' }),
      await change({ name: 'x' }, { headers: { 'if-match': '"another"' } }),
      await ada.api.patch(`/folders/${NOBODYS}`, { name: 'x' }),
      await tenant.anonymous.patch(`/folders/${top.id}`, { name: 'x' }),
    ];

    expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
      [409, 'conflict'],
      [409, 'conflict'],
      [409, 'name_conflict'],
      [404, 'not_found'],
      [400, 'validation_failed'],
      [400, 'validation_failed'],
      [400, 'validation_failed'],
      [412, 'precondition_failed'],
      [404, 'not_found'],
      [401, 'unauthenticated'],
    ]);
    expect((await change({ name: 'matched' }, { headers: { 'if-match': `"${top.etag}"` } })).status).toBe(200);
  });

  test('is refused where something below it would be too deep, or its path too long', async () => {
    const deep = [await folder(ada.api)];
    for (const _ of range(97)) deep.push(await folder(ada.api, deep.at(-1).id, 'd'));
    const low = await folder(ada.api);
    await folder(ada.api, (await folder(ada.api, low.id, 'l')).id, 'l');
    const long = await folder(ada.api);
    let parent = long.id;
    for (const _ of range(7)) parent = (await folder(ada.api, parent, 'x'.repeat(255))).id;
    await upload(ada.api, parent, 'y'.repeat(200));

    const tooDeep = await move(ada, low, deep.at(-1));
    const tooLong = await ada.api.patch(`/folders/${long.id}`, { name: 'z'.repeat(255) });
    const fits = await move(ada, low, deep.at(-2));

    expect(tooDeep.body).toMatchObject({
      details: [{ field: 'parent_id', message: 'is too deep to hold this folder and those below it' }],
    });
    expect(tooLong.body).toMatchObject({ details: [{ field: 'name', message: 'makes a path of more than 2048 characters' }] });
    expect([tooDeep.status, tooLong.status, fits.status, fits.body.depth]).toEqual([400, 400, 200, 97]);
    expect((await move(ada, deep[0], await folder(ada.api))).status).toBe(400);
  });

  test('costs four statements, and one of them writes an event for each live file below', async () => {
    await addWebhook(tenant, { events: ['file.updated'] });
    const [top, other] = [await folder(ada.api), await folder(ada.api)];
    const sub = await folder(ada.api, top.id, 'sub');
    const files = [await upload(ada.api, top.id, 'a "quoted" ü.txt'), await upload(ada.api, sub.id)];
    const trashed = await upload(ada.api, sub.id, 'trashed');
    await ada.api.delete(`/files/${trashed.id}`);
    await ada.api.get(`/folders/${top.id}`);

    const costs = [
      await cost(() => ada.api.patch(`/folders/${top.id}`, { name: 'events' })),
      await cost(() => move(ada, top, other)),
      await cost(() => move(ada, top, { id: null })),
    ];

    expect(costs).toEqual([
      [200, 4],
      [200, 4],
      [200, 5],
    ]);
    const events = (await writtenEvents(tenant)).filter(({ event }) => event === 'file.updated');
    expect(events.map(({ data }) => [data.id, data.path, data.folder_id, data.changes])).toEqual(
      ['/events', `/${other.name}/events`, '/events'].flatMap((path) => [
        [files[0].id, `${path}/a "quoted" ü.txt`, top.id, ['path']],
        [files[1].id, `${path}/sub/a.txt`, sub.id, ['path']],
      ]),
    );
    const faults = events.flatMap(
      ({ payload }) => payloadSchema('file.updated').safeParse(JSON.parse(payload)).error?.issues ?? [],
    );
    expect(faults).toEqual([]);
    expect(events[0]?.payload).toMatch(/^\{"event":"file.updated","timestamp":"[^"]+Z","data":\{"id":"/);
    await tenant.db.query('UPDATE webhooks SET active = false');
  });
});

describe('who may move a folder', () => {
  test('a reader may not, a writer moves it to where nobody gets more, and nobody else knows of it', async () => {
    const [shared, closed] = [await folder(ada.api), await folder(ada.api)];
    const inner = await folder(ada.api, shared.id);
    const other = await folder(ada.api, shared.id);
    const bobs = await folder(bob.api);
    const unknown = await move(bob, inner, bobs);
    await grant(ada, `/folders/${shared.id}`, bob, 'read');
    const reads = await bob.api.patch(`/folders/${inner.id}`, { name: 'x' });
    await grant(ada, `/folders/${shared.id}`, bob, 'write');
    const refused = [
      await move(bob, inner, bobs),
      await move(bob, inner, { id: null }),
      await move(bob, inner, closed),
      await move(ada, inner, bobs),
    ];

    expect([unknown, reads, ...refused].map(({ status }) => status)).toEqual([404, 403, 403, 403, 404, 404]);
    expect(refused[0]?.body.message).toMatch(/more access than you have; the owner of the folder can move it/);
    expect((await move(bob, inner, other)).body).toMatchObject({ path: `/${shared.name}/${other.name}/${inner.name}`, depth: 2 });
  });

  test('the parent as it is shown leaves the folder where it is', async () => {
    const top = await folder(ada.api);
    const sub = await folder(ada.api, top.id);
    await grant(ada, `/folders/${sub.id}`, bob, 'write');

    const reply = await bob.api.put(`/folders/${sub.id}`, { name: 'by Bob', parent_id: null });

    expect(reply).toMatchObject({ status: 200, body: { path: '/by Bob', depth: 0, parent_id: null } });
    expect((await ada.api.get(`/folders/${sub.id}`)).body).toMatchObject({ path: `/${top.name}/by Bob`, parent_id: top.id });
  });

  test('a folder of the system stays as it is', async () => {
    const course = await folder(ada.api);
    await tenant.db.query('UPDATE folders SET is_system = true WHERE uuid = $1', [course.id]);

    const reply = await ada.api.patch(`/folders/${course.id}`, { name: 'mine' });

    expect(reply).toMatchObject({ status: 403, body: { error: 'forbidden' } });
  });

  test('grants given through the folders that it leaves end below it; those of its owner stay', async () => {
    const carl = await tenant.user();
    const shared = await folder(ada.api);
    await grant(ada, `/folders/${shared.id}`, bob, 'admin');
    const bobs = await folder(bob.api, shared.id);
    const file = await upload(bob.api, bobs.id);
    const onFile = `/files/${file.id}`;
    const [dora, eve] = [await tenant.user(), await tenant.user()];
    await grant(ada, onFile, carl, 'read');
    await grant(ada, `/folders/${bobs.id}`, dora, 'read');
    await grant(bob, onFile, eve, 'read');
    const reading = () => Promise.all([ada, carl, dora, eve].map(async ({ api }) => (await api.get(onFile)).status));
    const before = await reading();
    await move(bob, bobs, await folder(bob.api, shared.id));
    const within = await reading();

    await move(bob, bobs, { id: null });

    expect([before, within, await reading()]).toEqual([
      [200, 200, 200, 200],
      [200, 200, 200, 200],
      [404, 404, 404, 200],
    ]);
  });
});

describe('of moves at the same time', () => {
  test('two that would make a cycle together, one succeeds', async () => {
    const pairs = await Promise.all(range(25).map(async () => [await folder(ada.api), await folder(ada.api)] as const));

    const replies = await Promise.all(
      pairs.flatMap(([a, b]) => [untilServed(() => move(ada, a, b)), untilServed(() => move(ada, b, a))]),
    );

    expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 25, 409: 25 });
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('fifty that would make a ring leave it open, and uploads and new folders below have the right paths', async () => {
    const ring = await Promise.all(range(50).map(() => folder(ada.api)));

    const replies = await Promise.all([
      ...ring.map((each, at) => untilServed(() => move(ada, each, ring[(at + 1) % ring.length]))),
      ...ring.slice(0, 10).map(({ id }) => {
        const file = { name: 'in', file: Buffer.from('a'), fields: { folder_id: id } };
        return untilServed(() => ada.api.upload('/files', file));
      }),
      ...ring.slice(0, 10).map(({ id }) => untilServed(() => ada.api.post('/folders', { name: 'in', parent_id: id }))),
    ]);

    expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 49, 201: 20, 409: 1 });
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('renames of a folder, and moves, deletes and restores in it all succeed, and no path is an old one', async () => {
    const top = await folder(ada.api);
    const subs = await Promise.all(range(5).map(() => folder(ada.api, top.id)));
    const files = await Promise.all(range(20).map((at) => upload(ada.api, top.id, `${at}.txt`)));

    const moves = await Promise.all([
      ...range(15).map((at) => untilServed(() => ada.api.patch(`/folders/${top.id}`, { name: `renamed ${at}` }))),
      ...range(15).map((at) => untilServed(() => ada.api.patch(`/folders/${subs[at % 5].id}`, { name: `sub ${at % 5}` }))),
      ...files.map(({ id }, at) => untilServed(() => ada.api.patch(`/files/${id}`, { folder_id: subs[at % 5].id }))),
    ]);
    const trash = await Promise.all([
      ...[...subs.map(({ id }) => `/folders/${id}`), ...files.map(({ id }) => `/files/${id}`)].flatMap((path) => [
        untilServed(() => ada.api.delete(path)),
        untilServed(() => ada.api.post(`${path}/restore`)),
      ]),
      untilServed(() => ada.api.patch(`/folders/${top.id}`, { name: 'renamed' })),
    ]);

    expect(countBy(moves, ({ status }) => status)).toEqual({ 200: 50 });
    expect(trash.map(({ status }) => status).filter((status) => ![200, 204, 404, 409].includes(status))).toEqual([]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('fifty into places of one name, one gets each', async () => {
    const [places, moving] = [await Promise.all(range(5).map(() => folder(ada.api))), await folder(ada.api)];
    const folders = await Promise.all(range(50).map(async () => folder(ada.api, (await folder(ada.api, moving.id)).id, 'same')));

    const replies = await Promise.all(folders.map((each, at) => untilServed(() => move(ada, each, places[at % places.length]))));

    expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 5, 409: 45 });
    expect(await faultsOf(tenant)).toEqual([]);
  });
});

describe('lists of folders', () => {
  type Query = Record<string, string | number | boolean>;
  const names = (reply: ApiReply): string[] => reply.body.data.map(({ name }: { name: string }) => name);
  /** All pages of a list. */
  async function pages(api: Api, path: string, query: Query): Promise<Record<string, unknown>[]> {
    const items = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await api.get(path, { query: { ...query, ...(cursor === '' ? {} : { cursor }) } });
      items.push(...body.data);
      cursor = body.pagination.next_cursor;
    }
    return items;
  }

  test('show what is in a folder: folders first, then files, in each order, page by page', async () => {
    const { api } = await tenant.user();
    const top = await folder(api, null, 'top');
    const files = [];
    for (const name of ['b', 'a', 'd', 'c']) files.push(await upload(api, top.id, `${name}.txt`));
    const subs = [];
    for (const name of ['y', 'x', 'z']) subs.push(await folder(api, top.id, name));
    await upload(api, subs[0].id, 'below.txt');
    await folder(api, subs[0].id, 'below');
    await api.delete(`/files/${(await upload(api, top.id, 'trashed.txt')).id}`);
    const root = (await api.upload('/files', { name: 'root.txt', file: Buffer.from('a') })).body;
    const of = async (query: Query) => (await pages(api, `/folders/${top.id}/children`, query)).map(({ name }) => name);

    for (const limit of [1, 2, 3, 4, 50]) {
      expect(await of({ limit })).toEqual(['x', 'y', 'z', 'a.txt', 'b.txt', 'c.txt', 'd.txt']);
      expect(await of({ limit, sort: '-name' })).toEqual(['z', 'y', 'x', 'd.txt', 'c.txt', 'b.txt', 'a.txt']);
      expect(await of({ limit, sort: 'created_at' })).toEqual(['y', 'x', 'z', 'b.txt', 'a.txt', 'd.txt', 'c.txt']);
    }
    expect(await of({ q: 'Z' })).toEqual(['z']);
    const all = await pages(api, `/folders/${top.id}/children`, {});
    expect(all[0]).toEqual({ type: 'folder', ...(await api.get(`/folders/${subs[1].id}`)).body });
    expect(all[3]).toEqual({ type: 'file', ...(await api.get(`/files/${files[1].id}`)).body });
    const atRoot = await pages(api, '/folders/root/children', { limit: 1 });
    expect(atRoot.map(({ type, id }) => [type, id])).toEqual([
      ['folder', top.id],
      ['file', root.id],
    ]);
    expect([
      await cost(() => api.get(`/folders/${top.id}/children`)),
      await cost(() => api.get('/folders/root/children')),
    ]).toEqual([
      [200, 2],
      [200, 2],
    ]);
  });

  test('show the folders that one sees: own, granted, and below either, each as one sees it', async () => {
    const [carl, dora] = [await tenant.user(), await tenant.user()];
    const top = await folder(carl.api, null, 'Größe 100%');
    const sub = await folder(carl.api, top.id, 'sub');
    const deep = await folder(carl.api, sub.id, 'deep');
    await folder(dora.api, null, 'own');
    await grant(carl, `/folders/${sub.id}`, dora, 'read');
    const of = async (query: Query, api = dora.api) => names(await api.get('/folders', { query }));

    const granted = await dora.api.get('/folders', { query: { sort: 'created_at' } });

    expect(granted.body.data.map(({ path, parent_id }: Record<string, unknown>) => [path, parent_id])).toEqual([
      ['/sub', null],
      ['/sub/deep', sub.id],
      ['/own', null],
    ]);
    expect((await pages(dora.api, '/folders', { limit: 1, sort: '-created_at' })).map(({ name }) => name)).toEqual([
      'own',
      'deep',
      'sub',
    ]);
    expect([await of({ parent_id: 'root' }), await of({ parent_id: sub.id }), await of({ owner: carl.user.id, q: 'E' })]).toEqual(
      [['own'], ['deep'], ['deep']],
    );
    expect([await of({ q: 'grosse' }, carl.api), await of({ q: '％' }, carl.api), await of({ q: '_' }, carl.api)]).toEqual([
      ['Größe 100%'],
      ['Größe 100%'],
      [],
    ]);
    const refused = [
      await dora.api.get('/folders', { query: { parent_id: top.id } }),
      await dora.api.get(`/folders/${top.id}/children`),
      await dora.api.get(`/folders/${NOBODYS}/children`),
      await dora.api.get('/folders', { query: { parent_id: 'up' } }),
      await dora.api.get('/folders', { query: { sort: 'size' } }),
      await dora.api.get('/folders/root/children', { query: { sort: 'kind' } }),
      await tenant.anonymous.get('/folders'),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 400, 400, 400, 401]);
    expect((await dora.api.get(`/folders/${deep.id}/children`)).body.data).toEqual([]);
    expect([
      await cost(() => dora.api.get('/folders')),
      await cost(() => carl.api.get('/folders', { query: { parent_id: sub.id } })),
    ]).toEqual([
      [200, 1],
      [200, 2],
    ]);
  });

  test('a folder whose name is taken gets another, or is the one that is there, also of 50 at once', async () => {
    const { api } = await tenant.user();
    const create = (name: string, on_conflict: string, parent_id: string | null = null) =>
      api.post('/folders', { name, on_conflict, parent_id });
    const first = await create('a', 'fail');

    const [fail, rename, reuse] = [await create('a', 'fail'), await create('a', 'rename'), await create('a', 'reuse')];
    const racing = await Promise.all(range(50).map(() => untilServed(() => create('b', 'reuse', first.body.id))));

    expect([fail.status, fail.body.error, rename.status, rename.body.name]).toEqual([409, 'name_conflict', 201, 'a (1)']);
    expect([reuse.status, reuse.body, reuse.headers.etag]).toEqual([200, first.body, first.headers.etag]);
    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 49, 201: 1 });
    expect(new Set(racing.map(({ body }) => body.id)).size).toBe(1);
  });
});
