import { expect, test } from '@jest/globals';
import type { Client } from '../../../api/client.ts';
import type { Entry } from '../entry.ts';
import { withTag } from './with-tag.ts';

test('of the files those stay that have the tag, on whichever page the service lists them', async () => {
  const asked: unknown[] = [];
  const pages = [
    { data: [{ id: 'a' }, { id: 'x' }], pagination: { next_cursor: 'next' } },
    { data: [{ id: 'c' }], pagination: { next_cursor: null } },
  ];
  const get = async (path: string, { query }: { query: object }) => {
    asked.push([path, query]);
    return pages[asked.length - 1];
  };
  const files = ['a', 'b', 'c'].map((id) => ({ id }) as Entry);

  const found = await withTag({ get } as unknown as Client, files, 't');

  expect(found.map(({ id }) => id)).toEqual(['a', 'c']);
  expect(asked).toEqual([
    ['/files', { tag: ['t'], limit: 200 }],
    ['/files', { tag: ['t'], limit: 200, cursor: 'next' }],
  ]);
});
