import { expect, test } from '@jest/globals';
import { highlightOf, wordsOf } from './words.policy.ts';

test.each([
  ['Thesis draft', ['thesis', 'draft']],
  ['  report_2026-final.PDF ', ['report', '2026', 'final', 'pdf']],
  ['same SAME', ['same']],
  ['Отчёт за май', ['отчёт', 'за', 'май']],
  ['東京 大学', ['東京', '大学']],
  ['  …!? ', ['…!?']],
])('the words of %j', (q, words) => {
  expect(wordsOf(q)).toEqual(words);
});

test.each([
  ['Thesis.pdf', ['thesis'], '[Thesis].pdf'],
  ['Čeština a Čech', ['ce'], '[Če]ština a [Če]ch'],
  ['Straße', ['strasse'], '[Straße]'],
  ['banana', ['ana', 'nan'], 'b[anana]'],
  ['Report 1, report 12.TXT', ['12', 'report', 'txt'], '[Report] 1, [report] [12].[TXT]'],
  ['ab-ab', ['b', 'a'], '[ab]-[ab]'],
  ['отчёт.txt', ['отчет'], '[отчёт].txt'],
  ['東京大学', ['大学'], '東京[大学]'],
  ['😀 smile', ['smile'], '😀 [smile]'],
  ['a.b', ['c'], 'a.b'],
  ['x\uE000y\uE001', ['y'], 'x[y]'],
  ['x\u0080y\u0081', ['y'], 'x[y]'],
  ['"a" b', ['a'], '"[a]" b'],
])('%j with %j marked', (name, words, marked) => {
  const highlight = JSON.parse(highlightOf(name, words)) as string;

  expect(highlight.replaceAll('\uE000', '[').replaceAll('\uE001', ']')).toBe(marked);
});
