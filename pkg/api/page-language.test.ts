import { expect, test } from '@jest/globals';
import { acceptedLanguages, pageLanguage } from './page-language.ts';

test.each([
  [['de'], 'de'],
  [['de-AT'], 'de'],
  [['de_CH'], 'de'],
  [['DE-de'], 'de'],
  [['fr-FR', 'de', 'en'], 'de'],
  [['en-GB', 'de'], 'en'],
  [['den', 'fr'], 'en'],
  [['*'], 'en'],
  [['', '-'], 'en'],
  [[], 'en'],
])('whoever wants %j reads %s', (wanted, language) => {
  expect(pageLanguage(wanted)).toBe(language);
});

test.each([
  ['de-DE,de;q=0.9,en;q=0.8', ['de-DE', 'de', 'en']],
  ['en;q=0.5, de', ['de', 'en']],
  ['en;q=0, de;q=0.1', ['de']],
  ['fr;q=x,de', ['de']],
  ['', []],
  [',;q=1,', []],
])('of “%s” the tags are %j', (header, tags) => {
  expect(acceptedLanguages(header)).toEqual(tags);
});
