import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Api, ApiReply, CallOptions } from '../../support/clients/api.ts';
import { startTenant } from '../../support/programs/server.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();
const other = fixture(
  () => startTenant(),
  (started) => started.stop(),
);

type Person = Awaited<ReturnType<typeof tenant.user>>;
let ada: Person;
let folder: string;
let file: string;
beforeAll(async () => {
  ada = await personWithFiles('essay.txt', 'Übung.txt');
  folder = (await ada.api.post('/folders', { name: 'Notes' })).body.id;
  file = (await add(ada.api, 'inside.txt', folder)).body.id;
});

const add = (api: Api, name: string, folderId?: string): Promise<ApiReply> =>
  api.upload('/files', { name, file: Buffer.from(name), fields: folderId === undefined ? {} : { folder_id: folderId } });

async function personWithFiles(...names: string[]): Promise<Person> {
  const person = await tenant.user();
  for (const name of names) await add(person.api, name);
  return person;
}

const tagOf = ({ headers }: ApiReply): string => headers['etag'] ?? 'no tag';
const knowing = (tag: string): CallOptions => ({ headers: { 'if-none-match': tag } });

/** A job that no worker of this file runs. */
const requestDeletion = (): Promise<ApiReply> =>
  ada.api.post('/batch', { operation: 'delete', items: [{ type: 'file', id: file }] });

const LISTS: readonly [what: string, path: () => string, by: () => Api, change: () => Promise<ApiReply>][] = [
  ['files', () => '/files?sort=name', () => ada.api, () => ada.api.patch(`/files/${file}`, { name: 'renamed.txt' })],
  ['children of a folder', () => `/folders/${folder}/children`, () => ada.api, () => add(ada.api, 'another.txt', folder)],
  ['children of the root', () => '/folders/root/children', () => ada.api, () => ada.api.post('/folders', { name: 'A' })],
  ['users', () => '/users?sort=-created_at', () => tenant.admin, async () => (await tenant.user()).api.get('/me')],
  ['jobs', () => '/jobs', () => ada.api, () => requestDeletion()],
];

describe.each(LISTS)('a list of %s', (_what, path, by, change) => {
  const get = (options?: CallOptions): Promise<ApiReply> => by().get(path(), options);

  test('has a strong entity tag, stays as cacheable as it was, and is a 304 without a body until it changes', async () => {
    const first = await get();
    const known = await get(knowing(tagOf(first)));
    const changed = await change();
    const after = await get(knowing(tagOf(first)));
    const again = await get(knowing(tagOf(after)));

    expect([first.status, tagOf(first), first.headers['cache-control']]).toEqual([
      200,
      expect.stringMatching(/^"[\w-]{27}"$/),
      'no-store',
    ]);
    expect([known.status, known.bytes.length, tagOf(known), known.headers['content-type']]).toEqual([
      304,
      0,
      tagOf(first),
      undefined,
    ]);
    expect(known.headers['cache-control']).toBe('no-store');
    expect(changed.status).toBeLessThan(300);
    expect([after.status, tagOf(after) === tagOf(first), again.status]).toEqual([200, false, 304]);
    expect(after.body).not.toEqual(first.body);
  });

  test('compares weakly, with each tag of several and with *; another is a 200, a malformed one a 400', async () => {
    const first = await get();
    const tag = tagOf(first);
    const replies = await Promise.all(
      ['*', `W/${tag}`, `"x", ${tag}`, `"x" , W/${tag}`, '"x"', `${tag.slice(0, -1)}-other"`, 'x'].map((tags) =>
        get(knowing(tags)),
      ),
    );

    expect(replies.map(({ status }) => status)).toEqual([304, 304, 304, 304, 200, 200, 400]);
    expect(replies[4]?.bytes).toEqual(first.bytes);
  });

  test('answers HEAD as GET, without the body', async () => {
    const first = await get();
    const [head, known] = [await by().head(path()), await by().head(path(), knowing(tagOf(first)))];

    expect([head.status, head.bytes.length, tagOf(head), head.headers['content-length']]).toEqual([
      200,
      0,
      tagOf(first),
      String(first.bytes.length),
    ]);
    expect([known.status, known.bytes.length, tagOf(known)]).toEqual([304, 0, tagOf(first)]);
  });

  test('costs the statements and round trips that it cost, whatever it answers', async () => {
    const first = await get();
    const whole = await tenant.counting(() => get());
    const known = await tenant.counting(() => get(knowing(tagOf(first))));

    expect([whole.reply.status, known.reply.status]).toEqual([200, 304]);
    expect([known.sql, known.redisTrips]).toEqual([whole.sql, whole.redisTrips]);
  });
});

test('a 304 says where the next page is, as the 200 does, and each page has a tag of its own', async () => {
  const page = (cursor = ''): string => `/files?limit=1&sort=name${cursor}`;
  const first = await ada.api.get(page());
  const next = page(`&cursor=${first.body.pagination.next_cursor}`);
  const [known, second] = [await ada.api.get(page(), knowing(tagOf(first))), await ada.api.get(next, knowing(tagOf(first)))];

  expect(first.headers['link']).toMatch(/rel="next"$/);
  expect([known.status, known.headers['link']]).toEqual([304, first.headers['link']]);
  expect(second.status).toBe(200);
});

test('a cached reply has the tag that the first one had', async () => {
  const first = await tenant.admin.get('/users?limit=2');
  const cached = await tenant.counting(() => tenant.admin.get('/users?limit=2'));

  expect([cached.sql, tagOf(cached.reply), cached.reply.bytes]).toEqual([[], tagOf(first), first.bytes]);
});

test('a tag of one person, or of another tenant, hides nothing from anybody else', async () => {
  const bob = await personWithFiles('essay.txt');
  const stranger = await other.user();
  await add(stranger.api, 'essay.txt');
  for (const path of ['/files', '/folders/root/children', '/search?q=essay']) {
    const tag = tagOf(await ada.api.get(path));
    for (const { api } of [bob, stranger]) {
      const [own, asked] = [await api.get(path), await api.get(path, knowing(tag))];

      expect([path, asked.status, asked.bytes]).toEqual([path, 200, own.bytes]);
      expect(tagOf(own)).not.toBe(tag);
    }
  }
});

test('a list that its tag cannot stand for, as a table or as lines, has none', async () => {
  const [page, table] = [
    await tenant.admin.get('/audit'),
    await tenant.admin.get('/audit', { headers: { accept: 'text/csv', 'if-none-match': '*' } }),
  ];

  expect([page.status, tagOf(page)]).toEqual([200, expect.stringMatching(/^"/)]);
  expect([table.status, table.headers['etag'], table.bytes.length > 0]).toEqual([200, undefined, true]);
});
