import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemRandom } from './random.ts';
import { formatSealingKeys, parseDataKeys, parseSealingKeys, Sealer, SealError, type SealingKey, tenantDataKey } from './sealing.ts';

const keyNamed = (id: string): SealingKey => ({ id, key: systemRandom.bytes(32) });
const associatedData = ['tenant_a', 'webhooks', '7', 'secret'];

test('any sealed text opens with its associated data', () => {
  const sealer = new Sealer([keyNamed('k1')], systemRandom);

  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => sealer.open(sealer.seal(text, associatedData), associatedData) === text));
});

test('the same text is never sealed to the same bytes', () => {
  const sealer = new Sealer([keyNamed('k1')], systemRandom);

  expect(sealer.seal('secret', associatedData)).not.toBe(sealer.seal('secret', associatedData));
});

test('a sealed value that is copied to another tenant, row or column does not open', () => {
  const sealer = new Sealer([keyNamed('k1')], systemRandom);
  const sealed = sealer.seal('secret', ['ab', 'c']);

  expect(() => sealer.open(sealed, ['a', 'bc'])).toThrow(SealError);
  expect(() => sealer.open(sealed, ['ab', 'd'])).toThrow(SealError);
  expect(() => sealer.open(sealed, ['ab'])).toThrow(SealError);
});

test('any changed character is noticed', () => {
  const sealer = new Sealer([keyNamed('k1')], systemRandom);
  const sealed = sealer.seal('secret', associatedData);
  const [version, id, body = ''] = sealed.split('.');

  fc.assert(
    fc.property(fc.nat({ max: Buffer.from(body, 'base64url').length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const bytes = Buffer.from(body, 'base64url');
      bytes.writeUInt8(bytes.readUInt8(at) ^ flip, at);
      expect(() => sealer.open(`${version}.${id}.${bytes.toString('base64url')}`, associatedData)).toThrow(SealError);
    }),
  );
});

test.each(['', 'v1', 'v1.k1', 'v1.k1.', 'v1.k1.AAAA', 'v2.k1.AAAA', 'v1.other.AAAA'])('%j is refused, not crashed on', (text) => {
  expect(() => new Sealer([keyNamed('k1')], systemRandom).open(text, associatedData)).toThrow(SealError);
});

test('after a rotation the new key seals, the old one still opens, and what is old says so', () => {
  const [old, young] = [keyNamed('k1'), keyNamed('k2')];
  const before = new Sealer([old], systemRandom).seal('secret', associatedData);
  const rotated = new Sealer([young, old], systemRandom);

  expect(rotated.open(before, associatedData)).toBe('secret');
  expect(rotated.isStale(before)).toBe(true);
  expect(rotated.isStale(rotated.seal('secret', associatedData))).toBe(false);
});

test('data keys of two tenants differ and come out the same each time', () => {
  const platform = keyNamed('k1');

  expect(tenantDataKey(platform, '1').key).toHaveLength(32);
  expect(tenantDataKey(platform, '1')).toEqual(tenantDataKey(platform, '1'));
  expect(tenantDataKey(platform, '1').key).not.toEqual(tenantDataKey(platform, '2').key);
});

test('keys are read as they are written, and a wrong one is named without showing it', () => {
  const keys = [keyNamed('k2'), keyNamed('k1')];

  expect(parseSealingKeys(formatSealingKeys(keys))).toEqual(keys);
  expect(() => parseSealingKeys('k9:c2hvcnQ=')).toThrow('key k9 is not 32 bytes in base64');
  expect(() => parseSealingKeys('c2hvcnQ=')).toThrow('a key is written id:base64');
});

test('data keys are read as their Secret has them, and an error message contains no key', () => {
  const key = Buffer.alloc(32, 7);

  expect(parseDataKeys(JSON.stringify({ keys: [{ id: 'a', key: key.toString('base64') }] }))).toEqual([{ id: 'a', key }]);
  for (const wrong of ['', '{}', '{"keys":[]}', '{"keys":[{"id":"a","key":"c2hvcnQ="}]}', '[]'])
    expect(() => parseDataKeys(wrong)).toThrow(SealError);
});
