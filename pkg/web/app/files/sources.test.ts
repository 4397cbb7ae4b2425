import { expect, test } from '@jest/globals';
import type { Client } from '../../api/client.ts';
import { folderSource, recentSource, searchSource, type Source } from './sources.ts';

const { signal } = new AbortController();
const file = { type: 'file', id: '1', name: 'a.txt', owner: { id: 'ada', name: 'Ada' }, folder: null };
const folder = { type: 'folder', id: '2', name: 'b', owner: { id: 'ada', name: 'Ada' }, parent_id: null };

/** A client that finds these rows at each address, with an entity tag of its own. */
function clientOf(found: Readonly<Record<string, readonly object[]>>): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const getIfChanged = async (path: string, _: unknown, known: string | undefined) => {
    asked.push(path);
    const etag = `${path} ${JSON.stringify(found[path])}`;
    return known === etag ? undefined : { body: { data: found[path], pagination: { next_cursor: null } }, etag };
  };
  return { client: { getIfChanged } as unknown as Client, asked };
}

const parentsOf = async ({ page, end }: Source): Promise<unknown[]> => {
  const [first, last] = [await page({ signal }), await end?.({ signal })];
  return [...(first?.body.rows ?? []), ...(last?.body ?? [])].map(({ parentId }) => parentId);
};

test('what is listed in the own root is known to be there; elsewhere, no folder may be a hidden one', async () => {
  const { client } = clientOf({ '/folders/{id}/children': [folder, file], '/files': [file] });

  expect(await parentsOf(folderSource(client, 'root', 'name'))).toEqual([null, null, null]);
  expect(await parentsOf(recentSource(client))).toEqual([undefined]);
});

test('the end of a folder is its files, without any its folders, and is not read again before it changes', async () => {
  const rows = { '/folders/{id}/children': [folder], '/files': [] as object[] };
  const { client, asked } = clientOf(rows);
  const { end } = folderSource(client, 'f', 'name');
  const folders = await end?.({ signal });
  const same = await end?.({ known: folders?.etag, signal });
  rows['/files'].push(file);
  const files = await end?.({ known: folders?.etag, signal });

  expect([folders?.body[0]?.id, same, files?.body[0]?.id]).toEqual(['2', undefined, '1']);
  expect(await end?.({ known: files?.etag, signal })).toBeUndefined();
  expect(asked).toEqual(['/files', '/folders/{id}/children', '/files', '/folders/{id}/children', '/files', '/files']);
});

test('a search without words asks for its filters, and one for nothing asks for nothing and never changes', async () => {
  const { client, asked } = clientOf({ '/search': [folder] });
  const nothing = searchSource(client, { q: '', tag: undefined });
  const none = await nothing.page({ signal });
  const again = await nothing.page({ known: none?.etag, signal });
  const before = [...asked];
  const found = await searchSource(client, { q: '', tag: 't' }).page({ signal });

  expect([none?.body, again, before]).toEqual([{ rows: [], next: null }, undefined, []]);
  expect([found?.body.rows.map(({ id }) => id), asked]).toEqual([['2'], ['/search']]);
});
