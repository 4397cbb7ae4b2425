import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();

const TUS = { 'tus-resumable': '1.0.0' };
const CHUNK = { ...TUS, 'content-type': 'application/offset+octet-stream' };
const NOT_FOUND = [404, 'not_found'];
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);

const metadata = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');
const begin = (token: string, pairs: Readonly<Record<string, string>> = {}, length = 10): Promise<ApiReply> =>
  tenant.anonymous.raw('POST', `/s/${token}/uploads`, {
    headers: {
      ...TUS,
      'upload-length': `${length}`,
      'upload-metadata': metadata({ filename: 'essay.txt', uploaded_by: 'Grace', ...pairs }),
    },
  });
const go = (token: string, id: string, offset: number, body: string): Promise<ApiReply> =>
  tenant.anonymous.raw('PATCH', `/s/${token}/uploads/${id}`, { headers: { ...CHUNK, 'upload-offset': `${offset}` }, body });

async function request() {
  const ada = await tenant.user();
  const { body: folder } = await ada.api.post('/folders', { name: 'essays' });
  const { body: share } = await ada.api.post(`/folders/${folder.id}/share`, { mode: 'upload' });
  const inFolder = async (): Promise<unknown> => (await ada.api.get(`/folders/${folder.id}/children`)).body.data;
  return { ada, token: share.token as string, share: share.id as string, inFolder };
}

describe('an upload in several requests by a link', () => {
  test('becomes the maker’s file with the sender’s name, and shows the sender no id of it', async () => {
    const { ada, token, inFolder } = await request();
    const begun = await begin(token);
    const { id } = begun.body;
    const sent = [await go(token, id, 0, 'hello'), await go(token, id, 5, 'world')];
    const state = await tenant.anonymous.get(`/s/${token}/uploads/${id}`, { headers: TUS });
    const shown = await tenant.anonymous.get(`/s/${token}`, {
      headers: { 'x-share-session': begun.headers['x-share-session'] ?? '' },
    });

    expect([begun.status, ...sent.map(({ status }) => status)]).toEqual([201, 204, 204]);
    expect([sent[1]?.headers['x-carrel-file'], state.body]).toEqual([
      undefined,
      expect.objectContaining({ offset: 10, length: 10, file_id: null }),
    ]);
    expect(await inFolder()).toEqual([
      expect.objectContaining({
        name: 'essay.txt',
        size: 10,
        uploaded_by: 'Grace',
        owner: expect.objectContaining({ id: ada.user.id }),
      }),
    ]);
    expect(shown.body.sent).toEqual([expect.objectContaining({ name: 'essay.txt', size: 10 })]);
  });

  test('is found by its own link alone: neither by another one nor by its maker’s own address', async () => {
    const [{ ada, token }, other] = [await request(), await request()];
    const { body } = await begin(token);
    const own = (await ada.api.raw('POST', '/files/uploads', {
      headers: { ...TUS, 'upload-length': '10', 'upload-metadata': metadata({ filename: 'mine.txt' }) },
    })) as ApiReply;
    const refused = [
      await go(other.token, body.id, 0, 'hello'),
      await go(token, own.body.id, 0, 'hello'),
      await ada.api.get(`/files/uploads/${body.id}`, { headers: TUS }),
    ];

    expect(codes(refused)).toEqual(refused.map(() => NOT_FOUND));
  });

  test('goes no further once the link is off, and needs the sender’s name when it begins', async () => {
    const { ada, token, share, inFolder } = await request();
    const nameless = await begin(token, { uploaded_by: ' ' });
    const elsewhere = await begin(token, { folder_id: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11', on_conflict: 'replace' });
    const { body } = await begin(token);
    await go(token, body.id, 0, 'hello');
    await ada.api.patch(`/shares/${share}`, { is_active: false });

    expect([nameless.status, nameless.body.details[0].field]).toEqual([400, 'uploaded_by']);
    // The folder is the link's, whatever the sender says.
    expect(elsewhere.status).toBe(201);
    expect(codes([await go(token, body.id, 5, 'world')])).toEqual([NOT_FOUND]);
    expect(await inFolder()).toEqual([]);
  });

  test('takes of the maker’s quota what has arrived, not what senders announce', async () => {
    const { ada, token, inFolder } = await request();
    await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: 1_000 });
    const announced = [];
    for (const length of [900, 900, 900, 1_001]) announced.push(await begin(token, {}, length));
    const own = (name: string, bytes: number) => ada.api.upload('/files', { name, file: Buffer.alloc(bytes, 'x') });
    const whole = await own('own.txt', 500);
    const [first, second] = announced.map(({ body }) => body.id as string);
    const sent = [await go(token, first ?? '', 0, 'x'.repeat(400)), await go(token, second ?? '', 0, 'x'.repeat(400))];
    const beside = [await own('much.txt', 101), await own('little.txt', 100)];
    const full = await go(token, first ?? '', 400, 'x'.repeat(500));
    await ada.api.delete(`/files/${whole.body.id}?permanent=true`);
    const rest = await go(token, first ?? '', 400, 'x'.repeat(500));

    expect(codes(announced)).toEqual([...Array.from({ length: 3 }, () => [201, undefined]), [507, 'quota_exceeded']]);
    expect(codes([whole, ...sent, ...beside])).toEqual([
      [201, undefined],
      [204, undefined],
      [507, 'quota_exceeded'],
      [507, 'quota_exceeded'],
      [201, undefined],
    ]);
    expect(codes([full, rest])).toEqual([
      [507, 'quota_exceeded'],
      [204, undefined],
    ]);
    expect(await inFolder()).toEqual([expect.objectContaining({ size: 900 })]);
  });

  test('expires an hour after its last byte', async () => {
    const { token } = await request();
    const { body } = await begin(token);
    const left = new Date(body.expires_at as string).getTime() - Date.now();

    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
  });
});
