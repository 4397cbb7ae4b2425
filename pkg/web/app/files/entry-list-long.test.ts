import { expect, test } from '@jest/globals';
import type { Entry } from './entry.ts';
import { EntryList } from './entry-list.ts';
import type { ReadOptions } from './sources.ts';

const file = (name: string): Entry => ({ id: name, name }) as Entry;

const shown = (list: EntryList): (string | undefined)[] => {
  const { rows } = list.state.value;
  return Array.from({ length: rows.count }, (_, index) => rows.at(index)?.name);
};

/** A list of 30 in memory, in the order of its names, with pages of two whose cursor is the last name before. All is loaded. */
async function longList(): Promise<{ list: EntryList; names: string[]; asked: string[] }> {
  const names = Array.from({ length: 30 }, (_, index) => `${index + 10}`);
  const asked: string[] = [];
  const list = new EntryList({
    key: 'long',
    page: ({ cursor = '', known }: ReadOptions) => {
      const behind = names.toSorted().filter((name) => name > cursor);
      const rows = behind.slice(0, 2);
      asked.push(`${cursor}${known === undefined ? '' : ' if changed'}`);
      const etag = rows.join();
      const next = behind.length > 2 ? (rows.at(-1) ?? null) : null;
      return Promise.resolve(known === etag ? undefined : { body: { rows: rows.map(file), next }, etag });
    },
  });
  await list.all();
  asked.length = 0;
  return { list, names, asked };
}

test('a long list that others change stays loaded: what is seen is read again, and the rest as it is looked at', async () => {
  const { list, names, asked } = await longList();
  names.push('251', '252');
  names.splice(names.indexOf('30'), 1);
  await list.refresh(16, 17);
  const first = [shown(list), asked.splice(0)];
  await list.refresh(22, 23);

  const all = Array.from({ length: 30 }, (_, index) => `${index + 10}`);
  const withNew = [...all.slice(0, 16), '251', '252', ...all.slice(16)];
  // What is seen has moved to the next page.
  expect(first[1]).toEqual([' if changed', '25 if changed', '252']);
  expect(first[0]).toEqual(withNew);
  expect(shown(list)).toEqual(withNew.filter((name) => name !== '30'));
});

test('a row that comes into a full page moves the next ones on; one that leaves takes none along', async () => {
  const { list, names } = await longList();
  names.push('241');
  await list.refresh(14, 15);
  const longer = shown(list);
  names.splice(names.indexOf('241'), 1);
  names.splice(names.indexOf('25'), 1);
  await list.refresh(14, 15);
  const shorter = shown(list);
  await list.all();

  const all = Array.from({ length: 30 }, (_, index) => `${index + 10}`);
  expect(longer).toEqual([...all.slice(0, 15), '241', ...all.slice(15)]);
  expect(shorter).toEqual(all.filter((name) => name !== '25'));
  expect(shown(list)).toEqual(shorter);
});

test('what was taken out of a long list here stays out, wherever it was', async () => {
  const { list, names } = await longList();
  list.see(2, 3);
  const end = list.leave(new Set(['11', '29', '38']));
  for (const name of ['11', '29']) names.splice(names.indexOf(name), 1);
  await list.refresh(2, 3);
  end();
  await list.reload();

  // The server has kept 38.
  expect(shown(list)).toEqual([...names]);
});

test('a long list of which something was taken out of more than ten pages begins anew with ten', async () => {
  const { list, names } = await longList();
  const end = list.leave(new Set(names.filter((_, index) => index % 2 === 1)));
  end();
  await list.reload();
  const again = shown(list);
  await list.all();

  expect([again, shown(list)]).toEqual([[...names.slice(0, 20), undefined], names]);
});
