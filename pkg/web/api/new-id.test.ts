import { expect, test } from '@jest/globals';
import { newId } from './new-id.ts';

test('each id is another one of 128 bits', () => {
  const ids = Array.from({ length: 1_000 }, newId);

  expect(new Set(ids).size).toBe(1_000);
  expect(ids.filter((id) => !/^[0-9a-f]{32}$/.test(id))).toEqual([]);
});
