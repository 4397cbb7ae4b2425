import { beforeAll, expect, test } from '@jest/globals';
import { batchEnd as done, filesOf as files, foldersOf as folders, jobEnd } from '../../support/clients/batches.ts';
import { range, untilServed, waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { faultsOf, quotaOf } from '../content/tenant-state.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
type Person = Awaited<ReturnType<typeof tenant.user>>;

beforeAll(() => addWebhook(tenant, { events: ['file.updated', 'file.deleted'] }));

const fileOf = async ({ api }: Person, name: string, folder_id?: string, content = 'x'): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(content), fields: folder_id === undefined ? {} : { folder_id } })).body
    .id;
const folderOf = async ({ api }: Person, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;

/** The events that were written while `change` ran. */
async function eventsOf(change: () => Promise<unknown>) {
  const before = (await writtenEvents(tenant)).length;
  await change();
  return (await writtenEvents(tenant)).slice(before).map(({ event, data }) => ({ event, data }));
}

test('a batch’s deletes, restores, moves and purges have the same events and results as single requests', async () => {
  const [ada, eve] = [await tenant.user(), await tenant.user()];
  // Uploads run one after the other, since a purge writes its events in the order of creation.
  const made = async (person: Person) => {
    const ids: string[] = [];
    for (const n of range(7)) ids.push(await fileOf(person, `f${n}`));
    return { ids, folder: await folderOf(person, 'there') };
  };
  const [one, many] = [await made(ada), await made(eve)];
  const single =
    (path: string, method: 'delete' | 'post' | 'patch', body?: object, query = {}) =>
    async () => {
      for (const id of one.ids) {
        const at = `/files/${id}${path}`;
        const { status } = await (method === 'delete' ? ada.api.delete(at, { query }) : ada.api[method](at, body));
        expect(status).toBeLessThan(300);
      }
    };
  const all = (operation: string, given?: object) => async () => {
    const end = await done(eve.api, { operation, items: files(many.ids), ...(given ? { arguments: given } : {}) });
    expect(end).toMatchObject({ state: 'succeeded', progress: { done: 7, total: 7, failed: 0, skipped: 0 } });
  };
  const shape = (events: Awaited<ReturnType<typeof eventsOf>>, { ids, folder }: typeof one) =>
    events
      .map(({ event, data }) => ({ event, ...data, id: ids.indexOf(String(data['id'])), in: data['folder_id'] === folder }))
      .map(
        ({
          owner_id: _owner,
          folder_id: _folder,
          deleted_at: _at,
          updated_at: _updated,
          created_at: _created,
          ...rest
        }: Record<string, unknown>) => rest,
      );

  for (const [singly, operation, given] of [
    [single('', 'delete'), 'delete'],
    [single('/restore', 'post', {}), 'restore'],
    [single('', 'patch', { folder_id: one.folder }), 'move', { folder_id: many.folder }],
    [single('', 'delete', undefined, { permanent: true }), 'purge'],
  ] as const)
    expect(shape(await eventsOf(all(operation, given)), many)).toEqual(shape(await eventsOf(singly), one));

  expect(await quotaOf(tenant, eve.user.id)).toBe(0);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('items below a folder of the same job are skipped in any order, and a repeated id counts once', async () => {
  const ada = await tenant.user();
  const [top, there] = [await folderOf(ada, 'top'), await folderOf(ada, 'there')];
  const sub = await folderOf(ada, 'sub', top);
  const [inSub, inTop, apart] = [await fileOf(ada, 'a', sub), await fileOf(ada, 'b', top, 'four'), await fileOf(ada, 'c')];
  const items = [...files([inSub, apart, inTop, inSub]), ...folders([sub, top, top])];
  const expected = [[apart, 'succeeded'], [top, 'succeeded'], ...[sub, inSub, inTop].map((id) => [id, 'with_folder'])];

  for (const request of [
    { operation: 'delete' },
    { operation: 'restore' },
    { operation: 'move', arguments: { folder_id: there } },
    { operation: 'delete', dry_run: true },
  ]) {
    const { items: ended, progress, names, result } = await done(ada.api, { ...request, items });
    expect(ended).toEqual(new Map(expected as [string, string][]));
    expect(progress).toEqual({ done: 5, total: 5, failed: 0, skipped: 3 });
    expect([names.get(top), names.get(inTop)]).toEqual(['top', 'b']);
    expect(result).toEqual({
      operation: request.operation,
      dry_run: 'dry_run' in request,
      bytes: request.operation === 'delete' ? 6 : 0,
    });
  }
  expect((await ada.api.get(`/files/${inSub}`)).body.path).toBe('/there/top/sub/a');
  const purged = await done(ada.api, { operation: 'purge', items });
  expect([...purged.items.values()]).toEqual(range(5).map(() => 'succeeded'));
  expect([purged.result.bytes, await quotaOf(tenant, ada.user.id)]).toEqual([6, 0]);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('an item that its requester may only read is forbidden; a hidden one is not found and has no name', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const [readable, hidden, bobs] = [await fileOf(ada, 'readable'), await fileOf(ada, 'hidden'), await fileOf(bob, 'own')];
  await ada.api.post(`/files/${readable}/permissions`, { permission_level: 'read', user_id: bob.user.id });
  const nobody = bob.user.id;

  for (const operation of ['delete', 'restore', 'purge']) {
    const { items, names, state } = await done(bob.api, { operation, items: files([readable, hidden, nobody, bobs]) });
    expect(state).toBe('succeeded');
    expect([readable, hidden, nobody, bobs].map((id) => items.get(id))).toEqual([
      'forbidden',
      'not_found',
      'not_found',
      'succeeded',
    ]);
    expect([readable, hidden, nobody, bobs].map((id) => names.get(id))).toEqual(['readable', null, null, 'own']);
  }
  expect((await ada.api.get(`/files/${readable}`)).status).toBe(200);
});

test('tags and metadata are set on and removed from each file, for its owner’s quota; a full one fails alone', async () => {
  const ada = await tenant.user();
  const ids = await Promise.all(range(5).map((n) => fileOf(ada, `f${n}`)));
  const { id: tag_id } = (await ada.api.post('/tags', { name: 'To read' })).body;
  await Promise.all(range(100).map((n) => untilServed(() => ada.api.put(`/files/${ids[0]}/metadata/k${n}`, { value: 'v' }))));
  const run = async (operation: string, given: object) => [
    ...(await done(ada.api, { operation, items: files(ids), arguments: given })).items.values(),
  ];
  const ok = ids.map(() => 'succeeded');

  expect(await run('tag', { tag_id })).toEqual(ok);
  expect((await ada.api.get(`/tags/${tag_id}`)).body.files_count).toBe(5);
  expect(await run('untag', { tag_id })).toEqual(ok);
  expect((await ada.api.get(`/tags/${tag_id}`)).body.files_count).toBe(0);
  const events = await eventsOf(async () =>
    expect(await run('set_metadata', { key: 'course', value: 7, value_type: 'number' })).toEqual(['conflict', ...ok.slice(1)]),
  );
  expect(events.map(({ data }) => [data['id'], data['changes']])).toEqual(ids.slice(1).map((id) => [id, ['metadata']]));
  expect((await ada.api.get(`/files/${ids[1]}/metadata`)).body.data).toEqual([
    expect.objectContaining({ key: 'course', value: 7 }),
  ]);
  expect(await run('remove_metadata', { key: 'course' })).toEqual(['not_found', ...ok.slice(1)]);
  expect(await run('tag', { tag_id: ada.user.id })).toEqual(ids.map(() => 'not_found'));
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a taken name fails by name_conflict, or gets another with rename; a retry by that code tries it again', async () => {
  const ada = await tenant.user();
  const there = await folderOf(ada, 'there');
  const taken = await fileOf(ada, 'a.txt', there);
  const [first, second] = [await fileOf(ada, 'a.txt'), await fileOf(ada, 'b.txt')];
  const request = { operation: 'move', items: files([first, second]), arguments: { folder_id: there } };

  const failed = await done(ada.api, request);
  expect([failed.items.get(first), failed.items.get(second)]).toEqual(['name_conflict', 'succeeded']);
  await ada.api.patch(`/files/${taken}`, { name: 'z.txt' });
  const { body: retry } = await ada.api.post(`/jobs/${failed.id}/retry`, { codes: ['name_conflict'] });
  await waitFor('the end of the retry', async () => (await ada.api.get(`/jobs/${retry.id}`)).body.state === 'succeeded');
  expect((await ada.api.get(`/files/${first}`)).body.path).toBe('/there/a.txt');

  const third = await fileOf(ada, 'a.txt');
  await done(ada.api, { ...request, items: files([third]), arguments: { folder_id: there, on_conflict: 'rename' } });
  expect((await ada.api.get(`/files/${third}`)).body.path).toBe('/there/a (1).txt');
});

test('a dry run ends as the job would and changes nothing, whether by events, caches, tags or rows', async () => {
  const ada = await tenant.user();
  const [kept, gone] = [await fileOf(ada, 'kept', undefined, 'five5'), await fileOf(ada, 'gone')];
  await ada.api.delete(`/files/${gone}`);
  const before = (await ada.api.get(`/files/${kept}`)).body;

  const events = await eventsOf(async () => {
    const end = await done(ada.api, { operation: 'delete', items: files([kept, gone]), dry_run: true });
    expect(end).toMatchObject({ progress: { done: 2, failed: 1 }, result: { dry_run: true, bytes: 5 } });
    expect([end.items.get(kept), end.items.get(gone)]).toEqual(['succeeded', 'not_found']);
    for (const request of [{ operation: 'purge' }, { operation: 'set_metadata', arguments: { key: 'k', value: 'v' } }])
      await done(ada.api, { ...request, items: files([kept]), dry_run: true });
  });

  expect(events).toEqual([]);
  expect((await ada.api.get(`/files/${kept}`)).body).toEqual(before);
  expect((await ada.api.get(`/files/${kept}/metadata`)).body.data).toEqual([]);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('a filter takes what it matches when the job is planned: of a folder, of the trash, or of a search', async () => {
  const ada = await tenant.user();
  const folder = await folderOf(ada, 'reports');
  const ids = await Promise.all(range(3).map((n) => fileOf(ada, `report ${n}`, folder)));
  const other = await fileOf(ada, 'other');
  const run = async (operation: string, filter: object) => new Set((await done(ada.api, { operation, filter })).items.keys());

  expect(await run('delete', { folder_id: folder, q: 'report' })).toEqual(new Set(ids));
  expect(await run('restore', { trashed: true })).toEqual(new Set(ids));
  const { id: tag_id } = (await ada.api.post('/tags', { name: 'found' })).body;
  const tagged = await done(ada.api, { operation: 'tag', filter: { search: true, q: 'report' }, arguments: { tag_id } });
  expect(new Set(tagged.items.keys())).toEqual(new Set(ids));
  const deleted = await done(ada.api, { operation: 'delete', filter: { search: true, q: 'report' } });
  expect([deleted.progress, deleted.items.get(folder)]).toEqual([{ done: 4, total: 4, failed: 0, skipped: 3 }, 'succeeded']);
  expect((await ada.api.get(`/files/${other}`)).status).toBe(200);
});

test('a search by filters alone is what a batch takes; one that has neither words nor a filter is refused', async () => {
  const ada = await tenant.user();
  const folder = await folderOf(ada, 'reports');
  const inside = await Promise.all(range(2).map((n) => fileOf(ada, `report ${n}`, folder)));
  const other = await fileOf(ada, 'other');
  const { id: tag_id } = (await ada.api.post('/tags', { name: 'Old' })).body;
  const ofFolder = { search: true, folder_id: folder };

  const tagged = await done(ada.api, { operation: 'tag', filter: ofFolder, arguments: { tag_id } });
  const deleted = await done(ada.api, { operation: 'delete', filter: { search: true, tag: 'old' } });
  const refused = await ada.api.post('/batch', { operation: 'delete', filter: { search: true } });

  expect(new Set(tagged.items.keys())).toEqual(new Set(inside));
  expect(new Set(deleted.items.keys())).toEqual(new Set(inside));
  expect((await ada.api.get(`/files/${other}`)).status).toBe(200);
  expect([refused.status, refused.body.details[0].field]).toEqual([400, 'filter.q']);
  expect(refused.body.details[0].message).toMatch(/^is required without a filter: send words in q, or a filter/);
});

test('a search by filters alone of more than a page takes all of it', async () => {
  const { api, user } = await tenant.user();
  await tenant.db.query(
    `INSERT INTO files (uuid, name, path, owner_id, size, mime_type, extension)
     SELECT gen_random_uuid(), 'n' || n, '/n' || n, u.id, 0, 'text/plain', '' FROM users u, generate_series(1, 450) n
     WHERE u.uuid = $1`,
    [user.id],
  );
  await api.post('/folders', { name: 'folder' });

  const end = await done(api, { operation: 'delete', filter: { search: true, owner: user.id } });

  expect(end.progress).toEqual({ done: 451, total: 451, failed: 0, skipped: 0 });
  expect((await api.get('/search', { query: { owner: user.id } })).body.data).toEqual([]);
});

test('a filter of more files than a page takes all of them', async () => {
  const { api, user } = await tenant.user();
  await tenant.db.query(
    `WITH file AS (
       INSERT INTO files (uuid, name, path, owner_id, size, mime_type, extension, created_at, updated_at)
       SELECT gen_random_uuid(), 'n' || n, '/n' || n, u.id, 0, 'text/plain', '', now(), now()
       FROM users u, generate_series(1, 450) n WHERE u.uuid = $1 RETURNING id
     ) SELECT count(*) FROM file`,
    [user.id],
  );
  const end = await done(api, { operation: 'delete', filter: { mime_type: 'text/*' } });

  expect(end.progress).toEqual({ done: 450, total: 450, failed: 0, skipped: 0 });
  expect((await api.get('/files')).body.data).toEqual([]);
});

test('grants are given and revoked on each file and folder, as far as the requester may when the item runs', async () => {
  const [ada, bob, carl] = [await tenant.user(), await tenant.user(), await tenant.user()];
  const [folder, file] = [await folderOf(ada, 'f'), await fileOf(ada, 'a')];
  const inside = await fileOf(ada, 'b', folder);
  const to = ({ user }: Person) => ({ user_id: user.id });
  const items = [...folders([folder]), ...files([file])];
  const run = async (person: Person, request: object) => (await done(person.api, { items, ...request })).items;

  const granted = await run(ada, { operation: 'grant', arguments: { permission_level: 'admin', ...to(bob) } });
  expect([granted.get(folder), granted.get(file)]).toEqual(['succeeded', 'succeeded']);
  expect([(await bob.api.get(`/files/${inside}`)).status, (await bob.api.get(`/files/${file}`)).status]).toEqual([200, 200]);
  expect([...(await run(bob, { operation: 'grant', arguments: { permission_level: 'read', ...to(carl) } })).values()]).toEqual([
    'succeeded',
    'succeeded',
  ]);
  expect([...(await run(carl, { operation: 'revoke', arguments: to(bob) })).values()]).toEqual(['forbidden', 'forbidden']);
  expect([...(await run(bob, { operation: 'revoke', arguments: to(ada) })).values()]).toEqual(['not_found', 'not_found']);
  // Later items depend on what Bob gives up first: he has no right to them any more at their turn.
  const given = await done(bob.api, {
    operation: 'revoke',
    arguments: to(bob),
    items: [...folders([folder]), ...files([inside])],
  });
  expect([given.items.get(folder), given.items.get(inside)]).toEqual(['succeeded', 'not_found']);
  const rest = await run(ada, { operation: 'revoke', arguments: to(bob) });
  expect([rest.get(folder), rest.get(file)]).toEqual(['not_found', 'succeeded']);
  expect((await bob.api.get(`/files/${file}`)).status).toBe(404);
});

test('each file that is shared has its link as the result of its item, and the password lies nowhere', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const [own, bobs] = [await fileOf(ada, 'a'), await fileOf(bob, 'b')];
  const password = 'correct horse battery';

  const end = await done(ada.api, { operation: 'share', items: files([own, bobs]), arguments: { password, max_downloads: 3 } });
  expect([end.items.get(own), end.items.get(bobs)]).toEqual(['succeeded', 'not_found']);
  const { data } = (await ada.api.get(`/jobs/${end.id}/items`, { query: { state: 'succeeded' } })).body;
  const { body: share } = await ada.api.get(`/shares/${data[0].result.share_id}`);
  expect(share).toMatchObject({ url: data[0].result.url, file_id: own, has_password: true, max_downloads: 3 });
  expect((await tenant.anonymous.get(`/s/${share.token}/download`)).status).not.toBe(200);
  expect((await tenant.anonymous.post(`/s/${share.token}/download`, { password })).status).toBe(200);
  expect(JSON.stringify(await tenant.db.query('SELECT * FROM tasks'))).not.toContain(password);
});

test('a link that the policy does not allow is refused item by item, with the rule, and can be tried again', async () => {
  const ada = await tenant.user();
  const [first, second] = [await fileOf(ada, 'a'), await fileOf(ada, 'b')];
  const policy = (password_required: boolean) => tenant.admin.patch('/settings', { share_links: { password_required } });
  await policy(true);
  const refused = await done(ada.api, { operation: 'share', items: files([first, second]), arguments: {} });
  const allowed = await done(ada.api, {
    operation: 'share',
    items: files([first]),
    arguments: { password: 'correct horse battery' },
  });
  const dry = await done(ada.api, { operation: 'share', items: files([second]), arguments: {}, dry_run: true });
  const { data } = (await ada.api.get(`/jobs/${refused.id}/items`, { query: { code: 'share_policy' } })).body;
  await policy(false);
  const { body: again } = await ada.api.post(`/jobs/${refused.id}/retry`, { codes: ['share_policy'] });
  const retried = await jobEnd(ada.api, again.id);

  expect(refused).toMatchObject({ state: 'succeeded', progress: { done: 2, failed: 2 } });
  expect([refused.items, allowed.items, dry.items].map((items) => [...items.values()])).toEqual([
    ['share_policy', 'share_policy'],
    ['succeeded'],
    ['share_policy'],
  ]);
  expect(data.map(({ error }: { error: { message: string } }) => error.message)).toEqual(
    range(2).map(() => 'password_required: a share link needs a password here; send `password`.'),
  );
  expect(retried).toMatchObject({ state: 'succeeded', progress: { done: 2, failed: 0 } });
  expect((await ada.api.get('/shares')).body.data).toHaveLength(3);
});

test('a request that could never succeed is refused at once', async () => {
  const [ada, viewer] = [await tenant.user(), await tenant.user({ roles: ['viewer'] })];
  const id = await fileOf(ada, 'a');
  const items = files([id]);
  const refusals: [object, number, string][] = [
    [{ operation: 'delete', items, filter: {} }, 400, 'validation_failed'],
    [{ operation: 'delete' }, 400, 'validation_failed'],
    [{ operation: 'delete', items: [] }, 400, 'validation_failed'],
    [{ operation: 'delete', filter: { trashed: 'true' } }, 400, 'validation_failed'],
    [{ operation: 'delete', filter: { limit: 1 } }, 400, 'validation_failed'],
    [{ operation: 'tag', items: folders([id]), arguments: { tag_id: id } }, 400, 'validation_failed'],
    [{ operation: 'delete', items, arguments: { folder_id: null } }, 400, 'validation_failed'],
    [{ operation: 'move', items }, 400, 'validation_failed'],
    [{ operation: 'explode', items }, 400, 'validation_failed'],
    [{ operation: 'set_metadata', items, arguments: { key: 'k', value: 'x', value_type: 'number' } }, 422, 'value_type_mismatch'],
    [{ operation: 'delete', filter: { folder_id: ada.user.id } }, 404, 'not_found'],
  ];
  for (const [body, status, error] of refusals)
    expect(await ada.api.post('/batch', body)).toMatchObject({ status, body: { error } });
  expect((await viewer.api.post('/batch', { operation: 'delete', items })).status).toBe(403);
  expect((await ada.api.get('/jobs')).body.data).toEqual([]);
});
