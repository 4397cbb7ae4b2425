import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { addMetadata } from '../../support/data/tags-and-metadata.ts';
import { range } from '../../support/wait.ts';

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
  await addMetadata(
    tenant,
    ids,
    range(6).map((at) => ({ key: String(at), value: '\u0001'.repeat(65_536) })),
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
