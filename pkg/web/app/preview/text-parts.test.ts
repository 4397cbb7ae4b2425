import { expect, test } from '@jest/globals';
import { linesOf, TextParts } from './text-parts.ts';

const decoded = (...parts: Uint8Array[]): string | undefined => {
  const text = TextParts.of(parts[0] ?? new Uint8Array());
  return text && parts.map((part, index) => text.next(part, index === parts.length - 1)).join('');
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a character that two parts share is whole', () => {
  const bytes = utf8('a Ж b');

  expect(decoded(bytes.subarray(0, 3), bytes.subarray(3))).toBe('a Ж b');
});

test('texts of other encodings than UTF-8 are read', () => {
  expect(decoded(Uint8Array.of(0xdc, 0x62))).toBe('Üb');
  expect(decoded(Uint8Array.of(0xff, 0xfe, 0x16, 0x04))).toBe('Ж');
  expect(decoded(Uint8Array.of(0xfe, 0xff, 0x04, 0x16))).toBe('Ж');
});

test('bytes with a zero are no text', () => {
  expect(decoded(Uint8Array.of(0x61, 0, 0x62))).toBeUndefined();
});

test('lines end as on any system, and the last one need not', () => {
  expect([linesOf('a\r\nb\nc\rd'), linesOf('a\n'), linesOf('\n\n'), linesOf('')]).toEqual([
    ['a', 'b', 'c', 'd'],
    ['a'],
    ['', ''],
    [''],
  ]);
});
