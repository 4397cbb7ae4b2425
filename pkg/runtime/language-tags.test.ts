import { expect, test } from '@jest/globals';
import { canonicalTag, lookUpTag } from './language-tags.ts';

test.each([
  ['EN', 'en'],
  ['eng', 'en'],
  ['pt-br', 'pt-BR'],
  ['zh-hant-tw', 'zh-Hant-TW'],
  ['no tag', null],
  ['', null],
  ['-', null],
])('the canonical form of %j is %j', (tag, expected) => {
  expect(canonicalTag(tag)).toBe(expected);
});

test.each([
  ['es-MX', ['en', 'ES'], 'ES'],
  ['pt-BR', ['pt', 'pt-br'], 'pt-br'],
  ['zh-TW', ['zh', 'zh-Hant'], 'zh-Hant'],
  ['zh-TW', ['zh'], 'zh'],
  ['de-CH-x-a-b', ['de-CH'], 'de-CH'],
  ['fr', ['fr-CA'], undefined],
  ['fr', [], undefined],
])('%s is served by the one of %j that is %s', (tag, known, expected) => {
  expect(lookUpTag(tag, known)).toBe(expected);
});
