import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseForm } from './form.ts';

/** Parses a form as the standard does (WHATWG URL §5.1), without pairs that have no name. */
function standard(text: string): Map<string, string[]> {
  const parameters = new URLSearchParams(text);
  return new Map([...new Set(parameters.keys())].filter((name) => name !== '').map((name) => [name, parameters.getAll(name)]));
}

/** Two values of one name change their order if one contains `]=`. */
const sorted = (values: Map<string, string[]>): Map<string, string[]> =>
  new Map([...values].map(([name, all]) => [name, all.toSorted((a, b) => (a < b ? -1 : 1))]));

const PIECES = [
  'a',
  'b',
  '=',
  '&',
  '[',
  ']',
  '[]',
  '%5B',
  '%5d',
  '.',
  '%2E',
  '__proto__',
  '%',
  '%z',
  '%ff',
  '%c3%a9',
  '%00',
  '+',
  ',',
  ';',
  '0',
  '\0',
];

test('names and values are those of the standard: brackets, dots, commas and names of objects mean nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }), async (pieces) => {
      const text = pieces.join('');

      expect(sorted(await parseForm(Buffer.from(text)))).toEqual(sorted(standard(text)));
    }),
    { numRuns: 2000 },
  );
});

test('letters beyond ASCII may stand unescaped beside bytes that are not UTF-8', async () => {
  expect(await parseForm(Buffer.from('name=é%ff'))).toEqual(new Map([['name', ['é\u{fffd}']]]));
});

test('a field that is sent a thousand times has its values in their order', async () => {
  const values = Array.from({ length: 1000 }, (_, at) => String(at));

  const form = await parseForm(Buffer.from(values.map((value) => `a=${value}`).join('&')));

  expect(form).toEqual(new Map([['a', values]]));
});

test.each([
  ['different', (at: number) => `n${at}`],
  ['equal', () => 'a'],
  ['no', () => ''],
])('1,001 fields of %s names are a 413', async (_what, name) => {
  const fields = Array.from({ length: 1001 }, (_, at) => name(at));

  await expect(parseForm(Buffer.from(fields.join('&')))).rejects.toMatchObject({ code: 'payload_too_large' });
});
