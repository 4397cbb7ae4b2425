import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { begin, named, send } from '../../support/clients/tus.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);

const MIB = 1 << 20;

interface Stored {
  readonly name: string;
  readonly version: number;
  readonly key: string;
  readonly crc: number | null;
}

/** Returns all versions of a user's files. */
const versionsOf = (user: string): Promise<Stored[]> =>
  tenant.db.query<Stored>(
    `SELECT f.name, v.version_number AS version, v.blob_name AS key, v.crc32 AS crc FROM file_versions v
     JOIN files f ON f.id = v.file_id
     JOIN users u ON u.id = f.owner_id WHERE u.uuid = $1 ORDER BY f.name, v.version_number`,
    [user],
  );

async function partialUpload(api: Api, name: string, content: Buffer): Promise<void> {
  const { headers } = await begin(api, named(name, content.length), content.subarray(0, 5));
  const id = String(headers.location).split('/').at(-1) ?? '';
  expect((await send(api, id, 5, content.subarray(5))).status).toBe(204);
}

test('each version has the CRC-32 of its content, in whatever way its bytes have come', async () => {
  const { api, user } = await tenant.user();
  const folder = (await api.post('/folders', { name: 'folder' })).body.id;
  const upload = async (name: string, file: Buffer, fields: Record<string, string> = {}): Promise<string> =>
    (await api.upload('/files', { name, file, fields })).body.id;
  const small = await upload('small', Buffer.from('small'), { folder_id: folder });
  await upload('empty', Buffer.alloc(0), { folder_id: folder });
  await upload('large', Buffer.alloc(9 * MIB, 'large'));
  await upload('small', Buffer.from('replaced'), { folder_id: folder, on_conflict: 'replace' });
  await api.upload(`/files/${small}`, { method: 'PUT', name: 'small', file: Buffer.from('third') });
  await api.post(`/files/${small}/versions/1/restore`);
  await api.post(`/files/${small}/copy`, { name: 'copied' });
  await partialUpload(api, 'in parts', Buffer.from('in two parts'));
  const { body: job } = await api.post(`/folders/${folder}/copy`, { name: 'folder 2' });
  await waitFor('the copy', async () => (await api.get(`/jobs/${job.id}`)).body.ended_at !== null);

  const versions = await versionsOf(user.id);

  expect(versions.map(({ name, version }) => `${name} ${version}`)).toEqual([
    'copied 1',
    'copied 1',
    'empty 1',
    'empty 1',
    'in parts 1',
    'large 1',
    ...[1, 1, 2, 3, 4].map((version) => `small ${version}`),
  ]);
  for (const { name, version, key, crc } of versions) {
    const content = await buffer((await tenant.objects.get(key)).body);
    expect([name, version, crc]).toEqual([name, version, crc32(content)]);
  }
});
