import { expect, test } from '@jest/globals';
import { withoutTags } from './without-tags.ts';

test.each([
  ['a <b>bold</b> word<br/>', 'a bold word'],
  ['<p title="x">a &lt; b</p>', 'a &lt; b'],
  ['before <!-- <b> \n hidden --> after', 'before  after'],
  ['before <!-- never ended <b>', 'before '],
  ['a < b', 'a < b'],
  ['<<b>script>', '<script>'],
])('of %j the text is %j', (html, text) => {
  expect(withoutTags(html)).toBe(text);
});

test.each(['<!--', '<', '<a ', '<!-- -'])('a megabyte of %j takes one pass', (start) => {
  const html = start.repeat(2 ** 20 / start.length);

  expect(withoutTags(html).length).toBeLessThanOrEqual(html.length);
});
