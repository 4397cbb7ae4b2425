import { expect, test } from '@jest/globals';
import { previewAddress, previewedIn } from './address.ts';

test('the address of a page gets the previewed file, and loses it again with the rest left alone', () => {
  const open = previewAddress('/search?q=a+b', 'f1');
  const next = previewAddress(open, 'f2');

  expect([open, next, previewAddress(next, undefined)]).toEqual([
    '/search?q=a+b&preview=f1',
    '/search?q=a+b&preview=f2',
    '/search?q=a+b',
  ]);
  expect(previewAddress('/files/x?preview=f1', undefined)).toBe('/files/x');
});

test('an address without a file, or with an empty one, previews nothing', () => {
  expect([previewedIn({ preview: 'f1' }), previewedIn({ preview: '' }), previewedIn({})]).toEqual(['f1', undefined, undefined]);
});
