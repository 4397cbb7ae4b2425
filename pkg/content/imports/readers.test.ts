import { expect, test } from '@jest/globals';
import { Readers } from './readers.ts';

/** Reads until `end`; undefined: it has to come again. */
function asks(readers: Readers, tenant: string): { end(): Promise<void> } | undefined {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isRunning = false;
  const ended = readers.run(tenant, () => {
    isRunning = true;
    return promise;
  });
  ended.catch(() => {});
  if (!isRunning) return undefined;
  return {
    end: () => {
      resolve();
      return ended;
    },
  };
}

test('a tenant that waits comes before one whose turn has just ended, and not before others that wait as long', async () => {
  let now = 0;
  const readers = new Readers({ monotonic: () => now });
  const [one, two] = [asks(readers, 'busy'), asks(readers, 'busy')];
  expect(asks(readers, 'small')).toBeUndefined();
  now += 500;
  await one?.end();

  expect(asks(readers, 'busy')).toBeUndefined();
  now += 500;
  const small = asks(readers, 'small');
  expect(small).toBeDefined();
  await small?.end();
  expect(asks(readers, 'small')).toBeUndefined();
  expect(asks(readers, 'busy')).toBeDefined();
  await two?.end();
});

test('a tenant that does not come again holds up nobody', async () => {
  let now = 0;
  const readers = new Readers({ monotonic: () => now });
  const [one, two] = [asks(readers, 'busy'), asks(readers, 'busy')];
  asks(readers, 'gone');
  await one?.end();
  expect(asks(readers, 'busy')).toBeUndefined();

  now += 3_001;

  expect(asks(readers, 'busy')).toBeDefined();
  await two?.end();
});
