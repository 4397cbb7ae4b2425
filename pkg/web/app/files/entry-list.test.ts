import { expect, test } from '@jest/globals';
import { ApiProblem } from '../../api/problem.ts';
import { leave } from '../leaving.ts';
import { type Entry, ofFile } from './entry.ts';
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
    end: ({ known }) => {
      const rows = state.names.slice(-2).toReversed();
      const etag = rows.join();
      state.asked.push(`end${known === undefined ? '' : ' if changed'}`);
      return Promise.resolve(known === etag ? undefined : { body: rows.map(file), etag });
    },
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

  expect([shown(list), asked]).toEqual([
    ['a', 'b', undefined, 'g', 'h'],
    ['0', 'end'],
  ]);
});

test('a refresh at the end asks for it, also where it has met the beginning, and shows what others changed', async () => {
  const { source, names, asked } = listOf('a', 'b', 'c');
  const list = new EntryList(source);
  await list.more();
  await list.end();
  asked.length = 0;
  await list.refresh(2, 2);
  const unchanged = [...asked];
  names.splice(2, 1, 'C');
  await list.refresh(2, 2);

  expect(unchanged).toEqual(['0 if changed', 'end if changed']);
  expect(shown(list)).toEqual(['a', 'b', 'C']);
});

test('a refresh at the beginning does not ask for the end', async () => {
  const { source, asked } = listOf(...'abcdefgh'.split(''));
  const list = new EntryList(source);
  await list.more();
  await list.end();
  asked.length = 0;
  await list.refresh(0, 1);

  expect(asked).toEqual(['0 if changed']);
});

test('a change at the beginning leaves the end to whoever stands there, as it is now', async () => {
  const { source, names } = listOf(...'abcdefgh'.split(''));
  const list = new EntryList(source);
  await list.more();
  await list.end();
  names.splice(0, 1, 'A');
  await list.refresh(3, 4);
  const refreshed = shown(list);
  names.splice(7, 1);
  await list.reload();

  expect([refreshed, shown(list)]).toEqual([
    ['A', 'b', undefined, 'g', 'h'],
    ['A', 'b', undefined, 'f', 'g'],
  ]);
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

test('rows that are being taken out stay away from each look, in every list of the location, until that has ended', async () => {
  const { source, names } = listOf('a', 'b', 'c');
  const [list, other] = [
    new EntryList({ ...source, location: 'here' }),
    new EntryList({ ...source, key: 'in another order', location: 'here' }),
  ];
  await list.all();
  const end = list.leave(new Set(['a', 'b']));
  names.splice(0, 1);
  await list.refresh();
  await list.refresh();
  await other.all();
  const during = [shown(list), shown(other)];
  end();
  await Promise.all([list.reload(), other.reload()]);

  expect(during).toEqual([['c'], ['c']]);
  expect([shown(list), shown(other)]).toEqual([
    ['b', 'c'],
    ['b', 'c'],
  ]);
});

test('what is taken out of one location is shown in another, and what comes into a location by it as it comes', async () => {
  const [here, there] = [listOf('a', 'b'), listOf('c')];
  const [list, trash] = [new EntryList({ ...here.source, key: 'here' }), new EntryList({ ...there.source, key: 'trash' })];
  await Promise.all([list.all(), trash.all()]);
  const end = list.leave(new Set(['a', 'not there']));
  there.names.push('a');
  here.names.splice(0, 1, 'not there');
  await Promise.all([list.reload(), trash.reload()]);
  end();

  expect([shown(list), shown(trash)]).toEqual([
    ['not there', 'b'],
    ['c', 'a'],
  ]);
});

test.each(['begins', 'ends'])('an answer that is on its way when the taking out %s brings no row back', async (when) => {
  const { source } = listOf('a', 'b');
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHeld = false;
  const list = new EntryList({
    ...source,
    page: async (options) => {
      const read = await source.page({ ...options, known: undefined });
      if (!isHeld) return read;
      asked.resolve();
      await answer.promise;
      return read;
    },
  });
  await list.all();
  const before = when === 'ends' ? list.leave(new Set(['a'])) : undefined;
  isHeld = true;
  const look = list.reload();
  await asked.promise;
  const during = when === 'begins' ? list.leave(new Set(['a'])) : undefined;
  before?.();
  answer.resolve();
  await look;
  const names = shown(list);
  during?.();

  expect(names).toEqual(['b']);
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

/** A list without an opposite order, which is left when `at` pages were asked for. */
function leftAt(at: number): EntryList {
  const { source } = listOf(...'abcdefgh'.split(''));
  let asked = 0;
  const list: EntryList = new EntryList({
    key: source.key,
    page: (options) => {
      asked += 1;
      if (asked === at) list.stop();
      return options.signal.aborted ? Promise.reject(options.signal.reason as Error) : source.page(options);
    },
  });
  return list;
}

test('an action gets all rows of a list that is left meanwhile, and then the list asks for nothing more', async () => {
  const { source, asked } = listOf(...'abcdef'.split(''));
  const list = new EntryList(source);
  const all = list.all();
  list.stop();
  const names = (await all).map(({ name }) => name);
  await list.reload();

  expect([names.join(''), asked]).toEqual(['abcdef', ['0', '2', '4']]);
});

test.each([
  ['before', [leave, (list: EntryList) => list.stop()]],
  ['after', [(list: EntryList) => list.stop(), leave]],
])('a sign-out %s a list is left ends what an action loads of it', async (_when, steps) => {
  const { source, asked } = listOf(...'abcdef'.split(''));
  const list = new EntryList(source);
  const all = list.all();
  for (const step of steps) step(list);

  await expect(all).rejects.toMatchObject({ name: 'AbortError' });
  expect(asked.length).toBeLessThan(2);
});

test('a list without an opposite order that is left on the way to its end ends there', async () => {
  const list = leftAt(3);
  await list.end();

  expect(shown(list)).toEqual(['a', 'b', 'c', 'd', undefined]);
});

test('what changes while all rows are loaded does not cut the list back, and is shown afterwards', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `${index}`);
  const { source, asked, names: now } = listOf(...names);
  const later: Promise<void>[] = [];
  let isAllThere = false;
  const list: EntryList = new EntryList({
    ...source,
    page: (options) => {
      if (!isAllThere) {
        now.splice(0, 1, `changed with page ${asked.length}`);
        later.push(list.reload(), list.reload());
      }
      return source.page(options);
    },
  });
  const all = await list.all();
  isAllThere = true;
  const read = asked.splice(0);
  await Promise.all(later);

  expect([all.length, read.length, read.filter((page) => page.endsWith('changed'))]).toEqual([30, 15, []]);
  expect(asked).toEqual(['0 if changed']);
  expect(list.state.value.rows.at(0)?.name).toBe('changed with page 14');
});
