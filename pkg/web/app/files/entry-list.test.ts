import { expect, test } from '@jest/globals';
import { ApiProblem } from '../../api/problem.ts';
import { type Entry, ofFile, stemLength } from './entry.ts';
import { EntryList } from './entry-list.ts';
import type { ReadOptions, Source } from './sources.ts';

const file = (name: string): Entry =>
  ofFile({
    id: name,
    name,
    path: name,
    owner: { id: 'ada', name: 'Ada' },
    access: 'admin',
    updated_at: '2026-03-04T12:00:00Z',
    size: 1,
    mime_type: 'text/plain',
    version: 1,
    etag: '1',
    folder: null,
  });

/** A list in memory with pages of two; `asked` is what was read of it. */
function listOf(...names: string[]): { source: Source; names: string[]; asked: string[]; fail: { next: boolean } } {
  const state = { names, asked: [] as string[], fail: { next: false } };
  const source: Source = {
    key: 'test',
    page: ({ cursor, known }: ReadOptions) => {
      const from = Number(cursor ?? 0);
      const rows = state.names.slice(from, from + 2);
      const etag = rows.join();
      state.asked.push(`${from}${known === undefined ? '' : ' if changed'}`);
      if (state.fail.next) return Promise.reject(new ApiProblem({ status: 503, code: 'unavailable', message: '' }));
      if (known === etag) return Promise.resolve(undefined);
      const next = from + 2 < state.names.length ? String(from + 2) : null;
      return Promise.resolve({ body: { rows: rows.map(file), next }, etag });
    },
    end: () => Promise.resolve(state.names.slice(-2).toReversed().map(file)),
  };
  return { ...state, source, names: state.names };
}

const shown = (list: EntryList): (string | undefined)[] => {
  const { rows } = list.state.value;
  return Array.from({ length: rows.count }, (_, index) => rows.at(index)?.name);
};

test('pages are loaded one after the other, and the last one makes the list whole', async () => {
  const { source } = listOf('a', 'b', 'c');
  const list = new EntryList(source);
  await list.more();
  const first = shown(list);
  await Promise.all([list.more(), list.more(), list.more()]);

  expect([first, shown(list), list.state.value.isLoading]).toEqual([['a', 'b', undefined], ['a', 'b', 'c'], false]);
});

test('the end is loaded by one request, and what is between stays a gap', async () => {
  const { source, asked } = listOf(...'abcdefgh'.split(''));
  const list = new EntryList(source);
  await list.more();
  await list.end();

  expect([shown(list), asked]).toEqual([['a', 'b', undefined, 'g', 'h'], ['0']]);
});

test('a refresh asks for the pages that are seen, and reads the list again if one has changed', async () => {
  const { source, names, asked } = listOf(...'abcdef'.split(''));
  const list = new EntryList(source);
  await list.more();
  await list.more();
  await list.more();
  asked.length = 0;
  await list.refresh(4, 5);
  const unchanged = [...asked];
  names.splice(0, 1, 'A');
  await list.refresh(4, 5);

  expect(unchanged).toEqual(['0 if changed', '4 if changed']);
  expect(shown(list)).toEqual(['A', 'b', 'c', 'd', 'e', 'f']);
});

test('a refresh reads no page twice, and of the pages that have not changed none', async () => {
  const { source, names, asked } = listOf(...'abcdef'.split(''));
  const list = new EntryList(source);
  await list.all();
  asked.length = 0;
  names.splice(0, 1, 'A');
  names.splice(4, 1, 'E');
  await list.refresh(4, 5);

  expect(asked).toEqual(['0 if changed', '2 if changed', '4 if changed']);
  expect(shown(list)).toEqual(['A', 'b', 'c', 'd', 'E', 'f']);
});

test('what was shown before the server had it, and did not come about, is undone by the next refresh', async () => {
  const { source, asked } = listOf('a', 'b', 'c');
  const list = new EntryList(source);
  await list.all();
  asked.length = 0;
  list.change((rows) => rows.without(new Set(['a'])));
  const ahead = shown(list);
  await list.refresh();
  const undone = shown(list);
  await list.refresh();

  expect([ahead, undone]).toEqual([
    ['b', 'c'],
    ['a', 'b', 'c'],
  ]);
  expect(asked).toEqual(['0 if changed', '2 if changed', '0 if changed']);
});

test('a list that could not be loaded says so until somebody asks again', async () => {
  const { source, fail, asked } = listOf('a', 'b');
  const list = new EntryList(source);
  fail.next = true;
  await list.more();
  fail.next = false;
  await list.refresh();
  const failed = list.state.value.problem?.code;
  await list.more();

  expect([failed, asked, shown(list)]).toEqual(['unavailable', ['0', '0'], ['a', 'b']]);
});

test('a failure is shown, and gone after the next success', async () => {
  const { source, fail } = listOf('a', 'b', 'c');
  const list = new EntryList(source);
  fail.next = true;
  await list.more();
  const failed = list.state.value.problem?.code;
  fail.next = false;
  await list.more();

  expect([failed, list.state.value.problem, shown(list)]).toEqual(['unavailable', undefined, ['a', 'b', undefined]]);
});

test('all rows of a list that is selected as a whole are loaded; a failure is thrown', async () => {
  const { source, fail } = listOf(...'abcde'.split(''));
  const all = await new EntryList(source).all();
  fail.next = true;

  expect(all.map(({ name }) => name)).toEqual('abcde'.split(''));
  await expect(new EntryList(source).all()).rejects.toMatchObject({ code: 'unavailable' });
});

test('renaming selects the name without its ending, of a folder all of it', () => {
  expect([stemLength(file('essay.pdf')), stemLength(file('.profile')), stemLength({ ...file('v1.2'), type: 'folder' })]).toEqual([
    5, 8, 4,
  ]);
});
