import { describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { UPLOADS_PER_HOUR } from '../../../pkg/content/sharing/link-uploads.service.ts';
import { NAME_ATTEMPTS } from '../../../pkg/content/model/names/alternative-names.policy.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { HOUR_MS } from '../../../pkg/runtime/time.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, inParallel, range, waitFor } from '../../support/wait.ts';
import { objectCount, quotaOf } from './tenant-state.ts';

/** The server's clock begins with an hour: by the hour, uploads by a link are counted anew. */
const TO_NEXT_HOUR_MS = HOUR_MS - (Date.now() % HOUR_MS);
let aheadMs = 0;
const tenant = serverSuite({
  clock: { ...systemClock, now: () => new Date(Date.now() + TO_NEXT_HOUR_MS + aheadMs) },
  maxUploadBytes: 20 << 20,
});

const NOT_FOUND = [404, 'not_found'];
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);

interface Sent {
  readonly name?: string;
  readonly by?: string;
  readonly content?: Buffer | Readable | string;
  readonly headers?: Record<string, string>;
}
const send = (
  token: string,
  { name = 'essay.txt', by = 'Grace', content = 'essay', headers = {} }: Sent = {},
): Promise<ApiReply> =>
  tenant.anonymous.upload(`/s/${token}/files`, {
    name,
    file: typeof content === 'string' ? Buffer.from(content) : content,
    fields: by === '' ? {} : { uploaded_by: by },
    headers,
  });
const sessionOf = ({ headers }: ApiReply): Record<string, string> => ({ 'x-share-session': headers['x-share-session'] ?? '' });
const show = (token: string, headers: Record<string, string> = {}): Promise<ApiReply> =>
  tenant.anonymous.get(`/s/${token}`, { headers });

/** Ada's folder `essays`, with a link for uploads. */
async function request(terms: object = {}, quota?: number) {
  const ada = await tenant.user();
  const { body: folder } = await ada.api.post('/folders', { name: 'essays' });
  const { body: share } = await ada.api.post(`/folders/${folder.id}/share`, { mode: 'upload', ...terms });
  if (quota !== undefined) await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: quota });
  const inFolder = async (): Promise<{ name: string; uploaded_by: string | null; id: string; owner: { id: string } }[]> =>
    (await ada.api.get(`/folders/${folder.id}/children`, { query: { limit: '200' } })).body.data;
  return { ada, folder: folder.id as string, token: share.token as string, share: share.id as string, inFolder };
}

describe('a file request', () => {
  test('takes a file of whoever has the link: it is the maker’s, counts to their quota, and names who sent it', async () => {
    const { ada, token, inFolder } = await request();
    const { reply: sent, sql } = await tenant.counting(() => send(token, { by: ' Grace  Hopper ', content: 'an essay' }));

    expect([sent.status, sent.body]).toEqual([201, { name: 'essay.txt', size: 8, sent_at: TIME }]);
    expect(sql.length).toBeLessThanOrEqual(12);
    expect(await inFolder()).toEqual([
      expect.objectContaining({
        name: 'essay.txt',
        uploaded_by: 'Grace  Hopper',
        owner: expect.objectContaining({ id: ada.user.id }),
      }),
    ]);
    expect(await quotaOf(tenant, ada.user.id)).toBe(8);
    const [file] = await inFolder();
    expect((await ada.api.get(`/files/${file?.id}/download`)).bytes.toString()).toBe('an essay');
  });

  test('shows a sender the folder’s name, the greatest size and what they sent in their session, and nothing else', async () => {
    const { ada, folder, token } = await request();
    await ada.api.upload('/files', { name: 'secret.txt', file: Buffer.from('secret'), fields: { folder_id: folder } });
    const first = await send(token);
    const session = sessionOf(first);
    const again = await send(token, { name: 'more.txt', headers: session });
    const other = await send(token, { name: 'other.txt', by: 'Linus' });
    const [shown, ofOther, ofNobody] = [await show(token, session), await show(token, sessionOf(other)), await show(token)];

    expect([first.headers['set-cookie'], again.headers['set-cookie']]).toEqual([
      expect.stringMatching(`^carrel_share=.*; Path=/api/v1/s/${token}; `),
      undefined,
    ]);
    expect(shown.body).toEqual({
      kind: 'folder',
      mode: 'upload',
      name: 'essays',
      has_password: false,
      expires_at: null,
      downloads_left: null,
      max_upload_size: 20 << 20,
      sent: [
        { name: 'more.txt', size: 5, sent_at: TIME },
        { name: 'essay.txt', size: 5, sent_at: TIME },
      ],
    });
    expect([ofOther.body.sent, ofNobody.body.sent]).toEqual([[expect.objectContaining({ name: 'other.txt' })], []]);
  });

  test('says how large a file may be: what the service takes, or for what its maker has room, rounded down', async () => {
    const { ada, folder, token } = await request({}, 10_000_000);
    const large = [(await show(token)).body.max_upload_size];
    await ada.api.upload('/files', { name: 'notes.txt', file: Buffer.alloc(123_456), fields: { folder_id: folder } });
    large.push((await show(token)).body.max_upload_size);
    await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: 123_456 });
    large.push((await show(token)).body.max_upload_size);
    const locked = await request({ password: 'pässword of a link' }, 10_000_000);
    large.push((await show(locked.token)).body.max_upload_size);

    expect(large).toEqual([9_961_472, 9_699_328, 0, 20 << 20]);
  });

  test('opens where nobody may have more files, lists what is there, and says that it takes nothing', async () => {
    const { ada, folder, token } = await request({ mode: 'both' });
    await ada.api.upload('/files', { name: 'notes.txt', file: Buffer.from('notes'), fields: { folder_id: folder } });
    const limit = (files: number | null) =>
      tenant.rows.pool.query('UPDATE carrel.tenants SET files_limit = $2 WHERE role = $1', [tenantRole(tenant.slug), files]);
    await limit(1);
    try {
      const shown = await show(token);
      const children = await tenant.anonymous.get(`/s/${token}/children`);

      expect([shown.status, shown.body]).toEqual([200, expect.objectContaining({ name: 'essays', max_upload_size: 0 })]);
      expect(children.body.data.map(({ name }: { name: string }) => name)).toEqual(['notes.txt']);
      expect(codes([await send(token)])).toEqual([[507, 'quota_exceeded']]);
    } finally {
      await limit(null);
    }
    expect((await show(token)).body.max_upload_size).toBe(20 << 20);
  });

  test('renames a file whose name is taken, with the sender’s name, and does not say so', async () => {
    const { ada, folder, token, inFolder } = await request();
    await ada.api.upload('/files', { name: 'essay.txt', file: Buffer.from('mine'), fields: { folder_id: folder } });
    const sent = [await send(token), await send(token), await send(token), await send(token, { by: '../Eve\\' })];

    expect(sent.map(({ status, body }) => [status, body.name])).toEqual(range(4).map(() => [201, 'essay.txt']));
    expect((await inFolder()).map(({ name }) => name).toSorted()).toEqual(
      ['essay (..-Eve-).txt', 'essay (Grace) (1).txt', 'essay (Grace) (2).txt', 'essay (Grace).txt', 'essay.txt'].toSorted(),
    );
  });

  test('takes as many files of one name from one sender as they send, as a telephone names its pictures', async () => {
    const { ada, folder, token, inFolder } = await request();
    const taken = ['image.jpg', 'image (Grace).jpg', ...range(NAME_ATTEMPTS).map((at) => `image (Grace) (${at + 1}).jpg`)];
    await inParallel(taken, 8, (name) =>
      ada.api.upload('/files', { name, file: Buffer.from('mine'), fields: { folder_id: folder } }),
    );
    const sent = await Promise.all(range(3).map(() => send(token, { name: 'image.jpg' })));

    expect(sent.map(({ status, body }) => [status, body.name])).toEqual(range(3).map(() => [201, 'image.jpg']));
    const names = (await inFolder()).map(({ name }) => name).filter((name) => !taken.includes(name));
    expect(names).toEqual(range(3).map(() => expect.stringMatching(/^image \(Grace\) \([0-9a-f]{8}\)\.jpg$/)));
  });

  test('with mode both lists and sends what is there too; one for downloads takes nothing', async () => {
    const both = await request({ mode: 'both' });
    await send(both.token);
    const { body } = await tenant.anonymous.get(`/s/${both.token}/children`);
    const downloads = await request({ mode: 'download' });

    expect(body.data).toEqual([{ type: 'file', id: ID, name: 'essay.txt', size: 5, mime_type: 'text/plain', updated_at: TIME }]);
    expect((await tenant.anonymous.get(`/s/${both.token}/files/${body.data[0].id}/download`)).bytes.toString()).toBe('essay');
    expect(codes([await send(downloads.token)])).toEqual([NOT_FOUND]);
    expect(await downloads.inFolder()).toEqual([]);
  });

  test('gives the event file.created of a file of the maker’s, which names no sender', async () => {
    const { ada, token, inFolder } = await request();
    await addWebhook(tenant, { events: ['file.created'] });
    await send(token, { by: 'Grace Hopper', content: 'an essay' });
    const [file] = await inFolder();
    const events = (await writtenEvents(tenant)).map(({ event, data }) => [event, data]);

    expect(events).toEqual([
      ['file.created', { id: file?.id, name: 'essay.txt', size: 8, owner_id: ada.user.id, created_at: TIME }],
    ]);
  });

  test('leaves an entry in the audit log that names no person but the sender as they typed it', async () => {
    const { token, inFolder } = await request();
    await send(token);
    const [file] = await inFolder();
    const { body } = await tenant.admin.get('/audit', { query: { target_id: file?.id ?? '' } });

    expect(body.data).toEqual([
      expect.objectContaining({
        action: 'file.upload',
        actor: null,
        changes: expect.objectContaining({ uploaded_by: { from: null, to: 'Grace' } }),
      }),
    ]);
  });
});

describe('a hostile sender', () => {
  test.each([
    ['a path', '../../etc/passwd', 'file'],
    ['a backslash', '..\\boot.ini', 'file'],
    ['a control character', 'a\nb.txt', 'file'],
    ['an override of direction', 'exe.\u202Egpj', 'file'],
    ['4 KiB', 'a'.repeat(4096), 'file'],
    ['no visible character', ' \u200B ', 'file'],
  ])('gets a 400 for a name of a file with %s, and nothing is stored', async (_, name, field) => {
    const { token, inFolder } = await request();
    const before = await objectCount(tenant);
    const sent = await send(token, { name });

    expect([sent.status, sent.body.details?.[0]?.field]).toEqual([400, field]);
    expect([await inFolder(), await objectCount(tenant)]).toEqual([[], before]);
  });

  test.each([
    ['none', ''],
    ['spaces alone', '   '],
    ['a control character', 'Gr\u0000ace'],
    ['an override of direction', '\u202EecarG'],
    ['4 KiB', 'G'.repeat(4096)],
    ['101 characters', 'G'.repeat(101)],
  ])('gets a 400 for a name of their own that is %s, and nothing stays', async (_, by) => {
    const { token, inFolder } = await request();
    const before = await objectCount(tenant);
    const sent = await send(token, { by });

    expect([sent.status, sent.body.error]).toEqual([400, 'validation_failed']);
    expect([await inFolder(), await objectCount(tenant)]).toEqual([[], before]);
  });

  test('cannot name another folder, replace a file, or forge a session', async () => {
    const { ada, token, inFolder } = await request();
    const { body: other } = await ada.api.post('/folders', { name: 'other' });
    const attack = (fields: Record<string, string>, headers: Record<string, string> = {}): Promise<ApiReply> =>
      tenant.anonymous.upload(`/s/${token}/files`, {
        name: 'essay.txt',
        file: Buffer.from('x'),
        fields: { uploaded_by: 'Eve', ...fields },
        headers,
      });

    expect(codes([await attack({ folder_id: other.id }), await attack({ on_conflict: 'replace' })])).toEqual([
      [400, 'validation_failed'],
      [400, 'validation_failed'],
    ]);
    const foreign = sessionOf(await send((await request()).token));
    await send(token);
    expect((await show(token, foreign)).body.sent).toEqual([]);
    expect(await inFolder()).toHaveLength(1);
  });

  test('stops at the maker’s quota, and at the greatest size of a file', async () => {
    const { token, inFolder } = await request({}, 1_000);
    const { token: large } = await request();
    const full = [await send(token, { content: Buffer.alloc(600) }), await send(token, { content: Buffer.alloc(600) })];
    const tooLarge = await send(large, { content: Buffer.alloc((20 << 20) + 1) });

    expect([...codes(full), ...codes([tooLarge])]).toEqual([
      [201, undefined],
      [507, 'quota_exceeded'],
      [413, 'payload_too_large'],
    ]);
    expect(await inFolder()).toHaveLength(1);
  });

  test('gets a 429 after the uploads that a link takes in an hour, however many race; those that fail count', async () => {
    const { token, share } = await request();
    await send(token);
    await send(token, { name: '..' });
    const count = async (): Promise<number> => {
      const [row] = await tenant.db.query<{ n: number }>('SELECT uploads_in_hour AS n FROM shares WHERE uuid = $1', [share]);
      return row?.n ?? 0;
    };
    expect(await count()).toBe(2);
    await tenant.db.query('UPDATE shares SET uploads_in_hour = $2 WHERE uuid = $1', [share, UPLOADS_PER_HOUR - 3]);
    const racing = await Promise.all(range(12).map((at) => send(token, { name: `${at}.txt` })));

    expect(countBy(racing, ({ status, body }) => `${status} ${body.error ?? ''}`)).toEqual({
      '201 ': 3,
      '429 rate_limit_exceeded': 9,
    });
    const refused = racing.find(({ status }) => status === 429);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    aheadMs = HOUR_MS;
    const later = await send(token);
    aheadMs = 0;
    expect(later.status).toBe(201);
  });
});

describe('an upload by a link that ends meanwhile', () => {
  /** Begins an upload, changes something once the server has begun to take it, and ends the upload. */
  async function during(token: string, change: () => Promise<unknown>): Promise<ApiReply> {
    const first = tenant.observed.sql.length;
    const content = Readable.from(
      (async function* () {
        yield Buffer.alloc(500, 1);
        await waitFor('the statement that reads the quota before the bytes flow', () =>
          tenant.observed.sql.slice(first).some((sql) => sql.includes('storage_quota')),
        );
        await change();
        yield Buffer.alloc(500, 1);
      })(),
    );
    return send(token, { content });
  }

  test('becomes no file where the link, its password, its folder or the maker’s right has gone, and nothing stays', async () => {
    const before = await objectCount(tenant);
    const cases: Record<string, (of: Awaited<ReturnType<typeof request>>) => Promise<unknown>> = {
      off: ({ ada, share }) => ada.api.patch(`/shares/${share}`, { is_active: false }),
      deleted: ({ ada, share }) => ada.api.delete(`/shares/${share}`),
      password: ({ ada, share }) => ada.api.patch(`/shares/${share}`, { password: 'a new password' }),
      trashed: ({ ada, folder }) => ada.api.delete(`/folders/${folder}`),
      role: ({ ada }) => tenant.admin.patch(`/users/${ada.user.id}`, { roles: ['viewer'] }),
      suspended: ({ ada }) => tenant.admin.patch(`/users/${ada.user.id}`, { is_active: false }),
    };
    const answers: Record<string, unknown> = {};
    for (const [name, change] of Object.entries(cases)) {
      const made = await request();
      const { status, body } = await during(made.token, () => change(made));
      answers[name] = [status, body.error];
    }

    expect(answers).toEqual(Object.fromEntries(Object.keys(cases).map((name) => [name, NOT_FOUND])));
    expect(await objectCount(tenant)).toBe(before);
  });

  test('becomes a file where the folder has moved, and follows it', async () => {
    const { ada, folder, token, inFolder } = await request();
    const { body: target } = await ada.api.post('/folders', { name: 'elsewhere' });
    const sent = await during(token, () => ada.api.patch(`/folders/${folder}`, { parent_id: target.id }));

    expect(sent.status).toBe(201);
    expect(await inFolder()).toHaveLength(1);
  });
});

test('a link for uploads with a password takes nothing without it', async () => {
  const { token, inFolder } = await request({ password: 'correct horse battery' });
  const session = sessionOf(await show(token, { 'x-share-password': 'correct horse battery' }));
  const refused = [await send(token), await send(token, { headers: { 'x-share-password': 'wrong' } })];

  expect(codes(refused)).toEqual([
    [401, 'share_password_required'],
    [401, 'share_password_wrong'],
  ]);
  expect((await send(token, { headers: session })).status).toBe(201);
  expect(await inFolder()).toHaveLength(1);
});
