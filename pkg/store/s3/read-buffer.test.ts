import { expect, test } from '@jest/globals';
import { readBytes } from './read-buffer.ts';
import { KIB } from '../../runtime/bytes.ts';

test('few downloads read 32 KiB at once, many 16 KiB', () => {
  expect([0, 1, 85, 120, 170, 2_000].map((objects) => Math.floor(readBytes(objects) / KIB))).toEqual([32, 32, 32, 22, 16, 16]);
});

test('1,000 downloads that began one after another and pause hold less than 64 MiB together', () => {
  let bytes = 0;
  for (let objects = 1; objects <= 1_000; objects += 1) bytes += 3 * readBytes(objects);
  expect(bytes / KIB / KIB).toBeLessThan(64);
});
