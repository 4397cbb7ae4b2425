import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;
type Tag = { id: string; name: string; files_count: number; etag: string };

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const upload = async ({ api }: Person, name: string, fields: Record<string, string> = {}): Promise<string> =>
  (await untilServed(() => api.upload('/files', { name, file: Buffer.from(name), fields }))).body.id;
async function tag({ api }: Person, name: string, ...files: string[]): Promise<Tag> {
  const made = await api.post('/tags', { name });
  expect([name, made.status]).toEqual([name, 201]);
  for (const file of files) expect((await api.put(`/files/${file}/tags/${made.body.id}`)).status).toBe(204);
  return made.body;
}
const grant = async (by: Person, file: string, to: Person): Promise<string> =>
  (await by.api.post(`/files/${file}/permissions`, { permission_level: 'read', user_id: to.user.id })).body.id;
const names = async ({ api }: Person, path = '/tags', query: Record<string, string | number> = {}): Promise<string[]> =>
  (await api.get(path, { query })).body.data.map(({ name }: Tag) => name);
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);

describe('tags', () => {
  test('are made with 201, their address and an entity tag; colours are lower case', async () => {
    const ada = await tenant.user();
    const reply = await ada.api.post('/tags', { name: 'To read', color: '#33AAcc' });

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'To read',
      color: '#33aacc',
      owner_id: ada.user.id,
      files_count: 0,
      created_at: TIME,
      updated_at: TIME,
      etag: expect.any(String),
    });
    expect([reply.headers.etag, reply.headers.location]).toEqual([
      `"${reply.body.etag}"`,
      `${tenant.apiUrl}/tags/${reply.body.id}`,
    ]);
    expect((await ada.api.get(`/tags/${reply.body.id}`)).body).toEqual(reply.body);
  });

  test('have one name each, in any case of letters, however many creations race; two people may have one name', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    await tag(bob, 'race');
    const replies = await Promise.all(
      range(50).map((at) => untilServed(() => ada.api.post('/tags', { name: at % 2 === 0 ? 'Race é' : 'RACE e\u0301' }))),
    );

    expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 1, 409: 49 });
    expect(codes(replies.filter(({ status }) => status === 409).slice(0, 1))).toEqual([[409, 'name_conflict']]);
    const other = await tag(ada, 'Other');
    expect(codes([await ada.api.patch(`/tags/${other.id}`, { name: 'race É' })])).toEqual([[409, 'name_conflict']]);
    expect((await ada.api.patch(`/tags/${other.id}`, { name: 'OTHER' })).body.name).toBe('OTHER');
  });

  test.each([
    ['name', {}],
    ['name', { name: '  ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 'tab\there' }],
    ['color', { name: 'x', color: 'red' }],
    ['color', { name: 'x', color: '#12345' }],
    ['owner_id', { name: 'x', owner_id: randomUUID() }],
  ])('with a wrong %s are a 400 that names it', async (field, body) => {
    const reply = await tenant.admin.post('/tags', body);

    expect([reply.status, reply.body.details.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
  });

  test('PUT and PATCH change what is given; of racing changes with one entity tag one wins; null clears the colour', async () => {
    const ada = await tenant.user();
    const { body } = await ada.api.post('/tags', { name: 'Changed', color: '#112233' });
    const match = { headers: { 'if-match': `"${body.etag}"` } };

    const racing = await Promise.all(range(10).map((at) => ada.api.patch(`/tags/${body.id}`, { name: `Changed ${at}` }, match)));
    const put = await ada.api.put(`/tags/${body.id}`, { color: null });

    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 412: 9 });
    expect(put.body).toMatchObject({ color: null, name: expect.stringMatching(/^Changed \d$/) });
    expect((await ada.api.put(`/tags/${body.id}`, {})).status).toBe(400);
    expect((await ada.api.delete(`/tags/${body.id}`, match)).status).toBe(412);
    expect((await ada.api.delete(`/tags/${body.id}`, { headers: { 'if-match': put.headers.etag ?? '' } })).status).toBe(204);
    expect((await ada.api.get(`/tags/${body.id}`)).status).toBe(404);
  });

  test('are listed by name in pages that meet, for one statement a page', async () => {
    const ada = await tenant.user();
    const files = [await upload(ada, 'a'), await upload(ada, 'b')];
    for (const [at, name] of ['b', 'A', 'É', 'C'].entries()) await tag(ada, name, ...files.slice(0, at));
    const seen: [string, number][] = [];
    let url = '/tags?limit=3';
    for (;;) {
      const page = await tenant.counting(() => ada.api.get(url));
      expect([page.sql.length, page.redisTrips]).toEqual([1, 1]);
      seen.push(...page.reply.body.data.map((each: Tag): [string, number] => [each.name, each.files_count]));
      const next = /^<([^>]+)>/.exec(page.reply.headers.link ?? '')?.[1];
      if (next === undefined) break;
      url = next;
    }

    expect(seen).toEqual([
      ['A', 1],
      ['b', 0],
      ['C', 2],
      ['É', 2],
    ]);
    expect(await names(ada, '/tags', { sort: '-created_at', limit: 2 })).toEqual(['C', 'É']);
  });
});

describe('tags on a file', () => {
  test('are set and taken off idempotently, for one statement', async () => {
    const ada = await tenant.user();
    const file = await upload(ada, 'a');
    const { id } = await tag(ada, 'One');
    await ada.api.get(`/files/${file}`);
    const path = `/files/${file}/tags/${id}`;

    const replies = [];
    for (const method of ['PUT', 'PUT', 'DELETE', 'DELETE', 'PUT'])
      replies.push(await tenant.counting(() => ada.api.raw(method, path)));

    expect(replies.map(({ reply, sql }) => [reply.status, sql.length])).toEqual(range(5).map(() => [204, 1]));
    expect(await names(ada, `/files/${file}/tags`)).toEqual(['One']);
    const list = await tenant.counting(() => ada.api.get(`/files/${file}/tags`));
    expect([list.reply.body.data[0].files_count, list.sql.length]).toEqual([1, 1]);
  });

  test('of a shared file are each person’s own; whoever may read it may tag it', async () => {
    const [ada, bob, viewer] = [await tenant.user(), await tenant.user(), await tenant.user({ roles: ['viewer'] })];
    const file = await upload(ada, 'shared');
    for (const person of [bob, viewer]) await grant(ada, file, person);
    const hers = await tag(ada, 'Hers', file);
    await tag(bob, 'His', file);
    await tag(viewer, 'Theirs', file);

    expect(await Promise.all([ada, bob, viewer].map((who) => names(who, `/files/${file}/tags`)))).toEqual([
      ['Hers'],
      ['His'],
      ['Theirs'],
    ]);
    const others = [
      await bob.api.get(`/tags/${hers.id}`),
      await bob.api.patch(`/tags/${hers.id}`, { name: 'x' }),
      await bob.api.delete(`/tags/${hers.id}`),
      await bob.api.put(`/files/${file}/tags/${hers.id}`),
      await bob.api.delete(`/files/${file}/tags/${hers.id}`),
      await tenant.admin.get(`/tags/${hers.id}`),
    ];
    expect(codes(others)).toEqual(others.map(() => [404, 'not_found']));
    expect(await names(ada, `/files/${file}/tags`)).toEqual(['Hers']);
  });

  test('of a file that one may not read, or that is in the trash, are not found, and are not counted', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const [taken, trashed, gone] = [await upload(ada, 'taken'), await upload(ada, 'trashed'), randomUUID()];
    const granted = await grant(ada, taken, bob);
    await grant(ada, trashed, bob);
    const { id } = await tag(bob, 'Mine', taken, trashed);
    const count = async (): Promise<number> => (await bob.api.get(`/tags/${id}`)).body.files_count;
    const counts = [await count()];
    await ada.api.delete(`/files/${taken}/permissions/${granted}`);
    counts.push(await count());
    await ada.api.delete(`/files/${trashed}`);
    counts.push(await count());

    expect(counts).toEqual([2, 1, 0]);
    for (const file of [taken, trashed, gone])
      for (const method of ['PUT', 'DELETE']) expect((await bob.api.raw(method, `/files/${file}/tags/${id}`)).status).toBe(404);
    for (const file of [taken, trashed, gone]) expect((await bob.api.get(`/files/${file}/tags`)).status).toBe(404);
    expect((await ada.api.put(`/files/${await upload(ada, 'own')}/tags/${randomUUID()}`)).body.message).toBe(
      'There is no such tag.',
    );
  });

  test('go with the tag and with the file, also where they race', async () => {
    const ada = await tenant.user();
    const files = await Promise.all(range(10).map((at) => upload(ada, `f${at}`)));
    const { id } = await tag(ada, 'Racing');

    const replies = await Promise.all([
      ...files.flatMap((file) => [
        untilServed(() => ada.api.put(`/files/${file}/tags/${id}`)),
        untilServed(() => ada.api.delete(`/files/${file}`, { query: { permanent: true } })),
      ]),
      untilServed(() => ada.api.delete(`/tags/${id}`)),
    ]);

    expect(replies.filter(({ status }) => ![204, 404].includes(status))).toEqual([]);
    expect(await tenant.db.query('SELECT FROM file_tags l JOIN tags t ON t.id = l.tag_id WHERE t.uuid = $1', [id])).toEqual([]);
  });

  test('nobody of another tenant sees or sets', async () => {
    const ada = await tenant.user();
    const file = await upload(ada, 'a');
    const { id } = await tag(ada, 'Own', file);
    const other = await startTenant();
    try {
      const replies = [
        await other.admin.get(`/tags/${id}`),
        await other.admin.get(`/files/${file}/tags`),
        await other.admin.put(`/files/${file}/tags/${id}`),
        await tenant.anonymous.as(other.admin.token).get('/tags'),
        await tenant.anonymous.get('/tags'),
      ];
      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 401, 401]);
      expect((await other.admin.get('/tags')).body.data).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});

describe('when a user is deleted', () => {
  test('the new owner of their files gets the tags that are on them, one of each name', async () => {
    const [ada, bob, carl] = [await tenant.user(), await tenant.user(), await tenant.user()];
    const [both, one, carls] = [await upload(ada, 'both'), await upload(ada, 'one'), await upload(carl, 'carls')];
    for (const person of [ada, bob]) await grant(carl, carls, person);
    await tag(ada, 'READ', both, carls);
    await tag(ada, 'New', both, one);
    await tag(ada, 'Unused');
    const read = await tag(bob, 'Read');

    expect((await tenant.admin.delete(`/users/${ada.user.id}`, { query: { transfer_to: bob.user.id } })).status).toBe(204);

    expect(await names(bob)).toEqual(['New', 'Read']);
    expect(await names(bob, `/files/${both}/tags`)).toEqual(['New', 'Read']);
    expect(await names(bob, `/files/${one}/tags`)).toEqual(['New']);
    expect(await names(bob, `/files/${carls}/tags`)).toEqual([]);
    expect((await bob.api.get(`/tags/${read.id}`)).body.files_count).toBe(1);
  });

  test('without a new owner their tags go, and those of others on other files stay', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const file = await upload(bob, 'bobs');
    await grant(bob, file, ada);
    await tag(ada, 'Hers', file);
    await tag(bob, 'His', file);

    expect((await tenant.admin.delete(`/users/${ada.user.id}`)).status).toBe(204);

    expect(await names(bob, `/files/${file}/tags`)).toEqual(['His']);
    expect(await tenant.db.query(`SELECT FROM tags WHERE name = 'Hers' AND owner_id NOT IN (SELECT id FROM users)`)).toEqual([]);
  });
});
