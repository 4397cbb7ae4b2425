import { expect, test } from '@jest/globals';
import { speak } from '../../text/language.ts';
import { entriesInWords, refusalInWords, sizeInWords } from './messages.ts';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1,023 bytes'],
  [1024, '1 KB'],
  [1536, '1.5 KB'],
  [10 * 1024 * 1024, '10 MB'],
  [2 ** 40 * 5000, '5,000 TB'],
])('%i bytes are %j', (bytes, words) => {
  expect(sizeInWords(bytes)).toBe(words);
});

test('counts read as a sentence', () => {
  expect(entriesInWords(0, 1, false)).toBe('1 file shown');
  expect(entriesInWords(2, 0, false)).toBe('2 folders shown');
  expect(entriesInWords(1, 49, true)).toBe('1 folder and 49 files shown; there are more');
});

test('a known code has words of its own, another the sentence of the server', () => {
  expect(refusalInWords({ code: 'quota_exceeded', message: 'x' })).toMatch(/^Your storage is full/);
  expect(refusalInWords({ code: 'rate_limit_exceeded', message: '', retryAfter: 7 })).toBe(
    'Too many requests. Try again in 7 s.',
  );
  expect(refusalInWords({ code: 'suspended', message: 'This tenant is suspended.' })).toBe('This tenant is suspended.');
  expect(refusalInWords({ code: 'teapot', message: '' })).toBe(
    'The request failed. Try again; if it fails again, open the page from your course again.',
  );
  expect(refusalInWords({ code: 'constructor', message: 'no such code' })).toBe('no such code');
});

test('in German a refusal is said in German, also where the server has a sentence of its own', async () => {
  await speak('de');
  const words = [
    refusalInWords({ code: 'validation_failed', message: 'The name is too long.' }),
    refusalInWords({ code: 'rate_limit_exceeded', message: '', retryAfter: 7 }),
    refusalInWords({ code: 'teapot', message: 'I am a teapot.' }),
    sizeInWords(1536),
  ];
  await speak('en');

  expect(words).toEqual([
    'Der Dienst nimmt das nicht an. Prüfen Sie den Namen und Ihre Eingaben.',
    'Zu viele Anfragen. Versuchen Sie es in 7 s erneut.',
    'I am a teapot.',
    '1,5 KB',
  ]);
});
