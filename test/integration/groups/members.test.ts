import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { faultsOf } from '../content/tenant-state.ts';

const tenant = serverSuite();
type Person = Awaited<ReturnType<TestTenant['user']>>;

let made = 0;
async function group(...members: Person[]): Promise<string> {
  made += 1;
  const { body } = await tenant.admin.post('/groups', { name: `group ${made}` });
  for (const { user } of members) await tenant.admin.put(`/groups/${body.id}/members/${user.id}`);
  return body.id;
}
const people = (count: number): Promise<Person[]> => Promise.all(range(count).map(() => tenant.user()));
const grant = (
  by: Person,
  path: string,
  to: { group_id: string } | { user_id: string },
  permission_level = 'read',
): Promise<ApiReply> => untilServed(() => by.api.post(`${path}/permissions`, { permission_level, ...to }));
const status = async (who: Person, file: { id: string }): Promise<number> => (await who.api.get(`/files/${file.id}`)).status;

/** Ada's file, granted to a group of these people. */
async function shared(level: string, ...members: Person[]) {
  const ada = await tenant.user();
  const file = (await ada.api.upload('/files', { name: 'a.txt', file: Buffer.from('ada') })).body as { id: string };
  const id = await group(...members);
  expect((await grant(ada, `/files/${file.id}`, { group_id: id }, level)).status).toBe(201);
  return { ada, file, path: `/files/${file.id}`, group: id };
}

test('putting somebody in and taking them out is idempotent, and the list shows who is in', async () => {
  const [ada, bob] = (await people(2)) as [Person, Person];
  const id = await group();
  const path = (who: Person): string => `/groups/${id}/members/${who.user.id}`;

  const replies = [
    await tenant.admin.put(path(ada)),
    await tenant.admin.put(path(ada)),
    await tenant.admin.put(path(bob)),
    await tenant.admin.delete(path(bob)),
    await tenant.admin.delete(path(bob)),
  ];

  expect(replies.map(({ status, bytes }) => [status, bytes.length])).toEqual(replies.map(() => [204, 0]));
  const list = await tenant.admin.get(`/groups/${id}/members`);
  expect(list.body.data).toEqual([
    { user: { id: ada.user.id, name: ada.user.username, email: ada.user.email }, added_at: expect.stringMatching(/Z$/) },
  ]);
});

test('an unknown group, an unknown user and the system user are 404', async () => {
  const ada = await tenant.user();
  const id = await group();
  const [system] = await tenant.db.query<{ uuid: string }>('SELECT uuid FROM users WHERE is_system');

  for (const path of [`${randomUUID()}/members/${ada.user.id}`, `${id}/members/${randomUUID()}`, `${id}/members/${system?.uuid}`])
    for (const method of ['PUT', 'DELETE'])
      expect([path, (await tenant.admin.raw(method, `/groups/${path}`)).body?.error]).toEqual([path, 'not_found']);
  expect((await tenant.admin.get(`/groups/${randomUUID()}/members`)).status).toBe(404);
  expect((await tenant.admin.put(`/groups/${id}/members/nobody`)).body.details[0].field).toBe('user_id');
});

test('the list comes by name in pages that meet, for one statement, two where it is empty', async () => {
  const id = await group(...(await people(5)));
  const pages: string[][] = [];
  let url = `/groups/${id}/members?limit=2`;
  for (;;) {
    const page = await tenant.counting(() => tenant.admin.get(url));
    expect(page.sql).toHaveLength(1);
    pages.push(page.reply.body.data.map(({ user }: Person) => (user as unknown as { name: string }).name));
    const next = /^<([^>]+)>/.exec(page.reply.headers.link ?? '')?.[1];
    if (next === undefined) break;
    url = next;
  }
  const empty = await group();
  const none = await tenant.counting(() => tenant.admin.get(`/groups/${empty}/members`));

  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(pages.flat()).toEqual(pages.flat().toSorted(new Intl.Collator('und', { numeric: true }).compare));
  expect([none.reply.body.data, none.sql.length]).toEqual([[], 2]);
});

describe('a membership', () => {
  test('gives what the group has and ends it at once, though everything was warm', async () => {
    const bob = await tenant.user();
    const { file, group: id } = await shared('write');
    const member = `/groups/${id}/members/${bob.user.id}`;
    const seen: number[] = [];
    for (const change of [() => tenant.admin.put(member), () => tenant.admin.delete(member), () => tenant.admin.put(member)]) {
      await status(bob, file);
      seen.push(await status(bob, file));
      await change();
      seen.push(await status(bob, file));
    }

    expect(seen).toEqual([404, 200, 200, 404, 404, 200]);
  });

  test('that ends takes along what the member granted by it, and what was granted on, and nothing else', async () => {
    const [bob, carl, dora, eve] = (await people(4)) as [Person, Person, Person, Person];
    const { ada, file, path, group: id } = await shared('admin', bob, dora);
    await grant(bob, path, { user_id: carl.user.id }, 'admin');
    await grant(carl, path, { user_id: eve.user.id });
    expect(await Promise.all([bob, carl, dora, eve].map((who) => status(who, file)))).toEqual([200, 200, 200, 200]);

    await tenant.admin.delete(`/groups/${id}/members/${bob.user.id}`);

    expect(await Promise.all([bob, carl, dora, eve].map((who) => status(who, file)))).toEqual([404, 404, 200, 404]);
    expect((await ada.api.get(`${path}/permissions`)).body.data).toMatchObject([{ group_id: id }]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('ends with the user, and the group stays', async () => {
    const [bob, carl] = (await people(2)) as [Person, Person];
    const { file, path, group: id } = await shared('admin', bob);
    await grant(bob, path, { user_id: carl.user.id });

    await tenant.admin.delete(`/users/${bob.user.id}`);

    expect([await status(carl, file), (await tenant.admin.get(`/groups/${id}`)).body.member_count]).toEqual([404, 0]);
  });
});

test('a group that is deleted takes its grants along, with what its members granted by them, at once', async () => {
  const [bob, carl] = (await people(2)) as [Person, Person];
  const { ada, file, path, group: id } = await shared('admin', bob);
  await grant(bob, path, { user_id: carl.user.id });
  expect([await status(bob, file), await status(carl, file)]).toEqual([200, 200]);

  expect((await tenant.admin.delete(`/groups/${id}`)).status).toBe(204);

  expect([await status(bob, file), await status(carl, file)]).toEqual([404, 404]);
  expect((await ada.api.get(`${path}/permissions`)).body.data).toEqual([]);
  expect((await grant(ada, path, { group_id: id })).body.details).toEqual([
    { field: 'group_id', message: 'there is no such group' },
  ]);
});

describe('in a race', () => {
  test('of grants that a member gives and their leaving, no grant stays', async () => {
    for (const _ of range(4)) {
      const [bob, ...others] = (await people(9)) as [Person, ...Person[]];
      const { ada, file, path, group: id } = await shared('admin', bob);
      await status(bob, file);

      const [left, ...given] = await Promise.all([
        untilServed(() => tenant.admin.delete(`/groups/${id}/members/${bob.user.id}`)),
        ...others.map(({ user }) => grant(bob, path, { user_id: user.id })),
      ]);

      expect(left.status).toBe(204);
      expect(given.map(({ status }) => status).filter((each) => ![201, 403, 404].includes(each))).toEqual([]);
      expect((await ada.api.get(`${path}/permissions`)).body.data).toMatchObject([{ group_id: id }]);
      expect(await Promise.all(others.map((who) => status(who, file)))).toEqual(others.map(() => 404));
    }
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('of 50 who join, are granted to and delete a group, one deletes it and nothing of it stays', async () => {
    const joining = await people(10);
    const ada = await tenant.user();
    const file = (await ada.api.upload('/files', { name: 'race.txt', file: Buffer.from('race') })).body as { id: string };
    const id = await group();

    const replies = await Promise.all(
      range(50).map(async (each): Promise<[string, number]> => {
        const who = joining[each % 10] as Person;
        if (each % 5 === 4) return ['delete', (await untilServed(() => tenant.admin.delete(`/groups/${id}`))).status];
        if (each % 5 === 3) return ['grant', (await grant(ada, `/files/${file.id}`, { group_id: id })).status];
        return ['join', (await untilServed(() => tenant.admin.put(`/groups/${id}/members/${who.user.id}`))).status];
      }),
    );

    const of = (what: string) => replies.filter(([name]) => name === what).map(([, each]) => ({ status: each }));
    expect(countBy(of('delete'), ({ status }) => status)).toEqual({ 204: 1, 404: 9 });
    expect(of('join').filter(({ status }) => ![204, 404].includes(status))).toEqual([]);
    expect(of('grant').filter(({ status }) => ![200, 201, 400].includes(status))).toEqual([]);
    expect((await ada.api.get(`/files/${file.id}/permissions`)).body.data).toEqual([]);
    expect(await Promise.all(joining.map((who) => status(who, file)))).toEqual(joining.map(() => 404));
  });

  test('of 50 who put one person in, that person is in once', async () => {
    const bob = await tenant.user();
    const id = await group();

    const replies = await Promise.all(
      range(50).map(() => untilServed(() => tenant.admin.put(`/groups/${id}/members/${bob.user.id}`))),
    );

    expect(countBy(replies, ({ status }) => status)).toEqual({ 204: 50 });
    expect((await tenant.admin.get(`/groups/${id}`)).body.member_count).toBe(1);
  });
});

test('each operation costs the statements that its service says', async () => {
  const [bob, carl] = (await people(2)) as [Person, Person];
  const { path, group: id } = await shared('admin', bob);
  await grant(bob, path, { user_id: carl.user.id });
  const dora = await tenant.user();
  const cost = async (work: () => Promise<ApiReply>): Promise<[status: number, sql: number, redis: number]> => {
    const { reply, sql, redisTrips } = await tenant.counting(work);
    const statements = sql.filter((text) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK)/i.test(text));
    return [reply.status, statements.length, redisTrips];
  };

  expect({
    get: await cost(() => tenant.admin.get(`/groups/${id}`)),
    create: await cost(() => tenant.admin.post('/groups', { name: 'counted' })),
    change: await cost(() => tenant.admin.patch(`/groups/${id}`, { description: 'counted' })),
    join: await cost(() => tenant.admin.put(`/groups/${id}/members/${dora.user.id}`)),
    joinAgain: await cost(() => tenant.admin.put(`/groups/${id}/members/${dora.user.id}`)),
    leave: await cost(() => tenant.admin.delete(`/groups/${id}/members/${dora.user.id}`)),
    leaveAgain: await cost(() => tenant.admin.delete(`/groups/${id}/members/${dora.user.id}`)),
    leaveWithGrants: await cost(() => tenant.admin.delete(`/groups/${id}/members/${bob.user.id}`)),
    remove: await cost(() => tenant.admin.delete(`/groups/${id}`)),
  }).toEqual({
    get: [200, 1, 1],
    create: [201, 1, 1],
    change: [200, 2, 1],
    join: [204, 2, 3],
    joinAgain: [204, 2, 1],
    leave: [204, 4, 3],
    leaveAgain: [204, 2, 1],
    leaveWithGrants: [204, 7, 3],
    remove: [204, 6, 1],
  });
});
