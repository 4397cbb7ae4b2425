import { expect, test } from '@jest/globals';
import { keptOf, settled, uploaderOf } from '../uploads/uploader-in-tests.ts';
import { restoreFor } from './sender-name.ts';

// An empty folder is what continues without a file that the browser reads.
const interrupted = [keptOf({ isFolder: true, size: 0, url: '' })];

test('what a reload interrupted does not start before the name of its sender is there', async () => {
  const { uploader, calls } = uploaderOf(interrupted);
  await restoreFor(' ', uploader);
  await settled();
  const [before, { hold }] = [calls.length, uploader.queue];
  uploader.queue.release('stopped');
  await settled();

  expect([before, hold?.problem?.code, calls.length]).toEqual([0, 'sender_missing', 1]);
});

test('with the name of its sender it goes on by itself', async () => {
  const { uploader, calls } = uploaderOf(interrupted);
  await restoreFor('Ada', uploader);
  await settled();

  expect([calls.length, uploader.queue.hold]).toEqual([1, undefined]);
});

test('where nothing was interrupted, nothing is held', async () => {
  const { uploader } = uploaderOf();
  await restoreFor('', uploader);

  expect(uploader.queue.hold).toBeUndefined();
});
