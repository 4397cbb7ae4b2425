import { expect, test } from '@jest/globals';
import { isPdf, type PdfMarks, PdfScan } from './pdf-scan.ts';

const marksOf = (text: string, piece = text.length): PdfMarks => {
  const scan = new PdfScan();
  for (let from = 0; from < text.length; from += piece) scan.add(Buffer.from(text.slice(from, from + piece), 'latin1'));
  return scan.marks;
};

const NONE = { isSigned: false, isEncrypted: false };
test.each<[string, PdfMarks]>([
  ['trailer << /Size 4 /Root 1 0 R /Encrypt 7 0 R >>', { ...NONE, isEncrypted: true }],
  ['<</Type/XRef/Encrypt 7 0 R/W[1 2 1]>>', { ...NONE, isEncrypted: true }],
  ['<< /Encrypt\r\n<< /Filter /Standard >> >>', { ...NONE, isEncrypted: true }],
  ['<< /Type /Sig /ByteRange [0 100 200 50] >>', { ...NONE, isSigned: true }],
  ['<</Type/Sig/ByteRange\n[ 0 100', { ...NONE, isSigned: true }],
  ['/ByteRange[0 1] /Encrypt 7 0 R', { isSigned: true, isEncrypted: true }],
  ['<< /EncryptMetadata true >>', NONE],
  ['(How to /Encrypt a file)', NONE],
  ['<< /FT /Sig /T (signature field that is empty) >>', NONE],
  ['/ByteRanges [1]', NONE],
])('%j', (text, marks) => {
  expect(marksOf(text)).toEqual(marks);
  for (const piece of [1, 2, 7, 64]) expect(marksOf(' '.repeat(200) + text + ' '.repeat(200), piece)).toEqual(marks);
});

test.each([
  ['%PDF-1.7\n', true],
  [`${'x'.repeat(1_019)}%PDF-`, true],
  [`${'x'.repeat(1_020)}%PDF-`, false],
  ['', false],
  ['%pdf-1.7', false],
  ['PK\u0003\u0004', false],
])('a file that begins with %j is a PDF: %s', (text, expected) => {
  expect(isPdf(Buffer.from(text, 'latin1'))).toBe(expected);
});
