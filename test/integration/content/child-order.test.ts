import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();

/** The names of all children of the root in this order, read in pages of so many. */
async function childrenBy(api: Api, sort: string, limit: number): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: Record<string, string | number> = cursor === '' ? { sort, limit } : { sort, limit, cursor };
    const { body } = await api.get('/folders/root/children', { query });
    names.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.pagination.next_cursor;
  }
  return names;
}

test('children are sorted by size on every page: folders first and by name, then files, those of one size by name', async () => {
  const { api } = await tenant.user();
  for (const name of ['Zoo', 'Atlas', 'Maps']) await api.post('/folders', { name });
  const sizes = { large: 3_000, empty: 0, 'b same': 20, 'a same': 20, 'file 10': 100, 'file 9': 100 };
  for (const [name, size] of Object.entries(sizes)) await api.upload('/files', { name, file: Buffer.alloc(size) });
  const folders = ['Atlas', 'Maps', 'Zoo'];
  const smallest = ['empty', 'a same', 'b same', 'file 9', 'file 10', 'large'];
  const largest = ['large', 'file 9', 'file 10', 'a same', 'b same', 'empty'];

  for (const limit of [200, 4, 2, 1])
    expect([limit, await childrenBy(api, 'size,name', limit), await childrenBy(api, '-size,name', limit)]).toEqual([
      limit,
      [...folders, ...smallest],
      [...folders, ...largest],
    ]);
});
