import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { Api, type ApiReply } from '../../support/clients/api.ts';
import { programEnvironment, ROOT } from '../../support/backends/backends.ts';
import { freePort } from '../../support/backends/ports.ts';
import { begin, checksum, CHUNK, named, offsetOf, send, TUS } from '../../support/clients/tus.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';
import { objectCount } from '../content/tenant-state.ts';

const { platform } = workerSuite();

/** A server of the tenant in a process of its own. */
async function anotherServer(tenant: TestTenant): Promise<{ server: ChildProcess; apiUrl: string }> {
  const port = await freePort();
  const server = spawn(process.execPath, ['cmd/server/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...programEnvironment(), ...tenant.env, CARREL_PORT: String(port) },
  });
  const apiUrl = `http://127.0.0.1:${port}/api/v1`;
  await waitFor('the server', async () => (await fetch(`${apiUrl}/openapi.json`)).ok);
  return { server, apiUrl };
}

/** So many bytes, and then nothing. */
async function* cut(bytes: number): AsyncGenerator<Buffer> {
  yield Buffer.alloc(bytes);
  await new Promise(() => undefined);
}

const beginByLink = (api: Api, token: string, length: number): Promise<ApiReply> =>
  api.raw('POST', `/s/${token}/uploads`, { headers: { ...TUS, ...named('thesis.pdf', length, { uploaded_by: 'Grace' }) } });
const sendByLink = (api: Api, token: string, id: string, offset: number, body: Buffer | Readable, more = {}): Promise<ApiReply> =>
  api.raw('PATCH', `/s/${token}/uploads/${id}`, {
    headers: { ...TUS, ...CHUNK, 'upload-offset': String(offset), ...more },
    body,
  });
const offsetByLink = async (api: Api, token: string, id: string): Promise<number> =>
  Number((await api.head(`/s/${token}/uploads/${id}`, { headers: TUS })).headers['upload-offset']);

/** Has the sweep of the day run now. */
async function sweep(tenant: TestTenant): Promise<void> {
  const [{ day } = { day: '' }] = await tenant.db.query<{ day: string }>(
    `SELECT payload->>'day' AS day FROM carrel.work WHERE kind = 'objects.sweep'`,
  );
  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'objects.sweep', payload: { day } }));
}

test('a killed server’s upload is deleted by its sweep, and the next request gets the quota back', async () => {
  const tenant = await platform.tenant();
  const { api, user } = await tenant.user({ storage_quota: 20_000_000 });
  const { id } = (await begin(api, named('killed'))).body;
  const { server, apiUrl } = await anotherServer(tenant);
  // More than the 8 MiB of an object, and less than the quota: it is not refused before it is looked at.
  const [there, body] = [new Api(apiUrl, { token: api.token ?? '' }), Readable.from(cut(9_000_000), { objectMode: false })];
  const broken = send(there, id, 0, body, { 'upload-checksum': checksum(Buffer.from('another')) }).catch((error: Error) => error);
  await waitFor('an object of it', async () => (await objectCount(tenant)) > 0);

  server.kill('SIGKILL');
  await broken;
  const offset = await offsetOf(api, id);
  const whole = await send(api, id, 0, Buffer.alloc(15_000_000), { 'upload-length': '15000000' });
  await sweep(tenant);

  expect([offset, whole.status]).toEqual([0, 204]);
  await waitFor('the sweep', async () => (await objectCount(tenant)) === 1);
  expect((await api.get(`/users/${user.id}`)).body.storage_used).toBe(15_000_000);
});

test('uploads by a link continue after their server is killed, or leave an object to the sweep and no quota', async () => {
  const tenant = await platform.tenant();
  const { api, user } = await tenant.user({ storage_quota: 40_000_000 });
  const { body: folder } = await api.post('/folders', { name: 'essays' });
  const { body: share } = await api.post(`/folders/${folder.id}/share`, { mode: 'upload' });
  const { server, apiUrl } = await anotherServer(tenant);
  const there = new Api(apiUrl);
  const begun = await beginByLink(there, share.token, 10_000_000);
  const { id } = begun.body;
  const sending = [
    there.upload(`/s/${share.token}/files`, {
      name: 'essay.txt',
      file: Readable.from(cut(20_000_000), { objectMode: false }),
      fields: { uploaded_by: 'Grace' },
    }),
    sendByLink(there, share.token, id, 0, Readable.from(cut(9_000_000), { objectMode: false }), { 'content-length': '10000000' }),
  ].map((reply) => reply.catch((error: Error) => error));
  // Of the second, the first 8 MiB are a segment that a row names.
  await waitFor('a segment', async () => (await offsetByLink(tenant.anonymous, share.token, id)) > 0);
  await waitFor('reserved quota of both', async () => (await tenant.db.query('SELECT FROM storage_reservations')).length === 2);

  server.kill('SIGKILL');
  await Promise.all(sending);
  const offset = await offsetByLink(tenant.anonymous, share.token, id);
  const rest = await sendByLink(tenant.anonymous, share.token, id, offset, Buffer.alloc(10_000_000 - offset));
  const { body: children } = await api.get(`/folders/${folder.id}/children`);
  const shown = await tenant.anonymous.get(`/s/${share.token}`, {
    headers: { 'x-share-session': begun.headers['x-share-session'] ?? '' },
  });
  await sweep(tenant);

  expect([offset, rest.status]).toEqual([8 << 20, 204]);
  expect(children.data).toEqual([expect.objectContaining({ name: 'thesis.pdf', size: 10_000_000, uploaded_by: 'Grace' })]);
  expect(shown.body.sent).toEqual([expect.objectContaining({ name: 'thesis.pdf' })]);
  await waitFor('the sweep', async () => (await objectCount(tenant)) === 1);
  expect((await api.get(`/users/${user.id}`)).body.storage_used).toBe(10_000_000);
});
