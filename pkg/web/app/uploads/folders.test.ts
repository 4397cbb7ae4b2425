import { expect, test } from '@jest/globals';
import { Folders } from './folders.ts';
import { Refused, type Request } from '../../uploads/request.ts';

/** Folders whose requests are answered at once, with an id that shows the path. */
function foldersOf(refuse: (name: string, time: number) => string | undefined = () => undefined) {
  const made: string[] = [];
  const folders = new Folders(async ({ body }: Request) => {
    const { name, parent_id: parent } = JSON.parse(body as string) as { name: string; parent_id: string | null };
    made.push(`${parent ?? ''}/${name}`);
    const code = refuse(name, made.length);
    if (code) throw new Refused({ code, message: code });
    return { status: 201, text: JSON.stringify({ id: `${parent ?? ''}/${name}` }), header: () => null };
  });
  return { folders, made };
}

test('a folder is made once, however many uploads need it at the same time', async () => {
  const { folders, made } = foldersOf();
  const paths = [['Photos'], ['Photos', '2026'], ['Photos', '2026'], ['Photos', '2025'], []];

  const ids = await Promise.all(paths.map((path) => folders.at(null, path)));

  expect(ids).toEqual(['/Photos', '/Photos/2026', '/Photos/2026', '/Photos/2025', null]);
  expect(made.toSorted((a, b) => a.localeCompare(b))).toEqual(['/Photos', '/Photos/2025', '/Photos/2026']);
});

test('a folder whose making failed is tried again by the next upload', async () => {
  const { folders } = foldersOf((_, time) => (time === 1 ? 'internal' : undefined));

  await expect(folders.at(null, ['Photos'])).rejects.toThrow('internal');
  expect(await folders.at(null, ['Photos'])).toBe('/Photos');
});

test('a folder whose name a file has is no question about the upload', async () => {
  const { folders } = foldersOf(() => 'name_conflict');

  await expect(folders.at(null, ['Photos'])).rejects.toMatchObject({ problem: { code: 'folder_name_taken' } });
});

test('a folder that is gone is made again, with those above it', async () => {
  const { folders, made } = foldersOf();
  await folders.at(null, ['Photos', '2026']);

  folders.reset(null, ['Photos', '2026']);
  await folders.at(null, ['Photos', '2026']);

  expect(made).toEqual(['/Photos', '/Photos/2026', '/Photos', '/Photos/2026']);
});
