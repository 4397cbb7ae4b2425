import { expect, test } from '@jest/globals';
import { type Batch, chosenOf, type Dropped, droppedOf, walk } from './walk.ts';

/** A tree on a disk: a folder is an object, a file is its text, and `null` a file that cannot be read. */
interface Tree {
  readonly [name: string]: Tree | string | null;
}

/** An entry as browsers give it: a read returns at most 100 entries, and none at the end. */
function entryOf(name: string, content: Tree | string | null): FileSystemEntry {
  if (content === null || typeof content === 'string') {
    const file = (found: (file: File) => void, failed: (error: Error) => void): void =>
      content === null ? failed(new Error('NotReadableError')) : found(new File([content], name));
    return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry;
  }
  const createReader = () => {
    const rest = Object.entries(content).map(([child, below]) => entryOf(child, below));
    return { readEntries: (found: (entries: FileSystemEntry[]) => void) => queueMicrotask(() => found(rest.splice(0, 100))) };
  };
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
}

const dropped = (tree: Tree): Dropped[] => Object.entries(tree).map(([name, content]) => ({ entry: entryOf(name, content) }));

async function walked(tree: Tree, signal = new AbortController().signal): Promise<Batch[]> {
  const batches: Batch[] = [];
  for await (const batch of walk(dropped(tree), signal)) batches.push(batch);
  return batches;
}

const pathsOf = (batches: readonly Batch[], kind: 'leftOut' | 'emptyFolders' | 'unreadable'): string[] =>
  batches.flatMap((batch) => batch[kind].map((path) => path.join('/'))).toSorted();

const filesOf = (batches: readonly Batch[]): string[] =>
  batches.flatMap(({ files }) => files.map(({ path }) => path.join('/'))).toSorted();

const numbered = (count: number): Tree => Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}.txt`, `${n}`]));

test('a walk finds files at their paths, below folders of any depth', async () => {
  const batches = await walked({ 'a.txt': 'a', Photos: { 'b.jpg': 'b', 2026: { May: { 'c.jpg': 'c' } } } });

  expect(filesOf(batches)).toEqual(['Photos/2026/May/c.jpg', 'Photos/b.jpg', 'a.txt']);
});

test('a walk finds all 4,000 files of a folder, the first 100 of them in the first step that reads it', async () => {
  const batches = await walked({ Photos: numbered(4_000) });

  expect(new Set(filesOf(batches)).size).toBe(4_000);
  expect(batches[1]?.files).toHaveLength(100);
});

test('a folder without files is found as an empty folder, also where it has only what a system wrote for itself', async () => {
  const batches = await walked({
    Photos: { Empty: {}, Seen: { '.DS_Store': 'x' }, Used: { 'a.txt': 'a' }, Deep: { Deeper: {} } },
  });

  expect(pathsOf(batches, 'emptyFolders')).toEqual(['Photos/Deep/Deeper', 'Photos/Empty', 'Photos/Seen']);
});

test('files that macOS and Windows write for themselves are left out and named', async () => {
  const batches = await walked({
    Photos: { '.DS_Store': 'x', 'thumbs.db': 'x', '._a.txt': 'x', '.profile': 'kept', 'a.txt': 'a' },
  });

  expect(filesOf(batches)).toEqual(['Photos/.profile', 'Photos/a.txt']);
  expect(pathsOf(batches, 'leftOut')).toEqual(['Photos/.DS_Store', 'Photos/._a.txt', 'Photos/thumbs.db']);
});

test('a file that cannot be read is named, and the others are found', async () => {
  const batches = await walked({ Photos: { 'broken.txt': null, 'a.txt': 'a' } });

  expect(filesOf(batches)).toEqual(['Photos/a.txt']);
  expect(pathsOf(batches, 'unreadable')).toEqual(['Photos/broken.txt']);
});

test('a folder that cannot be read is named, and is not taken for an empty one', async () => {
  const entry = {
    name: 'Locked',
    isDirectory: true,
    createReader: () => ({ readEntries: (_: unknown, failed: (error: Error) => void) => failed(new Error('NotReadableError')) }),
  } as unknown as FileSystemEntry;
  const batches: Batch[] = [];

  for await (const batch of walk([{ entry }], new AbortController().signal)) batches.push(batch);

  expect(pathsOf(batches, 'unreadable')).toEqual(['Locked']);
  expect(pathsOf(batches, 'emptyFolders')).toEqual([]);
});

test('a cancelled walk ends with the reason of its signal', async () => {
  const stop = new AbortController();
  const found: Batch[] = [];
  const walking = async (): Promise<void> => {
    for await (const batch of walk(dropped({ Photos: numbered(1_000) }), stop.signal)) {
      found.push(batch);
      stop.abort(new Error('cancelled'));
    }
  };

  await expect(walking()).rejects.toThrow('cancelled');
  expect(found).toHaveLength(1);
});

test('a dropped file gets a handle, a dropped folder is not asked for one', async () => {
  const asked: string[] = [];
  const itemOf = (entry: FileSystemEntry) => ({
    kind: 'file',
    webkitGetAsEntry: () => entry,
    getAsFileSystemHandle: async () => {
      asked.push(entry.name);
      return { kind: 'file', name: entry.name };
    },
  });
  const items = [itemOf(entryOf('Documents', { 'b.txt': 'b' })), itemOf(entryOf('a.txt', 'a'))];
  const batches: Batch[] = [];

  const taken = droppedOf(items as unknown as DataTransferItemList);
  for await (const batch of walk(taken, new AbortController().signal)) batches.push(batch);

  expect(asked).toEqual(['a.txt']);
  const handles = batches.flatMap(({ files }) => files.map(async ({ handle }) => (await handle?.())?.name));
  expect(await Promise.all(handles)).toEqual(['a.txt', undefined]);
});

test('entries and handles are taken out of a drop at once; texts are ignored', async () => {
  const entry = entryOf('a.txt', 'a');
  const refused = async (): Promise<never> => Promise.reject(new Error('NotAllowedError'));
  const items = [
    { kind: 'string', webkitGetAsEntry: () => null },
    { kind: 'file', webkitGetAsEntry: () => entry, getAsFileSystemHandle: refused },
  ];

  const [only, ...others] = droppedOf(items as unknown as DataTransferItemList);

  expect(others).toEqual([]);
  expect(only?.entry).toBe(entry);
  expect(await only?.handle?.()).toBeUndefined();
});

test('files of a chosen folder have their paths in it, and chosen files their names', () => {
  const inFolder = (path: string): File =>
    Object.defineProperty(new File(['x'], path.split('/').at(-1) ?? ''), 'webkitRelativePath', { value: path });

  const batch = chosenOf([new File(['x'], 'a.txt'), inFolder('Photos/2026/b.jpg'), inFolder('Photos/.DS_Store')]);

  expect(batch.files.map(({ path }) => path)).toEqual([['a.txt'], ['Photos', '2026', 'b.jpg']]);
  expect(batch.leftOut).toEqual([['Photos', '.DS_Store']]);
});
