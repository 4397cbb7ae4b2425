import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';

let aheadMs = 0;
const tenant = serverSuite({ clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) } });

type Person = Awaited<ReturnType<TestTenant['user']>>;
interface Share {
  readonly id: string;
  readonly token: string;
}

const PASSWORD = 'pässword of a link';
const HEADER = { 'x-share-password': Buffer.from(PASSWORD).toString('latin1') };
const CONTENT = 'content of the file';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);
const NOT_FOUND = [404, 'not_found'];
const anyone = (): typeof tenant.anonymous => tenant.anonymous;

const folder = async (api: Api, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const file = async (api: Api, folder_id: string | null, name: string, content = CONTENT): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(content), fields: folder_id === null ? {} : { folder_id } })).body.id;
const link = async (api: Api, folderId: string, terms: object = {}): Promise<Share> => {
  const made = await api.post(`/folders/${folderId}/share`, terms);
  expect(made.status).toBe(201);
  return made.body;
};
const show = (token: string, headers: Record<string, string> = {}): Promise<ApiReply> => anyone().get(`/s/${token}`, { headers });
const children = (token: string, query: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<ApiReply> =>
  anyone().get(`/s/${token}/children`, { query, headers });
const download = (token: string, id: string, headers: Record<string, string> = {}): Promise<ApiReply> =>
  anyone().get(`/s/${token}/files/${id}/download`, { headers });
const count = async (person: Person, { id }: Share): Promise<number> =>
  (await person.api.get(`/shares/${id}`)).body.download_count;
const names = ({ body }: ApiReply): string[] => (body.data as { name: string }[]).map(({ name }) => name);

/** Ada's folder `course` with `notes/week 1.txt`, `plan.txt`, and beside it `private` with `secret.txt`. */
async function course(terms: object = {}) {
  const ada = await tenant.user();
  const [top, secret] = [await folder(ada.api, 'course'), await folder(ada.api, 'private')];
  const notes = await folder(ada.api, 'notes', top);
  const files = {
    week: await file(ada.api, notes, 'week 1.txt'),
    plan: await file(ada.api, top, 'plan.txt'),
    secret: await file(ada.api, secret, 'secret.txt'),
    root: await file(ada.api, null, 'root.txt'),
  };
  return { ada, top, notes, secret, files, share: await link(ada.api, top, terms) };
}

describe('the link of a folder', () => {
  test('is made by an admin of the folder by two statements, and is shown, listed, changed and deleted like others', async () => {
    const ada = await tenant.user();
    const id = await folder(ada.api, 'course');
    await ada.api.get(`/folders/${id}`);
    const { reply: made, sql } = await tenant.counting(() => ada.api.post(`/folders/${id}/share`, { mode: 'both' }));

    expect([made.status, sql.length]).toEqual([201, 2]);
    expect(made.body).toEqual({
      id: ID,
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
      url: `${tenant.url}/s/${made.body.token}`,
      file_id: null,
      file_name: null,
      folder_id: id,
      folder_name: 'course',
      mode: 'both',
      created_by: { id: ada.user.id, name: ada.user.username },
      has_password: false,
      expires_at: null,
      max_downloads: null,
      download_count: 0,
      is_active: true,
      blocked_by: [],
      created_at: TIME,
      etag: expect.any(String),
    });
    expect((await ada.api.get(`/folders/${id}/shares`)).body.data).toEqual([made.body]);
    expect((await ada.api.get('/shares')).body.data).toEqual([made.body]);
    expect((await ada.api.patch(`/shares/${made.body.id}`, { max_downloads: 3 })).body).toMatchObject({ max_downloads: 3 });
    expect((await ada.api.delete(`/shares/${made.body.id}`)).status).toBe(204);
    expect(codes([await show(made.body.token)])).toEqual([NOT_FOUND]);
  });

  test.each([
    ['mode', { mode: 'write' }],
    ['max_downloads', { mode: 'upload', max_downloads: 3 }],
    ['expires_at', { expires_at: '2001-01-01T00:00:00Z' }],
    ['password', { password: 'short' }],
  ])('with a wrong %s is a 400 that names it', async (field, body) => {
    const ada = await tenant.user();
    const made = await ada.api.post(`/folders/${await folder(ada.api, 'course')}/share`, body);

    expect([made.status, made.body.details[0].field]).toEqual([400, field]);
  });

  test('is made and listed by admins of the folder alone; an administrator sees it without its token', async () => {
    const { ada, top, share } = await course();
    const [bob, carl] = await Promise.all([tenant.user(), tenant.user()]);
    await ada.api.post(`/folders/${top}/permissions`, { user_id: bob.user.id, permission_level: 'write' });
    const attempts = async ({ api }: Person): Promise<number[]> => [
      (await api.post(`/folders/${top}/share`)).status,
      (await api.get(`/folders/${top}/shares`)).status,
      (await api.get(`/shares/${share.id}`)).status,
    ];

    expect([await attempts(bob), await attempts(carl)]).toEqual([
      [403, 403, 404],
      [404, 404, 404],
    ]);
    const listed = await tenant.admin.get('/shares', { query: { owner: ada.user.id } });
    expect(listed.body.data).toEqual([expect.objectContaining({ id: share.id, token: null, url: null, folder_id: top })]);
    expect((await ada.api.get('/shares', { query: { owner: bob.user.id } })).body.data).toEqual([]);
  });

  test('shows the folder’s name, mode and terms to anybody, by one statement', async () => {
    const { share } = await course({ max_downloads: 4 });
    const { reply: shown, sql } = await tenant.counting(() => show(share.token));

    expect([shown.status, sql.length, shown.body]).toEqual([
      200,
      1,
      expect.objectContaining({
        kind: 'folder',
        mode: 'download',
        name: 'course',
        has_password: false,
        expires_at: null,
        downloads_left: 4,
      }),
    ]);
  });

  test('lists what is in the folder and below it by three statements, page by page, without paths, owners and tags', async () => {
    const { share, notes, files } = await course();
    const { reply: listed, sql } = await tenant.counting(() => children(share.token));
    const first = await children(share.token, { limit: '1' });
    const second = await children(share.token, { limit: '1', cursor: first.body.pagination.next_cursor });

    expect([sql.length, listed.body.data]).toEqual([
      3,
      [
        { type: 'folder', id: notes, name: 'notes', updated_at: TIME },
        { type: 'file', id: files.plan, name: 'plan.txt', size: 19, mime_type: 'text/plain', updated_at: TIME },
      ],
    ]);
    expect([names(first), names(second), second.body.pagination.has_more]).toEqual([['notes'], ['plan.txt'], false]);
    expect(names(await children(share.token, { folder_id: notes }))).toEqual(['week 1.txt']);
    expect(names(await children(share.token, { q: 'PLAN' }))).toEqual(['plan.txt']);
  });

  test('gives nothing that is outside of the folder, or in the trash', async () => {
    const { ada, top, notes, secret, files, share } = await course();
    const other = await course();
    const gone = await file(ada.api, top, 'gone.txt');
    await ada.api.delete(`/files/${gone}`);
    const outside = [
      await children(share.token, { folder_id: secret }),
      await children(share.token, { folder_id: other.notes }),
      await children(share.token, { folder_id: files.plan }),
      await download(share.token, files.secret),
      await download(share.token, files.root),
      await download(share.token, other.files.week),
      await download(share.token, gone),
      await download(share.token, notes),
      await anyone().get(`/s/${share.token}/download`),
      await anyone().post(`/s/${share.token}/download`, {}),
    ];

    expect(codes(outside)).toEqual(outside.map(() => NOT_FOUND));
    expect(names(await children(share.token))).toEqual(['notes', 'plan.txt']);
    await ada.api.patch(`/files/${files.week}`, { folder_id: secret });
    expect(codes([await download(share.token, files.week)])).toEqual([NOT_FOUND]);
  });

  test('for uploads alone lists and sends nothing, and one of a file has no children', async () => {
    const { ada, files, share } = await course({ mode: 'upload' });
    const { body: ofFile } = await ada.api.post(`/files/${files.plan}/share`, {});

    expect((await show(share.token)).body).toMatchObject({ kind: 'folder', mode: 'upload', name: 'course' });
    const refused = [
      await children(share.token),
      await download(share.token, files.plan),
      await children(ofFile.token),
      await download(ofFile.token, files.plan),
    ];
    expect(codes(refused)).toEqual(refused.map(() => NOT_FOUND));
  });
});

describe('a download by the link of a folder', () => {
  test('costs three statements and counts once; a range with its proof does not count again, even if used up', async () => {
    const { ada, files, share } = await course({ max_downloads: 2 });
    const { reply: whole, sql } = await tenant.counting(() => download(share.token, files.week));
    const first = await download(share.token, files.plan, { range: 'bytes=0-6' });
    const cookie = (first.headers['set-cookie'] ?? '').split(';')[0] ?? '';
    const rest = await download(share.token, files.plan, { range: 'bytes=7-', cookie });

    expect([whole.status, whole.bytes.toString(), sql.length]).toEqual([200, CONTENT, 3]);
    expect(first.headers['set-cookie']).toMatch(`; Path=/api/v1/s/${share.token}/files/${files.plan}/download; `);
    expect([first.bytes.toString(), rest.status, rest.bytes.toString()]).toEqual(['content', 206, ' of the file']);
    expect(await count(ada, share)).toBe(2);
    const refused = [
      await download(share.token, files.plan, { cookie }),
      // The proof is of a file with the same content.
      await download(share.token, files.week, { range: 'bytes=7-', cookie }),
      await show(share.token),
      await children(share.token),
    ];
    expect(codes(refused)).toEqual(refused.map(() => NOT_FOUND));
  });

  test('is given exactly max_downloads times to 30 that race', async () => {
    const { ada, files, share } = await course({ max_downloads: 3 });
    const replies = await Promise.all(
      range(30).map((at) => untilServed(() => download(share.token, at % 2 ? files.week : files.plan))),
    );

    expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 3, 404: 27 });
    expect(await count(ada, share)).toBe(3);
  });
});

describe('the link of a folder with a password', () => {
  test('asks for it, and then for a day takes the session that proves it, which no other link and password takes', async () => {
    const { ada, files, share } = await course({ password: PASSWORD });
    const other = await course({ password: PASSWORD });
    const asked = [await children(share.token), await download(share.token, files.plan)];
    const wrong = { 'x-share-password': 'wrong' };
    const refused = [await show(share.token, wrong), await children(share.token, {}, wrong)];
    const silent = await show(share.token);
    const begun = await show(share.token, HEADER);
    const session = { 'x-share-session': begun.headers['x-share-session'] ?? '' };
    const cookie = { cookie: (begun.headers['set-cookie'] ?? '').split(';')[0] ?? '' };

    expect(codes(asked)).toEqual(asked.map(() => [401, 'share_password_required']));
    expect(codes(refused)).toEqual(refused.map(() => [401, 'share_password_wrong']));
    expect([silent.status, silent.body.has_password, silent.headers['x-share-session']]).toEqual([200, true, undefined]);
    expect(begun.headers['set-cookie']).toMatch(
      new RegExp(`^carrel_share=v1\\.[^;]+; Path=/api/v1/s/${share.token}; Max-Age=86400; HttpOnly; SameSite=Lax$`),
    );
    const admitted = [
      await children(share.token, {}, HEADER),
      await children(share.token, {}, session),
      await children(share.token, {}, cookie),
      await download(share.token, files.plan, session),
    ];
    expect(admitted.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const foreign = [
      await children(other.share.token, {}, session),
      await children(share.token, {}, { 'x-share-session': 'v1.test.AAAA' }),
    ];
    aheadMs = 86_401_000;
    foreign.push(await children(share.token, {}, session));
    aheadMs = 0;
    await ada.api.patch(`/shares/${share.id}`, { password: 'a new password' });
    foreign.push(await children(share.token, {}, session));
    expect(codes(foreign)).toEqual(foreign.map(() => [401, 'share_password_required']));
  });

  test('refuses guesses after ten from one network, the right one too', async () => {
    const { share } = await course({ password: PASSWORD });
    for (const _ of range(10)) await children(share.token, {}, { 'x-share-password': 'wrong' });

    expect(codes([await children(share.token, {}, HEADER), await show(share.token, HEADER)])).toEqual([
      [429, 'too_many_attempts'],
      [429, 'too_many_attempts'],
    ]);
  });
});

test('a folder’s link that does not work is a 404, all alike, and works again with what it needs', async () => {
  const { ada, top, files, share } = await course({ expires_at: new Date(Date.now() + 60_000).toISOString() });
  const [bob, elsewhere] = [await tenant.user(), await folder(ada.api, 'elsewhere')];
  await ada.api.post(`/folders/${top}/permissions`, { user_id: bob.user.id, permission_level: 'admin' });
  const ofBob = await link(bob.api, top);
  const statuses = async ({ token }: Share): Promise<number[]> => {
    const sent = [await show(token), await children(token), await download(token, files.plan)];
    const words = new Set(sent.filter(({ status }) => status === 404).map(({ body }) => body.message));
    expect(words.size).toBeLessThan(2);
    return sent.map(({ status }) => status);
  };
  const [works, dead] = [
    [200, 200, 200],
    [404, 404, 404],
  ];
  const { body: grants } = await ada.api.get(`/folders/${top}/permissions`);

  expect([await statuses(share), await statuses(ofBob)]).toEqual([works, works]);
  await ada.api.patch(`/folders/${top}`, { parent_id: elsewhere });
  expect(await statuses(share)).toEqual(works);
  await ada.api.delete(`/folders/${elsewhere}`);
  expect(await statuses(share)).toEqual(dead);
  expect((await ada.api.get('/shares')).body.data).toEqual([]);
  await ada.api.post(`/folders/${elsewhere}/restore`);
  expect(await statuses(share)).toEqual(works);
  await ada.api.patch(`/shares/${share.id}`, { is_active: false });
  expect(await statuses(share)).toEqual(dead);
  await ada.api.patch(`/shares/${share.id}`, { is_active: true });
  await ada.api.patch(`/folders/${top}/permissions/${grants.data[0].id}`, { permission_level: 'write' });
  expect([await statuses(share), await statuses(ofBob)]).toEqual([works, dead]);
  await ada.api.patch(`/folders/${top}/permissions/${grants.data[0].id}`, { permission_level: 'admin' });
  await tenant.admin.patch(`/users/${bob.user.id}`, { is_active: false });
  expect(await statuses(ofBob)).toEqual(dead);
  await tenant.admin.patch(`/users/${ada.user.id}`, { roles: ['viewer'] });
  expect(await statuses(share)).toEqual(dead);
  await tenant.admin.patch(`/users/${ada.user.id}`, { roles: ['member'] });
  aheadMs = 61_000;
  const late = await statuses(share);
  aheadMs = 0;
  expect([late, await statuses(share)]).toEqual([dead, works]);
  await ada.api.delete(`/folders/${elsewhere}?permanent=true`);
  expect([await statuses(share), (await ada.api.get(`/shares/${share.id}`)).status]).toEqual([dead, 404]);
});

test('links of folders pass on with the folders of a deleted user, and count to whoever has them', async () => {
  const [{ ada, share }, bob] = [await course(), await tenant.user()];
  await tenant.admin.delete(`/users/${ada.user.id}?transfer_to=${bob.user.id}`);

  expect((await show(share.token)).status).toBe(200);
  expect((await bob.api.get(`/shares/${share.id}`)).body.created_by.id).toBe(bob.user.id);
});

test('the audit log shows who made a folder’s link, of what and for what, and each download by it', async () => {
  const { ada, top, files, share } = await course({ mode: 'both' });
  await download(share.token, files.plan);
  const { body } = await tenant.admin.get('/audit', { query: { target_id: share.id } });

  expect(
    (body.data as { action: string; actor: object | null; changes: object }[]).map(({ action, actor, changes }) => ({
      action,
      actor,
      changes,
    })),
  ).toEqual([
    { action: 'share.download', actor: null, changes: {} },
    {
      action: 'share.create',
      actor: expect.objectContaining({ id: ada.user.id }),
      changes: expect.objectContaining({ folder_id: { from: null, to: top }, mode: { from: null, to: 'both' } }),
    },
  ]);
});

describe('the archive of a folder’s link', () => {
  const zip = (token: string, headers: Record<string, string> = {}): Promise<ApiReply> =>
    anyone().get(`/s/${token}/zip`, { headers });

  test('has what the owner’s archive has; it counts once, and its ranges go on while the folder is as it was', async () => {
    const { ada, top, files, share } = await course({ max_downloads: 1 });
    const own = await ada.api.get(`/folders/${top}/zip`);
    const nothing = [await anyone().head(`/s/${share.token}/zip`), await zip(share.token, { range: 'bytes=100000-' })];
    const first = await zip(share.token, { range: 'bytes=0-99' });
    const cookie = (first.headers['set-cookie'] ?? '').split(';')[0] ?? '';
    const rest = await zip(share.token, { range: 'bytes=100-', cookie });

    expect(nothing.map(({ status }) => status)).toEqual([200, 416]);
    expect([first.status, rest.status]).toEqual([206, 206]);
    expect(Buffer.concat([first.bytes, rest.bytes]).equals(own.bytes)).toBe(true);
    expect(first.headers['content-disposition']).toBe(own.headers['content-disposition']);
    expect(await count(ada, share)).toBe(1);
    const refused = [await zip(share.token, { cookie }), await zip(share.token), await zip(share.token, { range: 'bytes=1-' })];
    await ada.api.upload(`/files/${files.plan}`, { method: 'PUT', name: 'a', file: Buffer.from('another content') });
    refused.push(await zip(share.token, { range: 'bytes=100-', cookie }));
    expect(codes(refused)).toEqual(refused.map(() => NOT_FOUND));
  });

  test('is not planned for somebody without the password, and is none of a link for uploads or of a file', async () => {
    const { ada, files, share } = await course({ password: PASSWORD });
    const { body: ofFile } = await ada.api.post(`/files/${files.plan}/share`, {});
    const upload = await course({ mode: 'upload' });
    const { reply: asked, sql } = await tenant.counting(() => zip(share.token));
    const forged = await zip(share.token, { cookie: 'carrel_download=v1.test.AAAA' });

    expect([...codes([asked, forged]), sql.length]).toEqual([
      [401, 'share_password_required'],
      [401, 'share_password_required'],
      1,
    ]);
    expect((await zip(share.token, HEADER)).status).toBe(200);
    expect(codes([await zip(upload.share.token), await zip(ofFile.token)])).toEqual([NOT_FOUND, NOT_FOUND]);
  });
});
