import { expect, test } from '@jest/globals';
import { durationInWords, holdInWords, problemInWords, stateInWords, summaryInWords } from './in-words.ts';
import { Queue, type Task } from './queue.ts';

const MIB = 1024 * 1024;

const task = (size: number): Task => ({ folderId: null, path: ['a.txt'], file: undefined, size });

const queueOf = (clock: { now: number }, ...tasks: readonly Task[]): Queue => {
  const queue = new Queue({ now: () => clock.now, onChange: () => undefined });
  queue.add(tasks);
  return queue;
};

test('durations are rounded to what people plan by', () => {
  expect([0.2, 59, 61, 3_599, 5_400].map(durationInWords)).toEqual(['1 sec', '59 sec', '2 min', '60 min', '1.5 hr']);
});

test('a row shows bytes, speed and remaining time of what is being sent', () => {
  const clock = { now: 0 };
  const queue = queueOf(clock, task(10 * MIB));
  queue.take();
  queue.sending(1);
  queue.progress(1, 2 * MIB);
  clock.now = 2_000;

  const upload = queue.get(1);
  expect(upload && stateInWords(upload, queue)).toBe('2 MB of 10 MB · 1 MB/s · 8 sec left');
  queue.hold = { reason: 'offline' };
  expect(upload && stateInWords(upload, queue)).toBe('2 MB of 10 MB');
});

test('when all files were skipped, the panel says that, and not that there were none', () => {
  const queue = queueOf({ now: 0 }, task(MIB), task(MIB));
  for (const id of [1, 2]) {
    queue.take();
    queue.sending(id);
    queue.failed(id, { code: 'name_conflict', message: '' });
  }
  queue.answer('skip');

  expect(summaryInWords(queue.summary(), undefined)).toEqual({ title: '2 files skipped', detail: '' });
});

test('an interrupted upload says what the person has to do, one whose file has changed that it starts anew', () => {
  const queue = queueOf({ now: 0 });
  const kept = { ...task(MIB), onTaken: 'ask', problem: undefined } as const;
  queue.add([
    { ...kept, state: 'interrupted', canRead: false },
    { ...kept, state: 'interrupted', canRead: true },
    { ...kept, state: 'waiting', canRead: true },
  ]);
  queue.setFile(3, new File(['x'], 'a.txt'), true);

  const words = queue.ids.map((id) => queue.get(id)).map((upload) => upload && stateInWords(upload, queue));
  expect(words).toEqual(['Interrupted: choose the file again', 'Interrupted: press Continue', 'Has changed: starts anew']);
});

test('a failure says what to do, and the id of a request that failed for no known reason', () => {
  expect(problemInWords({ code: 'payload_too_large', message: 'x', requestId: 'r-1' })).toBe(
    'The file is larger than this institution allows.',
  );
  expect(problemInWords({ code: 'internal', message: 'An internal error.', requestId: 'r-1' })).toBe(
    'The upload failed (internal). An internal error. Request r-1',
  );
});

test('a full quota is one message that says what helps', () => {
  expect(holdInWords({ reason: 'stopped', problem: { code: 'quota_exceeded', message: '' } })).toBe(
    'Uploads have stopped: The storage is full. Delete something for ever, or ask your administrator for more.',
  );
});

test('the head of the panel says how many files are left, how fast, and for how long', () => {
  const clock = { now: 0 };
  const queue = queueOf(clock, task(MIB), task(9 * MIB));
  expect(summaryInWords(queue.summary(), 2).title).toBe('Found 2 files …');
  expect(summaryInWords(queue.summary(), undefined)).toEqual({ title: 'Uploading 2 files', detail: '0 of 2' });
  for (const id of [1, 2]) {
    queue.take();
    queue.sending(id);
    queue.progress(id, MIB);
  }
  clock.now = 2_000;
  queue.done(1, 'file');

  expect(summaryInWords(queue.summary(), undefined)).toEqual({
    title: 'Uploading 1 file',
    detail: '1 of 2 · 1 MB/s · 8 sec left',
  });
  queue.done(2, 'file');
  expect(summaryInWords(queue.summary(), undefined)).toEqual({ title: '2 files uploaded', detail: '' });
});
