import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Sealer } from '../../../pkg/runtime/sealing.ts';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';

const CONTENT = Buffer.from('content of the file');

const tenant = serverSuite({
  clock: { ...systemClock, now: () => new Date(Date.now() + ahead) },
});
let ahead = 0;

async function linkOf(api: Api, name = 'notes.txt') {
  const file = (await api.upload('/files', { file: CONTENT, name })).body as { id: string };
  const issued = await api.post(`/files/${file.id}/ticket`);
  return { file, issued, url: String(issued.body?.url) };
}

const fetched = (url: string, headers: Record<string, string> = {}) => tenant.anonymous.raw('GET', url, { headers });

test('a download link downloads its file without a token, whole or in part, as often as its minute allows', async () => {
  const { api } = await tenant.user();

  const { issued, url } = await linkOf(api, 'Üben.txt');
  const whole = await fetched(url);
  const part = await fetched(url, { range: 'bytes=0-6' });
  const unchanged = await fetched(url, { 'if-none-match': String(whole.headers['etag']) });

  expect([issued.status, issued.body]).toEqual([
    201,
    { url: expect.stringMatching(`^${tenant.apiUrl}/tickets/v1\\.`), expires_in: 60 },
  ]);
  expect([whole.status, whole.bytes]).toEqual([200, CONTENT]);
  expect(whole.headers).toMatchObject({
    'content-disposition': expect.stringMatching(/^attachment; .*filename\*=UTF-8''%C3%9Cben\.txt/),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
  });
  expect([part.status, part.bytes.toString(), unchanged.status]).toEqual([206, 'content', 304]);
});

test('after 60 s a download link is invalid', async () => {
  const { api } = await tenant.user();
  const { url } = await linkOf(api);

  ahead = 45_000; // the rest is for a busy machine
  const last = await fetched(url);
  ahead = 61_000;
  const over = await fetched(url);
  ahead = 0;

  expect([last.status, over.status, over.body.error]).toEqual([200, 404, 'not_found']);
});

test('a download link of another release’s format is not found', async () => {
  const sealer = new Sealer(tenant.config.CARREL_DATA_KEYS, systemRandom);
  const shapes = ['{"file":1,"until":"soon"}', '[]', 'null', 'v2:file'];
  const replies = await Promise.all(
    shapes.map((shape) =>
      fetched(`${tenant.apiUrl}/tickets/${sealer.seal(shape, [tenant.tenantId, 'files', 'download', 'ticket'])}`),
    ),
  );
  expect(replies.map(({ status, body }) => [status, body.error])).toEqual(shapes.map(() => [404, 'not_found']));
});

test('a download link that was modified, truncated, forged or combined is not found', async () => {
  const { api } = await tenant.user();
  const { url } = await linkOf(api);
  const other = await linkOf(api, 'other.txt');
  const sealed = url.slice(url.lastIndexOf('/') + 1);
  const bytes = (text: string): Buffer => Buffer.from(text.split('.')[2] ?? '', 'base64url');
  const [first, second] = [bytes(sealed), bytes(other.url.slice(other.url.lastIndexOf('/') + 1))];
  const spliced = Buffer.concat([first.subarray(0, 40), second.subarray(40)]);
  const flipped = Buffer.from(first.map((byte, index) => (index === 20 ? byte ^ 1 : byte)));

  const statuses = [];
  for (const forged of [
    `v1.test.${spliced.toString('base64url')}`,
    `v1.test.${flipped.toString('base64url')}`,
    `v1.other.${first.toString('base64url')}`,
    sealed.slice(0, -4),
    'v1.test.',
    'hello',
    String(api.token),
  ]) {
    const { status, body } = await fetched(`${tenant.apiUrl}/tickets/${forged}`);
    statuses.push(`${status} ${body.error}`);
  }
  const long = await fetched(`${tenant.apiUrl}/tickets/${'x'.repeat(2000)}`);

  expect(new Set(statuses)).toEqual(new Set(['404 not_found']));
  expect(long.status).toBe(400);
});

test('a download link of another tenant opens nothing here, though the file’s id were the same', async () => {
  const foreign = await startTenant();
  const { url } = await linkOf((await foreign.user()).api);
  await foreign.stop();

  expect((await fetched(url.replace(foreign.apiUrl, tenant.apiUrl))).status).toBe(404);
});

test('only who may read the file gets a download link', async () => {
  const owner = await tenant.user();
  const stranger = await tenant.user();
  const { file } = await linkOf(owner.api);

  expect((await stranger.api.post(`/files/${file.id}/ticket`)).status).toBe(404);
  expect((await tenant.anonymous.post(`/files/${file.id}/ticket`)).status).toBe(401);
  expect((await owner.api.post('/files/nonsense/ticket')).status).toBe(400);
  await owner.api.delete(`/files/${file.id}`);
  expect((await owner.api.post(`/files/${file.id}/ticket`)).status).toBe(404);
});

test('a download link ends with the permission it rests on', async () => {
  const owner = await tenant.user();
  const reader = await tenant.user();
  const { file } = await linkOf(owner.api);
  const granted = await owner.api.post(`/files/${file.id}/permissions`, { user_id: reader.user.id, permission_level: 'read' });
  const { body } = await reader.api.post(`/files/${file.id}/ticket`);

  const before = await fetched(body.url);
  await owner.api.delete(`/files/${file.id}/permissions/${granted.body.id}`);
  const after = await fetched(body.url);

  expect([granted.status, before.status, after.status]).toEqual([201, 200, 404]);
});

test.each<[string, (of: { api: Api; id: string }) => Promise<unknown>]>([
  ['deactivated', ({ id }) => tenant.admin.patch(`/users/${id}`, { is_active: false })],
  ['deleted', ({ id }) => tenant.admin.delete(`/users/${id}`)],
  ['signed out', ({ api }) => api.post('/auth/logout')],
])('a download link of somebody who was %s meanwhile is none', async (_, end) => {
  const { api, user } = await tenant.user();
  const { url } = await linkOf(api);

  const before = await fetched(url);
  await end({ api, id: user.id });
  const after = await fetched(url);

  expect([before.status, after.status, after.body.error]).toEqual([200, 404, 'not_found']);
});

test('a download link of a file that was trashed meanwhile is not found', async () => {
  const { api } = await tenant.user();
  const { file, url } = await linkOf(api);

  await api.delete(`/files/${file.id}`);

  expect((await fetched(url)).status).toBe(404);
});
