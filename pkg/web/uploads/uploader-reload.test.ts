import { expect, test } from '@jest/globals';
import { LARGE, batchOf, fileOf, foundOf, keptOf, large, settled, uploaderOf } from './uploader-in-tests.ts';

test('each upload is kept until it is done, with its place and its handle: small ones and empty folders too', async () => {
  const { uploader, calls, kept } = uploaderOf();
  const handle = { kind: 'file' } as FileSystemFileHandle;
  const found = batchOf({ path: ['Notes', 'a.txt'] }, large('film.mp4', { handle: async () => handle }));
  await uploader.add('folder', [{ ...found, emptyFolders: [['Empty']] }]);
  await settled();
  const all = [...kept.values()];
  expect(all).toMatchObject([
    { folderId: 'folder', path: ['Notes', 'a.txt'], isFolder: false, state: 'waiting', handle: undefined },
    { path: ['film.mp4'], handle },
    { path: ['Empty'], isFolder: true },
  ]);
  expect(all.map(({ order }) => order)).toEqual(all.map(({ order }) => order).toSorted((a, b) => a - b));

  for (const call of calls) call.succeed();
  await settled();

  expect(kept.size).toBe(0);
});

test('what waits, is paused, has failed or asks about its name is kept as that; what was skipped is not', async () => {
  const { uploader, calls, kept } = uploaderOf();
  await uploader.add(null, [batchOf({}, {}, {}, {}, {}, {})]);
  await settled();
  calls[0]?.fail('payload_too_large');
  calls[1]?.fail('name_conflict');
  calls[2]?.fail('name_conflict');
  await settled();
  uploader.pause(4);
  uploader.answer('skip', 3);

  expect([...kept.values()].map(({ path: [name], state }) => `${name} ${state}`)).toEqual([
    '0.txt failed',
    '1.txt conflict',
    '3.txt paused',
    '4.txt waiting',
    '5.txt waiting',
  ]);
  uploader.answer('rename');
  expect([...kept.values()].map(({ onTaken, state }) => `${state} ${onTaken}`)).toEqual([
    'failed ask',
    'waiting rename',
    'paused rename',
    'waiting rename',
    'waiting rename',
  ]);
});

test('where a small file that is sent again would be there twice, large ones alone are kept', async () => {
  const { uploader, kept } = uploaderOf([], { isRepeatable: false });
  await uploader.add(null, [batchOf(large('film.mp4'), {})]);

  expect([...kept.values()].map(({ path }) => path)).toEqual([['film.mp4']]);
});

/** A handle of a file. The browser says whether it may be read; a person who is asked allows it. */
function handleOf(file: File | undefined, permission: 'granted' | 'prompt' = 'granted'): FileSystemFileHandle {
  let state: PermissionState = permission;
  return {
    getFile: async () => file ?? Promise.reject(new DOMException('it is gone', 'NotFoundError')),
    queryPermission: async () => state,
    requestPermission: async () => (state = 'granted'),
  } as unknown as FileSystemFileHandle;
}

test.each([
  ['continues by itself where the browser may read the file', 'granted', 'waiting'],
  ['waits for the person where the browser has to ask', 'prompt', 'interrupted'],
] as const)('after a reload an upload %s', async (_, permission, state) => {
  const { uploader, calls } = uploaderOf([keptOf({ handle: handleOf(fileOf('film.mp4', LARGE), permission) })]);

  await uploader.restore();

  expect(uploader.queue.get(1)?.state === 'interrupted').toBe(state === 'interrupted');
  await uploader.allowReading();
  await settled();
  expect(calls).toMatchObject([{ upload: { onTaken: 'replace', folderId: 'folder' }, steps: { url: '/uploads/1' } }]);
});

test('a file that has changed meanwhile starts anew with another key, says so, and is kept as it is now', async () => {
  const { uploader, calls, discarded, kept } = uploaderOf([keptOf({ handle: handleOf(fileOf('film.mp4', LARGE + 1)) })]);

  await uploader.restore();
  await settled();

  expect(calls).toMatchObject([{ upload: { size: LARGE + 1, isChanged: true }, steps: { url: '' } }]);
  expect(calls[0]?.steps.key()).not.toBe('key-replace');
  expect([discarded, uploader.reload.changed]).toEqual([['/uploads/1'], ['film.mp4']]);
  expect([...kept.values()]).toMatchObject([{ size: LARGE + 1, url: '' }]);
});

test('a file that is where it was no more is chosen again', async () => {
  const { uploader, calls } = uploaderOf([keptOf({ handle: handleOf(undefined) })]);
  await uploader.restore();
  await settled();
  expect(uploader.queue.get(1)).toMatchObject({ state: 'interrupted', canRead: false });

  uploader.chosenAgain([foundOf('film.mp4')]);
  await settled();

  expect(calls).toMatchObject([{ steps: { url: '/uploads/1' } }]);
});

test('after a reload the list is as it was: in its order, paused, failed, with its answers; the same keys are sent', async () => {
  const handle = handleOf(fileOf('a.txt'));
  const small = { handle, size: 1, url: '' };
  const { uploader, calls } = uploaderOf([
    keptOf({ ...small, key: '1', path: ['1.txt'], state: 'paused' }),
    keptOf({ ...small, key: '2', path: ['2.txt'], state: 'failed', problem: { code: 'forbidden', message: '' } }),
    keptOf({ ...small, key: '3', path: ['3.txt'], onTaken: 'rename' }),
    keptOf({ key: '4', path: ['Empty'], isFolder: true, size: 0, url: '' }),
    keptOf({ key: '5', path: ['5.txt'], state: 'paused' }),
  ]);

  await uploader.restore();
  await settled();

  const listed = uploader.queue.ids.map((id) => uploader.queue.get(id));
  expect(listed.map((upload) => `${upload?.path.join('/')} ${upload?.state}`)).toEqual([
    '1.txt paused',
    '2.txt failed',
    '3.txt preparing',
    'Empty preparing',
    '5.txt interrupted',
  ]);
  expect(listed[1]?.problem?.code).toBe('forbidden');
  expect(calls.map(({ upload, steps }) => [upload.path[0], upload.file !== undefined, steps.key()])).toEqual([
    ['Empty', false, 'key-replace'],
    ['3.txt', true, 'key-rename'],
  ]);
  expect(uploader.reload).toMatchObject({ restoring: 0, continued: 2 });
});

const HOUR = 3_600_000;

test.each([
  ['22 hours is sent again with its key and its answer', 22, 'rename', true],
  ['25 hours is sent with another key, and the person is asked if the name is taken', 25, 'ask', false],
] as const)('a small upload that may have arrived, and whose key was used before %s', async (_, hours, onTaken, isSameKey) => {
  const handle = handleOf(fileOf('a.txt'));
  const keyUsedAt = Date.now() - hours * HOUR;
  const { uploader, calls } = uploaderOf([keptOf({ handle, size: 1, url: '', onTaken: 'rename', keyUsedAt })]);
  await uploader.restore();
  await settled();

  expect(calls).toMatchObject([{ upload: { onTaken } }]);
  expect(calls[0]?.steps.key() === 'key-rename').toBe(isSameKey);
});

test('a small upload that has arrived, and whose key the server has forgotten, asks what to do about its name', async () => {
  const kept = keptOf({ handle: handleOf(fileOf('a.txt')), size: 1, url: '', onTaken: 'rename', keyUsedAt: 1 });
  const { uploader, calls } = uploaderOf([kept]);
  await uploader.restore();
  await settled();
  calls[0]?.fail('name_conflict');
  await settled();

  expect(uploader.queue.get(1)?.state).toBe('conflict');
});

test('a large upload whose key was used long ago continues where it was', async () => {
  const handle = handleOf(fileOf('film.mp4', LARGE));
  const { uploader, calls } = uploaderOf([keptOf({ handle, keyUsedAt: Date.now() - 48 * HOUR })]);
  await uploader.restore();
  await settled();

  expect(calls).toMatchObject([{ upload: { onTaken: 'replace' }, steps: { url: '/uploads/1' } }]);
});

test('the first use of a key is kept with its time, and so is the time at which an upload joined the list', async () => {
  let now = 1_000;
  const { uploader, calls, kept } = uploaderOf([], { now: () => now });
  await uploader.add(null, [batchOf({}, {})]);
  await settled();
  const before = [...kept.values()].map(({ keyUsedAt }) => keyUsedAt);
  now = 2_000;
  calls[0]?.steps.key();
  now = 3_000;
  calls[0]?.steps.key();
  uploader.pause(1);

  expect(before).toEqual([undefined, undefined]);
  expect([...kept.values()]).toMatchObject([
    { state: 'paused', keyUsedAt: 2_000, keptAt: 1_000 },
    { keyUsedAt: undefined, keptAt: 1_000 },
  ]);
});

test('an upload that was kept before keeps its time, whoever continues it', async () => {
  const { uploader, kept } = uploaderOf([keptOf({ state: 'paused', handle: handleOf(fileOf('film.mp4', LARGE)), keptAt: 7 })]);
  await uploader.restore();
  uploader.keepAgain();

  expect([...kept.values()]).toMatchObject([{ keptAt: 7 }]);
});

test('an upload whose bytes the server has no more starts with another key', async () => {
  const { uploader, calls } = uploaderOf([keptOf({ handle: handleOf(fileOf('film.mp4', LARGE)) })]);
  await uploader.restore();
  await settled();
  const [before, steps] = [calls[0]?.steps.key(), calls[0]?.steps];

  steps?.onUrl('');

  expect(before).toBe('key-replace');
  expect(steps?.key()).not.toBe(before);
});

test('a list that is closed while it is restored stays closed, and is kept no more', async () => {
  const asked = Promise.withResolvers<PermissionState>();
  const handle = { queryPermission: () => asked.promise } as unknown as FileSystemFileHandle;
  const { uploader, kept } = uploaderOf([keptOf({ handle })]);
  kept.set('kept', keptOf());
  const restoring = uploader.restore();
  await settled();
  expect(uploader.reload.restoring).toBe(1);

  uploader.close();
  asked.resolve('granted');
  await restoring;

  expect([uploader.queue.ids, kept.size, uploader.reload.restoring]).toEqual([[], 0, 0]);
});

test('what nobody kept for a while is kept again', async () => {
  const { uploader, kept } = uploaderOf();
  await uploader.add(null, [batchOf({}, {})]);
  kept.clear();

  uploader.keepAgain();

  expect([...kept.values()].map(({ path: [name] }) => name)).toEqual(['0.txt', '1.txt']);
});

test('without a handle, choosing the same file again continues its upload; another file does not', async () => {
  const { uploader, calls } = uploaderOf([keptOf()]);
  await uploader.restore();
  expect(uploader.queue.get(1)).toMatchObject({ state: 'interrupted', canRead: false });

  const others = uploader.chosenAgain([foundOf('other.mp4'), foundOf('film.mp4')]);
  await settled();

  expect(others.map(({ path }) => path)).toEqual([['other.mp4']]);
  expect(calls).toMatchObject([{ upload: { id: 1 }, steps: { url: '/uploads/1' } }]);
});

test('dropping an interrupted file where it belongs continues its upload; elsewhere it is another one', async () => {
  const { uploader } = uploaderOf([keptOf()]);
  await uploader.restore();

  await uploader.add('elsewhere', [batchOf(large('film.mp4'))]);
  expect(uploader.queue.get(1)?.state).toBe('interrupted');
  await uploader.add('folder', [batchOf(large('film.mp4'))]);

  expect(uploader.queue.ids).toHaveLength(2);
  expect(uploader.queue.get(1)?.state).not.toBe('interrupted');
});
