import { describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import type { ApiReply, Upload } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { objectCount, quotaOf } from './tenant-state.ts';

const tenant = serverSuite();

/** Ada's folder and file, and Bob, who may write both. */
async function writerBob() {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const folder = (await ada.api.post('/folders', { name: 'shared' })).body;
  const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a.txt', fields: { folder_id: folder.id } }))
    .body;
  const granted = (await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id }))
    .body;
  return { ada, bob, folder, file, granted };
}
type Scene = Awaited<ReturnType<typeof writerBob>>;

type Form = Partial<Omit<Upload, 'file'>>;

/** An upload of Bob's in whose middle something happens, once the server has begun to take it. */
async function uploadAround(scene: Scene, path: string, form: Form, change: () => Promise<ApiReply>) {
  const statements = tenant.observed.sql.length;
  const file = Readable.from(
    (async function* () {
      yield Buffer.alloc(100_000, 1);
      await waitFor('the statement that reads the quota before the bytes flow', () =>
        tenant.observed.sql.slice(statements).some((sql) => sql.includes('storage_quota')),
      );
      expect((await change()).status).toBeLessThan(300);
      yield Buffer.from('end');
    })(),
  );
  return scene.bob.api.upload(path, { file, name: 'late.txt', ...form });
}

const intoFolder = (scene: Scene) => ['/files', { fields: { folder_id: scene.folder.id } }] as const;
const replacing = (scene: Scene) =>
  ['/files', { name: 'a.txt', fields: { folder_id: scene.folder.id, on_conflict: 'replace' } }] as const;
const asVersion = (scene: Scene) => [`/files/${scene.file.id}`, { method: 'PUT' }] as const;
const intoOwnRoot = () => ['/files', {}] as const;

const revoke = ({ ada, folder, granted }: Scene) => ada.api.delete(`/folders/${folder.id}/permissions/${granted.id}`);
const lower = ({ ada, bob, folder }: Scene) =>
  ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
const patchBob = (changes: object) => (scene: Scene) => tenant.admin.patch(`/users/${scene.bob.user.id}`, changes);

describe('an upload in whose middle', () => {
  test.each<[string, number, string, (scene: Scene) => readonly [string, Form], (scene: Scene) => Promise<ApiReply>]>([
    ['the grant on the folder is taken back', 404, 'not_found', intoFolder, revoke],
    ['the grant that lets replace a file is taken back', 404, 'not_found', replacing, revoke],
    ['the grant on the file is taken back', 404, 'not_found', asVersion, revoke],
    ['the grant becomes one of reading', 403, 'forbidden', intoFolder, lower],
    ['the grant becomes one of reading, for a version', 403, 'forbidden', asVersion, lower],
    ['the person may only read from now on', 403, 'forbidden', intoOwnRoot, patchBob({ roles: ['viewer'] })],
    ['the person is deactivated', 401, 'unauthenticated', intoOwnRoot, patchBob({ is_active: false })],
    [
      'the password is reset, which ends the session',
      401,
      'unauthenticated',
      intoFolder,
      patchBob({ password: 'quite another one 1' }),
    ],
    ['the session ends', 401, 'unauthenticated', asVersion, ({ bob }) => bob.api.post('/auth/logout')],
  ])('%s is a %d and leaves nothing', async (_, status, code, upload, change) => {
    const scene = await writerBob();
    const objects = await objectCount(tenant);

    const answer = await uploadAround(scene, ...upload(scene), () => change(scene));

    expect(answer).toMatchObject({ status, body: { error: code } });
    expect(await objectCount(tenant)).toBe(objects);
    expect(await quotaOf(tenant, scene.bob.user.id)).toBe(0);
    expect((await scene.ada.api.get('/files', { query: { folder_id: scene.folder.id } })).body.data).toMatchObject([
      { version: 1 },
    ]);
  });

  test('something else of the person changes is stored', async () => {
    const scene = await writerBob();
    const answer = await uploadAround(scene, ...intoFolder(scene), () => patchBob({ display_name: 'Robert' })(scene));
    expect(answer.status).toBe(201);
  });
});
