import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JSON_DEPTH_MAX, parseJson } from './json.ts';

const parse = (text: string): unknown => parseJson(Buffer.from(text));

test.each([
  ['an integer of 2^53', '{"size":9007199254740992}', 'size'],
  ['an integer beyond it in a list', '{"a":[1,{"b":9007199254740993}]}', 'a.1.b'],
  ['an infinity', '{"n":1e400}', 'n'],
  ['a negative one', '{"n":-9007199254740992}', 'n'],
  ['a NUL', String.raw`{"name":"a\u0000b"}`, 'name'],
  ['a lone surrogate', String.raw`{"name":"\ud800"}`, 'name'],
  ['nothing', '', 'body'],
  ['half an object', '{"a":', 'body'],
  ['a nest that is too deep', '['.repeat(100_000), 'body'],
])('%s is a 400 that names its field', (_what, text, field) => {
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ code: 'validation_failed', details: [expect.objectContaining({ field })] }) as unknown as Error,
  );
});

test('bytes that are not UTF-8 are a 400', () => {
  expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/not UTF-8/);
});

test('brackets within strings do not count as depth', () => {
  expect(parse(JSON.stringify('[{'.repeat(JSON_DEPTH_MAX)))).toBe('[{'.repeat(JSON_DEPTH_MAX));
  expect(parse(String.raw`"\"[\\"`)).toBe(String.raw`"[\ `.trim());
});

test('what JSON can say and the database can keep comes through unchanged', () => {
  const kept = fc.jsonValue({ maxDepth: 4 }).filter((value) => {
    const text = JSON.stringify(value);
    return !text.includes(String.raw`\u0000`) && text.isWellFormed() && !/\\ud[89a-f]/i.test(text);
  });
  fc.assert(
    fc.property(kept, (value) => {
      let numbersFit = true;
      JSON.stringify(value, (_key, item: unknown) => {
        if (typeof item === 'number' && Number.isInteger(item) && !Number.isSafeInteger(item)) numbersFit = false;
        return item;
      });
      fc.pre(numbersFit);
      expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
