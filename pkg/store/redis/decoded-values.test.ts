import { expect, test } from '@jest/globals';
import { DecodedValues } from './decoded-values.ts';

interface Thing {
  readonly name: string;
}

function counted(): { values: DecodedValues<Thing>; decoded: string[] } {
  const decoded: string[] = [];
  const values = new DecodedValues<Thing>((text) => {
    decoded.push(text);
    return text.startsWith('{') ? (JSON.parse(text) as Thing) : undefined;
  });
  return { values, decoded };
}

test('a text is decoded once for each key, and again when another has replaced it', () => {
  const { values, decoded } = counted();
  const [first, second] = ['{"name":"first"}', '{"name":"second"}'];

  const given = [values.of('a', first), values.of('a', first), values.of('a', second), values.of('a', first)];

  expect(given.map((value) => value?.name)).toEqual(['first', 'first', 'second', 'first']);
  expect(given[0]).toBe(given[1]);
  expect(decoded).toEqual([first, second, first]);
});

test('a text of another shape has no value, and is not cached', () => {
  const { values, decoded } = counted();

  expect([values.of('a', 'other'), values.of('a', 'other')]).toEqual([undefined, undefined]);
  expect(decoded).toHaveLength(2);
});

test('long texts evict the values that were read longest ago', () => {
  const { values, decoded } = counted();
  const long = `{"name":"${'x'.repeat(1_200_000)}"}`;
  values.of('a', '{"name":"first"}');
  values.of('b', long);

  values.of('c', long);
  values.of('a', '{"name":"first"}');

  expect(decoded).toHaveLength(4);
});
