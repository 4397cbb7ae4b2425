import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTenant, type TestTenant } from '../../support/server.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await startTenant();
});
afterAll(() => tenant.stop());

test('a page with include is bounded by the JSON of the reply, where that is longer than what is stored', async () => {
  const { api } = await tenant.user();
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.push((await api.upload('/files', { file: Buffer.from(name), name })).body.id);
  // JSON makes six bytes of each.
  await tenant.db.query(
    `INSERT INTO file_metadata (file_id, key, value) SELECT f.id, n::text, repeat(E'\\x01', 65536) FROM files f, generate_series(1, 6) n
     WHERE f.uuid = ANY ($1::uuid[])`,
    [ids],
  );
  const page = (cursor?: string) =>
    api.get('/files', { query: { include: 'metadata', sort: 'name', ...(cursor === undefined ? {} : { cursor }) } });

  const first = await page();
  const second = await page(first.body.pagination.next_cursor);
  const third = await page(second.body.pagination.next_cursor);

  expect([first, second, third].map(({ body }) => body.data.map(({ id }: { id: string }) => id))).toEqual(ids.map((id) => [id]));
  expect([first, second, third].map(({ body }) => body.pagination.has_more)).toEqual([true, true, false]);
  for (const { bytes } of [first, second, third]) expect(bytes.length).toBeLessThan(4 << 20);
});
