import { expect, test } from '@jest/globals';
import type { Client } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Entry } from './entry.ts';
import { withOrigins } from './put-back.ts';

const entry = (id: string, parentId: string | undefined, owner = 'ada'): Entry => ({
  type: 'file',
  id,
  name: id,
  path: `/${id}`,
  owner: { id: owner, name: owner },
  time: '2026-03-04T12:00:00Z',
  size: 1,
  mimeType: null,
  parentId,
});

/** A client of somebody whose root has these pages; it counts what is asked. */
function rootOf(...pages: readonly (readonly string[])[]): { client: Client; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  const get = async (_: string, { query }: { query: { cursor?: string } }) => {
    asked.push(query.cursor);
    const at = Number(query.cursor ?? 0);
    const next = at + 1 < pages.length ? String(at + 1) : null;
    return { data: (pages[at] ?? []).map((id) => ({ id })), pagination: { next_cursor: next } };
  };
  return { client: { get } as unknown as Client, asked };
}

const parentsOf = async (client: Client, ...entries: Entry[]): Promise<unknown[]> =>
  (await withOrigins(client, entries, 'ada')).map(({ parentId }) => parentId);

test('what is in the own root is found there; what is in a hidden folder stays unknown, as what is another’s', async () => {
  const { client, asked } = rootOf(['a'], ['b', 'c']);
  const entries = [entry('a', undefined), entry('hidden', undefined), entry('in a folder', 'f'), entry('c', undefined, 'ben')];

  expect(await parentsOf(client, ...entries)).toEqual([null, undefined, 'f', undefined]);
  expect(asked).toEqual([undefined, '1']);
});

test('no more of the root is read than until all is found, and at most five pages', async () => {
  const [first, long] = [rootOf(['a'], ['b']), rootOf(...Array.from({ length: 9 }, (_, page) => [`${page}`]))];

  expect(await parentsOf(first.client, entry('a', undefined))).toEqual([null]);
  expect(await parentsOf(long.client, entry('7', undefined), entry('3', undefined))).toEqual([undefined, null]);
  expect([first.asked.length, long.asked.length]).toEqual([1, 5]);
});

test('nothing is asked about what is known', async () => {
  const { client, asked } = rootOf(['a']);

  expect(await parentsOf(client, entry('a', 'f'), entry('b', undefined, 'ben'))).toEqual(['f', undefined]);
  expect(asked).toEqual([]);
});

test('a root that cannot be read leaves what is unknown as it is', async () => {
  const get = () => Promise.reject(new ApiProblem({ status: 503, code: 'unavailable', message: '' }));

  expect(await parentsOf({ get } as unknown as Client, entry('a', undefined))).toEqual([undefined]);
});
