import { beforeAll, expect, test } from '@jest/globals';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  [ada, bob] = [await tenant.user(), await tenant.user()];
});

const NOBODYS = '00000000-0000-4000-8000-000000000000';
let made = 0;
const folder = async (api: Api, parent_id: string | null = null) =>
  (await api.post('/folders', { name: `folder ${(made += 1)}`, parent_id })).body;
const grant = ({ id }: { id: string }, permission_level: string): Promise<ApiReply> =>
  ada.api.post(`/folders/${id}/permissions`, { permission_level, user_id: bob.user.id });

test('the path of a folder is each folder from the highest that the caller may see down to itself', async () => {
  const top = await folder(ada.api);
  const middle = await folder(ada.api, top.id);
  await grant(middle, 'read');
  const low = await folder(ada.api, middle.id);
  await folder(ada.api, low.id);
  const path = async ({ api }: Person) => (await api.get(`/folders/${low.id}/path`)).body;
  const each = async ({ api }: Person, ...of: { id: string }[]) => ({
    data: await Promise.all(of.map(async ({ id }) => (await api.get(`/folders/${id}`)).body)),
  });

  expect(await path(ada)).toEqual(await each(ada, top, middle, low));
  expect(await path(bob)).toEqual(await each(bob, middle, low));
  expect((await path(bob)).data.map((seen: { path: string }) => seen.path)).toEqual([
    `/${middle.name}`,
    `/${middle.name}/${low.name}`,
  ]);
  await grant(low, 'write');
  expect((await path(bob)).data.map((seen: { access: string }) => seen.access)).toEqual(['read', 'write']);
});

test('a path takes one statement however deep it is; one of a hidden folder, or in the trash, is not found', async () => {
  const deep = [await folder(ada.api)];
  for (const _ of range(99)) deep.push(await folder(ada.api, deep.at(-1).id));
  const path = ({ api }: Person) => api.get(`/folders/${deep.at(-1).id}/path`);

  const { reply, sql } = await tenant.counting(() => path(ada));
  expect([reply.status, sql.length]).toEqual([200, 1]);
  expect((await path(ada)).body.data.map(({ id }: { id: string }) => id)).toEqual(deep.map(({ id }) => id));
  expect((await path(bob)).status).toBe(404);
  await ada.api.delete(`/folders/${deep[50].id}`);
  expect((await path(ada)).status).toBe(404);
  expect((await ada.api.get(`/folders/${NOBODYS}/path`)).status).toBe(404);
});
