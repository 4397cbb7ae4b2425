import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Packer } from './packer.ts';

test('any JSON comes back as it was', () => {
  const packer = new Packer<unknown>();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(packer.unpack(packer.pack(JSON.parse(text))))).toBe(text);
    }),
  );
});

test('an object similar to the first takes only the space of the difference', () => {
  const packer = new Packer<object>();
  const pods = (name: string): object => ({
    name,
    containers: Array.from({ length: 50 }, (_, index) => ({ name: `c${index}`, value: index ** 5 })),
  });
  packer.pack(pods('first'));

  expect(packer.pack(pods('second')).length).toBeLessThan(100);
});
