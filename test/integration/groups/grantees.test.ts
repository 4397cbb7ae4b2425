import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range } from '../../support/wait.ts';

const tenant = serverSuite();

/** Ada and Bob are in one group; Carl is in another; nobody shares a group with Dora. */
async function people() {
  const [ada, bob, carl, dora] = await Promise.all(
    ['Ada Okafor', 'Bob 100%', 'Carl Okafor', 'Dora Okafor'].map(async (display_name) => {
      const person = await tenant.user();
      await tenant.admin.patch(`/users/${person.user.id}`, { display_name });
      return person;
    }),
  );
  if (!ada || !bob || !carl || !dora) throw new Error('four people were made');
  const group = async (name: string, ...members: (typeof ada)[]): Promise<string> => {
    const { body } = await tenant.admin.post('/groups', { name: `${name} ${ada.user.username}` });
    for (const { user } of members) await tenant.admin.put(`/groups/${body.id}/members/${user.id}`);
    return body.id;
  };
  return { ada, bob, carl, dora, ours: await group('Ours', ada, bob), theirs: await group('Theirs', carl) };
}

const found = async (api: Api, q?: string): Promise<string[]> => {
  const { status, body } = await api.get('/grantees', { query: { limit: 200, ...(q === undefined ? {} : { q }) } });
  expect(status).toBe(200);
  return body.data.map(({ name }: { name: string }) => name);
};

test('a member finds their groups and who is in them, by name, and nobody else', async () => {
  const { ada, bob, ours } = await people();
  const group = `Ours ${ada.user.username}`;

  expect(await found(ada.api)).toEqual(['Bob 100%', group]);
  expect(await found(ada.api, 'OURS')).toEqual([group]);
  expect(await found(ada.api, '0%')).toEqual(['Bob 100%']);
  expect(await found(ada.api, 'Okafor')).toEqual([]);
  expect(await found(ada.api, bob.user.email.slice(0, -1))).toEqual([]);
  const { body } = await ada.api.get('/grantees');
  expect(body.data).toEqual([
    { type: 'user', id: bob.user.id, name: 'Bob 100%', email: null },
    { type: 'group', id: ours, name: group, member_count: 2 },
  ]);
});

test('a whole e-mail address finds its person and is shown; oneself and suspended accounts are not found', async () => {
  const { ada, dora, carl } = await people();
  await tenant.admin.patch(`/users/${carl.user.id}`, { is_active: false });

  const { body } = await ada.api.get('/grantees', { query: { q: dora.user.email.toUpperCase() } });
  expect(body.data).toEqual([{ type: 'user', id: dora.user.id, name: 'Dora Okafor', email: dora.user.email }]);
  expect(await found(ada.api, carl.user.email)).toEqual([]);
  expect(await found(ada.api, ada.user.email)).toEqual([]);
});

test('an administrator finds everybody and every group, by part of an address too, page by page', async () => {
  const { dora, ada } = await people();
  const byAddress = await found(tenant.admin, dora.user.email.slice(0, 12));
  const first = await tenant.admin.get('/grantees', { query: { q: ada.user.username, limit: 2 } });
  const rest = await tenant.admin.get('/grantees', {
    query: { q: ada.user.username, limit: 200, cursor: first.body.pagination.next_cursor },
  });
  const names = [...first.body.data, ...rest.body.data].map(({ name }: { name: string }) => name);

  expect(byAddress).toContain('Dora Okafor');
  expect(names).toEqual(['Ada Okafor', `Ours ${ada.user.username}`, `Theirs ${ada.user.username}`]);
});

test('one statement answers, and somebody who may not share is refused', async () => {
  const { ada } = await people();
  const viewer = await tenant.user({ roles: ['viewer'] });
  await ada.api.get('/grantees');
  const { sql } = await tenant.counting(() => ada.api.get('/grantees', { query: { q: 'a' } }));

  expect(sql).toHaveLength(1);
  expect((await viewer.api.get('/grantees')).status).toBe(403);
});

test('somebody who may not list users looks up 100 addresses a day, and goes on finding names', async () => {
  const { ada } = await people();
  // An LMS may give people addresses of hosts without a dot.
  const replies = await Promise.all(range(101).map((n) => ada.api.get('/grantees', { query: { q: `n${n}@campus` } })));
  const administrators = await Promise.all(
    range(101).map((n) => tenant.admin.get('/grantees', { query: { q: `n${n}@example.org` } })),
  );

  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 100, 429: 1 });
  expect(countBy(administrators, ({ status }) => status)).toEqual({ 200: 101 });
  expect(await found(ada.api, 'Bob')).toEqual(['Bob 100%']);
});
