import { expect, test } from '@jest/globals';
import { batchOf, fileOf, large, settled, uploaderOf } from './uploader-in-tests.ts';
import type { Batch } from './walk.ts';

test('the first uploads start while folders are still being read', async () => {
  const { uploader, calls } = uploaderOf();
  let goOn = (): void => undefined;
  const batches = async function* (): AsyncGenerator<Batch> {
    yield batchOf({}, {});
    await new Promise<void>((resolve) => (goOn = resolve));
    yield batchOf({}, {}, {});
  };

  const adding = uploader.add('folder', batches());
  await settled();

  expect(calls).toHaveLength(2);
  expect(uploader.search).toMatchObject({ isRunning: true, files: 2 });
  goOn();
  await adding;
  expect(uploader.search).toMatchObject({ isRunning: false, files: 5 });
});

test('when an upload ends, the next one starts, and the folder counts it', async () => {
  const { uploader, calls } = uploaderOf();
  await uploader.add('folder', [batchOf({}, {}, {}, {}, {})]);
  await settled();

  expect(calls).toHaveLength(4);
  calls[0]?.succeed();
  await settled();

  expect(calls).toHaveLength(5);
  expect([uploader.doneIn('folder'), uploader.doneIn(null)]).toEqual([1, 0]);
});

test('what was left out, or could not be read, is counted for the person', async () => {
  const { uploader } = uploaderOf();
  await uploader.add(null, [{ ...batchOf(), leftOut: [['a', '.DS_Store']], unreadable: [['a', 'b.txt']] }]);

  expect(uploader.search).toEqual({ isRunning: false, files: 0, leftOut: 1, unreadable: ['a/b.txt'] });
});

test('a paused upload breaks its request off, and a late report of that request changes nothing', async () => {
  const { uploader, calls } = uploaderOf();
  await uploader.add(null, [batchOf({ file: fileOf('0.txt', 100) })]);
  await settled();
  const [first] = calls;
  first?.steps.onSending();

  uploader.pause(1);
  first?.steps.onProgress(50);
  await settled();

  expect(first?.steps.signal.aborted).toBe(true);
  expect(uploader.queue.get(1)).toMatchObject({ state: 'paused', sent: 0 });
});

test('a large upload that is paused continues where the server has its bytes', async () => {
  const { uploader, calls } = uploaderOf();
  await uploader.add(null, [batchOf(large('film.mp4'))]);
  await settled();
  calls[0]?.steps.onUrl('/uploads/1');

  uploader.pauseAll();
  uploader.resumeAll();
  await settled();

  expect(calls[1]?.steps.url).toBe('/uploads/1');
});

test('another answer to a taken name deletes what the server has, and starts at the beginning', async () => {
  const { uploader, calls, discarded } = uploaderOf();
  await uploader.add(null, [batchOf(large('film.mp4'))]);
  await settled();
  calls[0]?.steps.onUrl('/uploads/1');
  calls[0]?.fail('name_conflict');
  await settled();

  uploader.answer('rename');
  await settled();

  expect(discarded).toEqual(['/uploads/1']);
  expect(calls[1]).toMatchObject({ upload: { onTaken: 'rename' }, steps: { url: '' } });
});

test('a cancelled upload is broken off, deleted at the server and no longer kept', async () => {
  const { uploader, calls, discarded, kept } = uploaderOf();
  await uploader.add(null, [batchOf(large('film.mp4'))]);
  await settled();
  calls[0]?.steps.onUrl('/uploads/1');
  expect([...kept.values()]).toMatchObject([{ url: '/uploads/1', path: ['film.mp4'] }]);

  uploader.close();
  await settled();

  expect(calls[0]?.steps.signal.aborted).toBe(true);
  expect({ discarded, kept: kept.size, left: uploader.queue.ids }).toEqual({ discarded: ['/uploads/1'], kept: 0, left: [] });
});

test('closing the list ends a walk through folders too', async () => {
  const { uploader } = uploaderOf();
  const stop = new AbortController();
  const endless = async function* (): AsyncGenerator<Batch> {
    for (;;) {
      yield batchOf({});
      await settled();
      stop.signal.throwIfAborted();
    }
  };
  const adding = uploader.add(null, endless(), stop);
  await settled();

  uploader.close();
  await adding;

  expect(uploader.search.isRunning).toBe(false);
});

/** Finds one file, and another one after `goOn`. */
async function* slowly(goOn: Promise<void>): AsyncGenerator<Batch> {
  yield batchOf({});
  await goOn;
  yield batchOf({});
}

test('a search goes on as long as one of its walks; closing the list ends all, and adds nothing that they find', async () => {
  const { uploader } = uploaderOf();
  const goOn = Promise.withResolvers<void>();
  const walks = [uploader.add(null, slowly(goOn.promise)), uploader.add(null, slowly(goOn.promise))];
  await uploader.add(null, [batchOf({})]);
  const wasRunning = uploader.search.isRunning;

  uploader.close();
  goOn.resolve();
  await Promise.all(walks);

  expect([wasRunning, uploader.search.isRunning, uploader.queue.ids]).toEqual([true, false, []]);
});

test('what is found after a sign-out is not sent, whoever signs in next', async () => {
  const { uploader, calls } = uploaderOf();
  const goOn = Promise.withResolvers<void>();
  const walk = uploader.add(null, slowly(goOn.promise));
  await settled();

  uploader.leave();
  goOn.resolve();
  await walk;
  await uploader.add(null, [batchOf({})]);
  await settled();

  expect(calls).toHaveLength(1);
});

test('after a sign-out nothing is sent any more, and what is kept stays for the next sign-in', async () => {
  const { uploader, calls, discarded, kept } = uploaderOf();
  await uploader.add(null, [batchOf(large('film.mp4'))]);
  await settled();
  calls[0]?.steps.onUrl('/uploads/1');

  uploader.leave();
  await settled();

  expect(calls[0]?.steps.signal.aborted).toBe(true);
  expect({ discarded, kept: kept.size, left: uploader.queue.ids }).toEqual({ discarded: [], kept: 1, left: [] });
});

test('listeners are called once for many changes', async () => {
  const { uploader } = uploaderOf();
  let calls = 0;
  const called = new Promise<void>((resolve) => {
    uploader.subscribe(() => {
      calls += 1;
      resolve();
    });
  });

  await uploader.add(null, [batchOf(...Array.from({ length: 1_000 }, () => ({})))]);
  await called;

  expect(calls).toBe(1);
});

test('an error of the page itself fails the upload instead of stopping the list', async () => {
  const { uploader, calls } = uploaderOf();
  await uploader.add(null, [batchOf({}, {}, {}, {}, {})]);
  await settled();

  calls[0]?.crash(new TypeError('undefined is not a function'));
  await settled();

  expect(uploader.queue.get(1)).toMatchObject({ state: 'failed', problem: { code: 'page_failed' } });
  expect(calls).toHaveLength(5);
});
