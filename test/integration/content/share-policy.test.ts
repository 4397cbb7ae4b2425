import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../pkg/runtime/time.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

let aheadMs = 0;
const tenant = serverSuite({ clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) } });

type Person = Awaited<ReturnType<TestTenant['user']>>;

const PASSWORD = 'pässword of a link';
const OPEN = { enabled: true, password_required: false, max_days: null, folder_uploads: true };
const policy = async (rules: object): Promise<void> => {
  const reply = await tenant.admin.patch('/settings', { share_links: { ...OPEN, ...rules } });
  expect(reply.status).toBe(200);
};
const inDays = (days: number): string => new Date(Date.now() + aheadMs + days * DAY_MS).toISOString();
const refusal = ({ status, body }: ApiReply): unknown[] => [status, body.error, body.message];
const fileOf = async ({ api }: Person): Promise<string> =>
  (await api.upload('/files', { name: `${randomUUID()}.txt`, file: Buffer.from('content') })).body.id;
const folderOf = async ({ api }: Person): Promise<string> => (await api.post('/folders', { name: randomUUID() })).body.id;
const shared = async (person: Person, terms: object = {}) => {
  const { status, body } = await person.api.post(`/files/${await fileOf(person)}/share`, terms);
  expect(status).toBe(201);
  return body;
};
/** What the link answers to anybody: as JSON, as a page, and the download. */
const answers = async ({ token, url }: { token: string; url: string }): Promise<number[]> => {
  const replies = [
    await tenant.anonymous.get(`/s/${token}`),
    await fetch(url),
    await tenant.anonymous.get(`/s/${token}/download`),
  ];
  return replies.map(({ status }) => status);
};

beforeEach(() => policy({}));

describe('a new link', () => {
  test('needs a password where the policy says so, for two statements as ever', async () => {
    const ada = await tenant.user();
    const file = await fileOf(ada);
    await policy({ password_required: true });
    const refused = await ada.api.post(`/files/${file}/share`, {});
    const { reply, sql } = await tenant.counting(() => ada.api.post(`/files/${file}/share`, { password: PASSWORD }));

    expect(refusal(refused)).toEqual([
      422,
      'share_policy',
      'password_required: a share link needs a password here; send `password`.',
    ]);
    expect([reply.status, reply.body.blocked_by, sql.length]).toEqual([201, [], 2]);
    expect((await ada.api.get(`/files/${file}/shares`)).body.data).toHaveLength(1);
  });

  test('ends as late as the policy allows where its end is left out; a later end, and none, are refused', async () => {
    const ada = await tenant.user();
    const file = await fileOf(ada);
    await policy({ max_days: 7 });
    const made = (await ada.api.post(`/files/${file}/share`, {})).body;
    const sooner = (await ada.api.post(`/files/${file}/share`, { expires_at: inDays(6) })).body;
    const refused = [
      await ada.api.post(`/files/${file}/share`, { expires_at: null }),
      await ada.api.post(`/files/${file}/share`, { expires_at: inDays(8) }),
    ];

    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(7 * DAY_MS);
    expect([made.blocked_by, sooner.blocked_by]).toEqual([[], []]);
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
      [422, 'share_policy'],
      [422, 'share_policy'],
    ]);
    expect(refused[0]?.body.message).toMatch(
      /^max_days: this share link must end by \d{4}-.*Z; set `expires_at` to that time or earlier/,
    );
  });

  test('is refused altogether where links are switched off', async () => {
    const ada = await tenant.user();
    const file = await fileOf(ada);
    await policy({ enabled: false });

    expect(refusal(await ada.api.post(`/files/${file}/share`, {}))).toEqual([
      422,
      'share_policy',
      'disabled: share links are switched off here; share with people or groups instead, or ask an administrator.',
    ]);
    expect((await ada.api.get('/me')).body.features.share_links).toBe(false);
  });

  test('of a folder takes no uploads where the policy forbids them', async () => {
    const ada = await tenant.user();
    const folder = await folderOf(ada);
    await policy({ folder_uploads: false });
    const replies = [];
    for (const mode of ['upload', 'both', 'download']) replies.push(await ada.api.post(`/folders/${folder}/share`, { mode }));

    expect(replies.map(({ status, body }) => [status, body.error])).toEqual([
      [422, 'share_policy'],
      [422, 'share_policy'],
      [201, undefined],
    ]);
  });
});

describe('an older link that breaks the policy', () => {
  test('is 404 for everybody from the next request on, shows its maker why, and works again with the former policy', async () => {
    const ada = await tenant.user();
    const link = await shared(ada);
    const alive = await answers(link);
    await policy({ password_required: true, max_days: 3 });
    const dead = await answers(link);
    const own = (await ada.api.get('/shares')).body.data[0];
    const seen = (await tenant.admin.get(`/shares/${link.id}`)).body;
    await policy({});

    expect([alive, dead]).toEqual([
      [200, 200, 200],
      [404, 404, 404],
    ]);
    expect([own.blocked_by, seen.blocked_by]).toEqual([
      ['password_required', 'max_days'],
      ['password_required', 'max_days'],
    ]);
    expect(own.etag).not.toBe(link.etag);
    expect(await answers(link)).toEqual([200, 200, 200]);
  });

  test('looks like one that never existed', async () => {
    const link = await shared(await tenant.user());
    await policy({ enabled: false });
    const body = async (token: string) => (await tenant.anonymous.get(`/s/${token}/download`)).body;
    const [blocked, unknown] = [await body(link.token), await body('0'.repeat(64))];

    expect({ ...blocked, request_id: '' }).toEqual({ ...unknown, request_id: '' });
  });

  test('stops in the middle of a download that comes in ranges', async () => {
    const link = await shared(await tenant.user());
    const first = await tenant.anonymous.get(`/s/${link.token}/download`, { headers: { range: 'bytes=0-2' } });
    const proof = first.headers['x-share-download'] ?? '';
    const next = () =>
      tenant.anonymous.get(`/s/${link.token}/download`, { query: { download: proof }, headers: { range: 'bytes=3-6' } });
    const before = await next();
    await policy({ enabled: false });

    expect([first.status, before.status, (await next()).status]).toEqual([206, 206, 404]);
  });

  test('is mended by its maker step by step, and cannot be made worse', async () => {
    const ada = await tenant.user();
    const link = await shared(ada);
    await policy({ password_required: true, max_days: 3 });
    const change = (changes: object) => ada.api.patch(`/shares/${link.id}`, changes);
    const worse = [await change({ password: null }), await change({ expires_at: inDays(4) })];
    const off = await change({ is_active: false });
    const on = await change({ is_active: true });
    const half = await change({ password: PASSWORD });
    const whole = await change({ expires_at: inDays(2) });
    const again = [await change({ password: null }), await change({ expires_at: null })];

    expect([...worse, ...again].map(({ status, body }) => [status, body.error])).toEqual(
      Array.from({ length: 4 }, () => [422, 'share_policy']),
    );
    expect([off.status, on.status]).toEqual([200, 200]);
    expect([half.body.blocked_by, whole.body.blocked_by]).toEqual([['max_days'], []]);
    const download = await tenant.anonymous.post(`/s/${link.token}/download`, { password: PASSWORD });
    expect(download.status).toBe(200);
  });

  test('as a file request is dead where uploads are forbidden, and its folder’s links for downloads go on', async () => {
    const ada = await tenant.user();
    const folder = await folderOf(ada);
    const make = async (mode: string) => (await ada.api.post(`/folders/${folder}/share`, { mode })).body;
    const links = [await make('upload'), await make('both'), await make('download')];
    await policy({ folder_uploads: false });
    const statuses = [];
    for (const { token } of links) statuses.push((await tenant.anonymous.get(`/s/${token}`)).status);

    expect(statuses).toEqual([404, 404, 200]);
    expect(
      (await ada.api.get(`/folders/${folder}/shares`)).body.data.map((link: { blocked_by: string[] }) => link.blocked_by),
    ).toEqual([[], ['folder_uploads'], ['folder_uploads']]);
  });
});

test('the days of a link are counted from when it was made, also when its end is changed later', async () => {
  const ada = await tenant.user();
  await policy({ max_days: 1 });
  const link = await shared(ada, { expires_at: inDays(0.9) });
  aheadMs = 10 * MINUTE_MS;
  const later = await ada.api.patch(`/shares/${link.id}`, { expires_at: inDays(1) });
  const within = await ada.api.patch(`/shares/${link.id}`, { expires_at: inDays(0.99) });
  aheadMs = 0;

  expect([later.status, later.body.error, within.status]).toEqual([422, 'share_policy', 200]);
});
