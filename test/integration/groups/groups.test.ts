import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { removeRegistration } from '../../../pkg/lti/registrations/registration.sql.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { launched } from '../../support/lms/launched.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { startTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';

const { tenant, at } = lmsSuite();

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
type Group = { id: string; name: string; etag: string };

async function group(name: string, ...members: { user: { id: string } }[]): Promise<Group> {
  const made = await tenant.admin.post('/groups', { name });
  expect([name, made.status]).toEqual([name, 201]);
  for (const { user } of members) expect((await tenant.admin.put(`/groups/${made.body.id}/members/${user.id}`)).status).toBe(204);
  return made.body;
}
const names = async (api: Api, query: Record<string, string> = {}): Promise<string[]> =>
  (await api.get('/groups', { query })).body.data.map(({ name }: Group) => name);
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);

/** The group of a course that somebody launched from. */
async function course(title: string, registration = at) {
  const { api } = await launched(tenant, registration, { course: { id: title, title } });
  const [found] = (await api.get('/groups', { query: { q: title } })).body.data as Group[];
  if (!found) throw new Error(`the launch made no group ${title}`);
  return { api, group: found };
}

describe('creating', () => {
  test('gives 201 with the group, its address and an entity tag', async () => {
    const reply = await tenant.admin.post('/groups', { name: 'Łódź, first year', description: 'Winter' });

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Łódź, first year',
      description: 'Winter',
      kind: 'manual',
      member_count: 0,
      managed_by: null,
      created_at: TIME,
      updated_at: TIME,
      etag: expect.any(String),
    });
    expect([reply.headers.etag, reply.headers.location]).toEqual([
      `"${reply.body.etag}"`,
      `${tenant.apiUrl}/groups/${reply.body.id}`,
    ]);
    expect((await tenant.admin.get(`/groups/${reply.body.id}`)).body).toEqual(reply.body);
  });

  test('of 50 racing creations of one name, in any case of letters, one is a 201 and 49 are 409', async () => {
    const replies = await Promise.all(
      range(50).map((each) => untilServed(() => tenant.admin.post('/groups', { name: each % 2 === 0 ? 'Race Ä' : 'race ä' }))),
    );

    expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 1, 409: 49 });
    expect(countBy(replies, ({ body }) => body.error ?? 'none')).toEqual({ none: 1, name_conflict: 49 });
  });

  test('takes a name of 100 characters, in NFC', async () => {
    const long = '𝔐'.repeat(99);
    expect((await tenant.admin.post('/groups', { name: `${long}e\u0301` })).status).toBe(201);
    expect(await names(tenant.admin, { q: long })).toEqual([`${long}é`]);
  });

  test.each([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: ' \u00a0' }],
    ['name', { name: 'two\nlines' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 7 }],
    ['description', { name: 'x', description: 'x'.repeat(1001) }],
    ['kind', { name: 'x', kind: 'course' }],
  ])('a wrong %s is a 400 that names it', async (field, body) => {
    const reply = await tenant.admin.post('/groups', body);

    expect([reply.status, reply.body.details.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
  });
});

describe('changing', () => {
  test('PUT and PATCH change what is given and leave the rest; null clears the description', async () => {
    const { id } = await group('Changed');

    const put = await tenant.admin.put(`/groups/${id}`, { description: 'first' });
    const patch = await tenant.admin.patch(`/groups/${id}`, { name: 'Changed twice' });
    const cleared = await tenant.admin.patch(`/groups/${id}`, { description: null });
    const nothing = await tenant.admin.patch(`/groups/${id}`, {});

    expect([put.body, patch.body, cleared.body]).toMatchObject([
      { name: 'Changed', description: 'first' },
      { name: 'Changed twice', description: 'first' },
      { name: 'Changed twice', description: null },
    ]);
    expect(new Set([put, patch, cleared].map(({ body }) => body.etag)).size).toBe(3);
    expect(nothing.status).toBe(400);
  });

  test('a name that another group has is a 409 and changes nothing; its own in another case is none', async () => {
    const [{ id }] = [await group('Mine'), await group('Theirs')];

    expect(codes([await tenant.admin.patch(`/groups/${id}`, { name: 'THEIRS' })])).toEqual([[409, 'name_conflict']]);
    expect((await tenant.admin.patch(`/groups/${id}`, { name: 'MINE' })).body.name).toBe('MINE');
  });

  test('of racing changes with one entity tag one wins; who joins or leaves changes the tag', async () => {
    const ada = await tenant.user();
    const { id, etag } = await group('Tagged');
    const match = (tag: string) => ({ headers: { 'if-match': `"${tag}"` } });

    const racing = await Promise.all(
      range(10).map((each) => tenant.admin.patch(`/groups/${id}`, { name: `Tagged ${each}` }, match(etag))),
    );
    const before = await tenant.admin.get(`/groups/${id}`);
    const same = await tenant.admin.get(`/groups/${id}`, { headers: { 'if-none-match': before.headers.etag ?? '' } });
    await tenant.admin.put(`/groups/${id}/members/${ada.user.id}`);
    const joined = await tenant.admin.get(`/groups/${id}`, { headers: { 'if-none-match': before.headers.etag ?? '' } });
    const late = await tenant.admin.delete(`/groups/${id}`, match(before.body.etag));
    const known = await tenant.admin.delete(`/groups/${id}`, match(joined.body.etag));

    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 412: 9 });
    expect([same.status, joined.status, joined.body.member_count]).toEqual([304, 200, 1]);
    expect([late.status, known.status, (await tenant.admin.get(`/groups/${id}`)).status]).toEqual([412, 204, 404]);
  });
});

test('a group outlives the administrator who made it, unchanged', async () => {
  const { api, user } = await tenant.user({ roles: ['admin'] });
  const made = await api.post('/groups', { name: 'Outlives' });

  await tenant.admin.delete(`/users/${user.id}`);

  expect((await tenant.admin.get(`/groups/${made.body.id}`)).body).toEqual(made.body);
});

describe('the list', () => {
  test('comes by name in pages that meet, whatever the case of letters, for one statement a page', async () => {
    for (const name of ['Page b', 'page A', 'PAGE c', 'page É', 'Page 100%']) await group(name);
    const seen: string[] = [];
    let url = '/groups?q=page&limit=2';
    for (;;) {
      const page = await tenant.counting(() => tenant.admin.get(url));
      expect([page.sql.length, page.redisTrips]).toEqual([1, 1]);
      seen.push(...page.reply.body.data.map(({ name }: Group) => name));
      const next = /^<([^>]+)>; rel="next"$/.exec(page.reply.headers.link ?? '')?.[1];
      if (next === undefined) break;
      url = next;
    }

    expect(seen).toEqual(['Page 100%', 'page A', 'Page b', 'PAGE c', 'page É']);
    expect(await names(tenant.admin, { q: 'page', sort: '-created_at', limit: '2' })).toEqual(['Page 100%', 'page É']);
    expect(await names(tenant.admin, { q: '0%' })).toEqual(['Page 100%']);
    expect(await names(tenant.admin, { q: '_' })).toEqual([]);
  });

  test('has filters by kind and by member', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    await group('Filter both', ada, bob);
    await group('Filter ada', ada);
    await course('Filter course');

    expect(await names(tenant.admin, { q: 'filter', kind: 'course' })).toEqual(['Filter course']);
    expect(await names(tenant.admin, { q: 'filter', kind: 'manual' })).toEqual(['Filter ada', 'Filter both']);
    expect(await names(tenant.admin, { member: bob.user.id })).toEqual(['Filter both']);
    expect(await names(tenant.admin, { member: randomUUID() })).toEqual([]);
    expect((await tenant.admin.get('/groups', { query: { kind: 'other' } })).body.details[0].field).toBe('kind');
  });
});

describe('who may', () => {
  test('members see their own groups and who is in them, without addresses; others see nothing; none change them', async () => {
    const [ada, bob, stranger] = [await tenant.user(), await tenant.user(), await tenant.user({ roles: ['instructor'] })];
    const { id } = await group('Own', ada, bob);

    expect([await names(ada.api), await names(stranger.api), await names(ada.api, { member: stranger.user.id })]).toEqual([
      ['Own'],
      [],
      [],
    ]);
    expect((await ada.api.get(`/groups/${id}`)).body.member_count).toBe(2);
    const seen = (await ada.api.get(`/groups/${id}/members`, { query: { sort: 'added_at' } })).body.data;
    expect(seen).toEqual(
      [ada, bob].map(({ user }) => ({ user: { id: user.id, name: user.username, email: null }, added_at: TIME })),
    );
    expect(codes([await stranger.api.get(`/groups/${id}`), await stranger.api.get(`/groups/${id}/members`)])).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
    for (const { api, user } of [ada, stranger]) {
      const replies = [
        await api.post('/groups', { name: 'Not mine' }),
        await api.put(`/groups/${id}`, { name: 'Not mine' }),
        await api.patch(`/groups/${id}`, { name: 'Not mine' }),
        await api.delete(`/groups/${id}`),
        await api.put(`/groups/${id}/members/${user.id}`),
        await api.delete(`/groups/${id}/members/${user.id}`),
      ];
      expect(codes(replies)).toEqual(replies.map(() => [403, 'forbidden']));
    }
  });

  test('another tenant knows nothing of a group, and its tokens open nothing here', async () => {
    const ada = await tenant.user();
    const { id } = await group('Other', ada);
    const other = await startTenant();
    try {
      const member = `/groups/${id}/members/${ada.user.id}`;
      const there = [
        await other.admin.get(`/groups/${id}`),
        await other.admin.patch(`/groups/${id}`, { name: 'x' }),
        await other.admin.delete(`/groups/${id}`),
        await other.admin.get(`/groups/${id}/members`),
        await other.admin.put(member),
        await other.admin.delete(member),
      ];
      const here = [
        await tenant.anonymous.as(other.admin.token).get('/groups'),
        await tenant.anonymous.as(other.admin.token).delete(member),
      ];

      expect(codes(there)).toEqual(there.map(() => [404, 'not_found']));
      expect(codes(here)).toEqual(here.map(() => [401, 'unauthenticated']));
      expect((await other.admin.get('/groups')).body.data).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});

describe("a course's group", () => {
  test('is the LMS’s: its people see it, and nobody changes it here', async () => {
    const ada = await tenant.user();
    const { api, group: history } = await course('Managed');
    const one = `/groups/${history.id}`;

    expect(history).toMatchObject({ kind: 'course', managed_by: 'lti', member_count: 1, description: null });
    expect((await api.get(`${one}/members`)).body.data).toMatchObject([{ user: { email: null } }]);
    const refused = [
      await tenant.admin.put(one, { name: 'x' }),
      await tenant.admin.patch(one, { description: 'x' }),
      await tenant.admin.delete(one),
      await tenant.admin.put(`${one}/members/${ada.user.id}`),
      await tenant.admin.delete(`${one}/members/${ada.user.id}`),
      await tenant.admin.put(`${one}/members/${randomUUID()}`),
    ];
    expect(codes(refused)).toEqual(refused.map(() => [403, 'managed']));
    expect(refused[2]?.body.message).toBe('The LMS manages this group: its members are those of the course.');
    expect((await tenant.admin.get(one)).body).toEqual(history);
  });

  test('may have the title of another group', async () => {
    await group('Shared title');
    await course('Shared title');

    expect(await names(tenant.admin, { q: 'shared title' })).toEqual(['Shared title', 'Shared title']);
  });

  test('passes to the administrators when its LMS is no longer registered', async () => {
    const gone = await registeredLms(tenant);
    try {
      const { group: left } = await course('Left', gone);
      await removeRegistration(tenant.rows, `test/${gone.clientId}`);

      expect((await tenant.admin.get(`/groups/${left.id}`)).body).toMatchObject({ kind: 'course', managed_by: null });
      expect((await tenant.admin.patch(`/groups/${left.id}`, { name: 'Taken over' })).body.name).toBe('Taken over');
      expect((await tenant.admin.delete(`/groups/${left.id}`)).status).toBe(204);
    } finally {
      await gone.lms.stop();
    }
  });
});

test('administrators see what is granted to a group, without what has ended or is in the trash', async () => {
  const ada = await tenant.user();
  const shared = await group('shared with', ada);
  const items: string[] = [];
  for (const name of ['stays', 'trashed', 'ends']) items.push((await ada.api.post('/folders', { name })).body.id);
  const { body: file } = await ada.api.upload('/files', { name: 'list.txt', file: Buffer.from('list') });
  const grant = (path: string) => ada.api.post(`/${path}/permissions`, { group_id: shared.id, permission_level: 'write' });
  for (const id of items) await grant(`folders/${id}`);
  await grant(`files/${file.id}`);
  await ada.api.delete(`/folders/${items[1]}`);
  await tenant.db.query(
    `UPDATE permissions SET expires_at = now() - interval '1 s' WHERE resource_id = (SELECT id FROM folders WHERE uuid = $1)
       AND resource_type = 'folder'`,
    [items[2]],
  );

  const list = await tenant.counting(() => tenant.admin.get(`/groups/${shared.id}/permissions`));
  const page = (await tenant.admin.get(`/groups/${shared.id}/permissions?limit=1`)).body;
  const others = [
    await ada.api.get(`/groups/${shared.id}/permissions`),
    await tenant.admin.get(`/groups/${randomUUID()}/permissions`),
    await tenant.admin.get(`/groups/${(await group('of nothing')).id}/permissions`),
  ];

  const by = { id: ada.user.id, name: ada.user.username };
  const granted = { id: expect.any(String), permission_level: 'write', granted_by: by, granted_at: TIME, expires_at: null };
  expect(list.reply.body.data).toEqual([
    { ...granted, resource: { type: 'file', id: file.id, name: 'list.txt' } },
    { ...granted, resource: { type: 'folder', id: items[0], name: 'stays' } },
  ]);
  expect([list.sql.length, page.data.length, page.pagination.has_more]).toEqual([1, 1, true]);
  expect(others.map(({ status }) => status)).toEqual([403, 404, 200]);
});
