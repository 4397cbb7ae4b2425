import { expect, test } from '@jest/globals';
import { COMMANDS } from './commands.ts';
import { LIBRARY_CODE } from './library.ts';

test('functions call the commands that a tenant’s Redis user may run, and no others', () => {
  const called = [...LIBRARY_CODE.matchAll(/redis\.call\('(\w+)'/g)].map(([, name = '']) => name.toLowerCase());

  expect([...new Set(called)].toSorted()).toEqual([...COMMANDS].toSorted());
});

test('functions set no key without a TTL', () => {
  const written = LIBRARY_CODE.match(/redis\.call\('SET'.*/g) ?? [];

  expect(written.filter((line) => !/'(EX|PX|KEEPTTL)'/.test(line))).toEqual([]);
  expect(written.length).toBeGreaterThan(3);
});
