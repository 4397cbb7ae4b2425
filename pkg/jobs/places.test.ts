import { expect, test } from '@jest/globals';
import { Places } from './places.ts';

const COUNT = 512;
const MOST = 8;

/** As many as it gets; gives how many. */
function takeAll(places: Places, tenant: string): number {
  let taken = 0;
  while (places.take(tenant)) taken += 1;
  return taken;
}

test('a tenant alone has its window and no more, and gets a place again for each that it leaves', () => {
  const places = new Places(COUNT, MOST);

  expect(takeAll(places, 'a')).toBe(MOST);
  places.leave('a');
  expect(takeAll(places, 'a')).toBe(1);
});

test('half of the places go by whole windows; then the later a tenant comes the fewer it gets, and one at least', () => {
  const places = new Places(COUNT, MOST);

  const taken = Array.from({ length: 120 }, (_, at) => takeAll(places, `t${at}`));

  expect(taken.slice(0, 32)).toEqual(Array(32).fill(MOST));
  expect(taken).toEqual(taken.toSorted((one, other) => other - one));
  expect(taken.at(-1)).toBe(1);
});

test.each([20, 64, 200, 400])('%i tenants that keep their places for ever leave a tenth of all to others', (tenants) => {
  const places = new Places(COUNT, MOST);
  let busy = 0;
  // as a feeder does: the first of each goes before the second of any
  for (let row = 0; row < MOST; row += 1) for (let at = 0; at < tenants; at += 1) if (places.take(`t${at}`)) busy += 1;

  expect(busy).toBeLessThan(COUNT * 0.9);
  expect(places.take('another')).toBe(true);
});
