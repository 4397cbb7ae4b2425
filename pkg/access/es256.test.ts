import { generateKeyPairSync, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { range } from '../../test/support/wait.ts';
import { es256, rAndS } from './es256.ts';

const integer = (bytes: number[]): number[] => [0x02, bytes.length, ...bytes];
const der = (r: number[], s: number[]): Buffer => {
  const body = [...integer(r), ...integer(s)];
  return Buffer.from([0x30, body.length, ...body]);
};
const hex = (bytes: number[]): string => Buffer.from(bytes).toString('hex').padStart(64, '0');
const of = (length: number, first: number): number[] => [first, ...range(length - 1).map((at) => at)];

test.each([
  ['32 bytes', of(32, 0x7f), hex(of(32, 0x7f))],
  ['a zero before its first bit', [0, ...of(32, 0x80)], hex(of(32, 0x80))],
  ['31 bytes', of(31, 0x12), hex(of(31, 0x12))],
  ['30 bytes and a zero before its first bit', [0, ...of(30, 0x80)], hex(of(30, 0x80))],
  ['one byte', [1], hex([1])],
])('a number of %s becomes 32 bytes, as R and as S', (_what, given, expected) => {
  const other = of(32, 0x55);

  expect(rAndS(der(given, other)).toString('hex')).toBe(expected + hex(other));
  expect(rAndS(der(other, given)).toString('hex')).toBe(hex(other) + expected);
});

test('each of 2,000 signatures has 64 bytes and verifies', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isRight = (text: string): boolean => {
    const signature = es256(text, privateKey);
    return (
      signature.length === 64 && verify('sha256', Buffer.from(text), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
    );
  };

  expect(range(2_000).filter((at) => !isRight(`text ${at}`))).toEqual([]);
});
