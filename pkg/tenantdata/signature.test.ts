import { expect, test } from '@jest/globals';
import type { SealingKey } from '../runtime/sealing.ts';
import { signatureFault, signed } from './signature.ts';

const keys = ['old', 'new'].map((id, index) => ({ id, key: Buffer.alloc(32, index + 1) }));
const [old, current] = keys as [SealingKey, SealingKey];
const document = { slug: 'biology', tables: [{ name: 'users', rows: 3 }] };
const stored = (text: string): object => JSON.parse(text) as object;

test('a document that one of the keys signed is accepted, however its text is laid out', () => {
  const text = JSON.stringify(signed(document, old), undefined, 2);

  expect(signatureFault(stored(text), [current, old])).toBeUndefined();
});

test.each([
  ['a value within it', (text: string) => text.replace('"rows":3', '"rows":4'), 'it was altered'],
  ['a field more', (text: string) => text.replace('{', '{"more":1,'), 'it was altered'],
  [
    'a field again',
    (text: string) => text.replace('{', '{"slug":"biology",').replace(/}$/, ',"slug":"other"}'),
    'it was altered',
  ],
  ['the key’s name', (text: string) => text.replace('"key":"old"', '"key":"new"'), 'it was altered'],
  ['an unknown key', (text: string) => text.replace('"key":"old"', '"key":"x"'), 'is signed with platform key x'],
  ['no signature', () => JSON.stringify(document), 'is not signed'],
  ['a signature of another form', (text: string) => text.replace(/"hmac":"../, '"hmac":"'), 'is not signed'],
])('a document with %s is refused', (_what, change, fault) => {
  const text = JSON.stringify(signed(document, old));

  expect(signatureFault(stored(change(text)), keys)).toContain(fault);
});
