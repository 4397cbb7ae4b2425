import { expect, test } from '@jest/globals';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;
type Query = Record<string, string | number>;

const NOBODYS = '00000000-0000-4000-8000-000000000000';
const folder = async (api: Api, parent_id: string | null, name: string) => (await api.post('/folders', { name, parent_id })).body;
const upload = async (api: Api, folder_id: string, name: string) =>
  (await api.upload('/files', { name, file: Buffer.from('a'), fields: { folder_id } })).body;
const grant = (by: Person, path: string, to: Person, permission_level: string): Promise<ApiReply> =>
  by.api.post(`${path}/permissions`, { permission_level, user_id: to.user.id });
const cost = async (work: () => Promise<ApiReply>): Promise<[status: number, sql: number]> => {
  const { reply, sql } = await tenant.counting(work);
  return [reply.status, sql.length];
};

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

test('grant_of shows a group’s grant on each child to those who may list grants, by one statement more', async () => {
  const [carl, dora] = [await tenant.user(), await tenant.user()];
  const [group, other] = await Promise.all(
    ['readers', 'others'].map(async (name) => (await tenant.admin.post('/groups', { name: `${name} ${carl.user.id}` })).body.id),
  );
  const top = await folder(carl.api, null, 'shared with a group');
  const [sub, plain] = [await folder(carl.api, top.id, 'a'), await folder(carl.api, top.id, 'b')];
  const [one, two] = [await upload(carl.api, top.id, 'c.txt'), await upload(carl.api, top.id, 'd.txt')];
  const give = async (path: string, group_id: string) =>
    (await carl.api.post(`${path}/permissions`, { permission_level: 'read', group_id })).body;
  const given = [await give(`/folders/${sub.id}`, group), await give(`/files/${two.id}`, group)];
  await give(`/folders/${plain.id}`, other);
  await grant(carl, `/files/${one.id}`, dora, 'write');
  await grant(carl, `/folders/${top.id}`, dora, 'read');
  const path = `/folders/${top.id}/children`;
  const grantsOf = async (by: Person, query: Query) => (await pages(by.api, path, query)).map((child) => child['grant']);
  const grantOfRoot = async (grant_of: string) => {
    const { body } = await carl.api.get('/folders/root/children', { query: { grant_of } });
    return body.data.map(({ grant }: { grant: unknown }) => grant);
  };

  expect(await grantsOf(carl, { grant_of: group })).toEqual([given[0], null, null, given[1]]);
  expect(await grantsOf(carl, { grant_of: group, limit: 1, sort: '-name' })).toEqual([null, given[0], given[1], null]);
  expect(await grantsOf(carl, {})).toEqual([undefined, undefined, undefined, undefined]);
  expect([await grantsOf(dora, { grant_of: group }), await grantsOf(carl, { grant_of: NOBODYS })]).toEqual([
    [null, null, null, null],
    [null, null, null, null],
  ]);
  expect(await grantOfRoot(group)).toEqual([null]);
  const onTop = await give(`/folders/${top.id}`, group);
  expect([await grantOfRoot(group), (await grantsOf(carl, { grant_of: group }))[1]]).toEqual([[onTop], null]);
  expect((await carl.api.get(path, { query: { grant_of: 'everybody' } })).status).toBe(400);
  expect(await cost(() => carl.api.get(path, { query: { grant_of: group } }))).toEqual([200, 3]);
  expect(await cost(() => dora.api.get(path, { query: { grant_of: group } }))).toEqual([200, 2]);
});
