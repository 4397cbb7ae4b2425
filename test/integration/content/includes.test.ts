import { describe, expect, test } from '@jest/globals';
import { INCLUDES } from '../../../pkg/content/lists/file-includes.schema.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { ALL_INCLUDES, includeScenes, type IncludedPerson, type IncludedFile } from '../../support/data/include-scenes.ts';
import { addMetadata, tagFiles } from '../../support/data/tags-and-metadata.ts';
import { range } from '../../support/wait.ts';

const tenant = serverSuite();
const { upload, show, list, grant, tag, describeBy, scene } = includeScenes(tenant);

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ETAG = expect.stringMatching(/^[A-Za-z0-9_-]{27}$/);

describe('include', () => {
  test('adds tags, metadata, the number of versions and grants, each when it is asked for', async () => {
    const { ada, file, tagId, granted } = await scene();
    const plain = (await ada.api.get(`/files/${file.id}`)).body;
    const stamps = { created_at: TIME, updated_at: TIME, etag: ETAG };
    const fields: Record<string, unknown> = {
      tags: [{ id: tagId, name: 'To read', color: '#3366cc', owner_id: ada.user.id, files_count: 1, ...stamps }],
      metadata: [{ key: 'course', value: 'History 1', value_type: 'string', ...stamps }],
      versions_count: 2,
      permissions: [granted],
    };

    expect(Object.keys(plain).filter((name) => name in fields)).toEqual([]);
    for (const name of INCLUDES) expect((await show(ada, file, name)).body).toEqual({ ...plain, [name]: fields[name] });
    for (const name of INCLUDES) expect(await list(ada, { include: name })).toEqual([{ ...plain, [name]: fields[name] }]);
    expect((await show(ada, file, 'permissions,tags')).body).toEqual({
      ...plain,
      tags: fields.tags,
      permissions: fields.permissions,
    });
    expect((await show(ada, file)).body).toEqual({ ...plain, ...fields });
    expect(await list(ada)).toEqual([{ ...plain, ...fields }]);
  });

  test('adds empty lists to a file that has nothing but its first version', async () => {
    const ada = await tenant.user();
    const file = await upload(ada, 'bare.txt');

    const nothing = { tags: [], metadata: [], versions_count: 1, permissions: [] };
    expect((await show(ada, file)).body).toMatchObject(nothing);
    expect(await list(ada)).toMatchObject([nothing]);
  });

  test('shows values of metadata as JSON of their type, by key', async () => {
    const ada = await tenant.user();
    const file = await upload(ada, 'typed.txt');
    for (const [key, value, type] of [
      ['e', '{"a":[1,null]}', 'json'],
      ['d', 'true', 'boolean'],
      ['c', '12.5', 'number'],
      ['b', '12.5', 'string'],
      ['a', null, 'string'],
      ['f', 'written past the API', 'json'],
    ] as const)
      await describeBy(file, key, value, type);

    expect((await show(ada, file)).body.metadata.map(({ key, value }: Record<string, unknown>) => [key, value])).toEqual([
      ['a', null],
      ['b', '12.5'],
      ['c', 12.5],
      ['d', true],
      ['e', { a: [1, null] }],
      ['f', 'written past the API'],
    ]);
  });

  test.each([
    ['colour', 'does not know "colour"'],
    ['tags,colour', 'does not know "colour"'],
    ['tags,', 'does not know ""'],
    ['', 'does not know ""'],
    ['Tags', 'does not know "Tags"'],
    ['tags, metadata', 'does not know " metadata"'],
    ['tags,metadata,tags', 'names "tags" twice'],
    ['a name that is far longer than the forty characters', 'does not know "a name that is far longer than the forty…"'],
  ])('of %j is a 400 that names the wrong value and those that are taken', async (include, fault) => {
    const message = `${fault}; takes tags, metadata, versions_count, permissions, comma-separated and each once`;
    for (const path of ['/files', '/files/7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11']) {
      const reply = await tenant.admin.get(path, { query: { include } });
      expect([reply.status, reply.body.details]).toEqual([400, [{ field: 'include', message }]]);
    }
  });
});

describe('the cost of include', () => {
  test('is one statement more, for one file and for a page of 100', async () => {
    const { ada, bob, file } = await scene();
    const files = [file];
    for (const at of range(99)) files.push(await upload(ada, `${at}.txt`));
    await tag(ada, 'Half', ...files.slice(0, 50));
    for (const each of files.slice(1)) await describeBy(each, 'id', each.id);
    await grant(ada, `/files/${files[99]?.id}`, bob, 'write');
    const page = (query: Record<string, string>) =>
      tenant.counting(() => ada.api.get('/files', { query: { limit: 100, ...query } }));
    const one = (query: Record<string, string>) => tenant.counting(() => ada.api.get(`/files/${file.id}`, { query }));
    for (const warm of [page, one]) await warm({});

    const [pagePlain, pageAll] = [await page({}), await page({ include: ALL_INCLUDES })];
    const [onePlain, oneAll] = [await one({}), await one({ include: ALL_INCLUDES })];

    expect([pagePlain, pageAll, onePlain, oneAll].map(({ sql }) => sql.length)).toEqual([1, 2, 0, 1]);
    expect(pageAll.redisTrips).toBe(pagePlain.redisTrips);
    expect(oneAll.redisTrips).toBe(onePlain.redisTrips);
    for (const name of INCLUDES) expect((await page({ include: name })).sql).toHaveLength(2);
    const shown = new Map<string, IncludedFile>(pageAll.reply.body.data.map((each: IncludedFile) => [each.id, each]));
    expect(shown.size).toBe(100);
    for (const [at, { id }] of files.entries())
      expect(shown.get(id)).toMatchObject({
        metadata: at === 0 ? [{ key: 'course' }] : [{ key: 'id', value: id }],
        tags: [
          ...(at < 50 ? [{ name: 'Half', files_count: 50 }] : []),
          ...(at === 0 ? [{ name: 'To read', files_count: 1 }] : []),
        ],
        versions_count: at === 0 ? 2 : 1,
        permissions: at === 0 ? [{ permission_level: 'read' }] : at === 99 ? [{ permission_level: 'write' }] : [],
      });
  });

  test('is nothing for a page without files, nor for a file that is not there for the caller', async () => {
    const { file } = await scene();
    const stranger = await tenant.user();
    await stranger.api.get('/files');

    const empty = await tenant.counting(() => stranger.api.get('/files', { query: { include: ALL_INCLUDES } }));
    const hidden = await tenant.counting(() => show(stranger, file));

    expect([empty.reply.body.data, empty.sql.length]).toEqual([[], 1]);
    expect([hidden.reply.status, hidden.sql.filter((sql) => sql.includes('file_tags'))]).toEqual([404, []]);
  });

  test('leaves the cached metadata as they are: nothing added stays in them, and what is added is as it is now', async () => {
    const { ada, file } = await scene();
    const plain = (await ada.api.get(`/files/${file.id}`)).body;
    await show(ada, file);
    await tag(ada, 'Another', file);

    const again = await tenant.counting(() => ada.api.get(`/files/${file.id}`));

    expect([again.reply.body, again.sql]).toEqual([plain, []]);
    expect((await show(ada, file)).body.tags).toMatchObject([{ name: 'Another' }, { name: 'To read' }]);
  });

  test('is bounded: a page ends before its added fields exceed 4 MiB, and the next one continues there', async () => {
    const ada = await tenant.user();
    const files: IncludedFile[] = [];
    for (const name of ['a', 'b', 'c', 'd']) files.push(await upload(ada, name));
    const entries = (count: number) => range(count).map((at) => ({ key: String(at), value: 'x'.repeat(65_536) }));
    for (const [at, count] of [30, 30, 30, 80].entries()) await addMetadata(tenant, [String(files[at]?.id)], entries(count));

    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const { body } = await ada.api.get('/files', {
        query: { include: 'metadata', sort: 'name', limit: 3, ...(cursor === null ? {} : { cursor }) },
      });
      pages.push(body.data.map(({ name }: IncludedFile) => name));
      cursor = body.pagination.next_cursor;
      expect(body.pagination).toMatchObject({ limit: 3, has_more: cursor !== null });
      for (const { metadata } of body.data) expect(metadata.length).toBeGreaterThanOrEqual(30);
    } while (cursor !== null);

    expect(pages).toEqual([['a', 'b'], ['c'], ['d']]);
    expect((await ada.api.get('/files', { query: { include: 'tags', sort: 'name' } })).body.data).toHaveLength(4);
  });

  test('is bounded: 100 tags, grants and metadata entries of a file', async () => {
    const { ada, file, granted } = await scene();
    const [owner, target] = [ada.user.id, file.id];
    const names = range(120).map((at) => `n${at}`);
    await tagFiles(tenant, owner, names, [target]);
    await tenant.db.query(
      `WITH made AS (INSERT INTO groups (uuid, name, created_by) SELECT gen_random_uuid(), 'n' || n, u.id
         FROM users u, generate_series(1, 120) n WHERE u.uuid = $1 RETURNING id, created_by)
       INSERT INTO permissions (uuid, resource_type, resource_id, group_id, permission_level, granted_by)
       SELECT gen_random_uuid(), 'file', f.id, m.id, 'read', m.created_by FROM files f, made m WHERE f.uuid = $2`,
      [owner, target],
    );
    await addMetadata(
      tenant,
      [target],
      names.map((key) => ({ key, value: null })),
    );

    const { tags, metadata, permissions } = (await show(ada, file)).body;
    expect([tags.length, metadata.length, permissions.length, permissions[0].id]).toEqual([100, 100, 100, granted.id]);
  });
});

describe('what a caller sees of included fields', () => {
  test('is their own tags alone', async () => {
    const { ada, bob, file } = await scene();
    await tag(bob, 'Homework', file);

    expect((await show(ada, file)).body.tags).toMatchObject([{ name: 'To read', owner_id: ada.user.id }]);
    expect((await show(bob, file)).body.tags).toMatchObject([{ name: 'Homework', owner_id: bob.user.id }]);
    expect(await list(bob)).toMatchObject([{ id: file.id, tags: [{ name: 'Homework' }] }]);
    expect(JSON.stringify([(await show(bob, file)).body, await list(bob)])).not.toContain('To read');
  });

  test('counts only the files that they may see, so it does not disclose a file that was unshared or deleted', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const folder = async (by: IncludedPerson, parent_id?: string) =>
      (await by.api.post('/folders', { name: 'f', ...(parent_id ? { parent_id } : {}) })).body.id as string;
    const [hers, his] = [await folder(ada), await folder(bob)];
    await grant(bob, `/folders/${his}`, ada, 'write');
    const files = {
      own: await upload(bob, 'own'),
      granted: await upload(ada, 'granted'),
      inGranted: await upload(ada, 'in', { folder_id: await folder(ada, hers) }),
      inOwn: await upload(ada, 'below', { folder_id: await folder(bob, his) }),
      trashed: await upload(bob, 'trashed'),
      taken: await upload(ada, 'taken'),
    };
    const onFolder = await grant(ada, `/folders/${hers}`, bob, 'read');
    await grant(ada, `/files/${files.granted.id}`, bob, 'read');
    const onTaken = await grant(ada, `/files/${files.taken.id}`, bob, 'read');
    await tag(bob, 'All', ...Object.values(files));
    const count = async () => (await show(bob, files.own, 'tags')).body.tags[0].files_count as number;

    const counts = [await count()];
    await bob.api.delete(`/files/${files.trashed.id}`);
    counts.push(await count());
    await ada.api.delete(`/files/${files.taken.id}/permissions/${onTaken.id}`);
    counts.push(await count());
    await ada.api.delete(`/files/${files.taken.id}`);
    counts.push(await count());
    await ada.api.delete(`/folders/${hers}/permissions/${onFolder.id}`);
    counts.push(await count());

    expect(counts).toEqual([6, 5, 4, 4, 3]);
  });

  test('is the grants that GET /files/{id}/permissions shows them, and null where it refuses', async () => {
    const ada = await tenant.user();
    const viewer = await tenant.user();
    const folder = (await ada.api.post('/folders', { name: 'f' })).body.id as string;
    const file = await upload(ada, 'a', { folder_id: folder });
    const levels = { read: await tenant.user(), write: await tenant.user(), admin: await tenant.user() };
    for (const [level, person] of Object.entries(levels)) await grant(ada, `/files/${file.id}`, person, level);
    const byFolder = { read: await tenant.user(), admin: await tenant.user() };
    for (const [level, person] of Object.entries(byFolder)) await grant(ada, `/folders/${folder}`, person, level);
    await grant(ada, `/files/${file.id}`, viewer, 'admin');
    expect((await tenant.admin.patch(`/users/${viewer.user.id}`, { roles: ['viewer'] })).status).toBe(200);
    const viewers = { ...viewer, api: await tenant.anonymous.login(viewer.user.email, viewer.password) };

    const outcomes: [string, boolean][] = [];
    for (const [name, person] of Object.entries({
      owner: ada,
      ...levels,
      folderRead: byFolder.read,
      folderAdmin: byFolder.admin,
      viewer: viewers,
    })) {
      const own = await person.api.get(`/files/${file.id}/permissions`);
      const shown = [(await show(person, file, 'permissions')).body, (await list(person, { include: 'permissions' }))[0]];
      expect([name, shown.map(({ permissions }) => permissions)]).toEqual([
        name,
        own.status === 200 ? [own.body.data, own.body.data] : [null, null],
      ]);
      outcomes.push([name, own.status === 200]);
    }
    expect(outcomes).toEqual(
      Object.entries({
        owner: true,
        read: false,
        write: false,
        admin: true,
        folderRead: false,
        folderAdmin: true,
        viewer: false,
      }),
    );
  });

  test('of a page is the grants on those files alone on which they are admin', async () => {
    const { ada, bob, file } = await scene();
    const own = await upload(bob, 'own');
    await grant(bob, `/files/${own.id}`, ada, 'write');

    const shown = Object.fromEntries((await list(bob)).map(({ id, permissions }) => [id, permissions]));
    expect(shown).toEqual({ [file.id]: null, [own.id]: [expect.objectContaining({ user_id: ada.user.id })] });
  });

  test('is nothing for a stranger, an administrator, and another tenant', async () => {
    const { file } = await scene();
    const stranger = await tenant.user();
    const other = await startTenant();
    try {
      const replies = [
        await show(stranger, file),
        await tenant.admin.get(`/files/${file.id}`, { query: { include: ALL_INCLUDES } }),
        await other.admin.get(`/files/${file.id}`, { query: { include: ALL_INCLUDES } }),
        await other.anonymous.as(stranger.api.token).get(`/files/${file.id}`, { query: { include: ALL_INCLUDES } }),
      ];
      const lists = [await list(stranger), (await other.admin.get('/files', { query: { include: ALL_INCLUDES } })).body.data];

      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 401]);
      expect(JSON.stringify(replies.map(({ body }) => body))).not.toMatch(/To read|History 1/);
      expect(lists).toEqual([[], []]);
    } finally {
      await other.stop();
    }
  });

  test('of a trashed file appears only in the trash list, for those with write access, and without grants', async () => {
    const { ada, bob, file } = await scene();
    const carol = await tenant.user();
    await grant(ada, `/files/${file.id}`, carol, 'admin');
    await ada.api.delete(`/files/${file.id}`);

    expect([(await show(ada, file)).status, (await show(carol, file)).status, await list(ada)]).toEqual([404, 404, []]);
    const fields = { id: file.id, metadata: [{ key: 'course' }], versions_count: 2, permissions: null };
    expect(await list(ada, { trashed: 'true' })).toMatchObject([{ ...fields, tags: [{ name: 'To read', files_count: 0 }] }]);
    expect(await list(carol, { trashed: 'true' })).toMatchObject([{ ...fields, tags: [] }]);
    expect(await list(bob, { trashed: 'true' })).toEqual([]);
  });
});

describe('the entity tag of a file with includes', () => {
  test('changes with each included field, so If-None-Match never takes an old one for the present', async () => {
    const { ada, bob, file, tagId } = await scene();
    const changes: Record<string, () => Promise<unknown>> = {
      tags: () => ada.api.patch(`/tags/${tagId}`, { name: 'Read' }),
      metadata: () => ada.api.put(`/files/${file.id}/metadata/course`, { value: 'x' }),
      permissions: () => grant(ada, `/files/${file.id}`, bob, 'write'),
      versions_count: () => ada.api.upload(`/files/${file.id}`, { method: 'PUT', name: 'a.txt', file: Buffer.from('third') }),
    };

    for (const [name, change] of Object.entries(changes)) {
      const ask = (include: string, etag: string | undefined) =>
        ada.api.get(`/files/${file.id}`, { query: { include }, headers: { 'if-none-match': etag ?? '' } });
      const [one, all] = [await show(ada, file, name), await show(ada, file)];
      const before = [await ask(name, one.headers.etag), await ask(ALL_INCLUDES, all.headers.etag)];
      await change();
      const after = [await ask(name, one.headers.etag), await ask(ALL_INCLUDES, all.headers.etag)];

      expect([name, before.map(({ status, headers }) => [status, headers.etag])]).toEqual([
        name,
        [
          [304, one.headers.etag],
          [304, all.headers.etag],
        ],
      ]);
      expect([name, after.map(({ status }) => status)]).toEqual([name, [200, 200]]);
    }
  });

  test('is another than the one of the metadata alone, which `etag` in the body stays, for If-Match', async () => {
    const { ada, file } = await scene();
    const plain = await ada.api.get(`/files/${file.id}`);
    const shown = await show(ada, file);

    const crossed = await ada.api.get(`/files/${file.id}`, {
      query: { include: ALL_INCLUDES },
      headers: { 'if-none-match': plain.headers.etag ?? '' },
    });

    expect([shown.body.etag, plain.headers.etag]).toEqual([plain.body.etag, `"${plain.body.etag}"`]);
    expect([shown.headers.etag === plain.headers.etag, crossed.status]).toEqual([false, 200]);
    const rename = (etag: string) => ada.api.patch(`/files/${file.id}`, { name: 'b.txt' }, { headers: { 'if-match': etag } });
    expect((await rename(shown.headers.etag ?? '')).status).toBe(412);
    expect((await rename(`"${shown.body.etag}"`)).status).toBe(200);
  });
});
