import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { countBy, range } from '../../support/wait.ts';
import { faultsOf } from './tenant-state.ts';

let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const tenant = serverSuite({ clock });

type Person = Awaited<ReturnType<TestTenant['user']>>;

const inSeconds = (seconds: number): string => new Date(clock.now().getTime() + seconds * 1000).toISOString();
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);
const grant = async (by: Person, path: string, terms: object): Promise<ApiReply['body']> => {
  const { status, body } = await by.api.post(`${path}/permissions`, terms);
  expect([200, 201]).toContain(status);
  return body;
};
const people = (count: number): Promise<Person[]> => Promise.all(range(count).map(() => tenant.user()));
async function groupOf(...members: Person[]): Promise<{ id: string; name: string }> {
  const { body } = await tenant.admin.post('/groups', { name: `group ${randomUUID()}` });
  for (const { user } of members) await tenant.admin.put(`/groups/${body.id}/members/${user.id}`);
  return { id: body.id, name: body.name };
}
/** A file in the folder `inner` in the folder `outer`. */
async function tree({ api }: Person) {
  const outer = (await api.post('/folders', { name: `outer ${randomUUID()}` })).body;
  const inner = (await api.post('/folders', { name: 'inner', parent_id: outer.id })).body;
  const file = (await api.upload('/files', { name: 'a.txt', file: Buffer.from('a'), fields: { folder_id: inner.id } })).body;
  return { outer, inner, file, onOuter: `/folders/${outer.id}`, onInner: `/folders/${inner.id}`, onFile: `/files/${file.id}` };
}
const named = ({ user }: Person) => ({ id: user.id, name: user.username });

describe('who has access', () => {
  test('is listed with every reason: owner, grant, group and folder above, for two statements', async () => {
    const [ada, bob, carl, dora] = (await people(4)) as [Person, Person, Person, Person];
    const { outer, inner, onOuter, onInner, onFile } = await tree(ada);
    const team = await groupOf(bob, carl);
    const ends = inSeconds(600);
    const bobs = await grant(ada, onFile, { permission_level: 'read', user_id: bob.user.id, expires_at: ends });
    const teams = await grant(ada, onFile, { permission_level: 'write', group_id: team.id });
    const doras = await grant(ada, onOuter, { permission_level: 'admin', user_id: dora.user.id });
    const innerTeam = await grant(ada, onInner, { permission_level: 'read', group_id: team.id });
    const { reply, sql } = await tenant.counting(() => ada.api.get(`${onFile}/access`));
    const byId = new Map(reply.body.data.map((access: { user: { id: string } }) => [access.user.id, access]));
    const folderReason = { via: 'folder', folder: { id: inner.id, name: 'inner' }, group: team, permission_id: innerTeam.id };

    expect([reply.status, sql.length, byId.size]).toEqual([200, 2, 4]);
    expect(byId.get(ada.user.id)).toEqual({
      user: named(ada),
      level: 'admin',
      because: [
        { via: 'owner' },
        ...[outer, inner]
          .map(({ id, name }) => ({ via: 'folder', folder: { id, name } }))
          .sort((a, b) => (a.folder.id < b.folder.id ? -1 : 1)),
      ],
    });
    expect(byId.get(bob.user.id)).toEqual({
      user: named(bob),
      level: 'write',
      because: [
        { via: 'group', group: team, permission_id: teams.id },
        { via: 'grant', permission_id: bobs.id, expires_at: ends },
        folderReason,
      ],
    });
    expect(byId.get(carl.user.id)).toMatchObject({ level: 'write', because: [{ via: 'group' }, folderReason] });
    expect(byId.get(dora.user.id)).toEqual({
      user: named(dora),
      level: 'admin',
      because: [{ via: 'folder', folder: { id: outer.id, name: outer.name }, permission_id: doras.id }],
    });
    const ofFolder = await ada.api.get(`${onInner}/access?limit=2`);
    const rest = await ada.api.get(`${onInner}/access?limit=2&cursor=${ofFolder.body.pagination.next_cursor}`);
    const levels = [...ofFolder.body.data, ...rest.body.data].map((access: { user: { id: string }; level: string }) => [
      access.user.id,
      access.level,
    ]);
    expect(new Map(levels as [string, string][])).toEqual(
      new Map([
        [ada.user.id, 'admin'],
        [bob.user.id, 'read'],
        [carl.user.id, 'read'],
        [dora.user.id, 'admin'],
      ]),
    );

    // Neither an expired grant nor a group that somebody has left gives access.
    aheadMs = 601_000;
    await tenant.admin.delete(`/groups/${team.id}/members/${carl.user.id}`);
    const later = (await ada.api.get(`${onFile}/access`)).body.data as { user: { id: string }; because: { via: string }[] }[];
    aheadMs = 0;
    expect(later.map(({ user }) => user.id).sort()).toEqual([ada.user.id, bob.user.id, dora.user.id].sort());
    expect(later.find(({ user }) => user.id === bob.user.id)?.because.map(({ via }) => via)).toEqual(['group', 'folder']);
  });

  test('is shown to admins of it alone, and without folders that they may not know of', async () => {
    const [ada, bob, carl, stranger] = (await people(4)) as [Person, Person, Person, Person];
    const { outer, onOuter, onFile } = await tree(ada);
    await grant(ada, onFile, { permission_level: 'admin', user_id: bob.user.id });
    await grant(ada, onOuter, { permission_level: 'write', user_id: carl.user.id });
    const seen = await bob.api.get(`${onFile}/access`);

    expect(seen.status).toBe(200);
    expect(seen.body.data.find(({ user }: { user: { id: string } }) => user.id === carl.user.id)).toEqual({
      user: named(carl),
      level: 'write',
      because: [{ via: 'folder' }],
    });
    expect(JSON.stringify(seen.body)).not.toContain(outer.id);
    expect(
      codes([
        await carl.api.get(`${onFile}/access`),
        await stranger.api.get(`${onFile}/access`),
        await bob.api.get(`${onOuter}/access`),
      ]),
    ).toEqual([
      [403, 'forbidden'],
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
  });
});

describe('what is shared with somebody', () => {
  test('has each item once, by its highest grant, the newest first, in adjoining pages, by at most 3 statements', async () => {
    const [ada, bob] = (await people(2)) as [Person, Person];
    const { inner, file, onInner, onFile } = await tree(ada);
    const team = await groupOf(bob);
    const ends = inSeconds(600);
    await grant(ada, onFile, { permission_level: 'read', user_id: bob.user.id });
    const teams = await grant(ada, onFile, { permission_level: 'write', group_id: team.id, expires_at: ends });
    const folders = await grant(ada, onInner, { permission_level: 'read', user_id: bob.user.id });
    const trashed = await tree(ada);
    await grant(ada, trashed.onFile, { permission_level: 'read', user_id: bob.user.id });
    await ada.api.delete(trashed.onFile);
    await grant(ada, (await tree(ada)).onFile, { permission_level: 'admin', group_id: (await groupOf(ada)).id });
    await bob.api.get('/shared-with-me');
    const { reply, sql } = await tenant.counting(() => bob.api.get('/shared-with-me'));

    expect([reply.status, sql.length]).toEqual([200, 3]);
    expect(reply.body.data).toEqual([
      {
        ...(await bob.api.get(onInner)).body,
        type: 'folder',
        level: 'read',
        granted_by: ada.user.id,
        granted_at: folders.granted_at,
        expires_at: null,
      },
      {
        ...(await bob.api.get(onFile)).body,
        type: 'file',
        level: 'write',
        granted_by: ada.user.id,
        granted_at: teams.granted_at,
        expires_at: ends,
      },
    ]);
    expect([reply.body.data[0].path, reply.body.data[0].id, reply.body.data[1].id]).toEqual(['/inner', inner.id, file.id]);
    const first = await bob.api.get('/shared-with-me?limit=1&sort=name');
    const second = await bob.api.get(`/shared-with-me?limit=1&sort=name&cursor=${first.body.pagination.next_cursor}`);
    expect([first.body.data[0].name, second.body.data[0].name, second.body.pagination.has_more]).toEqual([
      'a.txt',
      'inner',
      false,
    ]);
    expect((await ada.api.get('/shared-with-me')).body.data).toEqual([]);

    aheadMs = 601_000;
    const later = await bob.api.get('/shared-with-me?sort=name');
    aheadMs = 0;
    expect(later.body.data.map(({ level }: { level: string }) => level)).toEqual(['read', 'read']);
  });
});

describe('a grant', () => {
  test('is changed in level or end alone; of changes that race with one entity tag one wins', async () => {
    const [ada, bob] = (await people(2)) as [Person, Person];
    const { onFile } = await tree(ada);
    const made = await grant(ada, onFile, { permission_level: 'read', user_id: bob.user.id });
    const path = `${onFile}/permissions/${made.id}`;
    const match = { headers: { 'if-match': `"${made.etag}"` } };
    const racing = await Promise.all(
      range(10).map((at) => ada.api.patch(path, { permission_level: at % 2 ? 'write' : 'admin' }, match)),
    );
    const end = inSeconds(60);
    const { reply, sql } = await tenant.counting(() => ada.api.patch(path, { expires_at: end }));

    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 412: 9 });
    expect([reply.status, reply.body.permission_level]).toEqual([
      200,
      racing.find(({ status }) => status === 200)?.body.permission_level,
    ]);
    expect(sql.length).toBeLessThanOrEqual(6);
    expect(reply.headers.etag).toBe(`"${reply.body.etag}"`);
    expect((await ada.api.get(`${onFile}/permissions`)).body.data).toEqual([reply.body]);
    expect((await ada.api.get(`${onFile}?include=permissions`)).body.permissions).toEqual([reply.body]);
    expect(codes([await ada.api.delete(path, match)])).toEqual([[412, 'precondition_failed']]);
    expect((await ada.api.patch(path, { permission_level: 'read', expires_at: null })).body).toMatchObject({
      permission_level: 'read',
      expires_at: null,
    });
    expect(codes([await bob.api.upload(onFile, { method: 'PUT', name: 'a', file: Buffer.from('b') })])).toEqual([
      [403, 'forbidden'],
    ]);
    for (const body of [{}, { permission_level: 'owner' }, { expires_at: '2001-01-01T00:00:00Z' }, { user_id: ada.user.id }])
      expect((await ada.api.patch(path, body)).status).toBe(400);
    expect(codes([await ada.api.patch(`${onFile}/permissions/${randomUUID()}`, { permission_level: 'read' })])).toEqual([
      [404, 'not_found'],
    ]);
    expect((await ada.api.delete(path, { headers: { 'if-match': '*' } })).status).toBe(204);
  });

  test('that is changed ends at its new end at once, caches included, and so do those that rest on it', async () => {
    const [ada, bob, carl] = (await people(3)) as [Person, Person, Person];
    const { onFile } = await tree(ada);
    const bobs = await grant(ada, onFile, { permission_level: 'admin', user_id: bob.user.id });
    await grant(bob, onFile, { permission_level: 'read', user_id: carl.user.id });
    const reads = async (): Promise<number[]> => [(await bob.api.get(onFile)).status, (await carl.api.get(onFile)).status];

    expect(await reads()).toEqual([200, 200]);
    const changed = await ada.api.patch(`${onFile}/permissions/${bobs.id}`, { expires_at: inSeconds(60) });
    expect([changed.status, await reads()]).toEqual([200, [200, 200]]);
    aheadMs = 61_000;
    const after = await reads();
    aheadMs = 0;
    expect(after).toEqual([404, 404]);
    // Less than admin: what Bob gave ends at once.
    await ada.api.patch(`${onFile}/permissions/${bobs.id}`, { permission_level: 'write' });
    expect(await reads()).toEqual([200, 404]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('is changed by admins of the thing; nobody raises or lengthens their own, and none outlives its giver’s', async () => {
    const [ada, bob, carl] = (await people(3)) as [Person, Person, Person];
    const { onFile } = await tree(ada);
    const end = inSeconds(600);
    const bobs = await grant(ada, onFile, { permission_level: 'admin', user_id: bob.user.id, expires_at: end });
    const carls = await grant(ada, onFile, { permission_level: 'read', user_id: carl.user.id });
    const [own, other] = [`${onFile}/permissions/${bobs.id}`, `${onFile}/permissions/${carls.id}`];

    expect(
      codes([
        await bob.api.patch(own, { expires_at: null }),
        await carl.api.patch(other, { permission_level: 'admin' }),
        await bob.api.patch(other, { expires_at: inSeconds(601) }),
        await (await tenant.user()).api.patch(other, { permission_level: 'read' }),
      ]),
    ).toEqual([
      [403, 'forbidden'],
      [403, 'forbidden'],
      [400, 'validation_failed'],
      [404, 'not_found'],
    ]);
    expect((await bob.api.patch(other, { permission_level: 'write' })).body).toMatchObject({
      permission_level: 'write',
      expires_at: end,
      granted_by: bob.user.id,
    });
    expect(await faultsOf(tenant)).toEqual([]);
  });
});
