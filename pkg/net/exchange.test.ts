import { expect, test } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { Exchange } from './exchange.ts';

const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController;

test('a body in pieces of one byte is copied, so no piece of it stays in memory', async () => {
  const exchange = new Exchange({
    maxBytes: 1_000,
    whenTooLarge: 'cut',
    isAnnounced: true,
    tooLarge: () => new Error('too large'),
  });
  const wanted = Buffer.from('a reply that comes byte by byte');
  const piece = Buffer.alloc(1);

  exchange.onResponseStart(controller, 200, {});
  for (const byte of wanted) {
    piece[0] = byte; // bytes that were not copied change with it
    exchange.onResponseData(controller, piece);
  }
  exchange.onResponseEnd();

  expect((await exchange.reply).body.toString()).toBe(wanted.toString());
});

test('a body that exceeds its limit is cut there', async () => {
  const exchange = new Exchange({ maxBytes: 5, whenTooLarge: 'cut', isAnnounced: true, tooLarge: () => new Error('too large') });

  exchange.onResponseStart(controller, 200, {});
  exchange.onResponseData(controller, Buffer.from('abc'));
  exchange.onResponseData(controller, Buffer.from('defg'));

  expect(await exchange.reply).toMatchObject({ body: Buffer.from('abcde'), isCut: true });
});
