import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { fileIds, fillWithFiles } from '../../bench/filled.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { type TestTenant } from '../../support/programs/server.ts';
import { addMetadata } from '../../support/data/tags-and-metadata.ts';
import { range, untilServed } from '../../support/wait.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;
const upload = async ({ api }: Person, name = 'a.txt'): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(name) })).body.id;
const put = (by: Person, file: string, key: string, body: object, headers: Record<string, string> = {}): Promise<ApiReply> =>
  untilServed(() => by.api.put(`/files/${file}/metadata/${encodeURIComponent(key)}`, body, { headers }));
const grant = (by: Person, file: string, to: Person, permission_level: string): Promise<ApiReply> =>
  by.api.post(`/files/${file}/permissions`, { permission_level, user_id: to.user.id });

describe('GET /files by tag and metadata', () => {
  /** Ada's files a, b and c, with tags and metadata. */
  async function scene() {
    const ada = await tenant.user();
    const files = { a: await upload(ada, 'a'), b: await upload(ada, 'b'), c: await upload(ada, 'c') };
    const tagged = async (name: string, ...ids: string[]): Promise<string> => {
      const { id } = (await ada.api.post('/tags', { name })).body;
      for (const file of ids) await ada.api.put(`/files/${file}/tags/${id}`);
      return id;
    };
    const tags = { read: await tagged('To read', files.a, files.b), late: await tagged('Zürich, late', files.b, files.c) };
    await put(ada, files.a, 'course', { value: 'History 1' });
    await put(ada, files.b, 'course', { value: 'History 1' });
    await put(ada, files.b, 'pages', { value: 1.5, value_type: 'number' });
    await put(ada, files.c, 'done', { value: true, value_type: 'boolean' });
    await put(ada, files.c, 'refs', { value: [1], value_type: 'json' });
    const found = async (search: string, by = ada): Promise<string> =>
      (await by.api.get(`/files?sort=name&${search}`)).body.data.map(({ name }: { name: string }) => name).join('');
    return { ada, files, tags, found };
  }

  test('finds the files that have all that is named', async () => {
    const { tags, found } = await scene();
    const finds = {
      'tag=to%20READ': 'ab',
      [`tag=${tags.late}`]: 'bc',
      'tag=To+read&tag=z%C3%BCrich,%20late': 'b',
      'tag=Unknown': '',
      [`tag=${randomUUID()}`]: '',
      'metadata[course]=History%201': 'ab',
      'metadata%5Bcourse%5D=History+1&metadata[pages]=1.5': 'b',
      'metadata[pages]=1.50': 'b',
      'metadata[pages]=15e-1': 'b',
      'metadata[pages]=2': '',
      'metadata[done]=true': 'c',
      'metadata[refs]=[1]': 'c',
      'metadata[course]=history%201': '',
      'metadata[none]=': '',
      'tag=to+read&metadata[course]=History+1&q=b': 'b',
    };

    for (const [search, names] of Object.entries(finds)) expect([search, await found(search)]).toEqual([search, names]);
  });

  test('is in one statement, in pages that meet, also in a folder', async () => {
    const { ada, found } = await scene();
    const folder = (await ada.api.post('/folders', { name: 'f' })).body.id;
    const inside = (await ada.api.upload('/files', { name: 'd', file: Buffer.from('d'), fields: { folder_id: folder } })).body.id;
    await put(ada, inside, 'course', { value: 'History 1' });

    const first = await tenant.counting(() => ada.api.get('/files?sort=name&limit=2&metadata[course]=History+1'));
    const next = /^<([^>]+)>/.exec(first.reply.headers.link ?? '')?.[1] ?? '';
    const second = await tenant.counting(() => ada.api.get(next));

    expect([first.sql.length, second.sql.length]).toEqual([1, 1]);
    expect([...first.reply.body.data, ...second.reply.body.data].map(({ name }: { name: string }) => name)).toEqual([
      'a',
      'b',
      'd',
    ]);
    expect(await found(`folder_id=${folder}&metadata[course]=History+1`)).toBe('d');
    expect(await found(`folder_id=${folder}&tag=To+read`)).toBe('');
    expect(await found(`folder_id=root&tag=To+read`)).toBe('ab');
  });

  test('shows the same pages where more files match than are sorted by themselves', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    await fillWithFiles(testBackends().stores, tenant, ada.user.email, [[1, 10_100]]);
    const ids = await fileIds(testBackends().stores, tenant, ada.user.email);
    await addMetadata(tenant, ids, [{ key: 'many', value: 'all' }]);
    const [some, folders] = [ids.slice(0, 300), (await ada.api.get('/files', { query: { limit: 20 } })).body.data];
    await addMetadata(tenant, some, [{ key: 'few', value: 'some' }]);
    const folder = folders[0].folder.id as string;
    await ada.api.post(`/folders/${folder}/permissions`, { permission_level: 'read', user_id: bob.user.id });
    const pages = async (by: Person, search: string): Promise<string[]> => {
      const first = await by.api.get(`/files?limit=150&${search}`);
      const second = await by.api.get(/^<([^>]+)>/.exec(first.headers.link ?? '')?.[1] ?? '/files?limit=1&q=none');
      return [...first.body.data, ...second.body.data].map(({ name }: { name: string }) => name);
    };

    for (const [by, search] of [
      [ada, 'sort=-updated_at'],
      [ada, 'sort=name'],
      [ada, `folder_id=${folder}`],
      [bob, 'sort=-updated_at'],
    ] as const) {
      const all = await pages(by, search);
      expect([search, all.length, await pages(by, `${search}&metadata[many]=all`)]).toEqual([search, 300, all]);
      const few = await pages(by, `${search}&metadata[many]=all&metadata[few]=some`);
      expect([search, few, few.length > 10]).toEqual([search, await pages(by, `${search}&metadata[few]=some`), true]);
    }
  });

  test('is by one’s own tags alone, of files that one may read', async () => {
    const { ada, files, tags, found } = await scene();
    const [bob, stranger] = [await tenant.user(), await tenant.user()];
    await grant(ada, files.a, bob, 'read');
    const { id } = (await bob.api.post('/tags', { name: 'To read' })).body;
    await bob.api.put(`/files/${files.a}/tags/${id}`);

    expect(await found('tag=To+read', bob)).toBe('a');
    expect(await found(`tag=${tags.late}`, bob)).toBe('');
    expect(await found('metadata[course]=History+1', bob)).toBe('a');
    expect(await found('metadata[course]=History+1', stranger)).toBe('');
  });

  test.each([
    ['metadata', 'metadata=x'],
    ['metadata[a]', 'metadata[a]=1&metadata[a]=2'],
    ['metadata.a/b', 'metadata[a%2Fb]=1'],
    [
      'metadata',
      range(11)
        .map((at) => `metadata[k${at}]=1`)
        .join('&'),
    ],
    [
      'tag',
      range(11)
        .map((at) => `tag=t${at}`)
        .join('&'),
    ],
    ['tag.0', 'tag='],
    ['other[a]', 'other[a]=1'],
    ['owner', 'owner=x&tag=a'],
  ])('names %j, where that is wrong', async (field, search) => {
    const reply = await tenant.admin.get(`/files?${search}`);

    expect([reply.status, reply.body.details?.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
  });
});
