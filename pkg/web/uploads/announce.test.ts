import { expect, test } from '@jest/globals';
import { Announcer } from './announce.ts';
import { Queue } from './queue.ts';

const A_TXT = { folderId: null, path: ['a.txt'], file: undefined, size: 10 };

const queueOf = (count: number): Queue => {
  const queue = new Queue({ now: () => 0, onChange: () => undefined });
  queue.add(Array.from({ length: count }, (_, n) => ({ folderId: null, path: [`${n}.txt`], file: undefined, size: 10 })));
  return queue;
};

/** What is said while an upload after the other ends. */
function spoken(queue: Queue, announcer: Announcer, end: (id: number) => void): string[] {
  const said = [announcer.next(queue.summary())];
  for (let upload = queue.take(); upload; upload = queue.take()) {
    said.push(announcer.next(queue.summary()));
    end(upload.id);
    said.push(announcer.next(queue.summary()));
  }
  return said.filter((text) => text !== undefined);
}

test('a screen reader hears the start, each quarter and the end of 4,000 uploads: five sentences', () => {
  const queue = queueOf(4_000);

  expect(spoken(queue, new Announcer(), (id) => queue.done(id, 'file'))).toEqual([
    'Upload of 4,000 files has started.',
    '25 percent uploaded.',
    '50 percent uploaded.',
    '75 percent uploaded.',
    '4,000 files uploaded.',
  ]);
});

test('a screen reader hears about failures', () => {
  const queue = queueOf(1);

  expect(spoken(queue, new Announcer(), (id) => queue.failed(id, { code: 'payload_too_large', message: '' }))).toEqual([
    'Upload of 1 file has started.',
    '1 file could not be uploaded.',
  ]);
});

test('of many failures a screen reader hears the first, and all of them at the end', () => {
  const queue = queueOf(40);
  const end = (id: number): void => {
    if (id % 2 === 0) queue.failed(id, { code: 'payload_too_large', message: '' });
    else queue.done(id, 'file');
  };

  expect(spoken(queue, new Announcer(), end)).toEqual([
    'Upload of 40 files has started.',
    '1 file could not be uploaded.',
    '25 percent uploaded.',
    '50 percent uploaded.',
    '75 percent uploaded.',
    '20 files uploaded. 20 files could not be uploaded.',
  ]);
});

test('a screen reader hears once why uploads have stopped, and that they go on', () => {
  const [queue, announcer] = [queueOf(2), new Announcer()];
  const said = [announcer.next(queue.summary())];
  queue.hold = { reason: 'stopped', problem: { code: 'quota_exceeded', message: '' } };
  said.push(announcer.next(queue.summary()), announcer.next(queue.summary()));
  queue.release('stopped');
  said.push(announcer.next(queue.summary()), ...spoken(queue, announcer, (id) => queue.done(id, 'file')));

  expect(said.filter((text) => text !== undefined)).toEqual([
    'Upload of 2 files has started.',
    'Uploads have stopped: The storage is full. Delete something for ever, or ask your administrator for more.',
    '50 percent uploaded.',
    '2 files uploaded.',
  ]);
});

test('a screen reader hears of no start while uploads are stopped, or while files are still being found', () => {
  const [queue, announcer] = [queueOf(1), new Announcer(() => 'Enter your name.')];
  queue.hold = { reason: 'stopped' };
  const said = [announcer.next(queue.summary())];
  queue.release('stopped');
  said.push(announcer.next(queue.summary(), true), announcer.next(queue.summary()));

  expect(said).toEqual(['Enter your name.', undefined, 'Upload of 1 file has started.']);
});

test('a screen reader hears of uploads that a reload interrupted', () => {
  const [queue, announcer] = [queueOf(0), new Announcer()];
  queue.add([{ ...A_TXT, state: 'interrupted', onTaken: 'ask', problem: undefined, canRead: false }]);

  expect([announcer.next(queue.summary()), announcer.next(queue.summary())]).toEqual(['1 upload was interrupted.', undefined]);
});

test('a screen reader hears that uploads continue after a reload, and once that a file of them has changed', () => {
  const [queue, announcer] = [queueOf(8), new Announcer()];
  const reload = { continued: 8, changed: [] as string[], isKept: true };
  const said = [announcer.next(queue.summary(), false, reload)];
  for (const changed of [['a.txt'], ['a.txt', 'b.txt']])
    said.push(announcer.next(queue.summary(), false, { ...reload, changed }));

  expect(said).toEqual([
    'Upload of 8 files continues.',
    '1 file has changed meanwhile, and is uploaded from its beginning.',
    undefined,
  ]);
});

test('a screen reader hears once that the browser keeps nothing', () => {
  const [queue, announcer] = [queueOf(1), new Announcer()];
  const reload = { continued: 0, changed: [], isKept: true };
  const said = [announcer.next(queue.summary(), false, reload)];
  for (let time = 0; time < 2; time += 1) said.push(announcer.next(queue.summary(), false, { ...reload, isKept: false }));

  expect(said).toEqual([
    'Upload of 1 file has started.',
    'This browser cannot remember all uploads. If you close or reload the page, add the rest again.',
    undefined,
  ]);
});

test('a screen reader hears once that names are taken, and the end only after the answer', () => {
  const [queue, announcer] = [queueOf(2), new Announcer()];
  const said = spoken(queue, announcer, (id) => queue.failed(id, { code: 'name_conflict', message: '' }));
  queue.answer('skip');
  said.push(announcer.next(queue.summary()) ?? '(nothing)');

  expect(said).toEqual([
    'Upload of 2 files has started.',
    'Some names are taken. The list of uploads asks what to do.',
    '(nothing)',
  ]);
});

test('a second list of uploads is heard with its own numbers', () => {
  const [queue, announcer] = [queueOf(4), new Announcer()];
  spoken(queue, announcer, (id) => queue.done(id, 'file'));
  queue.add([{ ...A_TXT, path: ['b.txt'] }]);

  const said = spoken(queue, announcer, (id) => queue.done(id, 'file'));
  expect([said[0], said.at(-1)]).toEqual(['Upload of 1 file has started.', '1 file uploaded.']);
});
