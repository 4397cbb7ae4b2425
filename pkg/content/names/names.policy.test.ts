import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { alternativeName, characters, extensionOf, nameFault, normalName, pathFault, pathOf } from './names.policy.ts';
import { Name } from './names.schema.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 300 });
const anyName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
  .map(normalName)
  .filter((name) => nameFault(name) === null);

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
  ])('%j is refused: %s', (name, fault) => {
    expect(nameFault(name)).toBe(fault);
    expect(Name.safeParse(name).error?.issues[0]?.message).toBe(fault);
  });

  test.each(['a', '...', ' a ', 'naïve.pdf', 'отчёт.docx', '報告書.pdf', 'تقرير.pdf', '🗂️.zip', 'a\\b', '😀'.repeat(255)])(
    '%j is taken',
    (name) => {
      expect(nameFault(normalName(name))).toBeNull();
    },
  );

  test('has one spelling, whatever was sent', () => {
    expect(Name.parse('e\u0301.txt')).toBe('\u00e9.txt');
  });

  test('that is taken never holds a separator, a control character or more than 255 characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const result = Name.safeParse(text);
        if (!result.success) return;
        expect(result.data).toBe(text.normalize('NFC'));
        expect(/[/\p{Cc}]/u.test(result.data)).toBe(false);
        expect(characters(result.data)).toBeLessThanOrEqual(255);
      }),
    );
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

  test('of more than 2048 characters is refused', () => {
    expect(pathFault('/'.padEnd(2048, 'x'))).toBeNull();
    expect(pathFault('/'.padEnd(2049, 'x'))).toBe('makes a path of more than 2048 characters');
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
