import { expect, test } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { csv } from './exports.ts';

const table = (values: readonly (string | null)[]): Promise<string> =>
  text(
    csv(
      (async function* () {
        yield values;
      })(),
      { value: (value) => value },
      new AbortController().signal,
    ),
  );

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '＝1+1', '＋1', '－1', '＠SUM(A1)'])(
  'the text %j is no formula to a spreadsheet',
  async (value) => {
    expect(await table([value])).toBe(`value\r\n'${value}\r\n`);
  },
);

test.each(['\r=1', '\n=1'])('nor is %j, which is quoted besides', async (value) => {
  expect(await table([value])).toBe(`value\r\n"'${value}"\r\n`);
});

test('other text stays as it is; quotes, commas and line breaks are quoted', async () => {
  expect(await table(['a=b', '5 - 3', null, 'a, "b"', 'two\nlines'])).toBe(
    'value\r\na=b\r\n5 - 3\r\n\r\n"a, ""b"""\r\n"two\nlines"\r\n',
  );
});
