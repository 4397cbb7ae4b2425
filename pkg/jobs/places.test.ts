import { expect, test } from '@jest/globals';
import { Places } from './places.ts';

const COUNT = 512;
const MOST = 8;

test('a tenant alone has its window, and another attempt of it is not refused while one is about to end', () => {
  const places = new Places(COUNT, MOST);
  for (let at = 0; at < MOST; at += 1) places.take('a');

  expect(places.window).toBe(MOST);
  expect(places.take('a')).toBe(true);
});

test('once half of the places are taken a tenant that has its share is refused, until it leaves some', () => {
  const places = new Places(COUNT, MOST);
  for (let at = 0; at < COUNT * 0.75; at += 1) places.take(`t${at}`);
  for (let at = 0; at < 4; at += 1) places.take('a');

  expect([places.window, places.take('a')]).toEqual([3, false]);
  for (let at = 0; at < 3; at += 1) places.leave('a');
  expect([places.take('a'), places.take('b')]).toEqual([true, true]);
});

test('there are never more than all, whoever asks', () => {
  const places = new Places(2, MOST);
  const taken = ['a', 'b', 'c'].map((tenant) => places.take(tenant));
  places.leave('a');

  expect([taken, places.free, places.take('c')]).toEqual([[true, true, false], 1, true]);
});

test.each([20, 64, 200, 400])('%i tenants that keep their places for ever leave a tenth of all to others', (tenants) => {
  const places = new Places(COUNT, MOST);
  let busy = 0;
  // as a feeder does: the first of each goes before the second of any
  for (let row = 0; row < MOST; row += 1)
    for (let at = 0; at < tenants; at += 1) if (row < places.window && places.take(`t${at}`)) busy += 1;

  expect(busy).toBeLessThan(COUNT * 0.9);
  expect(places.take('another')).toBe(true);
});
