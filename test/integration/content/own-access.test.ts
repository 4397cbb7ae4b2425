import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();

test('a shown file or folder says what the caller may do with it, in every list and after each change of a right', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const { body: folder } = await ada.api.post('/folders', { name: 'shared plans' });
  const { body: file } = await ada.api.upload('/files', {
    name: 'plans.txt',
    file: Buffer.from('a'),
    fields: { folder_id: folder.id },
  });
  const grant = (permission_level: string) =>
    ada.api.post(`/folders/${folder.id}/permissions`, { permission_level, user_id: bob.user.id });
  const of = async (api: Api): Promise<unknown[]> => {
    const lists = ['/files', `/folders/${folder.id}/children`, '/folders', '/search?q=plans&type=file', '/shared-with-me'];
    const listed: unknown[] = [];
    for (const path of lists) listed.push((await api.get(path)).body.data[0]?.access);
    for (const path of [`/files/${file.id}`, `/folders/${folder.id}`]) listed.push((await api.get(path)).body.access);
    return listed;
  };

  await grant('read');
  const [owner, reader] = [await of(ada.api), await of(bob.api)];
  const before = (await bob.api.get(`/files/${file.id}`)).headers.etag;
  await grant('write');
  const writer = await of(bob.api);
  const after = await bob.api.get(`/files/${file.id}`, { headers: { 'if-none-match': before ?? '' } });
  const renamed = await bob.api.patch(
    `/files/${file.id}`,
    { name: 'plan.txt' },
    { headers: { 'if-match': after.headers.etag ?? '' } },
  );

  expect(owner).toEqual(['admin', 'admin', 'admin', 'admin', undefined, 'admin', 'admin']);
  expect(reader).toEqual(['read', 'read', 'read', 'read', 'read', 'read', 'read']);
  expect(writer).toEqual(['write', 'write', 'write', 'write', 'write', 'write', 'write']);
  // The entity tag covers it; If-Match takes the tag that the caller was shown.
  expect([after.status, renamed.status, renamed.body.access]).toEqual([200, 200, 'write']);
});
