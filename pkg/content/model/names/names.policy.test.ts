import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { characters, extensionOf, nameFault, nameFrom, normalName, pathBelow, pathFault, pathOf } from './names.policy.ts';
import { alternativeName } from './alternative-names.policy.ts';
import { Name } from './names.schema.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 300 });
const anyName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
  .map(normalName)
  .filter((name) => nameFault(name) === null);

/** Texts full of what names must not hold. */
const hostileText = fc
  .array(
    fc.constantFrom(
      'a',
      'b.txt',
      ' ',
      '/',
      '\\',
      '.',
      '\u0000',
      '\u200b',
      '\u200e',
      '\u202e',
      '\u2066',
      '\u061c',
      '\ufeff',
      '\u3000',
      '\ud800',
      '\ufffd',
      'e\u0301',
    ),
  )
  .map((parts) => parts.join(''));

/** States the rule in other words than the code. */
function expectSafe(name: string): void {
  for (const sign of name) {
    const code = sign.codePointAt(0) ?? 0;
    const isBidi =
      (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || [0x200e, 0x200f, 0x61c].includes(code);
    expect(isBidi || code < 0x20 || (code >= 0x7f && code < 0xa0) || sign === '/' || sign === '\\').toBe(false);
  }
  expect(name.replaceAll(/[\s\u200b-\u200d\u2060\ufeff]/gu, '')).not.toBe('');
}

describe('a name', () => {
  test.each([
    ['', 'must not be empty'],
    ['.', 'must not be . or ..'],
    ['..', 'must not be . or ..'],
    ['../etc/passwd', 'must not contain /'],
    ['a/b', 'must not contain /'],
    ['a\u0000b', 'must not contain control characters'],
    ['a\nb', 'must not contain control characters'],
    ['a\u007f', 'must not contain control characters'],
    ['a\u0085', 'must not contain control characters'],
    ['\ud800', 'must be valid Unicode'],
    ['\ufffd', 'must be valid Unicode'],
    ['x'.repeat(256), 'must have at most 255 characters'],
    ['a\\b', 'must not contain \\'],
    ['..\\..\\x', 'must not contain \\'],
    ['photo\u202egpj.exe', 'must not contain characters that control the direction of text'],
    ['a\u200f.txt', 'must not contain characters that control the direction of text'],
    ['\u2067a\u2069', 'must not contain characters that control the direction of text'],
    ['a\u061c', 'must not contain characters that control the direction of text'],
    [' ', 'must not consist of spaces and invisible characters alone'],
    ['\u00a0\u3000\u2003', 'must not consist of spaces and invisible characters alone'],
    ['\u200b\u200d\ufeff', 'must not consist of spaces and invisible characters alone'],
    [' \u2060\u3164\u2800', 'must not consist of spaces and invisible characters alone'],
  ])('%j is refused: %s', (name, fault) => {
    expect(nameFault(name)).toBe(fault);
    expect(Name.safeParse(name).error?.issues[0]?.message).toBe(fault);
  });

  test.each([
    'a',
    '...',
    ' a ',
    'naïve.pdf',
    'отчёт.docx',
    '報告書.pdf',
    'تقرير.pdf',
    '🗂️.zip',
    '👩\u200d💻.txt',
    'می\u200cخواهم.txt',
    '😀'.repeat(255),
  ])('%j is taken', (name) => {
    expect(nameFault(normalName(name))).toBeNull();
  });

  test('is normalized to one spelling', () => {
    expect(Name.parse('e\u0301.txt')).toBe('\u00e9.txt');
  });

  test('that is taken holds no separator or control character, is at most 255 characters long, and shows something', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, hostileText), (text) => {
        const result = Name.safeParse(text);
        if (!result.success) return;
        expect(result.data).toBe(text.normalize('NFC'));
        expectSafe(result.data);
        expect(characters(result.data)).toBeLessThanOrEqual(255);
      }),
    );
  });

  test('is made of any text of an LMS, unless nothing is left of it', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, hostileText), fc.integer({ min: 1, max: 255 }), (text, max) => {
        const name = nameFrom(text, max);
        if (name === null) return;
        expect(nameFault(name)).toBeNull();
        expectSafe(name);
        expect(characters(name)).toBeLessThanOrEqual(max);
      }),
    );
  });

  test.each([
    ['Law / Ethics \\ Year 1', 'Law - Ethics - Year 1'],
    ['History\u202e2 \u0007', 'History2'],
    ['\u200b\u202e', null],
    [' .. ', null],
  ])('made of %j is %j', (text, name) => {
    expect(nameFrom(text)).toBe(name);
  });
});

describe('an extension', () => {
  test.each([
    ['a.PDF', 'pdf'],
    ['a.tar.gz', 'gz'],
    ['.profile', null],
    ['README', null],
    ['a.', null],
    ['a.' + 'x'.repeat(51), null],
    ['.a.b', 'b'],
  ])('of %j is %j', (name, extension) => {
    expect(extensionOf(name)).toBe(extension);
  });
});

describe('a path', () => {
  test('begins at the root and ends with the name', () => {
    expect(pathOf(null, 'a')).toBe('/a');
    expect(pathOf('/a/b', 'c')).toBe('/a/b/c');
  });

  test('begins below the folders that are hidden', () => {
    expect(pathBelow('/a/b/c.txt', 0)).toBe('/a/b/c.txt');
    expect(pathBelow('/a/b/c.txt', 1)).toBe('/b/c.txt');
    expect(pathBelow('/a/b/c.txt', 2)).toBe('/c.txt');
  });

  test('of more than 2048 characters is refused', () => {
    expect(pathFault('/'.padEnd(2048, 'x'), 0)).toBeNull();
    expect(pathFault('/'.padEnd(2049, 'x'), 0)).toBe('makes a path of more than 2048 characters');
    expect(pathFault('/'.padEnd(2049, 'x'), 1)).toBe('is too long for this folder');
  });
});

describe('an alternative name', () => {
  test('stands before the extension', () => {
    expect(alternativeName('report.pdf', 1)).toBe('report (1).pdf');
    expect(alternativeName('README', 2)).toBe('README (2)');
    expect(alternativeName('.profile', 1)).toBe('.profile (1)');
  });

  test('is always a name, another than the first, and keeps the extension', () => {
    fc.assert(
      fc.property(anyName, fc.integer({ min: 1, max: 999 }), (name, attempt) => {
        const other = alternativeName(name, attempt);
        expect(nameFault(other)).toBeNull();
        expect(other).not.toBe(name);
        expect(extensionOf(other)).toBe(extensionOf(name));
      }),
    );
  });
});
