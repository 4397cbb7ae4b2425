import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();

/** Makes files (`name`) and folders (`name/`), each with a link. */
async function linksOf({ api }: { readonly api: Api }, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const made = name.endsWith('/')
      ? await api.post('/folders', { name: name.slice(0, -1) })
      : await api.upload('/files', { name, file: Buffer.from(name) });
    await api.post(`/${name.endsWith('/') ? 'folders' : 'files'}/${made.body.id}/share`, {});
  }
}

test('links are found by a part of the name of their file or folder, without case and accents', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  await linksOf(ada, 'Résumé 100%.pdf', 'poster.png', 'RESUMES/');
  await linksOf(bob, 'resume.txt');
  const found = async (api: Api, q: string): Promise<unknown[]> => {
    const { body } = await api.get('/shares', { query: { q } });
    return body.data.map((one: { file_name: string | null; folder_name: string | null }) => one.file_name ?? one.folder_name);
  };

  expect(await found(ada.api, 'resume')).toEqual(['RESUMES', 'Résumé 100%.pdf']);
  expect(await found(ada.api, '100%')).toEqual(['Résumé 100%.pdf']);
  expect(await found(ada.api, '_')).toEqual([]);
  expect(await found(tenant.admin, 'resume')).toEqual(['resume.txt', 'RESUMES', 'Résumé 100%.pdf']);
  expect((await ada.api.get('/shares', { query: { q: ' ' } })).status).toBe(400);
});
