import { expect, test } from '@jest/globals';
import { range } from '../../../test/support/wait.ts';
import { objectPage, uploadPage, type ReplyReader } from './listed-pages.ts';

/** The reply arrives in pieces of `size` bytes, which may split a tag, an entity or a character. */
function read<T>(reader: ReplyReader<T>, text: string, size = 7): T {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size));
  return reader.end();
}

const PAGE = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><IsTruncated>true</IsTruncated>
  <Contents><Key>a &amp; &lt;b&gt; &#xfc;ü漢.txt</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified>
    <Size>12</Size><Owner><ID>x</ID></Owner></Contents>
  <Contents><Key> </Key><Size>0</Size><LastModified>2026-01-02T03:04:05Z</LastModified><ETag/></Contents>
  <CommonPrefixes><Prefix>p</Prefix></CommonPrefixes><NextContinuationToken>t&quot;1</NextContinuationToken>
</ListBucketResult>`;

test.each([1, 2, 7, 64, 10_000])('a page of objects that arrives %i bytes at a time is read as it is as a whole', (size) => {
  expect(read(objectPage(), PAGE, size)).toEqual({
    objects: [
      { key: 'a & <b> üü漢.txt', size: 12, lastModified: new Date('2026-01-02T03:04:05.678Z') },
      { key: ' ', size: 0, lastModified: new Date('2026-01-02T03:04:05Z') },
    ],
    nextToken: 't"1',
  });
});

test('a page of uploads has their keys and ids, and an empty page has none', () => {
  const page = '<R><IsTruncated>false</IsTruncated><Upload><Key>k</Key><UploadId>u</UploadId></Upload></R>';

  expect(read(uploadPage(), page)).toEqual({ uploads: [{ key: 'k', id: 'u' }], isTruncated: false });
  expect(read(objectPage(), '<ListBucketResult/>')).toEqual({ objects: [], nextToken: undefined });
});

test.each<[string, string, string]>([
  ['an entity bomb', '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><r>&b;</r>', 'a declaration, a comment or CDATA'],
  ['an entity of its own', '<r>&b;</r>', 'there is no entity b'],
  ['a character that does not exist', '<r>&#x110000;</r>', 'there is no entity #x110000'],
  ['an element without end', `<r><Contents><Key>${'x'.repeat(100_000)}`, 'a text is too long'],
  ['a tag without end', `<r ${'a="b" '.repeat(10_000)}`, 'a tag is too long'],
  ['deep nesting', '<a>'.repeat(100_000), 'it is nested too deeply'],
  ['missing end tags', '<r><Contents><Key>k</Key>', 'it ends within <Contents>'],
  ['end tags that end nothing', '<r></r></r>', '</r> ends nothing'],
  ['two roots', '<r/><r/>', 'it has two roots'],
  ['text alone', 'nothing here', 'it has text outside of its root'],
  ['nothing', '', 'it is not a complete document'],
  ['bytes that are not text', '\u0000<r', 'it has text outside of its root'],
  [
    'more entries than a page has',
    `<r>${'<Contents><Key>k</Key></Contents>'.repeat(1_001)}</r>`,
    'a page has more than 1000 entries',
  ],
])('%s is refused with a clear error', (_what, text, why) => {
  expect(() => read(objectPage(), text, 4_096)).toThrow(
    `the store's reply cannot be read: ${why}`.replace('read: a declaration', 'read: it has a declaration'),
  );
});

test('a reply that is not UTF-8 is refused', () => {
  const reader = objectPage();

  expect(() => reader.write(Buffer.from([0x3c, 0x72, 0xff]))).toThrow('it is not UTF-8');
});

test('a reader holds no more than one tag or one text of the reply', () => {
  const reader = objectPage();
  reader.write(Buffer.from('<r>'));
  const piece = Buffer.from(`<Strange><Field>${'x'.repeat(8_000)}</Field></Strange>`);

  for (const _ of range(2_000)) reader.write(piece);
  reader.write(Buffer.from('</r>'));

  expect(reader.end()).toEqual({ objects: [], nextToken: undefined });
});
