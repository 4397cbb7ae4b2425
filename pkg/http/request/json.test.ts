import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JSON_DEPTH_MAX } from '../size-and-time-limits.ts';
import { parseJson } from './json.ts';

const parse = (text: string): Promise<unknown> => parseJson(Buffer.from(text));

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
  ['a key __proto__', '{"__proto__":1}', '__proto__'],
  ['one deep in a list', String.raw`{"a":[{},{"b":{"__pr\u006fto__":1}}]}`, 'a.1.b.__proto__'],
])('%s is a 400 that names its field', async (_what, text, field) => {
  await expect(parse(text)).rejects.toMatchObject({ code: 'validation_failed', details: [expect.objectContaining({ field })] });
});

test('bytes that are not UTF-8 are a 400', async () => {
  await expect(parseJson(Buffer.from([0x22, 0xff, 0x22]))).rejects.toThrow(/not UTF-8/);
});

test('brackets within strings do not count as depth', async () => {
  expect(await parse(JSON.stringify('[{'.repeat(JSON_DEPTH_MAX)))).toBe('[{'.repeat(JSON_DEPTH_MAX));
  expect(await parse(String.raw`"\"[\\"`)).toBe(String.raw`"[\ `.trim());
});

test('values that JSON can express and the database can store arrive unchanged', async () => {
  const jsonValue = fc.jsonValue({ maxDepth: 4 }).filter((value) => {
    const text = JSON.stringify(value);
    return (
      !text.includes(String.raw`\u0000`) && text.isWellFormed() && !text.includes('"__proto__"') && !/\\ud[89a-f]/i.test(text)
    );
  });
  await fc.assert(
    fc.asyncProperty(jsonValue, async (value) => {
      let numbersFit = true;
      JSON.stringify(value, (_key, item: unknown) => {
        if (typeof item === 'number' && Number.isInteger(item) && !Number.isSafeInteger(item)) numbersFit = false;
        return item;
      });
      fc.pre(numbersFit);
      expect(await parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
