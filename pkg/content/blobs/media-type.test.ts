import { expect, test } from '@jest/globals';
import { mediaTypeOf } from './media-type.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de', 'hex');
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex');
const ZIP = Buffer.concat([
  Buffer.from('504b03041400000008000000210000000000000000000000000000000500', 'hex'),
  Buffer.from('\0\0a.txt'),
]);
const PDF = Buffer.from('%PDF-1.7\n%äöü\n1 0 obj');
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

test.each<[string, Buffer, string]>([
  ['image/png', PNG, 'image/png'],
  ['application/octet-stream', PNG, 'image/png'],
  ['application/pdf', PNG, 'image/png'],
  ['text/plain', PDF, 'application/pdf'],
  ['image/jpg', JPEG, 'image/jpg'],
  [DOCX, ZIP, DOCX],
  ['application/epub+zip', ZIP, 'application/epub+zip'],
  ['application/pdf', ZIP, 'application/zip'],
  ['image/png', ZIP, 'application/zip'],
  ['image/svg+xml', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  ['image/png', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'), 'application/xml'],
  ['text/csv', Buffer.from('a,b\n1,2\n'), 'text/csv'],
  ['text/markdown', Buffer.from('# Grüße\n'), 'text/markdown'],
  ['application/pdf', Buffer.from('not a PDF'), 'application/pdf'],
  ['application/x-unheard-of', Buffer.alloc(5000, 7), 'application/x-unheard-of'],
  ['image/png', Buffer.alloc(0), 'image/png'],
])('what is sent as %s and begins with %j is %s', async (claimed, content, type) => {
  expect(await mediaTypeOf(claimed, content)).toBe(type);
});

test('bytes that only begin as a format does never fail an upload', async () => {
  for (const whole of [
    PNG,
    JPEG,
    ZIP,
    PDF,
    Buffer.from('1f8b0800', 'hex'),
    Buffer.from('OggS\0\u0002'),
    Buffer.from('RIFF\0\0\0\0WEBP'),
  ]) {
    for (let length = 0; length <= whole.length; length += 1) {
      expect(await mediaTypeOf('application/octet-stream', whole.subarray(0, length))).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/);
    }
  }
});
