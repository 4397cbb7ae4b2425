import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SlidingLogLimiter } from '../../../pkg/store/redis/sliding-log-limiter.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { countBy, range } from '../../support/wait.ts';

let aheadMs = 0;
const slept: number[] = [];
const clock = {
  ...systemClock,
  now: () => new Date(Date.now() + aheadMs),
  sleep: async (ms: number, signal?: AbortSignal) => {
    slept.push(ms);
    await systemClock.sleep(Math.min(ms, 1), signal);
  },
};
const tenant = serverSuite({ clock, trustedProxies: 1 });

type Person = Awaited<ReturnType<TestTenant['user']>>;
type Share = { id: string; token: string };

const CONTENT = 'content of the file';
const PASSWORD = 'pässword of a link';
const inSeconds = (seconds: number): string => new Date(clock.now().getTime() + seconds * 1000).toISOString();
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);
const from = (network: string) => ({ headers: { 'x-forwarded-for': network } });
const anyone = (): typeof tenant.anonymous => tenant.anonymous;
const download = (token: string, headers: Record<string, string> = {}): Promise<ApiReply> =>
  anyone().get(`/s/${token}/download`, { headers });

async function shared(person: Person, terms: object = {}): Promise<{ file: string; share: Share }> {
  const { body } = await person.api.upload('/files', {
    name: `${randomUUID()}.txt`,
    file: Buffer.from(CONTENT),
    type: 'text/plain',
  });
  return { file: body.id, share: (await person.api.post(`/files/${body.id}/share`, terms)).body };
}
const count = async (person: Person, { id }: Share): Promise<number> =>
  (await person.api.get(`/shares/${id}`)).body.download_count;

describe('a link with a password', () => {
  const form = (token: string, body: string, headers: Record<string, string> = {}): Promise<ApiReply> =>
    anyone().raw('POST', `/s/${token}/download`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body,
    });

  test('asks for it, and takes it from a header, a form or JSON', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada, { password: PASSWORD });
    const encoded = encodeURIComponent(PASSWORD);

    expect((await anyone().get(`/s/${share.token}`)).body).toEqual({
      kind: 'file',
      mode: 'download',
      name: null,
      size: null,
      mime_type: null,
      has_password: true,
      expires_at: null,
      downloads_left: null,
    });
    expect(
      codes([
        await download(share.token),
        await form(share.token, ''),
        await anyone().post(`/s/${share.token}/download`),
        await download(share.token, { 'x-share-password': 'wrong one' }),
        await form(share.token, 'password=wrong+one'),
        await form(share.token, 'password=a&password=b'),
        await form(share.token, 'pass=a'),
        await anyone().raw('POST', `/s/${share.token}/download`, { headers: { 'content-type': 'text/plain' }, body: PASSWORD }),
      ]),
    ).toEqual([
      [401, 'share_password_required'],
      [401, 'share_password_required'],
      [401, 'share_password_required'],
      [401, 'share_password_wrong'],
      [401, 'share_password_wrong'],
      [400, 'validation_failed'],
      [400, 'validation_failed'],
      [415, 'unsupported_media_type'],
    ]);
    expect(await count(ada, share)).toBe(0);
    const right = [
      await download(share.token, { 'x-share-password': Buffer.from(PASSWORD).toString('latin1') }),
      await form(share.token, `password=${encoded}`),
      await form(share.token, `password=${encoded}`, { range: 'bytes=0-6' }),
      await anyone().post(`/s/${share.token}/download`, { password: PASSWORD }),
    ];
    expect(right.map(({ status }) => status)).toEqual([200, 200, 206, 200]);
    expect(await count(ada, share)).toBe(4);
  });

  test('refuses a network after ten wrong ones in 15 minutes, even racing ones; other networks and links go on', async () => {
    const ada = await tenant.user();
    const [{ share }, other] = [await shared(ada, { password: PASSWORD }), await shared(ada, { password: PASSWORD })];
    const guess = (password: string, network = '10.2.0.1', token = share.token): Promise<ApiReply> =>
      anyone().post(`/s/${token}/download`, { password }, from(network));
    const racing = await Promise.all(range(20).map((at) => guess(`wrong one ${at}`)));
    const right = await guess(PASSWORD);

    expect(countBy(racing, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
    expect([right.status, right.body.error, right.body.retry_after > 0]).toEqual([429, 'too_many_attempts', true]);
    expect((await guess(PASSWORD, '10.2.0.2')).status).toBe(200);
    expect((await guess(PASSWORD, '10.2.0.1', other.share.token)).status).toBe(200);
    aheadMs = 901_000;
    const later = await guess(PASSWORD);
    aheadMs = 0;
    expect(later.status).toBe(200);
  });

  test('is slowed after 100 wrong ones from everywhere, and never shut', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada, { password: PASSWORD });
    const guess = (at: number): Promise<ApiReply> =>
      anyone().post(`/s/${share.token}/download`, { password: PASSWORD }, from(`10.3.0.${at}`));
    slept.length = 0;
    expect([(await guess(1)).status, slept]).toEqual([200, []]);
    const limiter = new SlidingLogLimiter({ redis: tenant.redis, clock, random: systemRandom });
    for (let at = 0; at < 130; at += 1)
      await limiter.take([{ key: `share:${share.id}`, max: Number.MAX_SAFE_INTEGER, windowSeconds: 900 }]);

    expect((await guess(2)).status).toBe(200);
    expect(slept).toEqual([4000]);
  });
});

test('the password of a file’s link begins a session, which replaces it until there is another password', async () => {
  const ada = await tenant.user();
  const { share } = await shared(ada, { password: PASSWORD });
  const header = { 'x-share-password': Buffer.from(PASSWORD).toString('latin1') };
  const opened = await anyone().get(`/s/${share.token}`, { headers: header });
  const session = { 'x-share-session': opened.headers['x-share-session'] ?? '' };
  const inSession = async (): Promise<unknown[]> => [
    (await anyone().get(`/s/${share.token}`, { headers: session })).body.size,
    (await download(share.token, session)).status,
  ];

  expect(opened.body).toMatchObject({ size: CONTENT.length, mime_type: 'text/plain' });
  expect(opened.headers['set-cookie']).toMatch(
    new RegExp(`^carrel_share=v1\\.[^;]+; Path=/api/v1/s/${share.token}; Max-Age=86400; HttpOnly; SameSite=Lax$`),
  );
  expect(await inSession()).toEqual([CONTENT.length, 200]);
  const other = await shared(ada, { password: PASSWORD });
  expect(codes([await download(other.share.token, session)])).toEqual([[401, 'share_password_required']]);
  await ada.api.patch(`/shares/${share.id}`, { password: 'another password' });
  expect(await inSession()).toEqual([null, 401]);
});

describe('the page of a link', () => {
  const page = (token: string, body?: string, network = '10.4.0.1'): Promise<ApiReply> =>
    anyone().raw(body === undefined ? 'GET' : 'POST', `${tenant.url}/s/${token}`, {
      headers: {
        'x-forwarded-for': network,
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(body === undefined ? {} : { body }),
    });

  test('asks for the password and leads to the download, which counts once', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada, { password: PASSWORD, max_downloads: 2, expires_at: inSeconds(3600) });
    const shown = await page(share.token);
    const wrong = await page(share.token, 'password=%3Cb%3Ewrong');
    const right = await page(share.token, `password=${encodeURIComponent(PASSWORD)}`);
    const files = `${new URL(tenant.url).host}/assets/`;

    expect([shown.status, shown.headers['x-robots-tag'], shown.headers['content-security-policy']]).toEqual([
      200,
      'noindex, nofollow',
      `default-src 'none'; script-src ${files}; style-src ${files}; font-src ${files}; img-src 'self'; media-src 'self'; ` +
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ]);
    expect(shown.bytes.toString()).toContain('<label class="c-field-label" for="password">Password</label>');
    expect(shown.bytes.toString()).toContain('It can be used 2 more times.');
    expect([wrong.status, wrong.bytes.toString()]).toEqual([
      401,
      expect.stringContaining('role="alert">This password is wrong.<'),
    ]);
    expect(wrong.bytes.toString()).not.toContain('<b>');
    expect([right.status, right.headers.location]).toEqual([
      303,
      expect.stringMatching(`^/api/v1/s/${share.token}/download\\?download=v1\\.`),
    ]);
    expect(await count(ada, share)).toBe(0);
    const address = `${tenant.url}${right.headers.location}`;
    const began = await anyone().get(address);
    const cookie = (began.headers['set-cookie'] ?? '').split(';')[0] ?? '';
    expect([began.status, began.bytes.toString()]).toEqual([200, CONTENT]);
    expect((await anyone().get(address, { headers: { range: 'bytes=3-', cookie } })).status).toBe(206);
    expect(await count(ada, share)).toBe(1);
    aheadMs = 61_000;
    const late = await anyone().get(address);
    aheadMs = 0;
    expect(codes([late])).toEqual([[401, 'share_password_required']]);
    const open = (await page((await shared(ada)).share.token)).bytes.toString();
    expect(open).toContain('19 bytes · text/plain');
    expect(open).not.toContain('for="password"');
  });

  test('names of files are text, and are not there before the password', async () => {
    const ada = await tenant.user();
    const [open, locked] = [await shared(ada), await shared(ada, { password: PASSWORD })];
    await ada.api.patch(`/files/${open.file}`, { name: '<script>alert(1)<&script>.txt' });
    await ada.api.patch(`/files/${locked.file}`, { name: 'telltale.txt' });
    const ofOpen = await page(open.share.token);
    const ofLocked = [
      await page(locked.share.token),
      await page(locked.share.token, 'password=wrong'),
      await anyone().get(`/s/${locked.share.token}`),
    ];

    expect(ofOpen.bytes.toString()).toContain('<h1><bdi>&lt;script&gt;alert(1)&lt;&amp;script&gt;.txt</bdi></h1>');
    for (const { bytes } of ofLocked) expect(bytes.toString()).not.toMatch(/telltale|bytes|text\/plain/);
  });

  test('guesses there count as everywhere', async () => {
    const ada = await tenant.user();
    const { share } = await shared(ada, { password: PASSWORD });
    for (const at of range(10)) await page(share.token, `password=wrong+${at}`, '10.5.0.1');
    const shut = await page(share.token, `password=${encodeURIComponent(PASSWORD)}`, '10.5.0.1');

    expect([shut.status, shut.bytes.toString()]).toEqual([
      429,
      expect.stringContaining('Too many wrong passwords. Try again in 15 minutes.'),
    ]);
    expect(codes([await anyone().post(`/s/${share.token}/download`, { password: PASSWORD }, from('10.5.0.1'))])).toEqual([
      [429, 'too_many_attempts'],
    ]);
  });
});
