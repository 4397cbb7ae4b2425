import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';

let aheadMs = 0;
const tenant = serverSuite({ clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) } });

type Person = Awaited<ReturnType<TestTenant['user']>>;
type Share = { id: string; token: string; url: string; etag: string };

const CONTENT = 'content of the file';
const PASSWORD = 'pässword of a link';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const inSeconds = (seconds: number): string => new Date(Date.now() + aheadMs + seconds * 1000).toISOString();
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);
const anyone = (): typeof tenant.anonymous => tenant.anonymous;
const download = (token: string, headers: Record<string, string> = {}, query = ''): Promise<ApiReply> =>
  anyone().get(`/s/${token}/download${query}`, { headers });

async function shared(person: Person, terms: object = {}, content = CONTENT): Promise<{ file: string; share: Share }> {
  const { body } = await person.api.upload('/files', {
    name: `${randomUUID()}.txt`,
    file: Buffer.from(content),
    type: 'text/plain',
  });
  const made = await person.api.post(`/files/${body.id}/share`, terms);
  expect(made.status).toBe(201);
  return { file: body.id, share: made.body };
}
const count = async (person: Person, { id }: Share): Promise<number> =>
  (await person.api.get(`/shares/${id}`)).body.download_count;

describe('share links', () => {
  test('are made by an admin of the file by two statements, and are shown with their terms', async () => {
    const ada = await tenant.user();
    const { body: file } = await ada.api.upload('/files', { name: 'thesis.txt', file: Buffer.from(CONTENT) });
    await ada.api.get(`/files/${file.id}`);
    const { reply: made, sql } = await tenant.counting(() => ada.api.post(`/files/${file.id}/share`));
    const path = `/shares/${made.body.id}`;

    expect([made.status, sql.length]).toEqual([201, 2]);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
      url: `${tenant.url}/s/${made.body.token}`,
      file_id: file.id,
      file_name: 'thesis.txt',
      folder_id: null,
      folder_name: null,
      mode: 'download',
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
    expect((await ada.api.get(path)).body).toEqual(made.body);
    expect((await ada.api.get(path, { headers: { 'if-none-match': `"${made.body.etag}"` } })).status).toBe(304);
  });

  test('say that they have a password, and show neither it nor its hash', async () => {
    const { share } = await shared(await tenant.user(), { password: PASSWORD });

    expect(share).toMatchObject({ has_password: true });
    expect(JSON.stringify(share)).not.toMatch(/argon|ssword of/);
  });

  test('are listed of a file and of a person, the newest first', async () => {
    const ada = await tenant.user();
    const { file, share: first } = await shared(ada);
    const { body: second } = await ada.api.post(`/files/${file}/share`, { max_downloads: 2 });
    const lists = [await ada.api.get(`/files/${file}/shares`), await ada.api.get('/shares')];

    expect(lists.map(({ body }) => body.data)).toEqual([
      [second, first],
      [second, first],
    ]);
  });

  test('are changed by one of ten racing changes of the same version', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada);
    const match = { headers: { 'if-match': `"${share.etag}"` } };
    const racing = await Promise.all(
      range(10).map((at) => ada.api.patch(`/shares/${share.id}`, { max_downloads: at + 1 }, match)),
    );

    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 412: 9 });
  });

  test('have all of their terms replaced by a PUT', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada, { password: PASSWORD, expires_at: inSeconds(60), max_downloads: 2 });
    const none = { expires_at: null, max_downloads: null, is_active: false };

    expect((await ada.api.put(`/shares/${share.id}`, { password: null, ...none })).body).toMatchObject({
      has_password: false,
      ...none,
    });
  });

  test('are deleted, but not as a version that has changed, and are not found then', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada);
    const path = `/shares/${share.id}`;
    await ada.api.patch(path, { max_downloads: 3 });

    expect(codes([await ada.api.delete(path, { headers: { 'if-match': `"${share.etag}"` } })])).toEqual([
      [412, 'precondition_failed'],
    ]);
    expect((await ada.api.delete(path)).status).toBe(204);
    expect(codes([await ada.api.get(path)])).toEqual([[404, 'not_found']]);
  });

  test.each([
    ['password', { password: 'short' }],
    ['password', { password: 'x'.repeat(257) }],
    ['expires_at', { expires_at: '2001-01-01T00:00:00Z' }],
    ['max_downloads', { max_downloads: 0 }],
    ['token', { token: '0'.repeat(64) }],
  ])('with a wrong %s are a 400 that names it, when they are made and when they are changed', async (field, body) => {
    const ada = await tenant.user();
    const { file, share } = await shared(ada);
    const replies = [await ada.api.post(`/files/${file}/share`, body), await ada.api.patch(`/shares/${share.id}`, body)];

    expect(replies.map((reply) => [reply.status, reply.body.details[0].field])).toEqual([
      [400, field],
      [400, field],
    ]);
  });

  test('are managed by admins of the file alone; an administrator sees them without the token and may delete them', async () => {
    const [ada, bob, reader, stranger] = await Promise.all([tenant.user(), tenant.user(), tenant.user(), tenant.user()]);
    const { file, share } = await shared(ada);
    await ada.api.post(`/files/${file}/permissions`, { user_id: bob.user.id, permission_level: 'admin' });
    await ada.api.post(`/files/${file}/permissions`, { user_id: reader.user.id, permission_level: 'write' });
    const attempts = async (api: Person['api']): Promise<number[]> => {
      const sent = [
        await api.post(`/files/${file}/share`),
        await api.get(`/files/${file}/shares`),
        await api.get(`/shares/${share.id}`),
        await api.patch(`/shares/${share.id}`, { max_downloads: 5 }),
      ];
      return sent.map(({ status }) => status);
    };
    const other = await startTenant();

    expect(await attempts(bob.api)).toEqual([201, 200, 200, 200]);
    expect(await attempts(reader.api)).toEqual([403, 403, 404, 404]);
    expect(await attempts(stranger.api)).toEqual([404, 404, 404, 404]);
    expect(await attempts(other.admin)).toEqual([404, 404, 404, 404]);
    expect(codes([await other.anonymous.get(`/s/${share.token}`)])).toEqual([[404, 'not_found']]);
    await other.stop();
    expect(await attempts(tenant.admin)).toEqual([404, 404, 200, 403]);
    const all = (await tenant.admin.get('/shares?limit=200')).body.data as Share[];
    expect(all.find(({ id }) => id === share.id)).toMatchObject({ token: null, url: null, file_id: file });
    expect((await reader.api.get('/shares')).body.data).toEqual([]);
    expect([
      (await stranger.api.delete(`/shares/${share.id}`)).status,
      (await tenant.admin.delete(`/shares/${share.id}`)).status,
    ]).toEqual([404, 204]);
  });
});

test('a link whose maker may no longer share is a 404; its maker can only see, switch off and delete it', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const [own, other] = [await shared(ada), await shared(bob)];
  await bob.api.post(`/files/${other.file}/permissions`, { user_id: ada.user.id, permission_level: 'admin' });
  const granted = (await ada.api.post(`/files/${other.file}/share`)).body as Share;
  const become = (roles: string[]): Promise<ApiReply> => tenant.admin.patch(`/users/${ada.user.id}`, { roles });
  const opened = async (): Promise<number[]> =>
    Promise.all(
      [own.share, granted].flatMap(({ token }) =>
        [anyone().get(`/s/${token}`), download(token)].map(async (sent) => (await sent).status),
      ),
    );

  expect(await opened()).toEqual([200, 200, 200, 200]);
  await become(['viewer']);
  expect(await opened()).toEqual([404, 404, 404, 404]);
  expect(((await ada.api.get('/shares')).body.data as Share[]).map(({ id }) => id).sort()).toEqual(
    [own.share.id, granted.id].sort(),
  );
  expect((await ada.api.get(`/shares/${granted.id}`)).status).toBe(200);
  expect((await ada.api.get(`/shares/${other.share.id}`)).status).toBe(404);
  expect((await ada.api.delete(`/shares/${other.share.id}`)).status).toBe(404);
  for (const change of [
    { is_active: true },
    { max_downloads: 3 },
    { is_active: false, expires_at: null },
    { password: PASSWORD },
  ])
    expect(codes([await ada.api.patch(`/shares/${granted.id}`, change)])).toEqual([[403, 'forbidden']]);
  expect(codes([await ada.api.post(`/files/${own.file}/share`), await ada.api.get(`/files/${own.file}/shares`)])).toEqual([
    [403, 'forbidden'],
    [403, 'forbidden'],
  ]);
  expect((await ada.api.patch(`/shares/${granted.id}`, { is_active: false })).body.is_active).toBe(false);
  await become(['instructor']);
  expect(await opened()).toEqual([200, 200, 404, 404]);
  await become(['viewer']);
  expect((await ada.api.delete(`/shares/${own.share.id}`)).status).toBe(204);
  await become(['member']);
  expect(await opened()).toEqual([404, 404, 404, 404]);
});

describe('a download by share link', () => {
  test('needs no sign-in, for two statements; it counts once; what sends nothing does not count', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada, { max_downloads: 5 });
    const info = await tenant.counting(() => anyone().get(`/s/${share.token}`));
    const whole = await tenant.counting(() => download(share.token));

    expect([info.sql.length, info.reply.body]).toEqual([
      1,
      {
        kind: 'file',
        mode: 'download',
        name: expect.stringMatching(/\.txt$/),
        size: 19,
        mime_type: 'text/plain',
        has_password: false,
        expires_at: null,
        downloads_left: 5,
      },
    ]);
    expect([whole.reply.status, whole.reply.bytes.toString(), whole.sql.length]).toEqual([200, CONTENT, 2]);
    expect(whole.reply.headers).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment; /),
      'content-security-policy': "sandbox; default-src 'none'",
      'set-cookie': expect.stringMatching(
        `^carrel_download=v1\\.[^;]+; Path=/api/v1/s/${share.token}/download; Max-Age=86400; HttpOnly; SameSite=Lax$`,
      ),
    });
    const etag = whole.reply.headers.etag ?? '';
    const nothing = [
      await anyone().head(`/s/${share.token}/download`),
      await download(share.token, { 'if-none-match': etag }),
      await download(share.token, { range: 'bytes=19-' }),
    ];
    expect(nothing.map(({ status }) => status)).toEqual([200, 304, 416]);
    expect(await count(ada, share)).toBe(1);
    expect((await anyone().get(`/s/${share.token}`)).body.downloads_left).toBe(4);
  });

  test('a link with max_downloads 3 serves exactly 3 of 50 racing downloads', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada, { max_downloads: 3 });
    const replies = await Promise.all(range(50).map(() => untilServed(() => download(share.token))));

    expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 3, 404: 47 });
    expect(replies.filter(({ status }) => status === 200).every(({ bytes }) => bytes.toString() === CONTENT)).toBe(true);
    expect(await count(ada, share)).toBe(3);
  });

  test('later ranges with the cookie or parameter do not count, even once used up; nothing else proves a download', async () => {
    const ada = await tenant.user();
    const { file, share } = await shared(ada, { max_downloads: 1, password: PASSWORD });
    const password = { 'x-share-password': Buffer.from(PASSWORD).toString('latin1') };
    const first = await download(share.token, { range: 'bytes=0-6', ...password });
    const proof = first.headers['x-share-download'] ?? '';
    const cookie = (first.headers['set-cookie'] ?? '').split(';')[0] ?? '';
    const query = `?download=${encodeURIComponent(proof)}`;
    const { reply: byCookie, sql } = await tenant.counting(() => download(share.token, { range: 'bytes=7-', cookie }));
    const byParameter = await download(share.token, { range: 'bytes=8-9' }, query);

    expect([first.status, first.bytes.toString()]).toEqual([206, 'content']);
    expect([byCookie.status, byCookie.bytes.toString(), sql.length, byParameter.bytes.toString()]).toEqual([
      206,
      ' of the file',
      1,
      'of',
    ]);
    expect(await count(ada, share)).toBe(1);
    const other = await shared(ada, { max_downloads: 1 });
    const etag = first.headers.etag ?? '';
    const refused = [
      await download(share.token, { cookie }), // whole, so another download
      await download(share.token, { range: 'bytes=7-', 'if-range': etag, ...password }),
      await download(share.token, { range: 'bytes=7-', ...password }, '?download=v1.test.AAAA'),
      await download(share.token, { range: 'bytes=7-', 'if-range': '"another"', cookie }),
    ];
    expect(codes(refused)).toEqual(range(4).map(() => [404, 'not_found']));
    expect((await download(other.share.token, { range: 'bytes=7-' }, query)).status).toBe(206);
    expect(await count(ada, other.share)).toBe(1); // it counted: the proof is of another link
    aheadMs = 86_401_000;
    const late = await download(share.token, { range: 'bytes=7-', cookie });
    aheadMs = 0;
    await ada.api.upload(`/files/${file}`, { method: 'PUT', name: 'a', file: Buffer.from('another content') });
    expect(codes([late, await download(share.token, { range: 'bytes=7-', cookie })])).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
    await ada.api.patch(`/shares/${share.id}`, { max_downloads: null, password: 'a new password' });
    expect(codes([await download(share.token, { range: 'bytes=7-', cookie })])).toEqual([[401, 'share_password_required']]);
  });

  test('that the store does not begin counts nothing', async () => {
    const ada = await tenant.user();
    const { file, share } = await shared(ada, { max_downloads: 1 });
    const [row] = await tenant.db.query<{ key: string }>('SELECT blob_name AS key FROM files WHERE uuid = $1', [file]);
    await tenant.objects.delete([row?.key ?? '']);

    expect(codes([await download(share.token)])).toEqual([[404, 'not_found']]);
    expect(await count(ada, share)).toBe(0);
    await ada.api.delete(`/files/${file}?permanent=true`);
  });

  test('links that do not work are a 404, all alike: info, download and page', async () => {
    const [ada, bob, carl] = await Promise.all([tenant.user(), tenant.user(), tenant.user()]);
    const inactive = await shared(ada);
    await ada.api.patch(`/shares/${inactive.share.id}`, { is_active: false });
    const expired = await shared(ada, { expires_at: inSeconds(60), password: PASSWORD });
    const usedUp = await shared(ada, { max_downloads: 1 });
    await download(usedUp.share.token);
    const trashed = await shared(ada);
    await ada.api.delete(`/files/${trashed.file}`);
    const deleted = await shared(ada);
    await ada.api.delete(`/shares/${deleted.share.id}`);
    const makers = await Promise.all(
      [bob, carl, bob].map(async (maker) => {
        const { file } = await shared(ada);
        const grant = await ada.api.post(`/files/${file}/permissions`, { user_id: maker.user.id, permission_level: 'admin' });
        const share = (await maker.api.post(`/files/${file}/share`)).body as Share;
        expect((await download(share.token)).status).toBe(200);
        return { share, grant: `/files/${file}/permissions/${grant.body.id}` };
      }),
    );
    const [revoked, ofDeleted, lowered] = makers as [(typeof makers)[0], (typeof makers)[0], (typeof makers)[0]];
    await ada.api.delete(revoked.grant);
    await ada.api.patch(lowered.grant, { permission_level: 'read' });
    await tenant.admin.delete(`/users/${carl.user.id}`);
    const dora = await tenant.user();
    const ofInactive = await shared(dora);
    await tenant.admin.patch(`/users/${dora.user.id}`, { is_active: false });
    const tokens = [
      '0'.repeat(64),
      'no-token',
      inactive.share.token.toUpperCase(),
      `${inactive.share.token}0`,
      'x'.repeat(3000),
      ...[inactive, expired, usedUp, trashed, deleted, revoked, ofDeleted, lowered, ofInactive].map(({ share }) => share.token),
    ];
    aheadMs = 61_000;
    const replies = await Promise.all(
      tokens.flatMap((token) => [
        anyone().get(`/s/${token}`),
        download(token, { 'x-share-password': PASSWORD.replace('ä', 'a') }),
        anyone().post(`/s/${token}/download`, { password: 'whatever it is' }),
      ]),
    );
    const pages = await Promise.all(tokens.map((token) => anyone().get(`${tenant.url}/s/${token}`)));
    aheadMs = 0;

    expect(new Set(replies.map(({ status, body }) => `${status} ${body?.error} ${body?.message}`))).toEqual(
      new Set(['404 not_found The resource does not exist, or the caller may not see it.']),
    );
    // Each page names the id of its request, by which an administrator finds it in the log.
    const idsShown = pages.map(({ bytes }) => /Request <code>(.+)<\/code>/.exec(bytes.toString())?.[1] ?? 'none');
    expect(idsShown).toEqual(pages.map(({ headers }) => headers['x-request-id']));
    expect(
      new Set(pages.map(({ status, bytes }, at) => `${status} ${bytes.toString().replace(idsShown[at] ?? '', 'ID')}`)).size,
    ).toBe(1);
    expect([pages[0]?.status, pages[0]?.bytes.toString()]).toEqual([
      404,
      expect.stringContaining('<h1>This link does not work</h1>'),
    ]);
    // It works again with what it needs.
    await ada.api.post(`/files/${trashed.file}/restore`);
    expect((await download(trashed.share.token)).status).toBe(200);
    expect((await bob.api.get('/shares')).body.data).toEqual([]);
  });

  test('links of a deleted user pass on with their files', async () => {
    const [ada, bob] = await Promise.all([tenant.user(), tenant.user()]);
    const { share } = await shared(ada);
    await tenant.admin.delete(`/users/${ada.user.id}?transfer_to=${bob.user.id}`);

    expect((await download(share.token)).status).toBe(200);
    expect((await bob.api.get(`/shares/${share.id}`)).body.created_by.id).toBe(bob.user.id);
  });
});
