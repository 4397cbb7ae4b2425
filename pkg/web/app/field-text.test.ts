import { afterEach, expect, test } from '@jest/globals';
import { speak } from '../text/language.ts';
import { fieldText } from './field-text.ts';

afterEach(() => speak('en'));

test('what people meet is said in our own words, with the number that the API names', async () => {
  const english = ['must be at least 8 characters', 'must have at most 255 characters', 'must not contain \\'].map(fieldText);
  await speak('de');

  expect(english).toEqual([
    'Use at least 8 characters.',
    'Use at most 255 characters.',
    'A name cannot contain a slash: “/” or “\\”.',
  ]);
  expect(fieldText('must be at least 8 characters')).toBe('Verwenden Sie mindestens 8 Zeichen.');
});

test('anything else is a whole English sentence on an English page, and no English on another', async () => {
  const english = ['must not hold spaces', 'The hour is missing.', ''].map(fieldText);
  await speak('de');

  expect(english).toEqual(['This must not hold spaces.', 'The hour is missing.', 'This value is not accepted.']);
  expect(fieldText('must not hold spaces')).toBe('Dieser Wert wird nicht angenommen.');
});
