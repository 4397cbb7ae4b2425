import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemRandom } from './random.ts';
import {
  formatSealingKeys,
  parseDataKeys,
  parseSealingKeys,
  Sealer,
  SealError,
  type SealingKey,
  tenantDataKey,
  tenantSealer,
} from './sealing.ts';

const keyNamed = (id: string): SealingKey => ({ id, key: systemRandom.bytes(32) });
const associatedData = ['tenant_a', 'webhooks', '7', 'secret'];

test('any sealed text opens with its associated data', () => {
  const sealer = new Sealer([keyNamed('k1')], systemRandom);

  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => sealer.open(sealer.seal(text, associatedData), associatedData) === text),
  );
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

test('an HMAC depends on its purpose and key, and is recognized after a rotation', () => {
  const [older, newer] = [keyNamed('k1'), keyNamed('k2')];
  const [before] = new Sealer([older], systemRandom).hmacs('a', ['x', Buffer.from('y')]);
  const rotated = new Sealer([newer, older], systemRandom);

  expect(rotated.hmacs('a', ['xy'])).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), before]);
  expect(rotated.hmacs('b', ['xy'])).not.toContain(before);
  expect(rotated.hmacs('a', ['xz'])).not.toContain(before);
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

test.each(['', 'v1', 'v1.k1', 'v1.k1.', 'v1.k1.AAAA', 'v2.k1.AAAA', 'v1.other.AAAA'])('%j is refused without a crash', (text) => {
  expect(() => new Sealer([keyNamed('k1')], systemRandom).open(text, associatedData)).toThrow(SealError);
});

test('after a rotation the new key seals, the old one still opens, and its values are stale', () => {
  const [old, young] = [keyNamed('k1'), keyNamed('k2')];
  const before = new Sealer([old], systemRandom).seal('secret', associatedData);
  const rotated = new Sealer([young, old], systemRandom);

  expect(rotated.open(before, associatedData)).toBe('secret');
  expect(rotated.isStale(before)).toBe(true);
  expect(rotated.isStale(rotated.seal('secret', associatedData))).toBe(false);
});

test('data keys of two tenants differ, and each is derived the same way every time', () => {
  const platform = keyNamed('k1');

  expect(tenantDataKey(platform, '1').key).toHaveLength(32);
  expect(tenantDataKey(platform, '1')).toEqual(tenantDataKey(platform, '1'));
  expect(tenantDataKey(platform, '1').key).not.toEqual(tenantDataKey(platform, '2').key);
});

test('each generation of a data key is another key; its id names the platform key and the generation', () => {
  const platform = keyNamed('k1');
  const keys = [0, 1, 2].map((generation) => tenantDataKey(platform, '1', generation));

  expect(keys.map(({ id }) => id)).toEqual(['k1', 'k1~1', 'k1~2']);
  expect(keys[0]).toEqual(tenantDataKey(platform, '1'));
  expect(
    new Set([...keys, tenantDataKey(platform, '11'), tenantDataKey(platform, '2', 1)].map(({ key }) => key.toString('hex'))).size,
  ).toBe(5);
});

test('platform keys open one tenant’s values of any generation; a server opens only those of its own keys', () => {
  const [young, old, foreign] = [keyNamed('young'), keyNamed('old'), keyNamed('foreign')];
  const sealer = tenantSealer([young, old], '1', systemRandom, 2);
  const sealed = (platform: SealingKey, tenantId: string, generation: number): string =>
    tenantSealer([platform], tenantId, systemRandom, generation).seal('secret', associatedData);
  const server = new Sealer([tenantDataKey(young, '1', 2)], systemRandom);

  expect(sealer.keyId).toBe('young~2');
  for (const [platform, generation] of [
    [young, 0],
    [young, 1],
    [young, 2],
    [old, 0],
    [old, 7],
  ] as const)
    expect(sealer.open(sealed(platform, '1', generation), associatedData)).toBe('secret');
  for (const text of [sealed(young, '2', 2), sealed(foreign, '1', 0), sealed(young, '1', 1).replace('~1', '~3')])
    expect(() => sealer.open(text, associatedData)).toThrow(SealError);
  expect(sealer.isStale(sealed(young, '1', 1))).toBe(true);
  expect(server.open(sealer.seal('secret', associatedData), associatedData)).toBe('secret');
  expect(() => server.open(sealed(young, '1', 1), associatedData)).toThrow(SealError);
});

test.each(['young~', 'young~0', 'young~01', 'young~-1', 'young~1~1', `young~${'9'.repeat(10)}`, '~1', 'constructor'])(
  'a value that says it is sealed by %s opens with no key',
  (id) => {
    const sealer = tenantSealer([keyNamed('young')], '1', systemRandom);

    expect(() => sealer.open(`v1.${id}.${'A'.repeat(60)}`, associatedData)).toThrow(`no key ${id} to open a sealed value`);
  },
);

test('keys are read as they are written, and an error names a wrong one without showing it', () => {
  const keys = [keyNamed('k2'), keyNamed('k1')];

  expect(parseSealingKeys(formatSealingKeys(keys))).toEqual(keys);
  expect(() => parseSealingKeys('k9:c2hvcnQ=')).toThrow('key k9 is not 32 bytes in base64');
  expect(() => parseSealingKeys('c2hvcnQ=')).toThrow('a key has the form id:base64');
});

test('data keys are read as their Secret has them, and an error message contains no key', () => {
  const key = Buffer.alloc(32, 7);

  for (const id of ['a', 'a~1'])
    expect(parseDataKeys(JSON.stringify({ keys: [{ id, key: key.toString('base64') }] }))).toEqual([{ id, key }]);
  expect(() => parseSealingKeys(`a~1:${key.toString('base64')}`)).toThrow('a key has the form id:base64');
  for (const wrong of ['', '{}', '{"keys":[]}', '{"keys":[{"id":"a","key":"c2hvcnQ="}]}', '[]'])
    expect(() => parseDataKeys(wrong)).toThrow(SealError);
});
